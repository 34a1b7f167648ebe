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

use super::journal::Journal;
use super::{BUSY_TIMEOUT, CACHE_SIZE, STATEMENTS_KEPT, statements};
use crate::StoreError;
use crate::backend::OpenOptions;

/// How long to wait before opening a locked file again.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// How often to try to open a locked file.
const BUSY_ATTEMPTS_MAX: u32 = 500;
/// Transactions that may share one commit.
const GROUP_MAX: usize = 256;

/// One transaction: does its work, then says whether to keep it and how to tell its owner. It is given an error instead
/// of the connection when its transaction could not be begun.
pub(super) type Job =
    Box<dyn for<'c> FnOnce(Result<&'c mut Connection, StoreError>) -> BoxFuture<'c, Outcome> + Send>;
type Deliver = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct Outcome {
    /// Why nothing of it is to be kept, if so.
    pub(super) failed: Option<StoreError>,
    /// Called once the shared commit is on disk, or has failed.
    pub(super) deliver: Deliver,
}

/// Opens the writer's connection, which turns a new file's journal to WAL. While another process does the same that fails
/// as locked at once, whatever the busy timeout; later connections find it done.
pub(super) fn open(path: &Path, options: OpenOptions) -> Result<Connection, StoreError> {
    make_private(path).map_err(|error| StoreError::Address {
        url: path.display().to_string(),
        reason: error.to_string(),
    })?;
    for _ in 1..BUSY_ATTEMPTS_MAX {
        match open_once(path, options) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return Ok(result?),
        }
    }
    Ok(open_once(path, options)?)
}

/// Makes a new file for its owner alone, wherever it is; the files that SQLite puts beside it are as it is.
fn make_private(path: &Path) -> io::Result<()> {
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

fn open_once(path: &Path, options: OpenOptions) -> Result<Connection, rusqlite::Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // What is beyond it is cut off once the journal begins anew.
    let journal_bytes_max = options.journal_bytes_max.to_string();
    let settings = [
        ("journal_mode", "WAL"),
        ("synchronous", "FULL"),
        ("foreign_keys", "ON"),
        ("cache_size", CACHE_SIZE),
        // Somebody else does that.
        ("wal_autocheckpoint", "0"),
        ("journal_size_limit", &journal_bytes_max),
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
pub(super) fn start(
    connection: Connection,
    jobs: mpsc::Receiver<Job>,
    journal: Journal,
) -> std::io::Result<()> {
    let runtime = Handle::current();
    let name = "sqlite-writer".to_owned();
    std::thread::Builder::new().name(name).spawn(move || run(connection, jobs, journal, &runtime)).map(drop)
}

fn run(mut connection: Connection, mut jobs: mpsc::Receiver<Job>, mut journal: Journal, runtime: &Handle) {
    while let Some(first) = jobs.blocking_recv() {
        if let Err(error) = statements::execute(&connection, "BEGIN IMMEDIATE", &[]) {
            (runtime.block_on(first(Err(error))).deliver)(Ok(()));
            continue;
        }
        let Group { members, lost } = run_group(&mut connection, first, &mut jobs, runtime);
        let committed = match lost {
            None => statements::execute(&connection, "COMMIT", &[]).map(drop),
            Some(error) => Err(error),
        };
        if let Err(error) = &committed {
            tracing::warn!(%error, writes = members.len(), "a group of writes is undone");
            // The transaction may still be open; the next one must not build on it.
            if !connection.is_autocommit()
                && let Err(error) = statements::execute(&connection, "ROLLBACK", &[])
            {
                tracing::warn!(%error, "rolling back a group of writes");
            }
        }
        // Nobody hears of success before the commit that all of them share.
        for deliver in members {
            deliver(committed.as_ref().copied().map_err(StoreError::shared));
        }
        journal.tend(&connection);
    }
    // Whoever closes the last connection empties the journal.
    drop(journal);
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "closing the writer");
    }
}

/// Transactions that share one commit.
struct Group {
    members: Vec<Deliver>,
    /// Why nothing of any of them can be kept, if so.
    lost: Option<StoreError>,
}

/// Runs a transaction and those that wait behind it. The group ends early where one of them took the others with it.
fn run_group(
    connection: &mut Connection,
    first: Job,
    jobs: &mut mpsc::Receiver<Job>,
    runtime: &Handle,
) -> Group {
    let mut members = Vec::new();
    let mut next = Some(first);
    while let Some(job) = next {
        let (deliver, lost) = run_in_savepoint(connection, job, runtime);
        members.push(deliver);
        if lost.is_some() {
            return Group { members, lost };
        }
        next = if members.len() < GROUP_MAX { jobs.try_recv().ok() } else { None };
    }
    Group { members, lost: None }
}

/// Runs one transaction inside the shared one, undoing only it when it fails. Tells what failed where the shared one
/// cannot be kept any more: SQLite itself undoes all of it when the disk is full or fails, and so must we where we do not
/// get back to where this one began.
fn run_in_savepoint(
    connection: &mut Connection,
    job: Job,
    runtime: &Handle,
) -> (Deliver, Option<StoreError>) {
    if let Err(error) = statements::execute(connection, "SAVEPOINT job", &[]) {
        let lost = error.shared();
        return (runtime.block_on(job(Err(error))).deliver, Some(lost));
    }
    // A panic is one transaction's trouble: the writer must go on for the others. Its owner hears that it failed.
    let ran = runtime.block_on(AssertUnwindSafe(job(Ok(&mut *connection))).catch_unwind());
    let Outcome { failed, deliver } = ran.unwrap_or_else(|_| {
        tracing::error!("a write transaction panicked");
        Outcome { failed: Some(StoreError::Closed), deliver: Box::new(|_| {}) }
    });
    if connection.is_autocommit() {
        let lost = match failed {
            // What one of them is refused is no reason that others can be told.
            None | Some(StoreError::Refused(_)) => {
                StoreError::Database("the transaction was ended while it ran".into())
            }
            Some(error) => error,
        };
        return (deliver, Some(lost));
    }
    let end = if failed.is_none() { "RELEASE job" } else { "ROLLBACK TO job" };
    (deliver, statements::execute(connection, end, &[]).err())
}
