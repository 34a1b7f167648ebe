//! Databases as programs of every schema left them, and everything that is in one.

use std::collections::{BTreeMap, BTreeSet};

use bourse_wire::Timestamp;

use super::TestDatabase;
use crate::args::args;
use crate::session::Session;
use crate::{OpenOptions, Store, StoreError};

/// Where the rows are that a program of each schema could write and an earlier one could not, by the number of the schema. They
/// are never changed, as the migrations are not.
const ROWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/testing/past");

/// The access key of the project that all of these databases have, which is project 1.
pub const PAST_KEY: &str = "AQAAAAAAAAABAQIDBAUGBwgJCgsMDQ4PEBE";

/// Ids up to this one were given out.
pub const PAST_IDS: u64 = 100;

/// Where a table's columns are.
type Columns = BTreeMap<String, BTreeSet<String>>;

/// The columns of every table, and its rows with the values of these columns in that order, as the engine spells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    columns: Columns,
    /// The rows of each table, sorted.
    pub rows: BTreeMap<String, Vec<String>>,
}

impl TestDatabase {
    /// Makes one as a program of this schema left it, with rows in every table that it had. Nobody has it open.
    pub async fn of_schema(schema: i64) -> Result<Self, StoreError> {
        Self::of_schema_and(schema, String::new()).await
    }

    /// The same after a script.
    pub async fn of_schema_and(schema: i64, script: String) -> Result<Self, StoreError> {
        let database = Self::empty().await?;
        let options = OpenOptions { connections_max: 1, ..OpenOptions::default() };
        let store = Store::connect(&database.url, options).await?;
        store.migrate_to(schema, Timestamp::ZERO).await?;
        for schema in 1..=schema {
            add_past_rows(&store, schema).await?;
        }
        store.write(move |mut session| Box::pin(async move { session.script(script).await })).await?;
        store.close().await;
        Ok(database)
    }
}

/// Adds the rows that a program of this schema could write and an earlier one could not. A schema that brought no place for
/// rows may have none.
pub async fn add_past_rows(store: &Store, schema: i64) -> Result<(), StoreError> {
    let rows = std::fs::read_to_string(format!("{ROWS}/{schema:04}.sql")).unwrap_or_default();
    store
        .write(move |mut session| {
            Box::pin(async move {
                let (opening, closing) = match session {
                    Session::Sqlite(_) => ("X'", "'"),
                    Session::Postgres(_) => ("'\\x", "'::BYTEA"),
                };
                let mut pieces = rows.split("BYTES(");
                let mut sql = pieces.next().unwrap_or_default().to_owned();
                for piece in pieces {
                    let (bytes, rest) = piece.split_once(')').unwrap_or((piece, ""));
                    sql.extend([opening, bytes, closing, rest]);
                }
                session.script(sql).await?;
                give_out_ids(&mut session).await
            })
        })
        .await
}

async fn give_out_ids(session: &mut Session<'_>) -> Result<(), StoreError> {
    let sql = match session {
        Session::Sqlite(_) => "UPDATE id_counters SET value = $1 RETURNING value",
        Session::Postgres(_) => {
            "SELECT setval(oid::regclass, $1) FROM pg_class
            WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace"
        }
    };
    session.values::<u64>(sql, args![PAST_IDS]).await.map(drop)
}

/// Notes a migration that was not applied, as another program does.
pub async fn note_schema(
    database: &TestDatabase,
    version: i64,
    name: &'static str,
) -> Result<(), StoreError> {
    let store = Store::connect(&database.url, OpenOptions::default()).await?;
    store
        .write(move |mut session| {
            Box::pin(async move {
                let sql = "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, '')";
                session.execute(sql, args![version, name]).await.map(drop)
            })
        })
        .await?;
    store.close().await;
    Ok(())
}

/// Everything that is in the tables of a database; with `only`, in its tables and columns. A database without tables
/// has none.
pub async fn tables_of(database: &TestDatabase, only: Option<&Tables>) -> Result<Tables, StoreError> {
    let columns = only.map(|only| only.columns.clone());
    let read = Store::look(&database.url, move |mut session| {
        Box::pin(async move { tables(&mut session, columns).await })
    });
    Ok(read.await?.unwrap_or_default())
}

async fn tables(session: &mut Session<'_>, columns: Option<Columns>) -> Result<Tables, StoreError> {
    let columns = match columns {
        Some(columns) => columns,
        None => columns_of(session).await?,
    };
    let mut rows = BTreeMap::new();
    for (table, names) in &columns {
        let spelled = names.iter().map(|name| match session {
            Session::Sqlite(_) => format!("quote({name})"),
            Session::Postgres(_) => format!("quote_nullable({name}::TEXT)"),
        });
        let spelled = spelled.collect::<Vec<_>>().join(" || ', ' || ");
        let mut found: Vec<String> =
            session.values(format!("SELECT {spelled} FROM {table}"), args![]).await?;
        found.sort();
        rows.insert(table.clone(), found);
    }
    Ok(Tables { columns, rows })
}

async fn columns_of(session: &mut Session<'_>) -> Result<Columns, StoreError> {
    let sql = match session {
        Session::Sqlite(_) => {
            "SELECT tables.name || '.' || columns.name FROM sqlite_master tables, pragma_table_info(tables.name) columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'"
        }
        Session::Postgres(_) => {
            "SELECT columns.table_name || '.' || columns.column_name FROM information_schema.columns
            JOIN information_schema.tables ON tables.table_schema = columns.table_schema
            AND tables.table_name = columns.table_name
            WHERE tables.table_schema = current_schema() AND tables.table_type = 'BASE TABLE'"
        }
    };
    let mut columns = Columns::new();
    for name in session.values::<String>(sql, args![]).await? {
        if let Some((table, column)) = name.split_once('.') {
            columns.entry(table.to_owned()).or_default().insert(column.to_owned());
        }
    }
    // When each migration ran differs by its nature, and ids are given out with gaps.
    columns.remove("id_counters");
    if let Some(history) = columns.get_mut("schema_migrations") {
        history.remove("applied_at");
    }
    Ok(columns)
}
