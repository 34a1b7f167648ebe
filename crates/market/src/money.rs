//! Amounts of base units.

use alloy_primitives::U256;
use bourse_wire::{Amount, BPS_WHOLE, Currency, OrderSide};

use crate::decimal::{without_trailing_zeros, write_plain};

/// Writes an integer amount, given as its decimal digits, with so many decimals: `5` with 2 is `0.05`. Trailing
/// zeros are left out, but one digit stays after the point when there are decimals: `100` with 2 is `1.0`.
pub fn write_formatted(out: &mut Vec<u8>, digits: &[u8], decimals: u8) {
    let point = digits.len().cast_signed() - isize::from(decimals);
    let leading_zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let point = point - leading_zeros.cast_signed();
    let significant = without_trailing_zeros(&digits[leading_zeros..]);
    let places = if significant.is_empty() { 0 } else { significant.len().saturating_add_signed(-point) };
    write_plain(out, significant, point, places.max(usize::from(decimals > 0)));
}

/// An amount as people say it: `12.5 USDC`.
pub fn in_words(amount: Amount, currency: &Currency) -> String {
    let mut text = Vec::new();
    write_formatted(&mut text, amount.to_string().as_bytes(), currency.decimals);
    format!("{} {}", String::from_utf8_lossy(&text), currency.symbol)
}

/// What remains of a price after the order's own fees, rounded down.
pub fn net(amount: Amount, fee_bps: i64) -> Amount {
    let fee = u64::try_from(fee_bps).unwrap_or(0).min(BPS_WHOLE);
    Amount::from(share(amount.value(), BPS_WHOLE - fee))
}

/// A share in basis points, of at most the whole, rounded down.
pub fn share(amount: U256, bps: u64) -> U256 {
    let (bps, whole) = (U256::from(bps.min(BPS_WHOLE)), U256::from(BPS_WHOLE));
    // Multiplying first could overflow; the quotient times the share cannot, and the remainder is small.
    let (quotient, remainder) = amount.div_rem(whole);
    quotient * bps + remainder * bps / whole
}

/// The price of one unit. When all do not divide, a buyer is never told less than is to be paid, and a seller never
/// more than is to be had; trades reckon with the whole.
pub fn unit_price(side: OrderSide, price: U256, quantity: U256) -> Amount {
    let units = quantity.max(U256::from(1));
    match side {
        OrderSide::Listing => price.div_ceil(units),
        OrderSide::Offer | OrderSide::Unknown => price / units,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::aliases::U320;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::amounts;

    fn formatted(digits: &str, decimals: u8) -> String {
        let mut out = Vec::new();
        write_formatted(&mut out, digits.as_bytes(), decimals);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn unit_prices_favour_nobody() {
        let unit = |side, price: u64| unit_price(side, U256::from(price), U256::from(3)).to_string();
        assert_eq!(unit(OrderSide::Listing, 9), "3");
        assert_eq!(unit(OrderSide::Listing, 10), "4");
        assert_eq!(unit(OrderSide::Offer, 10), "3");
    }

    #[test]
    fn amounts_are_written_with_their_decimals() {
        for (digits, decimals, text) in [
            ("1000000000000000000", 18, "1.0"),
            ("950000000000000000", 18, "0.95"),
            ("7", 0, "7"),
            ("700", 0, "700"),
            ("5", 2, "0.05"),
            ("0", 0, "0"),
            ("0", 18, "0.0"),
            ("1200", 2, "12.0"),
            ("1205", 2, "12.05"),
            ("0012", 1, "1.2"),
            ("1", 255, &format!("0.{}1", "0".repeat(254))),
        ] {
            assert_eq!(formatted(digits, decimals), text, "{digits} {decimals}");
        }
    }

    #[test]
    fn fees_are_taken_off_and_strange_ones_clamped() {
        let net = |amount: u64, bps| net(Amount::from(amount), bps);
        assert_eq!(net(1_000_000, 500), Amount::from(950_000));
        assert_eq!(net(3, 1), Amount::from(2));
        assert_eq!(net(9_999, 9_999), Amount::ZERO);
        assert_eq!(net(1_000_000, 10_000), Amount::ZERO);
        assert_eq!(net(1_000_000, i64::MAX), Amount::ZERO);
        assert_eq!(net(7, i64::MIN), Amount::from(7));
        assert_eq!(super::net(Amount::MAX, 0), Amount::MAX);
    }

    /// Moves the point by hand: pads to at least one whole digit, cuts, and drops zeros one at a time.
    fn formatted_by_hand(amount: U256, decimals: usize) -> String {
        let padded = format!("{amount:0>width$}", amount = amount.to_string(), width = decimals + 1);
        let (whole, fraction) = padded.split_at(padded.len() - decimals);
        let mut fraction = fraction.to_owned();
        while fraction.len() > 1 && fraction.ends_with('0') {
            fraction.pop();
        }
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
    }

    proptest! {
        #[test]
        fn formatted_like_by_hand(amount in amounts(), decimals: u8) {
            let expected = formatted_by_hand(amount.value(), usize::from(decimals));
            prop_assert_eq!(formatted(&amount.to_string(), decimals), expected);
        }

        #[test]
        fn net_like_in_wider_numbers(amount in amounts(), bps in -10_i64..10_010) {
            let kept = 10_000 - bps.clamp(0, 10_000);
            let wide = U320::from(amount.value()) * U320::from(kept) / U320::from(10_000);
            prop_assert_eq!(net(amount, bps), Amount::from(U256::from(wide)));
        }
    }
}
