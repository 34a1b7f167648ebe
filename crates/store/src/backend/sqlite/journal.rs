//! Keeps the journal short. SQLite appends to it and begins anew at its start once everything in it is in the database and
//! nobody reads from it any more; where somebody always reads, that moment never comes by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::BUSY_TIMEOUT;
use crate::StoreError;

/// How long readers of older states are waited for. Whoever writes waits as long.
const READERS_TIMEOUT: Duration = Duration::from_millis(200);

/// The journal of a database, as its writer sees it.
pub(super) struct Journal {
    path: PathBuf,
    bytes_max: u64,
    /// The length from which on emptying it is tried.
    try_above: u64,
}

impl Journal {
    pub(super) fn of(database: &Path, bytes_max: u64) -> Self {
        Self { path: path_of(database), bytes_max, try_above: bytes_max }
    }

    /// Empties the journal if it is too long. Whoever reads an older state for long keeps it from that: then it is tried
    /// again once it has grown by a quarter of what it may have, and the log tells.
    pub(super) fn shorten(&mut self, connection: &Connection) {
        let bytes = bytes_of(&self.path);
        if bytes <= self.bytes_max {
            self.try_above = self.bytes_max;
            return;
        }
        if bytes <= self.try_above {
            return;
        }
        match empty(connection) {
            Ok(true) => self.try_above = self.bytes_max,
            Ok(false) => {
                self.try_above = bytes + self.bytes_max / 4;
                tracing::warn!(
                    journal.bytes = bytes,
                    journal.bytes_max = self.bytes_max,
                    "the journal of the database grows: somebody has been reading an older state for long, such as a \
                    backup or the loading of a large collection"
                );
            }
            Err(error) => {
                self.try_above = bytes + self.bytes_max / 4;
                tracing::warn!(%error, journal.bytes = bytes, "emptying the journal of the database");
            }
        }
    }
}

/// Where the journal of a database is.
pub(super) fn path_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// How long a journal is, which need not be there.
pub(super) fn bytes_of(journal: &Path) -> u64 {
    fs::metadata(journal).map_or(0, |metadata| metadata.len())
}

/// Copies everything in the journal to where it belongs and cuts it. Tells whether that could be done now.
fn empty(connection: &Connection) -> Result<bool, StoreError> {
    connection.busy_timeout(READERS_TIMEOUT)?;
    let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!emptied?)
}

#[cfg(test)]
mod tests {
    use super::super::Sqlite;
    use super::super::readers::{ONCE_CACHE_SIZE, open_reader};
    use super::*;
    use crate::OpenOptions;

    const BYTES_MAX: u64 = 1_000_000;

    async fn write(engine: &Sqlite) {
        let sql = "INSERT INTO t VALUES (hex(zeroblob(50000)))";
        let written =
            engine.write(move |mut session| Box::pin(async move { session.script(sql).await }), |()| ());
        written.await.unwrap();
    }

    #[tokio::test]
    async fn a_journal_that_grew_behind_a_long_reader_is_short_again_afterwards() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let options = OpenOptions { journal_bytes_max: BYTES_MAX, ..OpenOptions::default() };
        let engine = Sqlite::open(&path, options).await.unwrap();
        let created = engine.write(
            |mut session| Box::pin(async move { session.script("CREATE TABLE t (text TEXT)").await }),
            |()| (),
        );
        created.await.unwrap();
        let mut reader = open_reader(&path, ONCE_CACHE_SIZE).unwrap();
        let snapshot = reader.transaction().unwrap();
        let count = |snapshot: &Connection| -> u64 {
            snapshot.query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count(&snapshot), 0);
        for _ in 0..30 {
            write(&engine).await;
        }
        assert_eq!(count(&snapshot), 0, "it sees what it saw");
        assert!(engine.journal_bytes() > 2 * BYTES_MAX, "{}", engine.journal_bytes());
        drop(snapshot);
        // The writer looks after it has answered: the second one finds that done.
        for _ in 0..30 {
            write(&engine).await;
        }
        write(&engine).await;
        let bytes = engine.journal_bytes();
        assert!(bytes <= BYTES_MAX + BYTES_MAX / 4, "{bytes}");
        assert_eq!(count(&open_reader(&path, ONCE_CACHE_SIZE).unwrap()), 61);
    }

    #[tokio::test]
    async fn a_journal_stays_short_where_nobody_reads_for_long() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let options = OpenOptions { journal_bytes_max: BYTES_MAX, ..OpenOptions::default() };
        let engine = Sqlite::open(&path, options).await.unwrap();
        let created = engine.write(
            |mut session| Box::pin(async move { session.script("CREATE TABLE t (text TEXT)").await }),
            |()| (),
        );
        created.await.unwrap();
        for _ in 0..60 {
            write(&engine).await;
            let bytes = engine.journal_bytes();
            assert!(bytes <= BYTES_MAX + BYTES_MAX / 4, "{bytes}");
        }
    }
}
