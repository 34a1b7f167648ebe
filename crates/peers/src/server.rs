//! One of the servers that share collections.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;

/// A number that a server draws when it starts, by which others know it until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerId(pub u64);

/// 16 hexadecimal digits.
impl fmt::Display for ServerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for ServerId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// A server, and where others reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Which one.
    pub id: ServerId,
    /// Host and port.
    pub address: Arc<str>,
}
