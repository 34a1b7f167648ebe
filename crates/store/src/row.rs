//! Result rows.

use std::ops::Range;
use std::str::FromStr;

use bourse_wire::RecordId;
use sqlx::Row as _;

use crate::StoreError;
use crate::args::Arg;

/// One row of a result, from either engine. Columns are read by position.
pub(crate) enum Row {
    Sqlite(RowCopy),
    Postgres(sqlx::postgres::PgRow),
}

macro_rules! getter {
    ($visibility:vis $name:ident, $type:ty) => {
        $visibility fn $name(&self, column: usize) -> Result<$type, StoreError> {
            Ok(match self {
                Self::Sqlite(row) => row.$name(column)?,
                Self::Postgres(row) => row.try_get(column)?,
            })
        }
    };
}

impl Row {
    getter!(opt_i64, Option<i64>);
    getter!(opt_str, Option<&str>);
    getter!(pub(crate) bool, bool);
    getter!(pub(crate) bytes, &[u8]);

    /// Whether a column has the value of an argument.
    pub(crate) fn is(&self, column: usize, arg: &Arg) -> Result<bool, StoreError> {
        Ok(match arg {
            Arg::Int(value) => self.opt_i64(column)? == *value,
            Arg::Text(value) => self.opt_str(column)? == value.as_deref(),
            Arg::Bool(value) => self.bool(column)? == *value,
            Arg::Bytes(value) => self.bytes(column)? == value,
        })
    }

    pub(crate) fn i64(&self, column: usize) -> Result<i64, StoreError> {
        self.opt_i64(column)?.ok_or_else(|| missing(column))
    }

    fn str(&self, column: usize) -> Result<&str, StoreError> {
        self.opt_str(column)?.ok_or_else(|| missing(column))
    }

    pub(crate) fn text(&self, column: usize) -> Result<String, StoreError> {
        self.str(column).map(str::to_owned)
    }

    pub(crate) fn opt_text(&self, column: usize) -> Result<Option<String>, StoreError> {
        Ok(self.opt_str(column)?.map(str::to_owned))
    }

    pub(crate) fn u64(&self, column: usize, what: &'static str) -> Result<u64, StoreError> {
        let number = self.i64(column)?;
        u64::try_from(number).map_err(|_| StoreError::corrupt(what, number))
    }

    pub(crate) fn opt_u64(&self, column: usize, what: &'static str) -> Result<Option<u64>, StoreError> {
        let number = self.opt_i64(column)?;
        number.map(|number| u64::try_from(number).map_err(|_| StoreError::corrupt(what, number))).transpose()
    }

    /// A value of an enumeration, which is stored as its number.
    pub(crate) fn number<T>(
        &self,
        column: usize,
        what: &'static str,
        from_number: fn(u8) -> Option<T>,
    ) -> Result<T, StoreError> {
        let number = self.u8(column, what)?;
        from_number(number).ok_or_else(|| StoreError::corrupt(what, format_args!("{number} is not known")))
    }

    pub(crate) fn u8(&self, column: usize, what: &'static str) -> Result<u8, StoreError> {
        u8::try_from(self.i64(column)?).map_err(|error| StoreError::corrupt(what, error))
    }

    /// A value that is stored as its text form.
    pub(crate) fn parse<T: FromStr<Err: std::fmt::Display>>(
        &self,
        column: usize,
        what: &'static str,
    ) -> Result<T, StoreError> {
        self.str(column)?.parse().map_err(|error| StoreError::corrupt(what, error))
    }

    /// A value that is stored as its text form, or missing.
    pub(crate) fn opt_parse<T: FromStr<Err: std::fmt::Display>>(
        &self,
        column: usize,
        what: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let text = self.opt_str(column)?;
        text.map(|text| text.parse().map_err(|error| StoreError::corrupt(what, error))).transpose()
    }

    /// A value that is stored as JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(
        &self,
        column: usize,
        what: &'static str,
    ) -> Result<T, StoreError> {
        serde_json::from_str(self.str(column)?).map_err(|error| StoreError::corrupt(what, error))
    }

    /// The id of a record.
    pub(crate) fn id(&self, column: usize, what: &'static str) -> Result<RecordId, StoreError> {
        self.u64(column, what)?.try_into().map_err(|error| StoreError::corrupt(what, error))
    }
}

fn missing(column: usize) -> StoreError {
    StoreError::corrupt("value", format_args!("column {column} has none"))
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

    fn opt_i64(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.values.get(column) {
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(Value::Null) => Ok(None),
            Some(Value::Text(_) | Value::Bytes(_)) | None => {
                Err(StoreError::corrupt("value", format_args!("column {column} is no number")))
            }
        }
    }

    fn opt_str(&self, column: usize) -> Result<Option<&str>, StoreError> {
        match self.values.get(column) {
            Some(Value::Text(place)) => Ok(self.text.get(place.clone())),
            Some(Value::Null) => Ok(None),
            Some(Value::Int(_) | Value::Bytes(_)) | None => {
                Err(StoreError::corrupt("value", format_args!("column {column} is no text")))
            }
        }
    }

    fn bytes(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.values.get(column) {
            Some(Value::Bytes(place)) => Ok(self.bytes.get(place.clone()).unwrap_or_default()),
            _ => Err(StoreError::corrupt("value", format_args!("column {column} has no bytes"))),
        }
    }

    fn bool(&self, column: usize) -> Result<bool, StoreError> {
        Ok(self.opt_i64(column)? == Some(1))
    }
}
