//! SQLite: one writer that shares its fsyncs, several readers, real blocking threads behind both.

mod load;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sqlx::error::DatabaseError;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use super::{OpenOptions, Sequence};
use crate::StoreError;
use crate::args::args;
use crate::session::Session;

/// How long a statement waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait before opening a locked file again.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// Memory for pages that each connection has, in kilobytes, which SQLite writes as negative numbers.
const CACHE_SIZE: &str = "-65536";
/// How often to try to open a locked file.
const BUSY_ATTEMPTS_MAX: u32 = 500;
/// How often the change counter is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// Transactions that may share one commit.
const GROUP_MAX: usize = 256;
/// Transactions that may wait for the writer.
const QUEUE_MAX: usize = 1_024;

#[derive(Clone)]
pub(crate) struct Sqlite {
    path: PathBuf,
    readers: SqlitePool,
    writer: mpsc::Sender<Job>,
    watch_options: Box<SqliteConnectOptions>,
}

/// One transaction for the writer: does its work, then says whether to keep it and how to tell its owner. It is given
/// an error instead of the connection when its transaction could not be begun.
type Job =
    Box<dyn for<'c> FnOnce(Result<&'c mut SqliteConnection, StoreError>) -> BoxFuture<'c, Outcome> + Send>;
type Deliver = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

struct Outcome {
    keep: bool,
    /// Called once the shared commit is on disk, or has failed.
    deliver: Deliver,
}

impl Sqlite {
    pub(crate) async fn open(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        let shown = || path.display().to_string();
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|error| StoreError::Address { url: shown(), reason: error.to_string() })?;
        }
        let connect = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("cache_size", CACHE_SIZE)
            .disable_statement_logging();
        let writer = connect_first(&connect).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(options.connections_max)
            .connect_with(connect.clone().pragma("query_only", "ON"))
            .await?;
        let (sender, jobs) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(run_writer(writer, jobs));
        Ok(Self { path: path.to_owned(), readers, writer: sender, watch_options: Box::new(connect) })
    }

    pub(crate) async fn close(&self) {
        // A job that comes back says that everything queued before it is on disk.
        let flushed: Result<(), StoreError> = self.write(|_| Box::pin(async { Ok(()) })).await;
        if let Err(error) = flushed {
            tracing::warn!(%error, "flushing the writer before closing");
        }
        self.readers.close().await;
    }

    pub(crate) async fn read<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> BoxFuture<'c, Result<T, StoreError>>,
    {
        let mut connection = self.readers.acquire().await?;
        work(Session::Sqlite(&mut connection)).await
    }

    pub(crate) async fn snapshot<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> BoxFuture<'c, Result<T, StoreError>>,
    {
        let mut transaction = self.readers.begin().await?;
        work(Session::Sqlite(&mut transaction)).await
    }

    pub(crate) async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(Session<'c>) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            Box::pin(async move {
                let result = match connection {
                    Ok(connection) => work(Session::Sqlite(connection)).await,
                    Err(error) => Err(error),
                };
                let keep = result.is_ok();
                let deliver = Box::new(move |committed: Result<(), StoreError>| {
                    // The owner may have gone away; the write stands all the same.
                    let _ = sender.send(committed.and(result));
                });
                Outcome { keep, deliver }
            })
        });
        self.writer.send(job).await.map_err(|_| StoreError::Closed)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn watch(&self) -> Result<SqliteWatch, StoreError> {
        let mut connection = self.watch_options.connect().await?;
        let seen = data_version(&mut connection).await?;
        Ok(SqliteWatch { connection, seen })
    }
}

/// Opens the first connection, which turns a new file's journal to WAL. While another process does the same that fails
/// as locked at once, whatever the busy timeout; later connections find it done.
async fn connect_first(connect: &SqliteConnectOptions) -> Result<SqliteConnection, StoreError> {
    for _ in 1..BUSY_ATTEMPTS_MAX {
        match connect.connect().await {
            Err(sqlx::Error::Database(error)) if is_busy(&*error) => tokio::time::sleep(BUSY_PAUSE).await,
            result => return Ok(result?),
        }
    }
    Ok(connect.connect().await?)
}

