//! Copies uploaded files from one place to where the settings want them.

use bourse_server::settings::{FilesPlace, Settings};
use bourse_server::{Clock, Files, entropy};
use bourse_wire::Timestamp;
use serde_json::json;

use crate::cli::{Common, CopyFiles, Listen};
use crate::context::{CommandError, load_settings};
use crate::output::print;
use crate::progress::Progress;

pub(super) async fn run(common: &Common, command: CopyFiles) -> Result<(), CommandError> {
    let settings = load_settings(common, &Listen::default())?.settings;
    let from = FilesPlace::try_from(command.from.clone())
        .map_err(|reason| CommandError::Other(format!("--from {reason}")))?;
    if let FilesPlace::Directory(path) = &from
        && !path.is_dir()
    {
        return Err(CommandError::Other(format!("--from {} is not a directory", command.from)));
    }
    let copied = copy_files(&settings, from, Clock::system().now()).await?;
    let to = settings.storage.files_shown();
    print(common.json, &json!({ "files": copied, "to": to }), || {
        format!("{copied} files of {} are in {to}. They also stay where they were.", command.from)
    })
}

/// Copies all files of a place to the one of the settings; tells how many there are.
pub(super) async fn copy_files(
    settings: &Settings,
    from: FilesPlace,
    now: Timestamp,
) -> Result<u64, CommandError> {
    let mut other = settings.storage.clone();
    other.files = from;
    if other.files_shown() == settings.storage.files_shown() {
        let place = other.files_shown();
        return Err(CommandError::Other(format!("{place} is what storage.files names: nothing to copy")));
    }
    let open = |storage| Files::connect(storage, &settings.s3, entropy::word);
    let opening = "opening the uploaded files";
    let (from, to) = (open(&other), open(&settings.storage));
    let (from, to) = (from.map_err(CommandError::io(opening))?, to.map_err(CommandError::io(opening))?);
    let mut progress = Progress::start("copying uploaded files", None);
    let mut told = |copied| progress.at(copied, || format!("{copied} files"));
    to.copy_from(&from, now, &mut told).await.map_err(CommandError::io("copying the uploaded files"))
}
