//! Statements on a connection of this very thread. They are through before they return.

use std::thread::yield_now as give_way;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row as Source, Statement};

use crate::StoreError;
use crate::args::Arg;
use crate::row::{Row, RowCopy};

/// Times that a statement is run before other threads have a turn. Where cores are few, a batch would else keep those
/// who answer requests waiting for all of a time slice, which is many answers long.
const RUNS_AT_ONCE: usize = 64;

/// Runs a statement and tells how many rows it touched.
pub(crate) fn execute(connection: &Connection, sql: &str, args: &[Arg]) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, args)?;
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(connection.changes())
}

/// Runs a statement once with each of these lists of arguments, and reads all rows.
pub(crate) fn all(
    connection: &Connection,
    sql: &str,
    args: impl IntoIterator<Item = Vec<Arg>>,
) -> Result<Vec<Row>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut all = Vec::new();
    for (index, args) in args.into_iter().enumerate() {
        if index % RUNS_AT_ONCE == RUNS_AT_ONCE - 1 {
            give_way();
        }
        bind(&mut statement, &args)?;
        let mut rows = statement.raw_query();
        while let Some(source) = rows.next()? {
            let mut row = RowCopy::default();
            copy(source, columns, &mut row)?;
            all.push(Row::Copied(row));
        }
    }
    Ok(all)
}

/// Inserts with statements of few lengths, which are prepared once and then only repeated.
pub(crate) fn insert(
    connection: &Connection,
    into: &str,
    tail: &str,
    columns: usize,
    mut rows: Vec<Vec<Arg>>,
) -> Result<Vec<Row>, StoreError> {
    // For what a statement returns SQLite makes a table each time, which takes longer than to insert a row.
    let lengths: &[usize] = if tail.contains("RETURNING") { &[64, 8, 1] } else { &[1] };
    // Without numbers: SQLite looks a named parameter up by going through all of them, which for many takes longer than
    // the insert.
    let row = format!("({})", vec!["?"; columns].join(","));
    let mut returned = Vec::new();
    for length in lengths {
        let rest = rows.split_off(rows.len() / length * length);
        let sql = format!("INSERT INTO {into} VALUES {} {tail}", vec![row.as_str(); *length].join(","));
        let mut whole = rows.into_iter();
        let chunks = std::iter::from_fn(|| {
            let chunk: Vec<Arg> = whole.by_ref().take(*length).flatten().collect();
            (!chunk.is_empty()).then_some(chunk)
        });
        returned.extend(all(connection, &sql, chunks)?);
        rows = rest;
    }
    Ok(returned)
}

/// Copies the values of a row.
pub(crate) fn copy(source: &Source<'_>, columns: usize, row: &mut RowCopy) -> Result<(), StoreError> {
    for column in 0..columns {
        match source.get_ref(column)? {
            ValueRef::Integer(number) => row.push_int(number),
            ValueRef::Text(text) => row.push_text(readable(text)?),
            ValueRef::Blob(bytes) => row.push_bytes(bytes),
            ValueRef::Null | ValueRef::Real(_) => row.push_null(),
        }
    }
    Ok(())
}

fn readable(text: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(text).map_err(|error| StoreError::corrupt("text", error))
}

fn bind(statement: &mut Statement<'_>, args: &[Arg]) -> Result<(), StoreError> {
    for place in 1..=statement.parameter_count() {
        // To SQLite `$2` is a name, and has the number of the place where it first occurs.
        let number = match statement.parameter_name(place) {
            Some(name) => name.trim_start_matches('$').parse().unwrap_or(place),
            None => place,
        };
        match args.get(number - 1) {
            Some(Arg::Int(value)) => statement.raw_bind_parameter(place, value)?,
            Some(Arg::Text(value)) => statement.raw_bind_parameter(place, value)?,
            Some(Arg::Bool(value)) => statement.raw_bind_parameter(place, value)?,
            Some(Arg::Bytes(value)) => statement.raw_bind_parameter(place, value)?,
            None => return Err(StoreError::corrupt("statement", format_args!("no argument {number}"))),
        }
    }
    Ok(())
}
