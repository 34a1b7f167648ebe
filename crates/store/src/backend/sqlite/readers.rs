//! Connections that read, each used by one blocking thread at a time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{BUSY_TIMEOUT, CACHE_SIZE, STATEMENTS_KEPT, functions};
use crate::StoreError;

/// How long to wait for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// Connections are opened when all others are in use, up to a limit, and kept.
#[derive(Clone)]
pub(super) struct Readers(Arc<Pool>);

struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// One permit for each connection that may be in use.
    permits: Arc<Semaphore>,
    connections_max: u32,
}

impl Readers {
    pub(super) fn new(path: &Path, connections_max: u32) -> Self {
        let permits = Arc::new(Semaphore::new(usize::try_from(connections_max).unwrap_or(usize::MAX)));
        Self(Arc::new(Pool { path: path.to_owned(), idle: Mutex::default(), permits, connections_max }))
    }

    /// Runs `work` on a connection and a thread that may block. When the caller goes away it is still run to its end, and
    /// the connection comes back; one on which it panicked does not.
    pub(super) async fn run<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Connection, &Handle) -> Result<T, StoreError> + Send + 'static,
    {
        let permit = self.permit().await?;
        let (pool, runtime) = (Arc::clone(&self.0), Handle::current());
        let working = tokio::task::spawn_blocking(move || {
            let idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = match idle {
                Some(connection) => connection,
                None => open(&pool.path)?,
            };
            let result = work(&mut connection, &runtime);
            // A transaction that could not be ended must not be the next one's.
            if connection.is_autocommit() {
                pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            }
            drop(permit);
            result
        });
        match working.await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(StoreError::Closed),
        }
    }

    /// Waits for reads under way and closes all connections.
    pub(super) async fn close(&self) {
        if let Ok(_all) = self.0.permits.acquire_many(self.0.connections_max).await {
            self.0.permits.close();
        }
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let permit = Arc::clone(&self.0.permits).acquire_owned();
        match tokio::time::timeout(ACQUIRE_TIMEOUT, permit).await {
            Ok(permit) => permit.map_err(|_| StoreError::Closed),
            Err(_elapsed) => Err(StoreError::Unavailable("all connections are in use".into())),
        }
    }
}

/// A connection for many small statements.
fn open(path: &Path) -> Result<Connection, StoreError> {
    let connection = open_reader(path, CACHE_SIZE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    functions::add_to(&connection)?;
    Ok(connection)
}

/// Memory for pages, in kilobytes, of a connection that reads every page once.
pub(super) const ONCE_CACHE_SIZE: &str = "-4096";

/// A connection that reads, with so much memory for pages. The journal's mode is the file's.
pub(super) fn open_reader(path: &Path, cache_size: &str) -> Result<Connection, StoreError> {
    // To SQLite it is none that only reads: such a one could not make the index of the journal that all share.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "cache_size", cache_size)?;
    connection.pragma_update(None, "query_only", "ON")?;
    Ok(connection)
}
