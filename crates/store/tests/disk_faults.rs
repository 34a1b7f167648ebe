//! A disk that fails at every operation of a write, one after the other, in every way: what was acknowledged is there,
//! nothing is there by half, the database is whole, and the store goes on. `BOURSE_DISK_FAULTS=all` tries all of it; without,
//! long campaigns leave most numbers out. SQLite only: how PostgreSQL uses its disk is its own business.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod contacts;
    pub(crate) mod orders;
    pub(crate) mod projects;
    pub(crate) mod writings;
}

use std::path::{Path, PathBuf};
use std::time::Duration;

use bourse_disk::{Disk, Fault, Kept, Operation};
use bourse_store::testing::TestDatabase;
use bourse_store::{DatabaseUrl, MigrationState, OpenOptions, Store, StoreError, copy_sqlite};
use bourse_wire::Timestamp;
use support::contacts::Contacts;
use support::projects::project;
use support::writings::{Batches, CountsOf, Mints, Writing};

/// How every operation can fail, one by one.
const FAULTS: [(Operation, Fault); 10] = [
    (Operation::Open, Fault::Error),
    (Operation::Read, Fault::Error),
    (Operation::Write, Fault::Error),
    (Operation::Write, Fault::Full),
    (Operation::Write, Fault::Short),
    (Operation::Sync, Fault::Error),
    (Operation::Truncate, Fault::Error),
    (Operation::Delete, Fault::Error),
    (Operation::Lock, Fault::Error),
    (Operation::Map, Fault::Error),
];

/// Only ends a test that would wait forever.
const WAIT_MAX: Duration = Duration::from_mins(2);

#[expect(clippy::disallowed_methods, reason = "whoever runs tests says how many")]
fn is_whole() -> bool {
    std::env::var("BOURSE_DISK_FAULTS").is_ok_and(|asked| asked == "all")
}

/// The next number to try: each one when everything is tried, and else the first ones and then fewer and fewer.
fn next(nth: u32) -> u32 {
    if is_whole() { nth + 1 } else { nth + 1 + nth / 8 }
}

/// A database on a disk that can fail.
struct Stand {
    database: TestDatabase,
    disk: Disk,
    path: PathBuf,
}

impl Stand {
    /// `None` where tests are on PostgreSQL.
    async fn new() -> Option<Self> {
        Self::on(TestDatabase::fresh().await.unwrap())
    }

    async fn empty() -> Option<Self> {
        Self::on(TestDatabase::empty().await.unwrap())
    }

    fn on(database: TestDatabase) -> Option<Self> {
        let DatabaseUrl::Sqlite(path) = &database.url else { return None };
        let (path, disk) = (path.clone(), Disk::under(database.directory.path()).unwrap());
        Some(Self { database, disk, path })
    }

    async fn open(&self) -> Result<Store, StoreError> {
        self.database.open().await
    }

    /// Closes the store, and waits until all its files are closed.
    async fn close(&self, store: Store) {
        store.close().await;
        drop(store);
        let disk = self.disk.clone();
        let closed = tokio::task::spawn_blocking(move || disk.wait_until_closed(WAIT_MAX)).await.unwrap();
        assert!(closed, "a file stays open");
    }
}

/// What SQLite itself says of a database.
#[track_caller]
fn assert_whole(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let said: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok", "{}", path.display());
    let dangling = connection.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
    assert!(!dangling, "rows whose owner is missing");
}

/// What a disk that fails is called: nothing else failed here.
#[track_caller]
fn assert_named(error: &StoreError, fault: Fault) {
    match fault {
        Fault::Full | Fault::Short => assert!(matches!(error, StoreError::Full(_)), "{error:?}"),
        Fault::Error | Fault::PowerCut => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
    }
}

