//! One connection in use, whichever engine it belongs to.

use std::borrow::Cow;

use sqlx::AssertSqlSafe;

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::postgres::arrays::{Arrays, chunks};
use crate::backend::postgres::{Borrowed, insert, sums};
use crate::backend::sqlite::{functions, statements};
use crate::collections::CollectionId;
use crate::columns::{self, Columns, Insert, Value};
use crate::row::{Cell, Row};
#[cfg(feature = "testing")]
use crate::testing::{citus_rules, fan_out, row_counts};

/// A borrowed connection, in or out of a transaction.
pub(crate) enum Session<'c> {
    /// A connection of the thread that this runs on. Its statements are through before they return.
    Sqlite(&'c mut rusqlite::Connection),
    Postgres(Borrowed<'c>),
}

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
        #[cfg(feature = "testing")]
        citus_rules::check(&sql)?;
        Ok(match self {
            Self::Sqlite(connection) => statements::execute(connection, &sql, &args)?,
            Self::Postgres(connection) => {
                #[cfg(feature = "testing")]
                explain(connection, &sql, &args).await?;
                connection.note(&sql);
                bound!(sql, args).execute(&mut **connection).await?.rows_affected()
            }
        })
    }

    /// Runs a statement and reads all its rows.
    async fn rows(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, StoreError> {
        let sql = sql.into().into_owned();
        #[cfg(feature = "testing")]
        citus_rules::check(&sql)?;
        #[cfg(feature = "testing")]
        let text = sql.clone();
        let rows = match self {
            Self::Sqlite(connection) => statements::all(connection, &sql, [args])?,
            Self::Postgres(connection) => {
                #[cfg(feature = "testing")]
                explain(connection, &sql, &args).await?;
                connection.note(&sql);
                let again = connection.is_untried().then(|| bound!(sql.clone(), args.clone()));
                let rows = connection.fetch_all(bound!(sql, args), again).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        };
        #[cfg(feature = "testing")]
        row_counts::note(text, rows.len());
        Ok(rows)
    }

    /// All rows of `SELECT` the columns of `T`, then `rest`, which begins with `FROM`.
    pub(crate) async fn select<T: Columns>(
        &mut self,
        rest: impl AsRef<str>,
        args: Vec<Arg>,
    ) -> Result<Vec<T>, StoreError> {
        let sql = format!("SELECT {} {}", columns::list::<T>(), rest.as_ref());
        self.rows(sql, args).await?.iter().map(columns::read).collect()
    }

    /// The first row of `SELECT` the columns of `T`, then `rest`, if there is one.
    pub(crate) async fn select_first<T: Columns>(
        &mut self,
        rest: impl AsRef<str>,
        args: Vec<Arg>,
    ) -> Result<Option<T>, StoreError> {
        let sql = format!("SELECT {} {}", columns::list::<T>(), rest.as_ref());
        self.rows(sql, args).await?.first().map(columns::read).transpose()
    }

    /// Runs a statement that writes, and reads the columns of `T` of the first row that it wrote.
    pub(crate) async fn returning<T: Columns>(
        &mut self,
        sql: impl AsRef<str>,
        args: Vec<Arg>,
    ) -> Result<Option<T>, StoreError> {
        let sql = format!("{} RETURNING {}", sql.as_ref(), columns::list::<T>());
        self.rows(sql, args).await?.first().map(columns::read).transpose()
    }

    /// The one column of all rows of a statement.
    pub(crate) async fn values<T: Value>(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<Vec<T>, StoreError> {
        self.rows(sql, args).await?.iter().map(only).collect()
    }

    /// The one column of the first row of a statement, if there is one.
    pub(crate) async fn value<T: Value>(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<Option<T>, StoreError> {
        self.rows(sql, args).await?.first().map(only).transpose()
    }

    /// Whether a statement has a row.
    pub(crate) async fn has(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        args: Vec<Arg>,
    ) -> Result<bool, StoreError> {
        Ok(!self.rows(sql, args).await?.is_empty())
    }

    /// What remains of offers takes of their makers' money together, as an expression whose value is an amount.
    pub(crate) fn offer_costs(&self) -> String {
        match self {
            Self::Sqlite(_) => functions::OFFER_COSTS.to_owned(),
            Self::Postgres(_) => sums::offer_costs(),
        }
    }

    /// Runs several statements that take no arguments, each of which ends with its line. One after the other: Citus hands
    /// the text of what it is sent on to its workers, which take one statement at a time.
    pub(crate) async fn script(&mut self, sql: impl Into<Cow<'static, str>>) -> Result<(), StoreError> {
        let sql = sql.into();
        match self {
            Self::Sqlite(connection) => connection.execute_batch(&sql)?,
            Self::Postgres(connection) => {
                for statement in statements_of(&sql) {
                    connection.note(statement);
                    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut **connection).await?;
                }
            }
        }
        Ok(())
    }

    /// Inserts rows with as few statements as possible. No two may have the same key: PostgreSQL refuses to touch a row
    /// twice. `conflict` says what becomes of those that are there already.
    pub(crate) async fn insert(&mut self, insert: Insert, conflict: &str) -> Result<(), StoreError> {
        self.insert_rows(insert, conflict, Returning::Nothing).await.map(drop)
    }

    /// The same, and reads the columns of `T` of every row that was written.
    pub(crate) async fn insert_returning<T: Columns>(
        &mut self,
        insert: Insert,
        conflict: &str,
    ) -> Result<Vec<T>, StoreError> {
        let returning = Returning::columns::<T>();
        self.insert_rows(insert, conflict, returning).await?.iter().map(columns::read).collect()
    }

    /// The same, and tells how many rows were written.
    pub(crate) async fn insert_counting(
        &mut self,
        insert: Insert,
        conflict: &str,
    ) -> Result<u64, StoreError> {
        Ok(self.insert_rows(insert, conflict, Returning::Count).await?.len() as u64)
    }

    async fn insert_rows(
        &mut self,
        insert: Insert,
        conflict: &str,
        returning: Returning,
    ) -> Result<Vec<Row>, StoreError> {
        let Some(columns) = insert.rows.first().map(Vec::len) else { return Ok(Vec::new()) };
        let tail = format!("{conflict} {}", returning.sql());
        #[cfg(feature = "testing")]
        citus_rules::check(&format!("INSERT INTO {} VALUES ($1) {tail}", insert.into))?;
        match self {
            Self::Sqlite(connection) => {
                statements::insert(connection, &insert.into, &tail, columns, insert.rows)
            }
            // Citus takes a longer way for rows that a query gives, in two phases, which is not worth it for a few.
            Self::Postgres(connection) if insert.rows.len() <= connection.rows_by_value_max(&insert) => {
                let rows = (0..insert.rows.len()).map(|row| format!("({})", list(columns, row * columns)));
                let rows = rows.collect::<Vec<_>>().join(",");
                let sql = format!("INSERT INTO {} VALUES {rows} {tail}", insert.into);
                self.rows(sql, insert.rows.into_iter().flatten().collect()).await
            }
            Self::Postgres(connection) => insert::rows(connection, insert, conflict, &returning).await,
        }
    }

    /// Reads the rows of a collection that have these keys, with as few statements as possible. A row comes as often as its
    /// key is named.
    pub(crate) async fn keyed<T: Columns>(
        &mut self,
        id: CollectionId,
        keys: Keys<'_>,
    ) -> Result<Vec<T>, StoreError> {
        self.keyed_rows::<T>(id, keys).await?.iter().map(columns::read).collect()
    }

    /// The same, as rows that have the columns of `T`, for who does not need all of them.
    pub(crate) async fn keyed_rows<T: Columns>(
        &mut self,
        id: CollectionId,
        Keys { from, columns: names, keys }: Keys<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let list = columns::list::<T>();
        let connection = match self {
            Self::Sqlite(connection) => {
                let same = names.replace(", ", " = ? AND ");
                let sql = format!("SELECT {list} FROM {from} WHERE collection_id = ? AND {same} = ?");
                #[cfg(feature = "testing")]
                citus_rules::check(&sql)?;
                let keys = keys.into_iter().map(|key| args![id.0].into_iter().chain(key).collect());
                return statements::all(connection, &sql, keys);
            }
            // A cluster has its way to one row ready, and plans anew for what takes arrays.
            Self::Postgres(_) if keys.len() == 1 => {
                let same = names.split(", ").zip(2..).map(|(name, place)| format!("{name} = ${place}"));
                let same = same.collect::<Vec<_>>().join(" AND ");
                let sql = format!("SELECT {list} FROM {from} WHERE collection_id = $1 AND {same}");
                return self
                    .rows(sql, args![id.0].into_iter().chain(keys.into_iter().flatten()).collect())
                    .await;
            }
            Self::Postgres(connection) => connection,
        };
        let same: Vec<String> = names.split(", ").map(|name| format!("{name} = keys.{name}")).collect();
        let mut found = Vec::with_capacity(keys.len());
        for chunk in chunks(keys) {
            let arrays = Arrays::of(chunk)?;
            // Behind `OFFSET 0` each key is looked up by itself. A join would be planned by how many rows a collection has, of
            // which PostgreSQL has no idea while it grows, and then read all of them.
            let sql = format!(
                "SELECT found.* FROM {} AS keys ({names}) CROSS JOIN LATERAL
                (SELECT {list} FROM {from} WHERE collection_id = ${} AND {} OFFSET 0) AS found",
                arrays.rows(),
                arrays.len() + 1,
                same.join(" AND ")
            );
            found.extend(arrays.run(connection, sql, Some(id.0.cast_signed())).await?);
        }
        Ok(found)
    }
}

/// Looks at how a cluster would run a statement.
#[cfg(feature = "testing")]
async fn explain(connection: &mut sqlx::PgConnection, sql: &str, args: &[Arg]) -> Result<(), StoreError> {
    if fan_out::is_new(sql) {
        let explained = format!("{} {sql}", fan_out::EXPLAIN);
        fan_out::check(connection, sql, bound!(explained, args.iter().cloned())).await?;
    }
    Ok(())
}

/// The statements of a script, without what is only commented.
fn statements_of(script: &str) -> impl Iterator<Item = &str> {
    let is_code = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("--");
    script.split_inclusive(";\n").map(str::trim).filter(move |statement| statement.lines().any(is_code))
}

/// What is told of rows that were inserted.
pub(crate) enum Returning {
    Nothing,
    /// How many they are.
    Count,
    /// These columns of each.
    Columns(String, Vec<&'static str>),
}

impl Returning {
    fn columns<T: Columns>() -> Self {
        let mut list = Vec::new();
        T::columns(&mut list);
        Self::Columns(columns::list::<T>(), list.into_iter().map(|column| column.name).collect())
    }

    pub(crate) fn sql(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Count => "RETURNING 1".to_owned(),
            Self::Columns(list, _) => format!("RETURNING {list}"),
        }
    }
}

/// Which rows of a collection are read.
pub(crate) struct Keys<'a> {
    /// A table, or what else is read from.
    pub(crate) from: &'a str,
    /// The columns that a key has a value for.
    pub(crate) columns: &'a str,
    pub(crate) keys: Vec<Vec<Arg>>,
}

pub(crate) fn only<T: Value>(row: &Row) -> Result<T, StoreError> {
    let cell = Cell { row, position: 0, column: "value" };
    if row.len() == 1 { T::read(cell) } else { Err(cell.corrupt("it is not the only one of its row")) }
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
    fn a_script_is_its_statements() {
        let script =
            "-- Shelves; all of them.\nCREATE TABLE a (\n    b TEXT\n);\n\nDROP TABLE c;\n-- That is all.\n";
        let statements: Vec<&str> = statements_of(script).collect();
        let first = "-- Shelves; all of them.\nCREATE TABLE a (\n    b TEXT\n);";
        assert_eq!(statements, [first, "DROP TABLE c;"]);
        assert_eq!(statements_of("").count(), 0);
    }

    #[test]
    fn lists_count_through() {
        assert_eq!(list(3, 2), "$3,$4,$5");
        assert_eq!(list(0, 2), "NULL");
    }
}
