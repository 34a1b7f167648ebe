//! Reading a backup: nothing in it is believed before all of it was seen.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bourse_server::settings::SQLITE_FILE_NAME;
use bourse_store::Migration;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use super::write::SummingReader;
use super::{BackupError, FORMAT, FORMAT_VERSION, MANIFEST, Manifest, SUMS, is_ours, sync_directory};
use crate::progress::Progress;

/// More than any manifest has, so that a foreign archive cannot fill the memory.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;

type Content = BufReader<GzDecoder<BufReader<File>>>;
type Entry<'a> = tar::Entry<'a, Content>;

/// What a backup says of itself.
pub(crate) fn read_manifest(file: &Path) -> Result<Manifest, BackupError> {
    let reader = Reader { file };
    let mut archive = reader.open()?;
    let mut entries = archive.entries().map_err(|error| reader.foreign(error))?;
    reader.manifest(entries.next()).map(|(manifest, _)| manifest)
}

/// Unpacks a backup into a directory of its own, and checks that it is whole and as it was written. Tells how many files
/// there are beside the database. The manifest is kept too, to tell later what this was.
pub(super) fn unpack(file: &Path, into: &Path) -> Result<u64, BackupError> {
    let reader = Reader { file };
    let mut archive = reader.open()?;
    let mut entries = archive.entries().map_err(|error| reader.foreign(error))?;
    let (manifest, sum) = reader.manifest(entries.next())?;
    keep_manifest(&manifest, &into.join(MANIFEST))?;
    let mut found = BTreeMap::from([(PathBuf::from(MANIFEST), sum)]);
    let mut stated = None;
    let mut progress = Progress::start("unpacking the backup", None);
    for entry in entries {
        let mut entry = entry.map_err(|error| reader.torn(error))?;
        let name = entry.path().map_err(|error| reader.torn(error))?.into_owned();
        if name == Path::new(SUMS) {
            let mut text = String::new();
            entry.read_to_string(&mut text).map_err(|error| reader.torn(error))?;
            stated = Some(text);
            break;
        }
        if !is_ours(&name) || entry.header().entry_type() != tar::EntryType::Regular {
            let reason = format!("it has an entry {} that no backup has", name.display());
            return Err(BackupError::Foreign { file: file.to_owned(), reason });
        }
        let sum = reader.keep(entry, &into.join(&name))?;
        if found.insert(name, sum).is_some() {
            return Err(reader.torn("an entry is there twice"));
        }
        progress.at(found.len() as u64, || format!("{} files", found.len()));
    }
    reader.drain(archive)?;
    reader.compare(&found, &stated.ok_or_else(|| reader.torn("its end is missing"))?)?;
    if !found.contains_key(Path::new(SQLITE_FILE_NAME)) {
        return Err(reader.torn("it has no database"));
    }
    sync_directory(into)?;
    Ok(found.len() as u64 - 2)
}

fn keep_manifest(manifest: &Manifest, path: &Path) -> Result<(), BackupError> {
    let text = serde_json::to_vec(manifest).map_err(io::Error::other);
    let kept = text.and_then(|text| fs::write(path, text)).and_then(|()| File::open(path)?.sync_all());
    kept.map_err(BackupError::io(format!("writing {}", path.display())))
}

/// The archive that is read, for what is said of it.
struct Reader<'f> {
    file: &'f Path,
}

