//! Noticing what others changed.

use crate::backend::{Pending, PostgresWatch, SqliteWatch};

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
    pub fn changed(&mut self) -> Pending<'_, ()> {
        match self {
            Self::Sqlite(watch) => Box::pin(watch.changed()),
            Self::Postgres(watch) => Box::pin(watch.changed()),
        }
    }
}
