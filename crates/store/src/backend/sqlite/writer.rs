//! The one writer: a thread with a connection of its own, to which transactions come as jobs.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::{BUSY_TIMEOUT, CACHE_SIZE, STATEMENTS_KEPT, statements};
use crate::StoreError;

/// How long to wait before opening a locked file again.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// How often to try to open a locked file.
const BUSY_ATTEMPTS_MAX: u32 = 500;
/// Transactions that may share one commit.
const GROUP_MAX: usize = 256;
/// Pages of 4 kB in the journal after which they are copied to where they belong. SQLite's own choice is a quarter of
/// this, and means an fsync of the whole file after every few batches of orders, each of which lies on its own page.
const CHECKPOINT_PAGES: &str = "4000";

/// One transaction: does its work, then says whether to keep it and how to tell its owner. It is given an error instead
/// of the connection when its transaction could not be begun.
pub(super) type Job =
    Box<dyn for<'c> FnOnce(Result<&'c mut Connection, StoreError>) -> BoxFuture<'c, Outcome> + Send>;
type Deliver = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct Outcome {
    pub(super) keep: bool,
    /// Called once the shared commit is on disk, or has failed.
    pub(super) deliver: Deliver,
}

/// Opens the writer's connection, which turns a new file's journal to WAL. While another process does the same that fails
/// as locked at once, whatever the busy timeout; later connections find it done.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    make_private(path).map_err(|error| StoreError::Address {
        url: path.display().to_string(),
        reason: error.to_string(),
    })?;
    for _ in 1..BUSY_ATTEMPTS_MAX {
        match open_once(path) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return Ok(result?),
        }
    }
    Ok(open_once(path)?)
}

/// Makes a new file for its owner alone, wherever it is; the files that SQLite puts beside it are as it is.
fn make_private(path: &Path) -> io::Result<()> {
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

fn open_once(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let settings = [
        ("journal_mode", "WAL"),
        ("synchronous", "FULL"),
        ("foreign_keys", "ON"),
        ("cache_size", CACHE_SIZE),
        ("wal_autocheckpoint", CHECKPOINT_PAGES),
        // What a savepoint needs to be undone is in no file.
        ("temp_store", "MEMORY"),
    ];
    for (name, value) in settings {
        connection.pragma_update(None, name, value)?;
    }
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(connection)
}

/// Starts the thread. It takes transactions off the queue and commits those that wait together with one fsync. It ends
/// when every sender is gone.
pub(super) fn start(connection: Connection, jobs: mpsc::Receiver<Job>) -> std::io::Result<()> {
    let runtime = Handle::current();
    let name = "sqlite-writer".to_owned();
    std::thread::Builder::new().name(name).spawn(move || run(connection, jobs, &runtime)).map(drop)
}

fn run(mut connection: Connection, mut jobs: mpsc::Receiver<Job>, runtime: &Handle) {
    while let Some(first) = jobs.blocking_recv() {
        if let Err(error) = statements::execute(&connection, "BEGIN IMMEDIATE", &[]) {
            (runtime.block_on(first(Err(error))).deliver)(Ok(()));
            continue;
        }
        let mut delivered = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            delivered.push(run_in_savepoint(&mut connection, job, runtime));
            next = if delivered.len() < GROUP_MAX { jobs.try_recv().ok() } else { None };
        }
        let committed = statements::execute(&connection, "COMMIT", &[]);
        if committed.is_err() && !connection.is_autocommit() {
            // A failed commit may leave the transaction open; the next one must not build on it.
            if let Err(error) = statements::execute(&connection, "ROLLBACK", &[]) {
                tracing::warn!(%error, "rolling back after a failed commit");
            }
        }
        let failure = committed.err().map(|error| error.to_string());
        for deliver in delivered {
            deliver(match &failure {
                None => Ok(()),
                Some(reason) => Err(StoreError::Database(reason.as_str().into())),
            });
        }
    }
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "closing the writer");
    }
}

/// Runs one transaction inside the shared one, undoing only it when it fails.
fn run_in_savepoint(connection: &mut Connection, job: Job, runtime: &Handle) -> Deliver {
    if let Err(error) = statements::execute(connection, "SAVEPOINT job", &[]) {
        return runtime.block_on(job(Err(error))).deliver;
    }
    // A panic is one transaction's trouble: the writer must go on for the others. Its owner hears that it failed.
    let ran = runtime.block_on(AssertUnwindSafe(job(Ok(&mut *connection))).catch_unwind());
    let outcome = ran.unwrap_or_else(|_| {
        tracing::error!("a write transaction panicked");
        Outcome { keep: false, deliver: Box::new(|_| {}) }
    });
    let end = if outcome.keep { "RELEASE job" } else { "ROLLBACK TO job" };
    match statements::execute(connection, end, &[]) {
        Ok(_) => outcome.deliver,
        Err(error) => Box::new(|_| (outcome.deliver)(Err(error))),
    }
}