impl Reader<'_> {
    fn foreign(&self, reason: impl Display) -> BackupError {
        BackupError::Foreign { file: self.file.to_owned(), reason: reason.to_string() }
    }

    fn torn(&self, reason: impl Display) -> BackupError {
        BackupError::Torn { file: self.file.to_owned(), reason: reason.to_string() }
    }

    fn open(&self) -> Result<tar::Archive<Content>, BackupError> {
        let opened = File::open(self.file);
        let opened = opened.map_err(BackupError::io(format!("opening {}", self.file.display())))?;
        Ok(tar::Archive::new(BufReader::new(GzDecoder::new(BufReader::new(opened)))))
    }

    /// Reads the first entry, which decides whether the others are looked at.
    fn manifest(&self, first: Option<io::Result<Entry<'_>>>) -> Result<(Manifest, [u8; 32]), BackupError> {
        let entry = first.ok_or_else(|| self.foreign("it is empty"))?.map_err(|error| self.foreign(error))?;
        if entry.path().ok().as_deref() != Some(Path::new(MANIFEST)) {
            return Err(self.foreign(format!("it does not begin with {MANIFEST}")));
        }
        let mut text = Vec::new();
        entry.take(MANIFEST_BYTES_MAX).read_to_end(&mut text).map_err(|error| self.torn(error))?;
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(|error| self.foreign(error))?;
        if value["format"] != FORMAT {
            return Err(self.foreign("its manifest is that of something else"));
        }
        // A newer manifest may have other members, so the version comes before the rest.
        let version = value["formatVersion"].as_u64().and_then(|version| u32::try_from(version).ok());
        let version = version.ok_or_else(|| self.foreign("its manifest has no version"))?;
        if version > FORMAT_VERSION {
            return Err(BackupError::NewerFormat { file: self.file.to_owned(), found: version });
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(|error| self.foreign(error))?;
        let (found, known) = (manifest.schema, Migration::newest());
        if found > known {
            return Err(BackupError::NewerSchema { file: self.file.to_owned(), found, known });
        }
        Ok((manifest, Sha256::digest(&text).into()))
    }

    /// Writes an entry to a file, and syncs it.
    fn keep(&self, entry: Entry<'_>, path: &Path) -> Result<[u8; 32], BackupError> {
        let shown = path.display();
        let made = path
            .parent()
            .map_or(Ok(()), |parent| fs::DirBuilder::new().recursive(true).mode(0o700).create(parent));
        made.map_err(BackupError::io(format!("making the directory of {shown}")))?;
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let mut file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(self.torn("an entry is there twice"));
            }
            opened => opened.map_err(BackupError::io(format!("making {shown}")))?,
        };
        let size = entry.size();
        let mut content = SummingReader { content: entry, sum: Sha256::new(), bytes: 0 };
        // Reading and writing fail for different reasons, and only one of them is the archive's fault.
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let read = content.read(&mut buffer).map_err(|error| self.torn(error))?;
            if read == 0 {
                break;
            }
            let written = io::Write::write_all(&mut file, &buffer[..read]);
            written.map_err(BackupError::io(format!("writing {shown}")))?;
        }
        if content.bytes != size {
            return Err(self.torn("an entry is cut off"));
        }
        file.sync_all().map_err(BackupError::io(format!("syncing {shown}")))?;
        Ok(content.sum.finalize().into())
    }

    /// Reads what follows the last entry: the checksum of the whole is behind it.
    fn drain(&self, archive: tar::Archive<Content>) -> Result<(), BackupError> {
        io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| self.torn(error))?;
        Ok(())
    }

    /// Compares what was found with what the archive says of itself, both ways.
    fn compare(&self, found: &BTreeMap<PathBuf, [u8; 32]>, stated: &str) -> Result<(), BackupError> {
        let mut missing: BTreeMap<&Path, &[u8; 32]> =
            found.iter().map(|(name, sum)| (name.as_path(), sum)).collect();
        for line in stated.lines() {
            let (sum, name) = line.split_once("  ").ok_or_else(|| self.torn("its sums cannot be read"))?;
            let known = missing.remove(Path::new(name));
            let known = known.ok_or_else(|| self.torn(format!("{name} is missing")))?;
            if const_hex::encode(known) != sum {
                return Err(self.torn(format!("{name} has another checksum than it had")));
            }
        }
        match missing.keys().next() {
            Some(name) => Err(self.torn(format!("{} has no checksum", name.display()))),
            None => Ok(()),
        }
    }
}
