//! What prices are price, exactly, in whole numbers.

use std::cmp::Ordering;

use alloy_primitives::Uint;
use bourse_wire::{Address, Amount, Currency, OrderSide};

/// Wide enough for any amount at any rate: 256 + 266 + 389 bits.
pub(crate) type Wide = Uint<1024, 16>;

/// Decimals of a dollar that every price has at most: 40 of a rate, 77 of a currency.
const PLACES: usize = 40 + Currency::DECIMALS_MAX as usize;

/// What a price ranks by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExactPrice {
    /// US dollars times `10^PLACES`.
    Dollars(Wide),
    /// The currency has no rate.
    Unpriced(Address, Amount),
}

/// What one base unit of a currency is worth; a rate of zero prices nothing.
pub(crate) fn unit(currency: &Currency) -> Option<Wide> {
    let rate = currency.rate.as_ref()?.rate.to_string();
    let (whole, fraction) = rate.split_once('.').unwrap_or((&rate, ""));
    let digits: Wide = format!("{whole}{fraction}").parse().unwrap();
    let zeros = PLACES - fraction.len() - usize::from(currency.decimals);
    (!digits.is_zero()).then(|| digits * Wide::from(10).pow(Wide::from(zeros)))
}

impl ExactPrice {
    pub(crate) fn new(currency: Address, amount: Amount, unit: Option<Wide>) -> Self {
        match unit {
            Some(unit) => Self::Dollars(Wide::from(amount.value()) * unit),
            None => Self::Unpriced(currency, amount),
        }
    }

    pub(crate) fn is_unpriced(&self) -> bool {
        matches!(self, Self::Unpriced(..))
    }

    /// Which of two prices comes first: of listings the lower, of offers the higher; those without a rate last, one
    /// currency after another.
    pub(crate) fn compare(&self, other: &Self, side: OrderSide) -> Ordering {
        let better =
            |ordering: Ordering| if side == OrderSide::Offer { ordering.reverse() } else { ordering };
        match (self, other) {
            (Self::Dollars(a), Self::Dollars(b)) => better(a.cmp(b)),
            (Self::Unpriced(a_currency, a), Self::Unpriced(b_currency, b)) => {
                a_currency.cmp(b_currency).then(better(a.cmp(b)))
            }
            _ => self.is_unpriced().cmp(&other.is_unpriced()),
        }
    }

    /// As a float, nearly; zero when nobody knows.
    pub(crate) fn to_float(&self) -> f64 {
        match self {
            Self::Dollars(number) => format!("{number}e-{PLACES}").parse().unwrap(),
            Self::Unpriced(..) => 0.0,
        }
    }
}
