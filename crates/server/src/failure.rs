//! How a request fails: with an answer for the caller, or with something only the log may know.

use std::io::ErrorKind;

use bourse_store::{CollectionKey, StoreError};
use bourse_wire::{Code, Error};
use rustix::io::Errno;

use crate::resident::LoadError;

/// Why a handler did not answer.
#[derive(Debug)]
pub enum Failure {
    /// The caller can act on this.
    Refused(Error),
    /// There is no room, or the database or a disk fails: the caller is told so and comes back, the log gets the source.
    Storage {
        /// What the caller is told.
        told: Error,
        /// What failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing was done, since another server holds this collection: that one is asked.
    HeldElsewhere(CollectionKey),
    /// The caller gets an id, the log gets this.
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    fn full(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Storage { told: Error::new(Code::StorageFull, FULL), source: source.into() }
    }

    fn unavailable(told: &str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Storage { told: Error::new(Code::StorageUnavailable, told), source: source.into() }
    }
}

/// What a caller is told while there is no room for what it wants stored.
const FULL: &str = "there is no room left to store this, and nothing was changed: try again later";
/// What a caller is told while the database cannot be reached or written.
const UNAVAILABLE: &str =
    "the database is not available just now: try again shortly, and read before you repeat a write";

/// What a caller is told while the disk, or the store of uploaded files, fails.
const FILES_UNAVAILABLE: &str =
    "the storage of files is not available just now: try again shortly, and read before you repeat a write";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(error) => Self::Refused(error),
            StoreError::Full(_) => Self::full(error),
            StoreError::Unavailable(_) => Self::unavailable(UNAVAILABLE, error),
            // Of which the log was told once for all.
            StoreError::Away => Self::Refused(Error::new(Code::StorageUnavailable, UNAVAILABLE)),
            StoreError::Database(_)
            | StoreError::Address { .. }
            | StoreError::Newer { .. }
            | StoreError::OtherHistory { .. }
            | StoreError::UnfinishedMove
            | StoreError::Corrupt { .. }
            | StoreError::Chain(_)
            | StoreError::Closed => Self::Internal(Box::new(error)),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match &error {
            // Whoever waited for the same load is told the same.
            LoadError::Store(failed) if failed.is_unavailable() => failed.shared().into(),
            LoadError::Store(_) => Self::Internal(Box::new(error)),
            LoadError::HeldElsewhere { key } => Self::HeldElsewhere(*key),
            LoadError::NoRoom { .. } | LoadError::Stale { .. } | LoadError::UnderWay { .. } => {
                Self::Refused(Error::new(Code::Overloaded, error.to_string()))
            }
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(Box::new(error))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::full(error),
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied | ErrorKind::HostUnreachable => {
                Self::unavailable(FILES_UNAVAILABLE, error)
            }
            // The standard library has no kind for it.
            _ if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                Self::unavailable(FILES_UNAVAILABLE, error)
            }
            _ => Self::Internal(Box::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn code(failure: Failure) -> Option<Code> {
        match failure {
            Failure::Refused(error) | Failure::Storage { told: error, .. } => Some(error.code),
            Failure::HeldElsewhere(_) | Failure::Internal(_) => None,
        }
    }

    #[test]
    fn a_full_disk_and_one_that_fails_have_codes() {
        let of = |errno: Errno| code(io::Error::from(errno).into());
        assert_eq!(of(Errno::NOSPC), Some(Code::StorageFull));
        assert_eq!(of(Errno::DQUOT), Some(Code::StorageFull));
        assert_eq!(of(Errno::ROFS), Some(Code::StorageUnavailable));
        assert_eq!(of(Errno::IO), Some(Code::StorageUnavailable));
        assert_eq!(of(Errno::ACCESS), Some(Code::StorageUnavailable));
        assert_eq!(of(Errno::HOSTUNREACH), Some(Code::StorageUnavailable));
        assert_eq!(of(Errno::NOENT), None);
        assert_eq!(code(StoreError::Full("full".into()).into()), Some(Code::StorageFull));
        assert_eq!(code(StoreError::Unavailable("gone".into()).into()), Some(Code::StorageUnavailable));
        assert_eq!(code(StoreError::Away.into()), Some(Code::StorageUnavailable));
        assert_eq!(code(StoreError::Database("damaged".into()).into()), None);
    }
}
