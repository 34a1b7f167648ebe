//! Times, numbers and addresses as people read them. Nothing is rounded without saying so: what is shortened has the
//! whole of it in its title.

use bourse_settings::Networks;
use bourse_wire::{ChainId, Timestamp};
use maud::{Markup, html};

/// Characters of an address of the web that are shown.
const LINK_CHARS: usize = 100;

/// An instant, to the minute.
pub fn time(at: Timestamp) -> Markup {
    let exact = at.to_string();
    let short = exact.get(..16).unwrap_or(&exact).replace('T', " ");
    html! { time datetime=(exact) title=(exact) { (short) " UTC" } }
}

/// An instant that may not have come.
pub fn time_or(at: Option<Timestamp>, otherwise: &str) -> Markup {
    html! { @if let Some(at) = at { (time(at)) } @else { span.soft { (otherwise) } } }
}

/// A whole number in groups of three digits.
#[expect(
    clippy::needless_pass_by_value,
    reason = "most callers have a number or an address, which are copied"
)]
pub fn number(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        if place > 0 && left.is_multiple_of(3) && digit.is_ascii_digit() && !grouped.ends_with('-') {
            // A narrow space that does not break: read alike in every country.
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// An address or a hash, shortened in the middle.
#[expect(
    clippy::needless_pass_by_value,
    reason = "most callers have a number or an address, which are copied"
)]
pub fn hex(text: impl ToString) -> Markup {
    let text = text.to_string();
    if text.len() <= 14 || !text.is_ascii() {
        return html! { code { (text) } };
    }
    html! { code title=(text) { (text[..6]) "…" (text[text.len() - 4..]) } }
}

/// A text that somebody else wrote, up to so many characters and in its own direction.
pub fn shortened(text: &str, chars_max: usize) -> Markup {
    let short: String = text.chars().take(chars_max).collect();
    html! { bdi { (short) @if short.len() < text.len() { "…" } } }
}

/// An address of the web that somebody else chose. It is a link only if it leads to the web, and tells nobody where it
/// was followed from.
pub fn web_link(address: &str) -> Markup {
    let start = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let is_web = (start.starts_with("https://") || start.starts_with("http://"))
        && !address.contains(|letter: char| letter.is_control() || letter.is_whitespace());
    let shown = shortened(address, LINK_CHARS);
    html! {
        @if is_web { a href=(address) rel="noopener noreferrer" { (shown) } } @else { code { (shown) } }
    }
}

/// A network by its name, or by its number when it has none.
pub fn network(networks: &Networks, chain: ChainId) -> String {
    networks.get(chain.0).map_or_else(|| format!("chain {chain}"), |network| network.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (plain, grouped) in
            [("0", "0"), ("999", "999"), ("1000", "1 000"), ("1234567", "1 234 567"), ("-123456", "-123 456")]
        {
            assert_eq!(number(plain).replace('\u{202f}', " "), grouped);
        }
    }

    #[test]
    fn only_what_leads_to_the_web_is_a_link() {
        let shown = |address: &str| web_link(address).into_string();
        let link = shown("HTTPS://a.example/?\"x");
        assert!(link.contains("href=\"HTTPS://a.example/?&quot;x\" rel=\"noopener noreferrer\""), "{link}");
        for address in [
            "javascript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "//a.example",
            "https",
            "https://a b",
            "",
        ] {
            assert!(!shown(address).contains("href"), "{address}");
        }
        assert!(shown("javascript:<b>").contains("javascript:&lt;b&gt;"));
    }

    #[test]
    fn what_is_shortened_is_in_the_title() {
        let address = "0x00000000000000000000000000000000000000ab";
        let shown = hex(address).into_string();
        assert!(shown.contains("0x0000…00ab") && shown.contains(&format!("title=\"{address}\"")), "{shown}");
        let at: Timestamp = "2026-11-15T14:57:58.123Z".parse().unwrap();
        assert!(time(at).into_string().contains(">2026-11-15 14:57 UTC<"));
    }
}
