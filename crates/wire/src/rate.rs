//! Exchange rates.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// US dollars for one whole unit of a currency, as an exact decimal such as `1834.25`. Never a float: prices compare
/// by rate × amount, and a rounding error would make a tie where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeRate(String);

/// Why a text is not a rate.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "`{0}` is not an exchange rate: expected a decimal number from 0, at most 40 digits before and after the point"
)]
pub struct RateError(String);

impl FromStr for ExchangeRate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| (1..=40).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err(RateError(text.chars().take(64).collect()));
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let whole = if whole.is_empty() { "0" } else { whole };
        Ok(Self(if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }))
    }
}

impl fmt::Display for ExchangeRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

crate::text::string_serde!(ExchangeRate, "^[0-9]+(\\.[0-9]+)?$", "US dollars a unit, a decimal number");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rates_have_one_spelling() {
        for (text, canonical) in [("1", "1"), ("1.0", "1"), ("007.250", "7.25"), ("0.000001", "0.000001")] {
            assert_eq!(text.parse::<ExchangeRate>().unwrap().to_string(), canonical);
        }
        for text in ["", "-1", "1e3", ".5", "1.", "NaN", "1,5"] {
            assert!(text.parse::<ExchangeRate>().is_err(), "{text}");
        }
    }
}
