//! What can go wrong with the store, by what to do about it.

use bourse_wire::Error;

use crate::ChainError;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The caller asked for something impossible; the answer says what.
    #[error(transparent)]
    Refused(#[from] Error),
    /// The database failed or cannot be reached.
    #[error("database: {0}")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database address is not one we can open.
    #[error("database address `{url}`: {reason}")]
    Address {
        /// The address, without a password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The database was migrated by a newer version of the program.
    #[error("the database has migration {found}, this program knows up to {known}: run the newer version")]
    Newer {
        /// Migration found.
        found: i64,
        /// Newest known here.
        known: i64,
    },
    /// A stored value cannot be read.
    #[error("stored {what} cannot be read: {reason}")]
    Corrupt {
        /// Which value.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Blocks that cannot be taken as they are.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The writer has stopped; the store is being closed.
    #[error("the store is closed")]
    Closed,
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Box::new(error))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(Box::new(error))
    }
}

impl StoreError {
    /// A stored value that cannot be read.
    pub(crate) fn corrupt(what: &'static str, reason: impl std::fmt::Display) -> Self {
        Self::Corrupt { what, reason: reason.to_string() }
    }
}
