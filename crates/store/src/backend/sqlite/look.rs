//! Reading a database that may be in use and leaving not only what it says but its files as they are.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;

use super::BUSY_TIMEOUT;
use super::journal;
use super::readers::{ONCE_CACHE_SIZE, open_reader};
use crate::Pending;
use crate::StoreError;
use crate::session::Session;

/// Runs `work` on the database in this file. `None` when there is no file, or nothing in it.
pub(crate) async fn look<T, W>(path: &Path, work: W) -> Result<Option<T>, StoreError>
where
    T: Send + 'static,
    W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T> + Send + 'static,
{
    let (path, runtime) = (path.to_owned(), Handle::current());
    let looking = tokio::task::spawn_blocking(move || {
        if !std::fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
            return Ok(None);
        }
        let mut connection = open(&path)?;
        runtime.block_on(work(Session::Sqlite(&mut connection))).map(Some)
    });
    looking.await.map_err(|_| StoreError::Closed)?
}

/// Where there is a journal, others use the file, or the last who did was killed: the journal is read too, and not emptied
/// at the end. Where there is none, the file alone is everything, and no journal is made for us.
fn open(path: &Path) -> Result<Connection, StoreError> {
    if journal::bytes_of(&journal::path_of(path)) > 0 {
        let connection = open_reader(path, ONCE_CACHE_SIZE)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Ok(connection);
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable(path)?, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// The file as a URI that says that nobody changes it.
fn immutable(path: &Path) -> Result<String, StoreError> {
    let text = path.to_str().ok_or_else(|| StoreError::Address {
        url: path.display().to_string(),
        reason: "its name is not text".to_owned(),
    })?;
    let text = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Ok(format!("file:{text}?immutable=1"))
}
