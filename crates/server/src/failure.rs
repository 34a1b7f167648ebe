//! How a request fails: with an answer for the caller, or with something only the log may know.

use bourse_store::StoreError;
use bourse_wire::Error;

use crate::resident::LoadError;

/// Why a handler did not answer.
#[derive(Debug)]
pub enum Failure {
    /// The caller can act on this.
    Refused(Error),
    /// The caller gets an id, the log gets this.
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(error) => Self::Refused(error),
            StoreError::Database(_)
            | StoreError::Address { .. }
            | StoreError::Newer { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Chain(_)
            | StoreError::Closed => Self::Internal(Box::new(error)),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Internal(Box::new(error))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(Box::new(error))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Internal(Box::new(error))
    }
}