/// Whether the error is `SQLITE_BUSY`, whatever its extended code adds.
fn is_busy(error: &dyn DatabaseError) -> bool {
    error.code().and_then(|code| code.parse::<i32>().ok()).is_some_and(|code| code & 0xff == 5)
}

/// Takes transactions off the queue and commits those that wait together with one fsync. Ends when every sender is
/// gone.
async fn run_writer(mut connection: SqliteConnection, mut jobs: mpsc::Receiver<Job>) {
    while let Some(first) = jobs.recv().await {
        if let Err(error) = sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await {
            (first(Err(error.into())).await.deliver)(Ok(()));
            continue;
        }
        let mut delivered = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            delivered.push(run_in_savepoint(&mut connection, job).await);
            next = if delivered.len() < GROUP_MAX { jobs.try_recv().ok() } else { None };
        }
        let committed = sqlx::query("COMMIT").execute(&mut connection).await;
        if committed.is_err() {
            // A failed commit may leave the transaction open; the next one must not build on it.
            if let Err(error) = sqlx::query("ROLLBACK").execute(&mut connection).await {
                tracing::warn!(%error, "rolling back after a failed commit");
            }
        }
        let failure = committed.err().map(|error| error.to_string());
        for deliver in delivered {
            deliver(match &failure {
                None => Ok(()),
                Some(reason) => Err(StoreError::Database(sqlx::Error::Protocol(reason.clone()))),
            });
        }
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "closing the writer");
    }
}

/// Runs one transaction inside the shared one, undoing only it when it fails.
async fn run_in_savepoint(connection: &mut SqliteConnection, job: Job) -> Deliver {
    if let Err(error) = sqlx::query("SAVEPOINT job").execute(&mut *connection).await {
        return job(Err(error.into())).await.deliver;
    }
    // A panic is one transaction's trouble: the writer must go on for the others. Its owner hears that it failed.
    let ran = AssertUnwindSafe(job(Ok(&mut *connection))).catch_unwind().await;
    let outcome = ran.unwrap_or_else(|_| {
        tracing::error!("a write transaction panicked");
        Outcome { keep: false, deliver: Box::new(|_| {}) }
    });
    let end = if outcome.keep { "RELEASE job" } else { "ROLLBACK TO job" };
    match sqlx::query(end).execute(connection).await {
        Ok(_) => outcome.deliver,
        Err(error) => Box::new(|_| (outcome.deliver)(Err(error.into()))),
    }
}

async fn data_version(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(connection).await?)
}

/// Looks at the file's change counter.
pub struct SqliteWatch {
    connection: SqliteConnection,
    seen: i64,
}

impl SqliteWatch {
    pub(crate) async fn changed(&mut self) -> Result<(), StoreError> {
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            let now = data_version(&mut self.connection).await?;
            if now != self.seen {
                self.seen = now;
                return Ok(());
            }
        }
    }
}

pub(super) async fn next_ids(
    session: &mut Session<'_>,
    sequence: Sequence,
    count: u64,
) -> Result<Vec<u64>, StoreError> {
    let sql = "UPDATE id_counters SET value = value + $2 WHERE name = $1 RETURNING value";
    let row = session.first(sql, args![sequence.name(), count]).await?;
    let last = row.ok_or_else(|| StoreError::corrupt("id counter", sequence.name()))?.u64(0, "id counter")?;
    Ok((last + 1 - count..=last).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_undoes_only_its_own_transaction() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Sqlite::open(&directory.path().join("test.db"), OpenOptions::default()).await.unwrap();
        let run = |sql: &'static str| {
            engine.write(move |mut session| Box::pin(async move { session.script(sql).await }))
        };
        run("CREATE TABLE t (n BIGINT)").await.unwrap();
        let panicked: Result<(), StoreError> = engine
            .write(|mut session| {
                Box::pin(async move {
                    session.script("INSERT INTO t VALUES (1)").await?;
                    panic!("for the test")
                })
            })
            .await;
        assert!(matches!(panicked, Err(StoreError::Closed)));
        run("INSERT INTO t VALUES (2)").await.unwrap();
        let rows = engine
            .read(|mut session| Box::pin(async move { session.all("SELECT n FROM t", args![]).await }))
            .await
            .unwrap();
        assert_eq!(rows.iter().map(|row| row.i64(0).unwrap()).collect::<Vec<_>>(), [2]);
    }
}
