//! Noticing what others changed.

use crate::StoreError;
use crate::backend::{PostgresWatch, SqliteWatch};

/// Wakes up when anyone, in this process or another, may have changed the database.
pub enum Watcher {
    /// Looks at the file's change counter.
    Sqlite(SqliteWatch),
    /// Listens for notifications, and sweeps.
    Postgres(PostgresWatch),
}

impl Watcher {
    /// Returns when something may have changed. Waking for nothing is possible, missing a change is not: what was
    /// committed before the call is seen by whoever looks after it returns.
    pub async fn changed(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(watch) => watch.changed().await,
            Self::Postgres(watch) => watch.changed().await,
        }
    }
}
