//! One connection in use, whichever engine it belongs to.

use std::borrow::Cow;
use std::fmt::Write as _;

use sqlx::{AssertSqlSafe, PgConnection};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::sqlite::statements;
use crate::collections::CollectionId;
use crate::row::Row;

/// A borrowed connection, in or out of a transaction.
pub(crate) enum Session<'c> {
    /// A connection of the thread that this runs on. Its statements are through before they return.
    Sqlite(&'c mut rusqlite::Connection),
    Postgres(&'c mut PgConnection),
}

/// Arguments that one statement may carry: the lower of both engines' limits, with room to spare.
const STATEMENT_ARGS_MAX: usize = 4_000;

/// Keys that one statement looks up.
const KEYS_PER_READ: usize = 500;

macro_rules! bound {
    ($sql:expr, $args:expr) => {{
        let mut query = sqlx::query(AssertSqlSafe($sql));
        for arg in $args {
            query = match arg {
                Arg::Int(value) => query.bind(value),
                Arg::Text(value) => query.bind(value),
                Arg::Bool(value) => query.bind(value),
                Arg::Bytes(value) => query.bind(value),
            };
        }
        query
    }};
}

impl Session<'_> {
    /// Runs a statement and tells how many rows it touched.
    pub(crate) async fn execute(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<u64, StoreError> {
        let sql = sql.into().into_owned();
        Ok(match self {
            Self::Sqlite(connection) => statements::execute(connection, &sql, &args)?,
            Self::Postgres(connection) => bound!(sql, args).execute(&mut **connection).await?.rows_affected(),
        })
    }

    /// Runs a statement and reads all its rows.
    pub(crate) async fn all(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, StoreError> {
        let sql = sql.into().into_owned();
        Ok(match self {
            Self::Sqlite(connection) => statements::all(connection, &sql, [args])?,
            Self::Postgres(connection) => {
                bound!(sql, args).fetch_all(&mut **connection).await?.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// Runs a statement and reads its first row, if there is one.
    pub(crate) async fn first(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<Option<Row>, StoreError> {
        let sql = sql.into().into_owned();
        Ok(match self {
            Self::Sqlite(connection) => statements::all(connection, &sql, [args])?.into_iter().next(),
            Self::Postgres(connection) => {
                bound!(sql, args).fetch_optional(&mut **connection).await?.map(Row::Postgres)
            }
        })
    }

    /// Runs several statements that take no arguments.
    pub(crate) async fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(sql)?,
            Self::Postgres(connection) => sqlx::raw_sql(sql).execute(&mut **connection).await.map(drop)?,
        }
        Ok(())
    }

    /// Inserts many rows with as few statements as possible: `{head} VALUES (..), (..) {tail}`. Returns the rows
    /// of a `RETURNING` in the tail. No two rows may have the same key: PostgreSQL refuses to touch a row twice.
    pub(crate) async fn insert(
        &mut self,
        head: &str,
        tail: &str,
        rows: Vec<Vec<Arg>>,
    ) -> Result<Vec<Row>, StoreError> {
        let Some(columns) = rows.first().map(Vec::len) else { return Ok(Vec::new()) };
        if let Self::Sqlite(connection) = self {
            return statements::insert(connection, head, tail, columns, rows);
        }
        let rows_max = STATEMENT_ARGS_MAX / columns;
        let mut returned = Vec::new();
        let mut rows = rows.into_iter();
        loop {
            let chunk: Vec<Vec<Arg>> = rows.by_ref().take(rows_max).collect();
            if chunk.is_empty() {
                return Ok(returned);
            }
            let sql = format!("{head} VALUES {} {tail}", placeholders(chunk.len(), columns, 0));
            returned.extend(self.all(sql, chunk.into_iter().flatten().collect()).await?);
        }
    }

    /// Reads the rows of a collection that have these keys, with as few statements as possible. A key is one value for
    /// each of `columns`; a row comes as often as its key is named.
    pub(crate) async fn keyed(
        &mut self,
        select: &str,
        id: CollectionId,
        columns: &str,
        keys: Vec<Vec<Arg>>,
    ) -> Result<Vec<Row>, StoreError> {
        if let Self::Sqlite(connection) = self {
            let columns = columns.replace(", ", " = ? AND ");
            let sql = format!("{select} WHERE collection_id = ? AND {columns} = ?");
            let keys = keys.into_iter().map(|key| args![id.0].into_iter().chain(key).collect());
            return statements::all(connection, &sql, keys);
        }
        let mut found = Vec::with_capacity(keys.len());
        let mut keys = keys.into_iter();
        loop {
            let chunk: Vec<Vec<Arg>> = keys.by_ref().take(KEYS_PER_READ).collect();
            let Some(first) = chunk.first() else { return Ok(found) };
            let values = placeholders(chunk.len(), first.len(), 0);
            let owner = placeholders(1, 1, chunk.len() * first.len());
            // Behind `OFFSET 0` each key is looked up by itself. A join would be planned by how many rows a collection has, of
            // which PostgreSQL has no idea while it grows, and then read all of them.
            let same: Vec<String> =
                columns.split(", ").map(|name| format!("{name} = keys.{name}")).collect();
            let sql = format!(
                "WITH keys ({columns}) AS (VALUES {values}) SELECT found.* FROM keys CROSS JOIN LATERAL
                ({select} WHERE collection_id = {owner} AND {} OFFSET 0) AS found",
                same.join(" AND ")
            );
            let args = chunk.into_iter().flatten().chain(args![id.0]).collect();
            found.extend(self.all(sql, args).await?);
        }
    }
}

/// `($1,$2),($3,$4)` for two rows of two columns that come after no other arguments.
fn placeholders(rows: usize, columns: usize, after: usize) -> String {
    let mut text = String::with_capacity(rows * columns * 6);
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ",(" });
        for column in 0..columns {
            text.push_str(if column == 0 { "" } else { "," });
            // Writing to a string cannot fail.
            let _ = write!(text, "${}", after + row * columns + column + 1);
        }
        text.push(')');
    }
    text
}

/// `$3,$4,$5` for three arguments that follow two others. `NULL`, which nothing is equal to, for none: PostgreSQL
/// does not take `IN ()`.
pub(crate) fn list(count: usize, after: usize) -> String {
    if count == 0 {
        return "NULL".to_owned();
    }
    (1..=count).map(|index| format!("${}", after + index)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_count_through() {
        assert_eq!(list(3, 2), "$3,$4,$5");
        assert_eq!(list(0, 2), "NULL");
    }
}
