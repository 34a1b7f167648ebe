//! Instants.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// An instant in UTC with nanoseconds, written as RFC 3339. The zero time `0001-01-01T00:00:00Z` says "no value".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The zero time, `0001-01-01T00:00:00Z`.
    pub const ZERO: Self = Self(jiff::Timestamp::constant(-62_135_596_800, 0));

    /// The last instant that can be written.
    pub const MAX: Self = Self(jiff::Timestamp::MAX);

    /// The instant this many seconds after 1970; what is later than can be written becomes the last one that can.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        let instant =
            i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        instant.map_or(Self::MAX, Self)
    }

    /// The instant this many nanoseconds after 1970; what no clock shows becomes the zero time.
    pub fn from_unix_nanos(nanos: i128) -> Self {
        jiff::Timestamp::from_nanosecond(nanos).map_or(Self::ZERO, Self).max(Self::ZERO)
    }

    /// Nanoseconds since 1970.
    pub fn unix_nanos(self) -> i128 {
        self.0.as_nanosecond()
    }

    /// Seconds since 1970, rounded down.
    pub fn unix_seconds(self) -> i64 {
        self.unix_nanos().div_euclid(1_000_000_000).try_into().unwrap_or(i64::MIN)
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Why a text is not an instant.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not an RFC 3339 time such as 2025-01-31T12:00:00Z of the years 1 to 9999")]
pub struct TimestampError(String);

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let refuse = || TimestampError(text.chars().take(64).collect());
        let instant: jiff::Timestamp = text.parse().map_err(|_| refuse())?;
        let stamp = Self(instant);
        // Years before 1 have no RFC 3339 form.
        if stamp < Self::ZERO { Err(refuse()) } else { Ok(stamp) }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(crate::text::FromStrVisitor::<Self>::new("RFC 3339 time"))
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_nanoseconds_and_the_zero_time() {
        for text in ["2024-11-01T08:18:33.514523974Z", "0001-01-01T00:00:00Z", "9999-12-30T22:00:00Z"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        }
        assert_eq!(Timestamp::ZERO.to_string(), "0001-01-01T00:00:00Z");
        assert_eq!(
            "2024-01-01T02:00:00+02:00".parse::<Timestamp>().unwrap().to_string(),
            "2024-01-01T00:00:00Z"
        );
    }

    #[test]
    fn seconds_beyond_the_last_instant_are_the_last_instant() {
        assert_eq!(Timestamp::from_unix_seconds(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Timestamp::from_unix_seconds(1_735_689_600).to_string(), "2025-01-01T00:00:00Z");
        assert_eq!(Timestamp::from_unix_seconds(253_402_207_200).to_string(), "9999-12-30T22:00:00Z");
        for seconds in [253_402_207_201, i64::MAX as u64, u64::MAX] {
            assert_eq!(Timestamp::from_unix_seconds(seconds), Timestamp::MAX);
        }
    }

    #[test]
    fn refuses_what_is_no_instant() {
        for text in ["", "2024-01-01", "2024-13-01T00:00:00Z", "0000-12-31T00:00:00Z", "yesterday"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
