//! Keeps the journal short. SQLite appends to it and begins anew at its start once everything in it is in the database and
//! nobody reads from it any more; where somebody always reads, that moment never comes by itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::BUSY_TIMEOUT;
use super::checkpoints::Checkpoints;
use crate::StoreError;

/// How long readers of older states are waited for. Whoever writes waits as long.
const READERS_TIMEOUT: Duration = Duration::from_millis(200);

/// Pages of 4 kB that wait in the journal until they are copied to where they belong. The more of them, the fewer are copied
/// several times, and the longer it takes to open a database after a crash.
const PAGES_WAITING: u64 = 4_000;

/// The journal of a database, as its writer sees it.
pub(super) struct Journal {
    path: PathBuf,
    checkpoints: Checkpoints,
    bytes_max: u64,
    /// The length from which on emptying it is tried.
    try_above: u64,
}

impl Journal {
    pub(super) fn of(database: &Path, bytes_max: u64) -> io::Result<Self> {
        let checkpoints = Checkpoints::start(database)?;
        Ok(Self { path: path_of(database), checkpoints, bytes_max, try_above: bytes_max })
    }

    /// Sees to it that what was committed gets to where it belongs, and that the journal does not become too long.
    pub(super) fn tend(&mut self, connection: &Connection) {
        match pages_waiting(connection) {
            Ok(pages) if pages >= PAGES_WAITING => self.checkpoints.ask(),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "looking at the journal of the database"),
        }
        self.shorten(connection);
    }

    /// Empties the journal if it is too long, as it gets where somebody writes all the time: it begins anew only once all of
    /// it is copied. Whoever reads an older state for long keeps it from that: then it is tried again once it has grown by a
    /// quarter of what it may have, and the log tells.
    fn shorten(&mut self, connection: &Connection) {
        let bytes = bytes_of(&self.path);
        if bytes <= self.bytes_max {
            self.try_above = self.bytes_max;
            return;
        }
        if bytes <= self.try_above {
            return;
        }
        let turn = self.checkpoints.turn();
        let emptied = empty(connection);
        drop(turn);
        match emptied {
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

/// How many pages of the journal are not copied to where they belong.
fn pages_waiting(connection: &Connection) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
    // Both are -1 where there is no journal.
    let [all, copied] = statement.query_row([], |row| Ok([row.get::<_, i64>(1)?, row.get(2)?]))?;
    Ok(u64::try_from(all - copied).unwrap_or(0))
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

    /// Neither the writer nor SQLite copies anything here: the journal may be longer than it gets.
    #[tokio::test]
    async fn what_is_committed_gets_to_where_it_belongs_beside_the_writer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let options = OpenOptions { journal_bytes_max: u64::MAX >> 1, ..OpenOptions::default() };
        let engine = Sqlite::open(&path, options).await.unwrap();
        let created = engine.write(
            |mut session| Box::pin(async move { session.script("CREATE TABLE t (text TEXT)").await }),
            |()| (),
        );
        created.await.unwrap();
        let watcher = open_reader(&path, ONCE_CACHE_SIZE).unwrap();
        write(&engine).await;
        assert!(pages_waiting(&watcher).unwrap() > 0, "few wait for more");
        while engine.journal_bytes() < PAGES_WAITING * 4_096 {
            write(&engine).await;
        }
        // The writer asks for it after it has answered: the one behind finds that done.
        write(&engine).await;
        let copied = async {
            while pages_waiting(&watcher).unwrap() >= PAGES_WAITING {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), copied).await.unwrap();
    }
}
