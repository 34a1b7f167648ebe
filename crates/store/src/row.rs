//! Result rows.

use std::ops::Range;

use sqlx::{Row as _, ValueRef as _};

use crate::StoreError;
use crate::args::Arg;

/// One row of a result, from either engine. Who reads a column says its position, which follows from a declaration of
/// columns, and its name, for when its value is not what it should be.
pub(crate) enum Row {
    Copied(RowCopy),
    Postgres(sqlx::postgres::PgRow),
}

/// One value of a row.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'r> {
    pub(crate) row: &'r Row,
    pub(crate) position: usize,
    pub(crate) column: &'static str,
}

macro_rules! getter {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(self) -> Result<$type, StoreError> {
            match self.row {
                Row::Copied(row) => row.$name(self.position).map_err(|reason| self.corrupt(reason)),
                Row::Postgres(row) => Ok(row.try_get(self.position)?),
            }
        }
    };
}

impl<'r> Cell<'r> {
    getter!(opt_i64, Option<i64>);
    getter!(opt_str, Option<&'r str>);
    getter!(bool, bool);
    getter!(bytes, &'r [u8]);

    pub(crate) fn is_null(self) -> Result<bool, StoreError> {
        Ok(match self.row {
            Row::Copied(row) => matches!(row.values.get(self.position), Some(Value::Null)),
            Row::Postgres(row) => row.try_get_raw(self.position)?.is_null(),
        })
    }

    pub(crate) fn i64(self) -> Result<i64, StoreError> {
        self.opt_i64()?.ok_or_else(|| self.corrupt("there is none"))
    }

    pub(crate) fn str(self) -> Result<&'r str, StoreError> {
        self.opt_str()?.ok_or_else(|| self.corrupt("there is none"))
    }

    /// Whether it is the value of an argument.
    pub(crate) fn is(self, arg: &Arg) -> Result<bool, StoreError> {
        Ok(match arg {
            Arg::Int(value) => self.opt_i64()? == *value,
            Arg::Text(value) => self.opt_str()? == value.as_deref(),
            Arg::Bool(value) => self.bool()? == *value,
            Arg::Bytes(value) => self.bytes()? == value,
        })
    }

    /// It is not what it should be.
    pub(crate) fn corrupt(self, reason: impl std::fmt::Display) -> StoreError {
        StoreError::corrupt(self.column, reason)
    }
}

impl Row {
    /// How many columns it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Copied(row) => row.values.len(),
            Self::Postgres(row) => row.len(),
        }
    }
}

/// The values of a row, copied from where they were. Their memory serves one row after another.
#[derive(Default)]
pub(crate) struct RowCopy {
    values: Vec<Value>,
    text: String,
    bytes: Vec<u8>,
}

enum Value {
    Null,
    Int(i64),
    /// Where in the text it is.
    Text(Range<usize>),
    /// Where in the bytes it is.
    Bytes(Range<usize>),
}

impl RowCopy {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.text.clear();
        self.bytes.clear();
    }

    pub(crate) fn push_null(&mut self) {
        self.values.push(Value::Null);
    }

    pub(crate) fn push_int(&mut self, number: i64) {
        self.values.push(Value::Int(number));
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.values.push(Value::Text(start..self.text.len()));
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.values.push(Value::Bytes(start..self.bytes.len()));
    }

    /// A row of these values.
    pub(crate) fn of<'a>(values: impl IntoIterator<Item = &'a Arg>) -> Row {
        let mut copy = Self::default();
        for value in values {
            match value {
                Arg::Int(None) | Arg::Text(None) => copy.push_null(),
                Arg::Int(Some(number)) => copy.push_int(*number),
                Arg::Text(Some(text)) => copy.push_text(text),
                Arg::Bool(is_true) => copy.push_int((*is_true).into()),
                Arg::Bytes(bytes) => copy.push_bytes(bytes),
            }
        }
        Row::Copied(copy)
    }

    fn opt_i64(&self, position: usize) -> Result<Option<i64>, &'static str> {
        match self.values.get(position) {
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(Value::Null) => Ok(None),
            Some(Value::Text(_) | Value::Bytes(_)) | None => Err("it is no number"),
        }
    }

    fn opt_str(&self, position: usize) -> Result<Option<&str>, &'static str> {
        match self.values.get(position) {
            Some(Value::Text(place)) => Ok(self.text.get(place.clone())),
            Some(Value::Null) => Ok(None),
            Some(Value::Int(_) | Value::Bytes(_)) | None => Err("it is no text"),
        }
    }

    fn bytes(&self, position: usize) -> Result<&[u8], &'static str> {
        match self.values.get(position) {
            Some(Value::Bytes(place)) => Ok(self.bytes.get(place.clone()).unwrap_or_default()),
            _ => Err("it is no bytes"),
        }
    }

    fn bool(&self, position: usize) -> Result<bool, &'static str> {
        Ok(self.opt_i64(position)? == Some(1))
    }
}
