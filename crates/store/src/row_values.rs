//! Rows as JSON values, for what is kept of a row outside of its table.

use serde_json::Value;

use crate::StoreError;
use crate::args::Arg;
use crate::columns::{self, Columns, Declared, Record};
use crate::row::{Row, RowCopy};

/// The values of the columns of a record, in the order of their declaration.
pub(crate) fn to_values<R: Record>(record: &R) -> Result<Vec<Value>, StoreError> {
    let mut args = Vec::new();
    record.bind(&mut args)?;
    Ok(args.into_iter().map(to_json).collect())
}

/// A column: a number or a text.
fn to_json(arg: Arg) -> Value {
    match arg {
        Arg::Int(number) => number.into(),
        Arg::Text(text) => text.into(),
        Arg::Bool(flag) => flag.into(),
        Arg::Bytes(bytes) => bytes.into(),
    }
}

/// A record of the values of its columns. Those that came after they were written are missing, and empty.
pub(crate) fn from_values<R: Columns + Declared>(
    what: &'static str,
    values: Vec<Value>,
) -> Result<R, StoreError> {
    let columns = R::COLUMNS.len();
    if values.len() > columns {
        return Err(StoreError::corrupt(what, format_args!("{} values for {columns} columns", values.len())));
    }
    let missing = columns - values.len();
    let mut row = RowCopy::default();
    for value in values.into_iter().chain(std::iter::repeat_n(Value::Null, missing)) {
        match value {
            Value::String(text) => row.push_text(&text),
            Value::Number(number) => match number.as_i64() {
                Some(number) => row.push_int(number),
                None => row.push_null(),
            },
            Value::Bool(flag) => row.push_int(flag.into()),
            Value::Null | Value::Array(_) | Value::Object(_) => row.push_null(),
        }
    }
    columns::read(&Row::Copied(row))
}
