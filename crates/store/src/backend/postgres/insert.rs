//! Inserting rows: those that are new are copied, and the others go as arrays.

use std::collections::HashSet;

use super::arrays::{Arrays, chunks};
use super::{Borrowed, copy};
use crate::StoreError;
use crate::args::Arg;
use crate::columns::{HeldKey, Insert};
use crate::row::{Row, RowCopy};
use crate::session::{Returning, only};

/// Fewer rows are not worth a way to the server and back to ask which of them are there, unless a key is named twice.
const ROWS_ASKED_MIN: usize = 16;

/// Inserts rows; `conflict` says what becomes of those that are there already, and nothing where none are.
pub(crate) async fn rows(
    connection: &mut Borrowed<'_>,
    insert: Insert,
    conflict: &str,
    returning: &Returning,
) -> Result<Vec<Row>, StoreError> {
    let Insert { into, rows, held, names, .. } = insert;
    let told = told(returning, &names)?;
    let mut returned = Vec::new();
    for chunk in chunks(rows) {
        let (new, known) = match &held {
            Some(key) => new_and_known(connection, key, chunk).await?,
            None if conflict.is_empty() => (chunk, Vec::new()),
            None => (Vec::new(), chunk),
        };
        if new.len() >= copy::ROWS_MIN {
            copy::insert(connection, &into, &new).await?;
            if let Some(places) = &told {
                returned.extend(new.iter().map(|row| RowCopy::of(places.iter().map(|place| &row[*place]))));
            }
        } else {
            returned.extend(insert_arrays(connection, &into, new, &returning.sql()).await?);
        }
        let tail = format!("{conflict} {}", returning.sql());
        returned.extend(insert_arrays(connection, &into, known, &tail).await?);
    }
    Ok(returned)
}

/// Where in a row is what is told of it, if anything.
fn told(returning: &Returning, names: &[&str]) -> Result<Option<Vec<usize>>, StoreError> {
    let columns = match returning {
        Returning::Nothing => return Ok(None),
        Returning::Count => return Ok(Some(Vec::new())),
        Returning::Columns(_, columns) => columns,
    };
    let place = |column: &&str| names.iter().position(|name| name == column);
    let places: Option<Vec<usize>> = columns.iter().map(place).collect();
    places.map(Some).ok_or_else(|| StoreError::corrupt("statement", format_args!("{columns:?} of {names:?}")))
}

async fn insert_arrays(
    connection: &mut Borrowed<'_>,
    into: &str,
    rows: Vec<Vec<Arg>>,
    tail: &str,
) -> Result<Vec<Row>, StoreError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let arrays = Arrays::of(rows)?;
    let sql = format!("INSERT INTO {into} SELECT * FROM {} {tail}", arrays.rows());
    connection.note(&sql);
    arrays.run(connection, sql, None).await
}

/// Tells rows of a collection that is held apart by whether their keys are there, also by an earlier one of them. PostgreSQL
/// takes 7 µs for a row that may be there, and less than 3 for one that may not; to ask takes 1.5.
async fn new_and_known(
    connection: &mut Borrowed<'_>,
    held: &HeldKey,
    rows: Vec<Vec<Arg>>,
) -> Result<(Vec<Vec<Arg>>, Vec<Vec<Arg>>), StoreError> {
    let key =
        |row: &Vec<Arg>| held.columns.iter().map(|(_, place)| row[*place].clone()).collect::<Vec<Arg>>();
    let Some(Arg::Int(Some(collection))) = rows.first().and_then(|row| row.first()).cloned() else {
        return Err(StoreError::corrupt(held.table, "a row of no collection"));
    };
    if rows.len() < ROWS_ASKED_MIN && rows.iter().map(key).collect::<HashSet<_>>().len() == rows.len() {
        return Ok((Vec::new(), rows));
    }
    let keys = || Arrays::of(rows.iter().map(key).collect());
    if held.is_in_a_row
        && rows.len() >= copy::ROWS_MIN
        && is_none_between(connection, held, keys()?, collection).await?
    {
        return Ok((rows, Vec::new()));
    }
    let found = found_of(connection, held, keys()?, collection).await?;
    let mut seen = HashSet::with_capacity(rows.len());
    let (mut new, mut known) = (Vec::with_capacity(rows.len()), Vec::new());
    for (row, place) in rows.into_iter().zip(1..) {
        let is_new = !found.contains(&place) && seen.insert(key(&row));
        if is_new { &mut new } else { &mut known }.push(row);
    }
    Ok((new, known))
}

/// Whether a collection has no row from the first of these keys to the last. The database knows which these are, as it is
/// the one that sorts; in the order of the keys it looks no further than one row.
async fn is_none_between(
    connection: &mut Borrowed<'_>,
    HeldKey { table, columns, .. }: &HeldKey,
    keys: Arrays,
    collection: i64,
) -> Result<bool, StoreError> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let (upwards, downwards) = (names.join(", "), names.join(" DESC, "));
    let rows = keys.rows();
    let sql = format!(
        "SELECT 1 FROM {table} WHERE collection_id = ${}
        AND ({upwards}) >= (SELECT {upwards} FROM {rows} AS keys ({upwards}) ORDER BY {upwards} LIMIT 1)
        AND ({upwards}) <= (SELECT {upwards} FROM {rows} AS keys ({upwards}) ORDER BY {downwards} DESC LIMIT 1)
        ORDER BY {upwards} LIMIT 1",
        keys.len() + 1
    );
    Ok(keys.run(connection, sql, Some(collection)).await?.is_empty())
}

/// Which of these keys a collection has rows of, counted from 1 on. It is asked for the first row of each, of which there is one
/// at most: PostgreSQL would gather all in a bitmap before it looks at one.
async fn found_of(
    connection: &mut Borrowed<'_>,
    HeldKey { table, columns, .. }: &HeldKey,
    keys: Arrays,
    collection: i64,
) -> Result<HashSet<i64>, StoreError> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let same: Vec<String> = names.iter().map(|name| format!("{name} = keys.{name}")).collect();
    let sql = format!(
        "SELECT keys.place FROM {} WITH ORDINALITY AS keys ({}, place) CROSS JOIN LATERAL
        (SELECT 1 FROM {table} WHERE collection_id = ${} AND {} LIMIT 1) AS found",
        keys.rows(),
        names.join(", "),
        keys.len() + 1,
        same.join(" AND ")
    );
    keys.run(connection, sql, Some(collection)).await?.iter().map(only).collect()
}
