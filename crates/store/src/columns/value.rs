//! Values as columns store them.

use std::fmt::Display;
use std::str::FromStr;

use alloy_primitives::B256;
use bourse_market::{Nonces, OrderState};
use bourse_wire::{
    ActivityAction, Address, Amount, ChainId, CollectionMetadata, ContractSource, Day, FeeEntry, Marketplace,
    OrderSide, OrderStatus, ProjectId, RecordId, Timestamp, TokenId, TokenMetadata,
};

use crate::StoreError;
use crate::args::Arg;
use crate::attributions::{CredentialId, Mentions};
use crate::chain::Undo;
use crate::collections::CollectionId;
use crate::commit::Changed;
use crate::grants::Subject;
use crate::people::Role;
use crate::row::Cell;

/// A value of one column.
pub(crate) trait Value: Sized {
    /// That there is none, which PostgreSQL wants to know the type of.
    const NULL: Arg = Arg::Text(None);

    fn read(cell: Cell<'_>) -> Result<Self, StoreError>;

    fn arg(&self) -> Result<Arg, StoreError>;
}

impl<T: Value> Value for Option<T> {
    const NULL: Arg = T::NULL;

    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        if cell.is_null()? { Ok(None) } else { T::read(cell).map(Some) }
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        self.as_ref().map_or(Ok(T::NULL), T::arg)
    }
}

impl Value for i64 {
    const NULL: Arg = Arg::Int(None);

    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        cell.i64()
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::Int(Some(*self)))
    }
}

impl Value for u64 {
    const NULL: Arg = Arg::Int(None);

    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        let number = cell.i64()?;
        Self::try_from(number).map_err(|_| cell.corrupt(number))
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::from(*self))
    }
}

macro_rules! as_small_int {
    ($($type:ty)*) => {$(
        impl Value for $type {
            const NULL: Arg = Arg::Int(None);

            fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
                Self::try_from(cell.i64()?).map_err(|error| cell.corrupt(error))
            }

            fn arg(&self) -> Result<Arg, StoreError> {
                Ok(Arg::Int(Some((*self).into())))
            }
        }
    )*};
}

as_small_int! { u8 u32 i32 }

impl Value for bool {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        cell.bool()
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::Bool(*self))
    }
}

impl Value for String {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        cell.str().map(str::to_owned)
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::from(self.as_str()))
    }
}

impl Value for Vec<u8> {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        cell.bytes().map(<[u8]>::to_vec)
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::Bytes(self.clone()))
    }
}

fn parsed<T: FromStr<Err: Display>>(cell: Cell<'_>) -> Result<T, StoreError> {
    cell.str()?.parse().map_err(|error| cell.corrupt(error))
}

macro_rules! as_text {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
                parsed(cell)
            }

            fn arg(&self) -> Result<Arg, StoreError> {
                Ok(Arg::from(self.to_string()))
            }
        }
    )*};
}

as_text! { Address Amount B256 CredentialId Day Timestamp TokenId }

impl Value for ContractSource {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        parsed(cell)
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::from(self.word()))
    }
}

/// Enumerations are stored as their numbers.
macro_rules! as_number {
    ($($type:ty)*) => {$(
        impl Value for $type {
            const NULL: Arg = Arg::Int(None);

            fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
                let number = u8::read(cell)?;
                let unknown = || cell.corrupt(format_args!("{number} is not known"));
                Self::from_number(number).ok_or_else(unknown)
            }

            fn arg(&self) -> Result<Arg, StoreError> {
                Ok(Arg::from(self.number()))
            }
        }
    )*};
}

/// A value of an enumeration, or nothing where only a newer version of the program knows it.
pub(crate) struct Known<T>(pub(crate) Option<T>);

impl Value for Known<Role> {
    const NULL: Arg = Arg::Int(None);

    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        Ok(Self(Role::from_number(u8::read(cell)?)))
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(self.0.map_or(Self::NULL, |role| Arg::from(role.number())))
    }
}

as_number! { ActivityAction Marketplace OrderSide OrderStatus Role Subject }

macro_rules! as_id {
    ($($type:ty)*) => {$(
        impl Value for $type {
            const NULL: Arg = Arg::Int(None);

            fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
                u64::read(cell)?.try_into().map_err(|error| cell.corrupt(error))
            }

            fn arg(&self) -> Result<Arg, StoreError> {
                Ok(Arg::from(*self))
            }
        }
    )*};
}

as_id! { ProjectId RecordId }

macro_rules! as_plain_id {
    ($($type:ident)*) => {$(
        impl Value for $type {
            const NULL: Arg = Arg::Int(None);

            fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
                u64::read(cell).map($type)
            }

            fn arg(&self) -> Result<Arg, StoreError> {
                Ok(Arg::from(self.0))
            }
        }
    )*};
}

as_plain_id! { ChainId CollectionId }

macro_rules! as_json {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
                serde_json::from_str(cell.str()?).map_err(|error| cell.corrupt(error))
            }

            fn arg(&self) -> Result<Arg, StoreError> {
                let text = serde_json::to_string(self);
                text.map(Arg::from).map_err(|error| StoreError::corrupt("JSON", error))
            }
        }
    )*};
}

as_json! { Changed CollectionMetadata Mentions Nonces OrderState Undo Vec<FeeEntry> Vec<String> Vec<u64> }

impl Value for TokenMetadata {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        serde_json::from_str(cell.str()?).map_err(|error| cell.corrupt(error))
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::from(self.to_json()?))
    }
}
