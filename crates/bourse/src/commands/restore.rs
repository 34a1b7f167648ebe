//! Puts a backup into a data directory.

use std::fs;
use std::path::{Path, PathBuf};

use bourse_server::settings::{ASSETS_DIRECTORY, Database, FilesPlace, Settings};
use bourse_server::{Clock, make_private_directory};
use bourse_wire::Timestamp;
use serde_json::json;

use super::backup::embedded;
use super::files::copy_files;
use crate::backup::{self, Manifest};
use crate::cli::{Common, Listen, Restore};
use crate::context::{CommandError, load_settings};
use crate::data_lock::DataLock;
use crate::output::print;

pub(super) async fn run(common: &Common, restore: &Restore) -> Result<(), CommandError> {
    let settings = load_settings(common, &Listen::default())?.settings;
    embedded(&settings, "bourse restore")?;
    check_place(&settings)?;
    let data = &settings.storage.data;
    let now = Clock::system().now();
    let manifest = backup::read_manifest(&restore.file)?;
    let made = !data.exists();
    make_private_directory(data).map_err(CommandError::io("making the data directory"))?;
    let restored = put(restore, data, &manifest, now);
    if made && restored.is_err() {
        // It goes only when it is empty, so nothing can be lost.
        let _ = fs::remove_dir(data);
    }
    let Report { files, aside } = restored?;
    let copied = place_files(&settings, now).await?;
    let value = json!({
        "data": data,
        "createdAt": manifest.created_at,
        "schema": manifest.schema,
        "files": files,
        "aside": aside,
        "copied": copied,
    });
    print(common.json, &value, || {
        let aside = aside.as_ref().map(|aside| format!("\nWhat was there before is in {}.", aside.display()));
        let copied = copied
            .map(|copied| format!("\n{copied} uploaded files are in {}.", settings.storage.files_shown()));
        format!(
            "Restored {} as of {} (schema {}).{}{}",
            data.display(),
            manifest.created_at,
            manifest.schema,
            aside.unwrap_or_default(),
            copied.unwrap_or_default()
        )
    })
}

/// Copies the restored files to where the settings want them, unless that is the data directory. Those there stay.
async fn place_files(settings: &Settings, now: Timestamp) -> Result<Option<u64>, CommandError> {
    if settings.storage.files == FilesPlace::InData {
        return Ok(None);
    }
    copy_files(settings, FilesPlace::InData, now).await.map(Some).map_err(|error| {
        let (place, data) = (settings.storage.files_shown(), settings.storage.data.join(ASSETS_DIRECTORY));
        CommandError::Other(format!(
            "{error}\nThe backup was restored, but not all uploaded files are in {place} yet: once it can be written, run \
             `bourse copy-files --from {}`",
            data.display()
        ))
    })
}

struct Report {
    /// Files beside the database, where they were counted.
    files: Option<u64>,
    aside: Option<PathBuf>,
}

/// Restores, or finishes what an earlier run began with the same backup.
fn put(restore: &Restore, data: &Path, manifest: &Manifest, now: Timestamp) -> Result<Report, CommandError> {
    let _lock = DataLock::exclusive(data)?;
    if let Some(finished) = backup::finish(data, now)? {
        eprintln!(
            "bourse: finished a restore that was interrupted, of the backup of {}",
            finished.manifest.created_at
        );
        if finished.manifest == *manifest {
            return Ok(Report { files: None, aside: finished.aside });
        }
    }
    let restored = backup::restore(&restore.file, data, restore.force, now)?;
    Ok(Report { files: Some(restored.files), aside: restored.aside })
}

/// A restore replaces a data directory as a whole; a database elsewhere would be left as it is.
fn check_place(settings: &Settings) -> Result<(), CommandError> {
    match &settings.storage.database {
        Database::Sqlite(path) => Err(CommandError::Other(format!(
            "a restore puts the database into the data directory, and storage.database names {}: restore with \
             `--database ''`, then move bourse.db there",
            path.display()
        ))),
        Database::InData | Database::Postgres(_) => Ok(()),
    }
}
