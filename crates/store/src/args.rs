//! Statement arguments.

use bourse_wire::{Address, Amount, ChainId, Day, ProjectId, RecordId, Timestamp, TokenId};

/// One argument of a statement. A missing value keeps its type, which PostgreSQL wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arg {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(bool),
    Bytes(Vec<u8>),
}

impl From<Vec<u8>> for Arg {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<u64> for Arg {
    /// Numbers beyond 63 bits are refused where they come in: ids by their type, counts by nature.
    fn from(value: u64) -> Self {
        Self::Int(Some(i64::try_from(value).unwrap_or(i64::MAX)))
    }
}

impl From<u8> for Arg {
    fn from(value: u8) -> Self {
        Self::Int(Some(value.into()))
    }
}

impl From<Option<u64>> for Arg {
    fn from(value: Option<u64>) -> Self {
        Self::Int(value.map(|number| i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<bool> for Arg {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Arg {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<String> for Arg {
    fn from(value: String) -> Self {
        Self::Text(Some(value))
    }
}

impl From<Option<String>> for Arg {
    fn from(value: Option<String>) -> Self {
        Self::Text(value)
    }
}

macro_rules! as_text {
    ($($type:ty)*) => {$(
        impl From<$type> for Arg {
            fn from(value: $type) -> Self {
                Self::Text(Some(value.to_string()))
            }
        }

        impl From<Option<$type>> for Arg {
            fn from(value: Option<$type>) -> Self {
                Self::Text(value.map(|value| value.to_string()))
            }
        }
    )*};
}

as_text! { Address Amount TokenId Timestamp Day }

macro_rules! as_int {
    ($($type:ty)*) => {$(
        impl From<$type> for Arg {
            fn from(value: $type) -> Self {
                value.get().into()
            }
        }
    )*};
}

as_int! { ProjectId RecordId }

impl From<ChainId> for Arg {
    fn from(value: ChainId) -> Self {
        value.0.into()
    }
}

/// The arguments of a statement, converted one by one.
macro_rules! args {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::args::Arg::from($value)),*]
    };
}
pub(crate) use args;
