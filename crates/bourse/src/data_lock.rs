//! Who uses a data directory: any number of processes, or one that restores it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::backup;

/// The use of a data directory, for as long as this value lives. The system ends it with the process, however that ends.
pub(crate) struct DataLock {
    _directory: File,
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataLockError {
    #[error("{0} is being restored by another process at the moment")]
    Restoring(PathBuf),
    #[error("a restore of {0} was interrupted: run `bourse restore` with the same file again to finish it")]
    Unfinished(PathBuf),
    #[error("{0} is in use: stop the service and every other bourse command on it first")]
    InUse(PathBuf),
    #[error("opening {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
}

impl DataLock {
    /// Uses the directory beside others, for everything but restoring.
    pub(crate) fn shared(data: &Path) -> Result<Self, DataLockError> {
        let directory = open(data)?;
        match directory.try_lock_shared() {
            Err(TryLockError::WouldBlock) => return Err(DataLockError::Restoring(data.to_owned())),
            // Some network file systems know no locks of directories. A service need not fail over that.
            Err(TryLockError::Error(error)) => tracing::debug!(%error, "locking the data directory"),
            Ok(()) => {}
        }
        if backup::is_unfinished(data) {
            return Err(DataLockError::Unfinished(data.to_owned()));
        }
        Ok(Self { _directory: directory })
    }

    /// Uses the directory alone.
    pub(crate) fn exclusive(data: &Path) -> Result<Self, DataLockError> {
        let directory = open(data)?;
        match directory.try_lock() {
            Ok(()) => Ok(Self { _directory: directory }),
            Err(TryLockError::WouldBlock) => Err(DataLockError::InUse(data.to_owned())),
            Err(TryLockError::Error(source)) => Err(DataLockError::Io { path: data.to_owned(), source }),
        }
    }
}

fn open(data: &Path) -> Result<File, DataLockError> {
    File::open(data).map_err(|source| DataLockError::Io { path: data.to_owned(), source })
}
