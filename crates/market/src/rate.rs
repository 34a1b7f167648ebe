//! Prices in US dollars.

use std::cmp::Ordering;

use alloy_primitives::aliases::U320;
use bourse_wire::{Amount, ExchangeRate};

use crate::decimal::{Decimal, write_plain};

/// The most that an estimate is off, relatively: 2^-40.
const ESTIMATE_ERROR_MAX: f64 = f64::EPSILON * 4096.0;
/// As many digits as any double needs to be told from its neighbours.
const SIGNIFICANT_DIGITS_MAX: usize = 17;
const CENT_PLACES: usize = 2;
const SMALL_PRICE_DIGITS: usize = 2;

/// A currency's US dollar rate, ready to price amounts of base units.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Nearly what a base unit is worth: the bits of a double, which is no `Eq` itself. First, as it tells most rates
    /// apart at once.
    base_unit_bits: u64,
    /// Exactly what a base unit is worth: `mantissa / 10^scale` dollars.
    mantissa: U320,
    scale: usize,
}

impl Rate {
    /// The rate of a currency with so many decimals; `None` for a rate of zero, which prices nothing.
    pub fn new(rate: &ExchangeRate, decimals: u8) -> Option<Self> {
        let text = rate.to_string();
        let digits = text.bytes().filter(u8::is_ascii_digit);
        // At most 80 digits: they take 266 bits.
        let mantissa = digits.fold(U320::ZERO, |sum, digit| sum * U320::from(10) + U320::from(digit - b'0'));
        let fraction_digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let base_unit: f64 = format!("{text}e-{decimals}").parse().ok()?;
        (!mantissa.is_zero()).then(|| Self {
            base_unit_bits: base_unit.to_bits(),
            mantissa,
            scale: fraction_digits + usize::from(decimals),
        })
    }

    /// US dollars of an amount, nearly: at most 2^-40 off relatively.
    pub fn estimate(&self, amount: Amount) -> f64 {
        f64::from(amount.value()) * f64::from_bits(self.base_unit_bits)
    }

    /// US dollars of an amount, exactly.
    pub fn dollars(&self, amount: Amount) -> Dollars {
        // Nearly every price: the product of two words instead of one of nine.
        if let (Ok(amount), Ok(mantissa)) = (u64::try_from(amount.value()), u64::try_from(self.mantissa)) {
            return Dollars(Decimal::small(u128::from(amount) * u128::from(mantissa), self.scale));
        }
        Dollars(Decimal::new(amount.value().widening_mul(self.mantissa), self.scale))
    }
}

/// An exact price in US dollars, computed once for all the ways to write it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(Decimal);

impl Dollars {
    /// A JSON number without an exponent: exact up to 17 significant digits, rounded half up beyond.
    pub fn write(&self, out: &mut Vec<u8>) {
        let dollars = self.0.rounded(SIGNIFICANT_DIGITS_MAX);
        let places = dollars.digits().len().saturating_add_signed(-dollars.point());
        write_plain(out, dollars.digits(), dollars.point(), places);
    }

    /// For people: two digits after the point, or two significant digits when there is less than a cent but not
    /// nothing. Rounded half up.
    pub fn write_formatted(&self, out: &mut Vec<u8>) {
        let dollars = self.0.rounded(if is_below_a_cent(&self.0) {
            SMALL_PRICE_DIGITS
        } else {
            CENT_PLACES.saturating_add_signed(self.0.point())
        });
        // Asked again: rounding may have made a cent of it.
        let places = if is_below_a_cent(&dollars) {
            SMALL_PRICE_DIGITS.saturating_add_signed(-dollars.point())
        } else {
            CENT_PLACES
        };
        write_plain(out, dollars.digits(), dollars.point(), places);
    }
}

/// Compares two prices in US dollars exactly. Estimates decide when they are clearly apart, all digits otherwise.
pub fn compare_usd(a: (Amount, &Rate), b: (Amount, &Rate)) -> Ordering {
    let ((amount_a, rate_a), (amount_b, rate_b)) = (a, b);
    if rate_a == rate_b {
        return amount_a.cmp(&amount_b);
    }
    let (about_a, about_b) = (rate_a.estimate(amount_a), rate_b.estimate(amount_b));
    if (about_a - about_b).abs() > 2.0 * ESTIMATE_ERROR_MAX * about_a.max(about_b) {
        return about_a.total_cmp(&about_b);
    }
    rate_a.dollars(amount_a).cmp(&rate_b.dollars(amount_b))
}

/// Whether a number is below 0.01 but not zero.
fn is_below_a_cent(number: &Decimal) -> bool {
    number.point() < -1
}

#[cfg(test)]
mod tests;
