//! Amounts as people write them.

use bourse_wire::{Amount, Error};

use crate::records::Currency;

/// The base units of an amount that is written in whole units, exactly.
pub(super) fn base_units(text: &str, currency: &Currency) -> Result<Amount, Error> {
    let plain: String = text.chars().filter(|letter| !matches!(letter, '\u{202f}' | '_' | ' ')).collect();
    let (whole, rest) = plain.split_once('.').unwrap_or((&plain, ""));
    let rest = rest.trim_end_matches('0');
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(rest) || (whole.is_empty() && !plain.contains('0') && rest.is_empty())
    {
        return Err(Error::invalid("price", format!("`{text:.64}` is not a number such as 1.5")));
    }
    let decimals = usize::from(currency.decimals);
    if rest.len() > decimals {
        let reason = format!("{} has {decimals} digits after the point, not {}", currency.symbol, rest.len());
        return Err(Error::invalid("price", reason));
    }
    let digits = format!("{whole}{rest:0<decimals$}");
    let digits = if digits.is_empty() { "0" } else { &digits };
    digits.parse().map_err(|error| Error::invalid("price", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, decimals: u8) -> Option<String> {
        let contract_address = bourse_wire::Address::ZERO;
        let currency = Currency { contract_address, symbol: "C".to_owned(), name: String::new(), decimals };
        base_units(text, &currency).ok().map(|amount| amount.to_string())
    }

    #[test]
    fn every_digit_counts() {
        for (text, decimals, expected) in [
            ("1", 18, "1000000000000000000"),
            ("1.5", 6, "1500000"),
            (".5", 1, "5"),
            ("0", 18, "0"),
            ("0.0", 0, "0"),
            ("1 234.50", 2, "123450"),
            ("1\u{202f}000", 0, "1000"),
            ("0.000000000000000001", 18, "1"),
        ] {
            assert_eq!(units(text, decimals).as_deref(), Some(expected), "{text}");
        }
        for text in ["", ".", "1.2.3", "-1", "1e3", "0x1", "0.001", "1,5", "\u{663}"] {
            assert_eq!(units(text, 2), None, "{text}");
        }
        assert_eq!(units(&"9".repeat(78), 18), None, "more than there can be");
    }
}