/// Lets every operation of a write fail on a store that goes on.
async fn fail_while_running<W: Writing>(name: &str, prepare: impl AsyncFnOnce(&Store) -> W) {
    let Some(stand) = Stand::new().await else { return };
    let store = stand.open().await.unwrap();
    let mut writing = prepare(&store).await;
    let (mut number, mut faults) = (0, 0);
    for (operation, fault) in FAULTS {
        let mut nth = 1;
        loop {
            number += 1;
            let case = format!("{name} {number}, {fault:?} at {operation:?} {nth}");
            stand.disk.fail(operation, nth, fault);
            let written = writing.write(&store, number).await;
            let was_hit = stand.disk.spare();
            assert!(
                writing.is_there(&store, number).await || written.is_err(),
                "acknowledged and gone: {case}"
            );
            if let Err(error) = &written {
                assert_named(error, fault);
            }
            writing.write(&store, number).await.unwrap_or_else(|error| panic!("{error}, after {case}"));
            assert!(writing.is_there(&store, number).await, "done again: {case}");
            if !was_hit {
                break;
            }
            faults += 1;
            nth = next(nth);
        }
    }
    stand.close(store).await;
    assert_whole(&stand.path);
    let store = stand.open().await.unwrap();
    for number in 1..=number {
        assert!(writing.is_there(&store, number).await, "{name} {number} is gone");
    }
    println!("{name} on a store that goes on: {faults} faults");
    assert!(faults > 5, "{name} meets its disk more often than {faults} times");
}

#[tokio::test]
async fn batches_survive_every_fault_of_a_running_store() {
    fail_while_running("batch", async |_| Batches).await;
}

#[tokio::test]
async fn counts_survive_every_fault_of_a_running_store() {
    fail_while_running("count", async |store| CountsOf(project(store).await)).await;
}

#[tokio::test]
async fn blocks_survive_every_fault_of_a_running_store() {
    fail_while_running("block", async |store| Mints::begin(store).await).await;
}

#[tokio::test]
async fn contacts_survive_every_fault_of_a_running_store() {
    fail_while_running("contact", async |store| Contacts::begin(store).await).await;
}

/// Writes that come at once share one transaction, which SQLite undoes as a whole where one of them meets a disk that
/// fails; one that is refused ends its part of it alone. Each time the store is opened anew, so that it has to read.
#[tokio::test(flavor = "multi_thread")]
async fn writes_that_share_a_commit_survive_every_fault() {
    let Some(stand) = Stand::new().await else { return };
    let store = stand.open().await.unwrap();
    let scope = project(&store).await;
    let taken =
        async |store: &Store| store.create_audience(scope, "taken".parse().unwrap(), Timestamp::ZERO).await;
    taken(&store).await.unwrap();
    stand.close(store).await;
    let (mut first, mut faults) = (1, 0);
    for (operation, fault) in FAULTS {
        let mut nth = 1;
        loop {
            let store = stand.open().await.unwrap();
            stand.disk.fail(operation, nth, fault);
            let write = async |number| Batches.write(&store, number).await;
            let (a, b, _, c, refused, d) = tokio::join!(
                write(first),
                write(first + 1),
                taken(&store),
                write(first + 2),
                taken(&store),
                write(first + 3)
            );
            let was_hit = stand.disk.spare();
            assert!(refused.is_err());
            for (number, written) in (first..).zip([a, b, c, d]) {
                let case = format!("batch {number}, {fault:?} at {operation:?} {nth}");
                let is_there = Batches.is_there(&store, number).await;
                assert!(is_there || written.is_err(), "acknowledged and gone: {case}");
                if let Err(error) = &written {
                    assert_named(error, fault);
                    Batches
                        .write(&store, number)
                        .await
                        .unwrap_or_else(|error| panic!("{error}, after {case}"));
                }
            }
            stand.close(store).await;
            first += 4;
            if !was_hit {
                break;
            }
            faults += 1;
            nth = next(nth);
        }
    }
    assert_whole(&stand.path);
    println!("writes that share a commit: {faults} faults");
    assert!(faults > 20, "{faults}");
}

