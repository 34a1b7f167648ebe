//! What can go wrong with the store, by what to do about it.

use bourse_wire::Error;
use rusqlite::ErrorCode;

use crate::ChainError;

/// What a driver or a system said.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// That something was committed which not everybody sees yet.
#[derive(Debug, thiserror::Error)]
#[error("a node of the cluster went away while it committed")]
pub(crate) struct CommittedUnseen;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The caller asked for something impossible; the answer says what.
    #[error(transparent)]
    Refused(#[from] Error),
    /// The database has no room left, so nothing was written. Reading goes on, and so does writing once there is room.
    #[error("the database has no room left: {0}")]
    Full(#[source] Cause),
    /// The database cannot be reached, or its disk fails or is read-only. Whether a write was made is known only to who
    /// looks for it.
    #[error("the database is not available: {0}")]
    Unavailable(#[source] Cause),
    /// The database is known to be away, as the log told. Nobody was asked; or what was begun is not waited for any longer, so
    /// that whether a write was made is known only to who looks for it.
    #[error("the database is away")]
    Away,
    /// The database failed in a way that trying again does not help.
    #[error("database: {0}")]
    Database(#[source] Cause),
    /// The database address is not one we can open.
    #[error("database address `{url}`: {reason}")]
    Address {
        /// The address, without a password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The database was migrated by a newer version of the program.
    #[error(
        "the database has schema {found}, this program knows up to {known}: run the newer version of bourse"
    )]
    Newer {
        /// Migration found.
        found: i64,
        /// Newest known here.
        known: i64,
    },
    /// The database was migrated by another program, or a step is missing.
    #[error(
        "the database has migration `{found}` where this program has `{expected}`: it is not of this program's \
         history, so name another database, or restore a backup of this one"
    )]
    OtherHistory {
        /// Migration found, by number and name.
        found: String,
        /// The one that would be in its place.
        expected: String,
    },
    /// Somebody began to move an installation into the database, and did not finish.
    #[error(
        "an installation was moved into the database only in part: run the same `bourse move` again, which goes on where it \
         was interrupted"
    )]
    UnfinishedMove,
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
        use sqlx::Error as Driver;
        match &error {
            Driver::Database(said) => match said.code().as_deref() {
                Some("53100") => Self::Full(error.into()),
                Some(state) if is_unavailable(state) => Self::Unavailable(error.into()),
                Some("XX000") if tells_of_a_lost_node(said.message()) => Self::Unavailable(error.into()),
                _ => Self::Database(error.into()),
            },
            // A server that goes away in the middle of a message breaks the protocol.
            Driver::Io(_)
            | Driver::Tls(_)
            | Driver::Protocol(_)
            | Driver::PoolTimedOut
            | Driver::WorkerCrashed => Self::Unavailable(error.into()),
            // By ourselves, at the end.
            Driver::PoolClosed => Self::Closed,
            _ => Self::Database(error.into()),
        }
    }
}

/// Whether a state of PostgreSQL says that the server, its disk or the way to it is what failed.
fn is_unavailable(state: &str) -> bool {
    match state {
        // read_only_sql_transaction, invalid_catalog_name, admin_shutdown, crash_shutdown, cannot_connect_now,
        // idle_session_timeout, io_error
        "25006" | "3D000" | "57P01" | "57P02" | "57P03" | "57P05" | "58030" => true,
        // Connection exceptions; refused authorization; insufficient resources, too_many_connections among them.
        _ => ["08", "28", "53"].iter().any(|class| state.starts_with(class)),
    }
}

/// Whether a coordinator passes on, without a state of its own, what its client says of a connection to a node that is gone.
fn tells_of_a_lost_node(message: &str) -> bool {
    let words = [
        "SSL SYSCALL error",
        "server closed the connection",
        "connection not open",
        "could not receive data",
        // One of the nodes that a transaction is to be committed on.
        "failure on connection marked as essential",
        // A worker that had everything of a transaction said nothing when it was to commit.
        "could not commit transaction for shard",
    ];
    words.iter().any(|words| message.contains(words))
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(error.into()),
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory,
            ) => Self::Unavailable(error.into()),
            _ => Self::Database(error.into()),
        }
    }
}

impl StoreError {
    /// A stored value that cannot be read.
    pub(crate) fn corrupt(what: &'static str, reason: impl std::fmt::Display) -> Self {
        Self::Corrupt { what, reason: reason.to_string() }
    }

    /// Whether the database cannot be reached or written just now, for a reason that passes.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Away)
    }

    /// Tells the log what failed, in the background or beside an answer. That the database is away it was told.
    pub fn log(&self, what: &'static str) {
        if !matches!(self, Self::Away) {
            tracing::warn!(error = %self, "{what}");
        }
    }

    /// The same failure, for somebody else whose request failed with it.
    pub fn shared(&self) -> Self {
        match self {
            Self::Refused(error) => Self::Refused(error.clone()),
            Self::Full(cause) => Self::Full(cause.to_string().into()),
            Self::Unavailable(cause) => Self::Unavailable(cause.to_string().into()),
            Self::Database(cause) => Self::Database(cause.to_string().into()),
            Self::Away => Self::Away,
            Self::Closed => Self::Closed,
            Self::Address { .. }
            | Self::Newer { .. }
            | Self::OtherHistory { .. }
            | Self::UnfinishedMove
            | Self::Corrupt { .. }
            | Self::Chain(_) => Self::Database(self.to_string().into()),
        }
    }
}
