//! Going through the rows of tables, which may be more than fit into memory.

use std::ops::ControlFlow;

use futures_util::TryStreamExt as _;
use sqlx::AssertSqlSafe;

use super::digest::Digest;
use super::tables::Table;
use crate::StoreError;
use crate::args::Arg;
use crate::backend::sqlite::statements;
use crate::row::{Row, RowCopy};
use crate::session::Session;

/// Rows, and bytes of text in them, that are copied in one transaction.
const CHUNK_ROWS: usize = 5_000;
const CHUNK_BYTES: usize = 8 << 20;

/// Rows that follow each other in a table.
pub(super) struct Chunk {
    pub(super) rows: Vec<Vec<Arg>>,
    /// The number of the last of them.
    pub(super) last: i64,
}

/// The rows of a table of SQLite after one, as many as are copied at once; none at its end.
pub(super) fn chunk(
    session: &mut Session<'_>,
    table: &Table,
    after: i64,
) -> Result<Option<Chunk>, StoreError> {
    let sql = format!(
        "SELECT rowid, {} FROM {} WHERE rowid > {after} ORDER BY rowid LIMIT {CHUNK_ROWS}",
        table.list(),
        table.name
    );
    let mut chunk = Chunk { rows: Vec::new(), last: after };
    let mut bytes = 0;
    each_of_sqlite(embedded(session)?, &sql, |row| {
        chunk.last = crate::row::Cell { row, position: 0, column: table.name }.i64()?;
        let values = table.values(row, 1)?;
        bytes += values.iter().map(size).sum::<usize>();
        if values.iter().any(has_nul) {
            let reason = format!("row {} has a NUL in a text, which PostgreSQL cannot store", chunk.last);
            return Err(StoreError::corrupt(table.name, reason));
        }
        chunk.rows.push(values);
        Ok(if bytes < CHUNK_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(Some(chunk).filter(|chunk| !chunk.rows.is_empty()))
}

fn size(value: &Arg) -> usize {
    match value {
        Arg::Text(Some(text)) => text.len(),
        Arg::Bytes(bytes) => bytes.len(),
        Arg::Text(None) | Arg::Int(_) | Arg::Bool(_) => 8,
    }
}

fn has_nul(value: &Arg) -> bool {
    matches!(value, Arg::Text(Some(text)) if text.contains('\0'))
}

/// How many rows a table of SQLite has.
pub(super) fn count(session: &mut Session<'_>, table: &Table) -> Result<u64, StoreError> {
    let sql = format!("SELECT COUNT(*) FROM {}", table.name);
    Ok(embedded(session)?.query_row(&sql, [], |row| row.get(0))?)
}

/// Whether a table has no rows.
pub(super) async fn is_empty(session: &mut Session<'_>, table: &Table) -> Result<bool, StoreError> {
    let mut is_empty = true;
    each(session, &format!("SELECT {} FROM {} LIMIT 1", table.list(), table.name), |_| {
        is_empty = false;
        Ok(ControlFlow::Break(()))
    })
    .await?;
    Ok(is_empty)
}

/// The digest of a table.
pub(super) async fn digest(session: &mut Session<'_>, table: &Table) -> Result<Digest, StoreError> {
    let mut digest = Digest::default();
    each(session, &format!("SELECT {} FROM {}", table.list(), table.name), |row| {
        digest.add(&table.values(row, 0)?);
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    Ok(digest)
}

/// Shows all rows of a statement, one after the other, as long as somebody wants to see them.
async fn each(
    session: &mut Session<'_>,
    sql: &str,
    mut visit: impl FnMut(&Row) -> Result<ControlFlow<()>, StoreError>,
) -> Result<(), StoreError> {
    let connection = match session {
        Session::Sqlite(connection) => return each_of_sqlite(connection, sql, visit),
        Session::Postgres(connection) => connection,
    };
    let mut rows = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch(&mut **connection);
    while let Some(row) = rows.try_next().await? {
        if visit(&Row::Postgres(row))?.is_break() {
            break;
        }
    }
    Ok(())
}

fn each_of_sqlite(
    connection: &rusqlite::Connection,
    sql: &str,
    mut visit: impl FnMut(&Row) -> Result<ControlFlow<()>, StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(source) = rows.next()? {
        let mut copy = RowCopy::default();
        statements::copy(source, columns, &mut copy)?;
        if visit(&Row::Copied(copy))?.is_break() {
            break;
        }
    }
    Ok(())
}

fn embedded<'s>(session: &'s mut Session<'_>) -> Result<&'s rusqlite::Connection, StoreError> {
    match session {
        Session::Sqlite(connection) => Ok(connection),
        Session::Postgres(_) => Err(StoreError::Database("a move is from SQLite".into())),
    }
}