/// Lets every operation fail of opening, one write and closing, which puts the journal back into the database.
async fn fail_through_a_life<W: Writing>(name: &str, prepare: impl AsyncFnOnce(&Store) -> W) {
    let Some(stand) = Stand::new().await else { return };
    let store = stand.open().await.unwrap();
    let mut writing = prepare(&store).await;
    stand.close(store).await;
    let (mut number, mut faults) = (0, 0);
    for (operation, fault) in FAULTS {
        let mut nth = 1;
        loop {
            number += 1;
            let case = format!("{name} {number}, {fault:?} at {operation:?} {nth}");
            stand.disk.fail(operation, nth, fault);
            let written = match stand.open().await {
                Ok(store) => {
                    let written = writing.write(&store, number).await;
                    stand.close(store).await;
                    written
                }
                Err(error) => Err(error),
            };
            let was_hit = stand.disk.spare();
            if let Err(error) = &written {
                assert_named(error, fault);
            }
            let store = stand.open().await.unwrap_or_else(|error| panic!("{error}, after {case}"));
            assert!(
                writing.is_there(&store, number).await || written.is_err(),
                "acknowledged and gone: {case}"
            );
            writing.write(&store, number).await.unwrap_or_else(|error| panic!("{error}, after {case}"));
            stand.close(store).await;
            if !was_hit {
                break;
            }
            faults += 1;
            nth = next(nth);
        }
    }
    assert_whole(&stand.path);
    let store = stand.open().await.unwrap();
    for number in 1..=number {
        assert!(writing.is_there(&store, number).await, "{name} {number} is gone");
    }
    println!("{name} through a life: {faults} faults");
    assert!(faults > 20, "a life meets its disk more often than {faults} times");
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_survive_every_fault_of_a_life() {
    fail_through_a_life("batch", async |_| Batches).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_survive_every_fault_of_a_life() {
    if is_whole() {
        fail_through_a_life("count", async |store| CountsOf(project(store).await)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_survive_every_fault_of_a_life() {
    if is_whole() {
        fail_through_a_life("block", async |store| Mints::begin(store).await).await;
    }
}

/// What power cuts leave: nothing that was not synced, all of it, or some.
const KEPT: [Kept; 4] = [Kept::Nothing, Kept::All, Kept::Some(1), Kept::Some(2)];

/// Cuts the power at every write and sync of a few writes and of what closing does, and opens what is left.
async fn cut_power<W: Writing>(name: &str, prepare: impl AsyncFn(&Store) -> W) {
    let mut cuts = 0;
    for operation in [Operation::Write, Operation::Sync, Operation::Truncate] {
        let mut nth = 1;
        loop {
            let Some(stand) = Stand::new().await else { return };
            let store = stand.open().await.unwrap();
            let mut writing = prepare(&store).await;
            stand.disk.fail(operation, nth, Fault::PowerCut);
            let mut acknowledged = 0;
            for number in 1..=3 {
                if writing.write(&store, number).await.is_err() {
                    break;
                }
                acknowledged = number;
            }
            stand.close(store).await;
            for kept in KEPT {
                let case = format!("{name}, power cut at {operation:?} {nth}, {kept:?} kept");
                let left = tempfile::tempdir().unwrap();
                stand.disk.after_power_cut(left.path(), kept).unwrap();
                let path = left.path().join(stand.path.file_name().unwrap());
                let url = DatabaseUrl::Sqlite(path.clone());
                let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await;
                let store = store.unwrap_or_else(|error| panic!("{error}: {case}"));
                for number in 1..=acknowledged {
                    assert!(writing.is_there(&store, number).await, "acknowledged {number} is gone: {case}");
                }
                for number in acknowledged + 1..=4 {
                    writing.write(&store, number).await.unwrap_or_else(|error| panic!("{error}: {case}"));
                    assert!(writing.is_there(&store, number).await, "{number} after {case}");
                }
                store.close().await;
                assert_whole(&path);
            }
            if !stand.disk.spare() {
                break;
            }
            cuts += 1;
            nth = next(nth);
        }
    }
    println!("{name}: {cuts} power cuts, each with {} outcomes", KEPT.len());
    assert!(cuts > 5, "{cuts}");
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_batches_survive_a_power_cut_anywhere() {
    cut_power("batch", async |_| Batches).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_counts_survive_a_power_cut_anywhere() {
    if is_whole() {
        cut_power("count", async |store: &Store| CountsOf(project(store).await)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_blocks_survive_a_power_cut_anywhere() {
    if is_whole() {
        cut_power("block", async |store: &Store| Mints::begin(store).await).await;
    }
}

/// Where something fails while tables are made, whoever opens the database next makes them.
#[tokio::test(flavor = "multi_thread")]
async fn migrations_are_made_whole_or_again() {
    let mut faults = 0;
    let of_power = [(Operation::Write, Fault::PowerCut), (Operation::Sync, Fault::PowerCut)];
    for (operation, fault) in FAULTS.into_iter().chain(of_power) {
        let mut nth = 1;
        loop {
            let Some(stand) = Stand::empty().await else { return };
            let case = format!("{fault:?} at {operation:?} {nth}");
            stand.disk.fail(operation, nth, fault);
            match stand.open().await {
                Ok(store) => stand.close(store).await,
                Err(error) => assert_named(&error, fault),
            }
            let was_hit = stand.disk.spare();
            let left = tempfile::tempdir().unwrap();
            let path = if fault == Fault::PowerCut {
                stand.disk.after_power_cut(left.path(), Kept::Some(u64::from(nth))).unwrap();
                left.path().join(stand.path.file_name().unwrap())
            } else {
                stand.path.clone()
            };
            let url = DatabaseUrl::Sqlite(path.clone());
            let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await;
            let store = store.unwrap_or_else(|error| panic!("{error}, after {case}"));
            assert_eq!(store.schema_state().await.unwrap().state(), MigrationState::UpToDate, "{case}");
            store.close().await;
            assert_whole(&path);
            if !was_hit {
                break;
            }
            faults += 1;
            // There are thousands of operations.
            nth += if is_whole() { 1 + nth / 16 } else { 1 + nth / 2 };
        }
    }
    println!("migrations: {faults} faults");
    assert!(faults > 20, "{faults}");
}

/// A copy is whole, or is none.
#[tokio::test(flavor = "multi_thread")]
async fn copies_are_whole_or_refused() {
    let Some(stand) = Stand::new().await else { return };
    let store = stand.open().await.unwrap();
    for number in 1..=3 {
        Batches.write(&store, number).await.unwrap();
    }
    let mut faults = 0;
    for (operation, fault) in FAULTS {
        let mut nth = 1;
        loop {
            let copy = stand.path.with_file_name(format!("{operation:?}-{fault:?}-{nth}.db"));
            stand.disk.fail(operation, nth, fault);
            let copied = copy_sqlite(&stand.path, &copy, |_, _| ());
            let was_hit = stand.disk.spare();
            match copied {
                Ok(_) => assert_whole(&copy),
                // To who checks a copy, a page that cannot be read is damage.
                Err(StoreError::Corrupt { .. }) if operation == Operation::Read => {}
                Err(error) => assert_named(&error, fault),
            }
            // What is left of it is its owner's to remove.
            let _ = std::fs::remove_file(&copy);
            if !was_hit {
                break;
            }
            faults += 1;
            nth += if is_whole() { 1 + nth / 16 } else { 1 + nth / 2 };
        }
    }
    assert!(Batches.is_there(&store, 3).await);
    stand.close(store).await;
    assert_whole(&stand.path);
    println!("copies: {faults} faults");
    assert!(faults > 20, "{faults}");
}
