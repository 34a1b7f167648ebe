//! Chains, by number and by name.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ChainId(pub u64);

impl fmt::Display for ChainId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// A chain as a caller names it: `137`, `"137"` or `"polygon"`. What it means is up to the configured networks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRef(String);

impl ChainRef {
    /// The caller's word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChainRef {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ChainRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

crate::text::string_serde!(ChainRef, "^.+$", "chain, by number or by name");
