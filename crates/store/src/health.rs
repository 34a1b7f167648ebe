//! Looking at the database without changing it.

use crate::StoreError;
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::migrate::{Migration, newest_applied};
use crate::session::Session;

/// How the tables stand to this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaState {
    /// Newest migration applied, 0 for an empty database.
    pub applied: i64,
    /// Newest migration this program knows.
    pub known: i64,
}

/// What to do about the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationState {
    /// Nothing.
    UpToDate,
    /// Migrations are applied at the next start.
    Behind,
    /// The program is too old for the database.
    Ahead,
}

impl SchemaState {
    /// What to do about it.
    pub fn state(&self) -> MigrationState {
        match self.applied.cmp(&self.known) {
            std::cmp::Ordering::Less => MigrationState::Behind,
            std::cmp::Ordering::Equal => MigrationState::UpToDate,
            std::cmp::Ordering::Greater => MigrationState::Ahead,
        }
    }
}

impl Store {
    /// Whether the database answers.
    pub fn ping(&self) -> Pending<'_, ()> {
        self.read(|mut session| Box::pin(async move { session.has("SELECT 1", args![]).await.map(drop) }))
    }

    /// Which migrations the database has.
    pub fn schema_state(&self) -> Pending<'_, SchemaState> {
        self.read(|mut session| {
            Box::pin(async move {
                let applied =
                    if has_history(&mut session).await? { newest_applied(&mut session).await? } else { 0 };
                Ok(SchemaState { applied, known: Migration::newest() })
            })
        })
    }
}

/// Whether the database has the table in which migrations are noted.
pub(crate) async fn has_history(session: &mut Session<'_>) -> Result<bool, StoreError> {
    let sql = match session {
        Session::Sqlite(_) => "SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'",
        Session::Postgres(_) => "SELECT 1::BIGINT WHERE to_regclass('schema_migrations') IS NOT NULL",
    };
    session.has(sql, args![]).await
}
