//! A backup: one archive with everything that the embedded store keeps in the data directory.
//!
//! It is a gzipped tar, so that every system can look into it, with these entries in this order:
//!
//! ```text
//! manifest.json     what it is, in which format, of when, and of which schema
//! bourse.db         the database, as it was at one moment
//! jwt.secret        what secret tokens are signed with, when it was made here
//! credentials.json  how to reach the demo, when it is one
//! assets/…          uploaded files
//! SHA256SUMS        a line for each of the above, as `sha256sum -c` reads them
//! ```
//!
//! The database comes before the files: a file is stored before the database speaks of it, and none is removed meanwhile.
//! Files that are kept elsewhere, in a bucket for example, are in the archive like those of the data directory.
//! The sums come last, so an archive that has them was written to its end.

mod read;
mod restore;
#[cfg(test)]
mod tests;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use bourse_server::auth::SECRET_FILE;
use bourse_server::settings::ASSETS_DIRECTORY;
use bourse_store::StoreError;
use bourse_wire::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) use read::read_manifest;
pub(crate) use restore::{finish, is_unfinished, restore};
pub(crate) use write::Source;

const MANIFEST: &str = "manifest.json";
const SUMS: &str = "SHA256SUMS";
/// What a backup may hold beside the database and the uploads: small files of the data directory.
const SMALL_FILES: [&str; 2] = [SECRET_FILE, crate::demo::CREDENTIALS_FILE];
/// The name that tells our archives from others.
const FORMAT: &str = "bourse-backup";
/// Raised when programs that know only the number before could not read an archive.
const FORMAT_VERSION: u32 = 1;

/// The first entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    format: String,
    format_version: u32,
    /// Version of the program that wrote it.
    program: String,
    /// Newest migration of the database.
    pub(crate) schema: i64,
    /// The moment that it shows.
    pub(crate) created_at: Timestamp,
}

impl Manifest {
    fn new(schema: i64, created_at: Timestamp) -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT.to_owned(), format_version: FORMAT_VERSION, program, schema, created_at }
    }
}

/// Why a backup cannot be written, read or put in place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    #[error("there is no database at {0}: nothing to back up. Is this the right --data?")]
    NoDatabase(PathBuf),
    #[error("{0} is there already, and a backup overwrites nothing: choose another name")]
    FileExists(PathBuf),
    #[error("another process is writing {0} at the moment")]
    FileBusy(PathBuf),
    #[error("copying the database: {0}")]
    Database(#[source] StoreError),
    #[error("{file} is not a backup of bourse: {reason}")]
    Foreign { file: PathBuf, reason: String },
    #[error("{file} is damaged or was cut off ({reason}): nothing was changed. Use another backup")]
    Torn { file: PathBuf, reason: String },
    #[error(
        "{file} has format {found}, this program reads up to {FORMAT_VERSION}: use the newer version of bourse"
    )]
    NewerFormat { file: PathBuf, found: u32 },
    #[error(
        "{file} has a database of migration {found}, this program knows up to {known}: use the newer version of bourse"
    )]
    NewerSchema { file: PathBuf, found: i64, known: i64 },
    #[error(
        "{data} is not empty, it has {entry}: restore into another directory with --data, or add --force to move \
         what is there aside"
    )]
    NotEmpty { data: PathBuf, entry: String },
    #[error("{what}: no room is left on that disk. Make room there, or choose another place")]
    Full { what: String },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl BackupError {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { what },
            _ => Self::Io { what, source },
        }
    }

    /// Why the database could not be copied to a file.
    fn copying(to: &Path) -> impl FnOnce(StoreError) -> Self {
        move |error| match error {
            StoreError::Full(_) => Self::Full { what: format!("copying the database to {}", to.display()) },
            error => Self::Database(error),
        }
    }
}

/// Whether an archive may hold a file of this name.
fn is_ours(name: &Path) -> bool {
    let small = SMALL_FILES.iter().any(|file| name == Path::new(file));
    // No `..`, no root: a name leads to below the data directory.
    let plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let upload = plain && name.starts_with(ASSETS_DIRECTORY) && name != Path::new(ASSETS_DIRECTORY);
    small || upload || name == Path::new(bourse_server::settings::SQLITE_FILE_NAME)
}

/// Makes what happened to the names in a directory last.
fn sync_directory(path: &Path) -> Result<(), BackupError> {
    let synced = std::fs::File::open(path).and_then(|directory| directory.sync_all());
    synced.map_err(BackupError::io(format!("syncing {}", path.display())))
}
