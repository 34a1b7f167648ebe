//! Writes a backup of the embedded store, also while it is served.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use bourse_server::settings::{FilesPlace, Settings};
use bourse_server::{Clock, Files, entropy};
use serde_json::json;

use crate::backup::{BackupError, Source};
use crate::cli::{Common, Listen};
use crate::context::{CommandError, load_settings};
use crate::data_lock::DataLock;
use crate::output::print;

const KIBIBYTE: u64 = 1024;
/// The file of the data directory that tells when the last backup was made.
pub(super) const LAST_BACKUP: &str = "last-backup";

pub(super) async fn run(common: &Common, file: &Path) -> Result<(), CommandError> {
    let settings = load_settings(common, &Listen::default())?.settings;
    let started = Instant::now();
    let database = embedded(&settings, "bourse backup")?;
    let data = settings.storage.data.clone();
    let _lock = data.exists().then(|| DataLock::shared(&data)).transpose()?;
    if !database.is_file() {
        return Err(BackupError::NoDatabase(database).into());
    }
    let files = Files::connect(&settings.storage, &settings.s3, entropy::word)
        .map_err(CommandError::io("opening the uploaded files"))?;
    let last = data.join(LAST_BACKUP);
    let source = Source { data, database, files };
    let written = source.write(file, Clock::system().now()).await?;
    if let Err(error) = std::fs::write(&last, format!("{}\n", written.manifest.created_at)) {
        tracing::warn!(%error, "that a backup was made could not be noted");
    }
    let value = json!({
        "file": file,
        "bytes": written.bytes,
        "createdAt": written.manifest.created_at,
        "schema": written.manifest.schema,
        "files": written.files,
    });
    print(common.json, &value, || {
        let mut text = format!(
            "Backed up the database (schema {}) and {} files to {}: {} KiB in {:.1} s",
            written.manifest.schema,
            written.files,
            file.display(),
            written.bytes.div_ceil(KIBIBYTE),
            started.elapsed().as_secs_f64()
        );
        if let FilesPlace::Bucket { .. } = settings.storage.files {
            let _ = write!(
                text,
                "\nThe uploaded files are in it, as they are in {}; other versions of them and settings of that bucket are not.",
                settings.storage.files_shown()
            );
        }
        if settings.auth.has_secret() {
            text.push_str(
                "\nauth.jwt_secret is configured, so it is not in the backup: keep it with your settings.",
            );
        }
        text
    })
}

/// The file of the embedded database. A PostgreSQL has tools of its own, which do this better.
pub(super) fn embedded(settings: &Settings, command: &str) -> Result<std::path::PathBuf, CommandError> {
    settings.storage.sqlite_file().ok_or_else(|| {
        let storage = &settings.storage;
        let (data, files) = (storage.data.display(), storage.files_shown());
        let secret = if settings.auth.has_secret() {
            "your auth.jwt_secret".to_owned()
        } else {
            format!("{data}/jwt.secret")
        };
        CommandError::Other(format!(
            "`{command}` is for the embedded database, and storage.database names PostgreSQL. There three things \
             belong together, saved in this order: the database, with pg_dump or your usual tools; the uploaded \
             files, {files}; and {secret}. docs/production.md shows how"
        ))
    })
}
