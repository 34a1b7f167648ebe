//! Numbers that the service itself gives out.

use std::fmt;
use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest id: what both databases' signed 64-bit integers hold.
const ID_MAX: u64 = i64::MAX as u64;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "u64", into = "u64")]
        #[schemars(inline, with = "NonZeroU64")]
        pub struct $name(NonZeroU64);

        impl $name {
            /// The number itself.
            pub fn get(self) -> u64 {
                self.0.get()
            }
        }

        impl TryFrom<u64> for $name {
            type Error = IdError;

            fn try_from(number: u64) -> Result<Self, IdError> {
                NonZeroU64::new(number).filter(|id| id.get() <= ID_MAX).map(Self).ok_or(IdError(number))
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> u64 {
                id.get()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }
    };
}

id!(
    /// The number of a project.
    ProjectId
);

id!(
    /// The number of a record the service keeps: a hosted collection, an asset, an audience, a contact.
    RecordId
);

/// A number that is no id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0} is not an id: ids are whole numbers from 1 to 2^63-1")]
pub struct IdError(u64);
