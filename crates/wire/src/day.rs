//! Calendar days.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::Timestamp;

/// A UTC calendar day, written `YYYY-MM-DD`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(jiff::civil::Date);

const EPOCH: jiff::civil::Date = jiff::civil::date(1970, 1, 1);

impl Day {
    /// The day an instant falls on.
    pub fn of(instant: Timestamp) -> Self {
        let days = instant.unix_seconds().div_euclid(86_400);
        Self::from_number(i32::try_from(days).unwrap_or(i32::MIN))
    }

    /// Days since 1970-01-01: what is counted by day is kept by this number.
    pub fn number(self) -> i32 {
        // Dates have years of four digits, so the number always fits.
        (self.0.duration_since(EPOCH).as_hours() / 24).try_into().unwrap_or(i32::MAX)
    }

    /// The day so many days after 1970-01-01; what no calendar shows becomes its last or first day.
    pub fn from_number(number: i32) -> Self {
        Self(EPOCH.saturating_add(jiff::SignedDuration::from_hours(i64::from(number) * 24)))
    }

    /// The first day of the month.
    pub fn first_of_month(self) -> Self {
        Self(self.0.first_of_month())
    }
}

/// Why a text is not a day.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a day in the form YYYY-MM-DD")]
pub struct DayError(String);

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let refuse = || DayError(text.chars().take(64).collect());
        // The date parser also takes whole timestamps and other ISO 8601 spellings; the interface takes one.
        if text.len() != 10 || text.as_bytes()[4] != b'-' {
            return Err(refuse());
        }
        text.parse().map(Self).map_err(|_| refuse())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Debug for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

crate::text::string_serde!(Day, "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "day, YYYY-MM-DD");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_utc_day() {
        let late: Timestamp = "2024-02-29T23:59:59.999999999Z".parse().unwrap();
        assert_eq!(Day::of(late).to_string(), "2024-02-29");
        assert_eq!(Day::of("1969-12-31T23:59:59Z".parse().unwrap()).to_string(), "1969-12-31");
        assert_eq!(Day::of(late).first_of_month().to_string(), "2024-02-01");
    }

    #[test]
    fn a_day_has_a_number() {
        for (text, number) in [("1970-01-01", 0), ("1969-12-31", -1), ("2024-02-29", 19_782)] {
            let day: Day = text.parse().unwrap();
            assert_eq!((day.number(), Day::from_number(number)), (number, day));
        }
        assert_eq!(Day::from_number(i32::MAX).to_string(), "9999-12-31");
        assert_eq!(Day::from_number(i32::MIN).to_string(), "-009999-01-01");
    }

    #[test]
    fn refuses_other_spellings() {
        for text in ["", "2024-02-30", "20240229", "2024-2-29", "2024-02-29T00:00:00Z", "2024-W09-4"] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
    }
}
