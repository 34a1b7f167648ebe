//! Amounts with their currency: every digit, and beside it about how much that is in dollars.

use bourse_wire::{Address, Amount};
use maud::{Markup, html};

use crate::format;
use crate::records::{Currencies, Order};

/// The price of one unit of an order.
pub fn of_order(order: &Order, currencies: &Currencies) -> Markup {
    let usd = &order.price_usd_formatted;
    html! {
        (amount(order.price_amount, &order.price_amount_formatted, order.price_currency_address, currencies))
        @if !usd.is_empty() {
            " " span.usd title={ "US$ " (order.price_usd) } { "≈ $" (decimal(usd)) }
        }
    }
}

/// An amount of a currency.
pub fn amount(amount: Amount, formatted: &str, currency: Address, currencies: &Currencies) -> Markup {
    let known = currencies.get(currency).filter(|known| !known.symbol.is_empty());
    html! {
        span.amount title={ (amount) " base units of " (currency) } {
            (decimal(formatted)) " "
            @match known {
                Some(known) => bdi { (known.symbol) },
                None => (format::hex(currency)),
            }
        }
    }
}

/// A decimal number, its whole part in groups of three digits. No digit is left out but a last zero after the point.
pub fn decimal(text: &str) -> String {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    match rest {
        "" | "0" => format::number(whole),
        rest => format!("{}.{rest}", format::number(whole)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digit_is_lost() {
        let shown = |text: &str| decimal(text).replace('\u{202f}', " ");
        for (text, expected) in [
            ("360.0", "360"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("1234567.000000000000000089", "1 234 567.000000000000000089"),
            ("12", "12"),
            ("30.60", "30.60"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn a_currency_without_a_symbol_is_named_by_its_address() {
        let none = Currencies::new(Vec::new());
        let shown = amount(15.into(), "1.5", Address::from_bytes([7; 20]), &none).into_string();
        assert!(shown.contains("0x0707…0707"), "{shown}");
        assert!(
            shown.contains("title=\"15 base units of 0x0707070707070707070707070707070707070707\""),
            "{shown}"
        );
    }
}
