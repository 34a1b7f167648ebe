//! Result rows.

use std::str::FromStr;

use bourse_wire::RecordId;
use sqlx::Row as _;

use crate::StoreError;

/// One row of a result, from either engine. Columns are read by position.
pub(crate) enum Row {
    Sqlite(sqlx::sqlite::SqliteRow),
    Postgres(sqlx::postgres::PgRow),
}

macro_rules! getter {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(&self, column: usize) -> Result<$type, StoreError> {
            Ok(match self {
                Self::Sqlite(row) => row.try_get(column)?,
                Self::Postgres(row) => row.try_get(column)?,
            })
        }
    };
}

impl Row {
    getter!(i64, i64);
    getter!(opt_i64, Option<i64>);
    getter!(text, String);
    getter!(opt_text, Option<String>);
    getter!(bool, bool);

    pub(crate) fn u64(&self, column: usize, what: &'static str) -> Result<u64, StoreError> {
        let number = self.i64(column)?;
        u64::try_from(number).map_err(|_| StoreError::corrupt(what, number))
    }

    pub(crate) fn opt_u64(&self, column: usize, what: &'static str) -> Result<Option<u64>, StoreError> {
        let number = self.opt_i64(column)?;
        number.map(|number| u64::try_from(number).map_err(|_| StoreError::corrupt(what, number))).transpose()
    }

    /// A value that is stored as its text form.
    pub(crate) fn parse<T: FromStr<Err: std::fmt::Display>>(
        &self,
        column: usize,
        what: &'static str,
    ) -> Result<T, StoreError> {
        self.text(column)?.parse().map_err(|error| StoreError::corrupt(what, error))
    }

    /// A value that is stored as its text form, or missing.
    pub(crate) fn opt_parse<T: FromStr<Err: std::fmt::Display>>(
        &self,
        column: usize,
        what: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let text = self.opt_text(column)?;
        text.map(|text| text.parse().map_err(|error| StoreError::corrupt(what, error))).transpose()
    }

    /// A value that is stored as JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(
        &self,
        column: usize,
        what: &'static str,
    ) -> Result<T, StoreError> {
        serde_json::from_str(&self.text(column)?).map_err(|error| StoreError::corrupt(what, error))
    }

    /// The id of a record.
    pub(crate) fn id(&self, column: usize, what: &'static str) -> Result<RecordId, StoreError> {
        self.u64(column, what)?.try_into().map_err(|error| StoreError::corrupt(what, error))
    }
}
