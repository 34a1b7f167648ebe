//! A copy of a database that may be in use, as it was at one moment.

use std::ffi::c_int;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::readers::{ONCE_CACHE_SIZE, open_reader};
use crate::StoreError;
use crate::health::SchemaState;
use crate::migrate::Migration;

/// Pages that are copied before somebody hears how far it is: 4 MiB as a rule.
const PAGES_AT_ONCE: c_int = 1_024;

/// Copies the database in the file `from` to the file `to`, which must not be there yet, and checks the copy. Whoever
/// writes meanwhile is not held up, and nothing of what they write from now on is in the copy. `progress` is told how many
/// pages are copied, and of how many.
pub fn copy_sqlite(
    from: &Path,
    to: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<SchemaState, StoreError> {
    let mut source = open_reader(from, ONCE_CACHE_SIZE)?;
    // The transaction pins the moment: without it every commit of another process would make the copying start over.
    let snapshot = source.transaction()?;
    let applied = snapshot.query_row("SELECT MAX(version) FROM schema_migrations", [], |row| row.get(0))?;
    let mut copy = Connection::open(to)?;
    // What remains of a copy that was interrupted is thrown away, so there is nothing to protect.
    copy.pragma_update(None, "journal_mode", "OFF")?;
    copy.pragma_update(None, "synchronous", "OFF")?;
    let backup = Backup::new(&snapshot, &mut copy)?;
    loop {
        let step = backup.step(PAGES_AT_ONCE)?;
        let pages = backup.progress();
        progress(u64_of(pages.pagecount - pages.remaining), u64_of(pages.pagecount));
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            other => return Err(StoreError::Database(format!("copying the database: {other:?}").into())),
        }
    }
    drop(backup);
    check(&copy)?;
    copy.close().map_err(|(_, error)| error)?;
    Ok(SchemaState { applied, known: Migration::newest() })
}

/// A database that is damaged is found now, not on the day when the copy is needed.
fn check(copy: &Connection) -> Result<(), StoreError> {
    // Otherwise reading the copy would make files beside it, as it is marked like its original.
    copy.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    let found: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(StoreError::corrupt("database", found)) }
}

fn u64_of(pages: c_int) -> u64 {
    u64::try_from(pages).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{DatabaseUrl, OpenOptions, Store};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_copy_is_whole_while_another_process_writes() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a.db"), directory.path().join("b.db"));
        let url = DatabaseUrl::Sqlite(from.clone());
        let store = Store::open(&url, OpenOptions::default(), "2025-01-01T00:00:00Z".parse().unwrap()).await;
        let other = Connection::open(&from).unwrap();
        other.busy_timeout(super::super::BUSY_TIMEOUT).unwrap();
        // Two tables with the same number of rows, in every moment that anybody can see; more than one step of pages.
        other.execute_batch("CREATE TABLE a (n, text); CREATE TABLE b (n, text);").unwrap();
        let both = "BEGIN IMMEDIATE; INSERT INTO a VALUES (1, zeroblob(200000));
            INSERT INTO b VALUES (1, zeroblob(200000)); COMMIT;";
        (0..20).for_each(|_| other.execute_batch(both).unwrap());
        let stop = AtomicBool::new(false);
        let mut steps = Vec::new();
        let state = std::thread::scope(|scope| {
            let stopped = &stop;
            let writer = scope.spawn(move || {
                let mut written = 0;
                while !stopped.load(Ordering::Relaxed) {
                    other.execute_batch(both).unwrap();
                    written += 1;
                }
                written
            });
            let state = copy_sqlite(&from, &to, |done, of| steps.push((done, of)));
            stop.store(true, Ordering::Relaxed);
            assert!(writer.join().unwrap() > 0, "nobody wrote meanwhile");
            state.unwrap()
        });
        assert_eq!(state.applied, Migration::newest());
        assert!(steps.len() > 1 && steps.iter().all(|(_, of)| *of == steps[0].1), "one moment: {steps:?}");
        let copy = Connection::open(&to).unwrap();
        let count = |table: &str| -> u64 {
            copy.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        assert!(count("a") >= 20 && count("a") == count("b"), "{} and {}", count("a"), count("b"));
        let names: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("b.db-")), "{names:?}");
        store.unwrap().close().await;
    }

    #[test]
    fn what_is_no_database_of_ours_is_not_copied() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a.db"), directory.path().join("b.db"));
        assert!(copy_sqlite(&from, &to, |_, _| ()).is_err(), "missing");
        assert!(!from.exists(), "and not made");
        std::fs::write(&from, "text").unwrap();
        assert!(copy_sqlite(&from, &to, |_, _| ()).is_err(), "no database");
        std::fs::remove_file(&from).unwrap();
        Connection::open(&from).unwrap().execute_batch("CREATE TABLE t (n)").unwrap();
        assert!(copy_sqlite(&from, &to, |_, _| ()).is_err(), "somebody else's");
    }
}
