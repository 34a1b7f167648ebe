use alloy_primitives::U256;
use alloy_primitives::aliases::U2048;
use bourse_wire::Currency;
use proptest::prelude::*;

use super::*;
use crate::testing::amounts;

/// A price the naive way: an amount, a rate as text, and the decimals of the currency.
#[derive(Clone, Debug)]
struct Price {
    amount: Amount,
    rate: String,
    decimals: u8,
}

impl Price {
    fn new(amount: &str, rate: &str, decimals: u8) -> Self {
        Self { amount: amount.parse().unwrap(), rate: rate.to_owned(), decimals }
    }

    fn rate(&self) -> Rate {
        Rate::new(&self.rate.parse().unwrap(), self.decimals).unwrap()
    }

    fn usd(&self) -> String {
        let mut out = Vec::new();
        self.rate().dollars(self.amount).write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn usd_formatted(&self) -> String {
        let mut out = Vec::new();
        self.rate().dollars(self.amount).write_formatted(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn compare(&self, other: &Self) -> Ordering {
        compare_usd((self.amount, &self.rate()), (other.amount, &other.rate()))
    }

    /// The dollars are the first number divided by ten to the power of the second one.
    fn exact(&self) -> (U2048, usize) {
        let (whole, fraction) = self.rate.split_once('.').unwrap_or((&self.rate, ""));
        let mantissa = U2048::from_str_radix(&format!("{whole}{fraction}"), 10).unwrap();
        (U2048::from(self.amount.value()) * mantissa, fraction.len() + usize::from(self.decimals))
    }

    /// The dollars times ten to the power of `places`, rounded half up.
    fn rounded(&self, places: isize) -> U2048 {
        let (numerator, scale) = self.exact();
        let numerator = numerator * power_of_ten(places.max(0).cast_unsigned());
        let denominator = power_of_ten(scale + (-places).max(0).cast_unsigned());
        (numerator * U2048::from(2) + denominator) / (denominator * U2048::from(2))
    }

    /// How many places after the point there are when so many digits are significant. Not for zero.
    fn places(&self, significant: usize) -> isize {
        let (numerator, scale) = self.exact();
        let digits = (0..=200).find(|digits| power_of_ten(*digits) > numerator).unwrap();
        (scale + significant).cast_signed() - digits.cast_signed()
    }
}

fn power_of_ten(exponent: usize) -> U2048 {
    U2048::from(10).pow(U2048::from(exponent))
}

/// Writes `number / 10^places` with all its places.
fn with_places(number: U2048, places: isize) -> String {
    if places <= 0 {
        return (number * power_of_ten(places.unsigned_abs())).to_string();
    }
    let width = places.unsigned_abs() + 1;
    let padded = format!("{:0>width$}", number.to_string());
    let (whole, fraction) = padded.split_at(padded.len() - places.unsigned_abs());
    format!("{whole}.{fraction}")
}

fn usd_by_hand(price: &Price) -> String {
    if price.amount == Amount::ZERO {
        return "0".to_owned();
    }
    let places = price.places(17);
    let text = with_places(price.rounded(places), places);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn usd_formatted_by_hand(price: &Price) -> String {
    let (numerator, scale) = price.exact();
    if numerator.is_zero() || numerator * U2048::from(100) >= power_of_ten(scale) {
        return with_places(price.rounded(2), 2);
    }
    let places = price.places(2);
    match price.rounded(places) {
        number if number < U2048::from(100) => with_places(number, places),
        _ if places == 4 => "0.01".to_owned(),
        _ => with_places(U2048::from(10), places - 1),
    }
}

fn prices(decimals: std::ops::RangeInclusive<u8>) -> impl Strategy<Value = Price> {
    let rate = prop_oneof![
        "[0-9]{1,5}\\.[0-9]{1,6}",
        "[0-9]{1,40}\\.[0-9]{1,40}",
        "[0-9]{1,40}",
        "0\\.0{0,30}[0459]{1,9}",
        "[0459]{1,40}\\.[0459]{1,40}",
    ];
    let rate = rate
        .prop_filter("zero prices nothing", |text| text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)));
    let amount = prop_oneof![4 => amounts(), 1 => (0_u64..100).prop_map(Amount::from)];
    (amount, rate, decimals).prop_map(|(amount, rate, decimals)| Price { amount, rate, decimals })
}

/// Two prices of different currencies that differ by so many base units of the first one.
fn near_ties() -> impl Strategy<Value = (Price, Price, i8)> {
    let mantissa = || 1_u64..1 << 60;
    (1..u64::MAX, mantissa(), mantissa(), 0_u8..30, 0_u8..30, -1_i8..=1).prop_map(
        |(factor, mantissa_a, mantissa_b, decimals_a, decimals_b, nudge)| {
            let shared = decimals_a.min(decimals_b);
            let amount = |other_mantissa: u64, decimals: u8| {
                let shift = U256::from(10).pow(U256::from(decimals - shared));
                U256::from(factor) * U256::from(other_mantissa) * shift
            };
            let nudged = amount(mantissa_b, decimals_a) + U256::from(nudge + 1) - U256::from(1);
            let price = |amount, mantissa: u64, decimals| Price {
                amount: Amount::from(amount),
                rate: mantissa.to_string(),
                decimals,
            };
            let b = price(amount(mantissa_a, decimals_b), mantissa_b, decimals_b);
            (price(nudged, mantissa_a, decimals_a), b, nudge)
        },
    )
}

const ETHER: &str = "1000000000000000000";

#[test]
fn dollars_are_written_as_plain_numbers() {
    for (amount, rate, decimals, text) in [
        ("500000000000000000", "1834.25", 18, "917.125"),
        ("0", "1834.25", 18, "0"),
        ("120000", "1", 18, "0.00000000000012"),
        ("12", "1", 0, "12"),
        ("12000", "10", 2, "1200"),
        (ETHER, "0.12345678901234567890", 18, "0.12345678901234568"),
        (ETHER, "0.123456789012345665", 18, "0.12345678901234567"),
        (ETHER, "99999.9999999999999999", 18, "100000"),
        ("1", "123456789012345678901234", 0, "123456789012345680000000"),
    ] {
        assert_eq!(Price::new(amount, rate, decimals).usd(), text, "{amount} {rate} {decimals}");
    }
}

#[test]
fn dollars_for_people_have_cents() {
    for (amount, rate, decimals, text) in [
        ("500000000000000000", "1834.25", 18, "917.13"),
        (ETHER, "917.1249999", 18, "917.12"),
        ("0", "1834.25", 18, "0.00"),
        ("12", "1", 0, "12.00"),
        ("12", "100", 0, "1200.00"),
        ("1", "0.0012", 0, "0.0012"),
        ("1", "0.00125", 0, "0.0013"),
        ("1", "0.001", 0, "0.0010"),
        ("1", "0.000996", 0, "0.0010"),
        ("1", "0.00996", 0, "0.01"),
        ("1", "0.01", 0, "0.01"),
        ("1", "0.014999", 0, "0.01"),
        ("1", "0.015", 0, "0.02"),
        ("1", "0.095", 0, "0.10"),
        ("1", "0.995", 0, "1.00"),
        ("1", "9.999", 0, "10.00"),
    ] {
        assert_eq!(Price::new(amount, rate, decimals).usd_formatted(), text, "{amount} {rate} {decimals}");
    }
}

#[test]
fn nothing_is_priced_at_a_rate_of_zero() {
    assert_eq!(Rate::new(&"0.000".parse().unwrap(), 18), None);
}

#[test]
fn the_largest_numbers_fit() {
    let nines = "9".repeat(40);
    let most = Price { amount: Amount::MAX, rate: format!("{nines}.{nines}"), decimals: 0 };
    let least = Price { amount: Amount::from(1), rate: format!("0.{}1", "0".repeat(39)), decimals: u8::MAX };
    for price in [&most, &least] {
        assert_eq!((price.usd(), price.usd_formatted()), (usd_by_hand(price), usd_formatted_by_hand(price)));
    }
    assert_eq!(most.compare(&least), Ordering::Greater);
}

#[test]
fn equal_prices_of_different_currencies_tie() {
    let dollars = Price::new("1834250000", "1", 6);
    assert_eq!(Price::new(ETHER, "1834.25", 18).compare(&dollars), Ordering::Equal);
    assert_eq!(Price::new("1000000000000000001", "1834.25", 18).compare(&dollars), Ordering::Greater);
    assert_eq!(Price::new("999999999999999999", "1834.25", 18).compare(&dollars), Ordering::Less);
    assert_eq!(Price::new("0", "1834.25", 18).compare(&Price::new("0", "1", 6)), Ordering::Equal);
    assert_eq!(Price::new("0", "1834.25", 18).compare(&Price::new("1", "1", 77)), Ordering::Less);
}

proptest! {
    #[test]
    fn written_like_by_hand(price in prices(0..=Currency::DECIMALS_MAX)) {
        prop_assert_eq!(price.usd(), usd_by_hand(&price));
        prop_assert_eq!(price.usd_formatted(), usd_formatted_by_hand(&price));
    }

    #[test]
    fn estimates_are_near(price in prices(0..=Currency::DECIMALS_MAX)) {
        let (numerator, scale) = price.exact();
        let exact: f64 = format!("{numerator}e-{scale}").parse().unwrap();
        let difference = (price.rate().estimate(price.amount) - exact).abs();
        prop_assert!(difference <= exact * ESTIMATE_ERROR_MAX / 2.0, "{difference} of {exact}");
    }

    #[test]
    fn compared_like_fractions(
        (a, b) in prices(0..=Currency::DECIMALS_MAX).prop_flat_map(|price| {
            let same_rate = amounts().prop_map({ let price = price.clone(); move |amount| Price { amount, ..price.clone() }});
            (Just(price), prop_oneof![prices(0..=Currency::DECIMALS_MAX), same_rate])
        })
    ) {
        let ((numerator_a, scale_a), (numerator_b, scale_b)) = (a.exact(), b.exact());
        let expected = (numerator_a * power_of_ten(scale_b)).cmp(&(numerator_b * power_of_ten(scale_a)));
        prop_assert_eq!(a.compare(&b), expected);
        prop_assert_eq!(b.compare(&a), expected.reverse());
    }

    #[test]
    fn one_base_unit_decides((a, b, nudge) in near_ties()) {
        prop_assert_eq!(a.compare(&b), nudge.cmp(&0));
        prop_assert_eq!(b.compare(&a), 0.cmp(&nudge));
    }
}
