//! Putting a backup in the place of what a data directory holds.
//!
//! ```text
//! .restore-unpacking  nothing is decided; what is found here later is garbage
//!         │ whole and as it was written
//! .restore-ready      decided: what was there before is moved aside
//!         │ all of it is aside
//! .restore-placing    the files move out of it to where they belong
//!         │ all of them have
//!       (gone)
//! ```
//!
//! Each arrow is one rename, and each step can be done again. So a process that is killed leaves the old state, or one
//! that [`finish`] takes to the new state; in between no command opens the directory.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bourse_server::make_private_directory;
use bourse_wire::Timestamp;

use super::read::unpack;
use super::{BackupError, MANIFEST, Manifest, sync_directory};

const UNPACKING: &str = ".restore-unpacking";
const READY: &str = ".restore-ready";
const PLACING: &str = ".restore-placing";
/// What the directories begin with that hold what was there before.
const ASIDE: &str = "before-restore-";
/// What file systems have of their own accord.
const LOST_AND_FOUND: &str = "lost+found";

/// What a restore did.
pub(crate) struct RestoreOutcome {
    /// Files beside the database.
    pub(crate) files: u64,
    /// Where what was there before is now.
    pub(crate) aside: Option<PathBuf>,
}

/// Whether a restore was interrupted when it was decided already.
pub(crate) fn is_unfinished(data: &Path) -> bool {
    [READY, PLACING].iter().any(|name| data.join(name).exists())
}

/// Puts a backup into a data directory that nobody uses. What the directory has is moved aside when `force` is given, and
/// otherwise nothing is done unless it is empty. Until the backup is known to be whole nothing is changed.
pub(crate) fn restore(
    file: &Path,
    data: &Path,
    force: bool,
    now: Timestamp,
) -> Result<RestoreOutcome, BackupError> {
    if !force && let Some(entry) = own_entries(data)?.into_iter().next() {
        let entry = entry.to_string_lossy().into_owned();
        return Err(BackupError::NotEmpty { data: data.to_owned(), entry });
    }
    let unpacking = data.join(UNPACKING);
    remove_tree(&unpacking)?;
    make_private_directory(&unpacking).map_err(BackupError::io(format!("making {}", unpacking.display())))?;
    let unpacked = unpack(file, &unpacking);
    if unpacked.is_err() {
        remove_tree(&unpacking)?;
    }
    let files = unpacked?;
    rename(&unpacking, &data.join(READY))?;
    sync_directory(data)?;
    let aside = finish(data, now)?.and_then(|finished| finished.aside);
    Ok(RestoreOutcome { files, aside })
}

/// A restore that was taken to its end.
pub(crate) struct FinishedRestore {
    pub(crate) manifest: Manifest,
    pub(crate) aside: Option<PathBuf>,
}

/// Takes a restore that was decided to its end, if there is one.
pub(crate) fn finish(data: &Path, now: Timestamp) -> Result<Option<FinishedRestore>, BackupError> {
    let (ready, placing) = (data.join(READY), data.join(PLACING));
    let mut aside = None;
    if ready.exists() {
        let old = own_entries(data)?;
        if !old.is_empty() {
            let name = format!("{ASIDE}{}", now.to_string().replace(':', "-"));
            let directory = data.join(name);
            make_private_directory(&directory)
                .map_err(BackupError::io(format!("making {}", directory.display())))?;
            for entry in old {
                rename(&data.join(&entry), &directory.join(&entry))?;
            }
            sync_directory(&directory)?;
            aside = Some(directory);
        }
        rename(&ready, &placing)?;
        sync_directory(data)?;
    }
    if !placing.exists() {
        return Ok(None);
    }
    let text = fs::read(placing.join(MANIFEST)).map_err(BackupError::io("reading the manifest"))?;
    let manifest = serde_json::from_slice(&text).map_err(io::Error::from);
    let manifest = manifest.map_err(BackupError::io("reading the manifest"))?;
    for entry in entries(&placing)?.into_iter().filter(|entry| entry != MANIFEST) {
        rename(&placing.join(&entry), &data.join(&entry))?;
    }
    // A rename first: half of a directory that is being removed must not look like something to finish.
    let over = data.join(UNPACKING);
    rename(&placing, &over)?;
    sync_directory(data)?;
    remove_tree(&over)?;
    Ok(Some(FinishedRestore { manifest, aside }))
}

/// What a data directory holds, leaving out what restores put there.
fn own_entries(data: &Path) -> Result<Vec<OsString>, BackupError> {
    let mut entries = entries(data)?;
    entries.retain(|entry| {
        let name = entry.to_string_lossy();
        ![UNPACKING, READY, PLACING, LOST_AND_FOUND].contains(&&*name) && !name.starts_with(ASIDE)
    });
    Ok(entries)
}

fn entries(directory: &Path) -> Result<Vec<OsString>, BackupError> {
    let listed = fs::read_dir(directory)
        .and_then(|listed| listed.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
    let mut listed = listed.map_err(BackupError::io(format!("listing {}", directory.display())))?;
    listed.sort();
    Ok(listed)
}

fn rename(from: &Path, to: &Path) -> Result<(), BackupError> {
    fs::rename(from, to).map_err(BackupError::io(format!("moving {} to {}", from.display(), to.display())))
}

fn remove_tree(path: &Path) -> Result<(), BackupError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BackupError::Io { what: format!("removing {}", path.display()), source: error })
        }
        _ => Ok(()),
    }
}
