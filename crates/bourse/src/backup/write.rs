//! Writing a backup.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bourse_server::settings::SQLITE_FILE_NAME;
use bourse_server::{ASSETS_DIRECTORY, Hold, entropy};
use bourse_wire::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::{BackupError, MANIFEST, Manifest, SMALL_FILES, SUMS, sync_directory};
use crate::progress::Progress;

/// What is backed up.
pub(crate) struct Source {
    pub(crate) data: PathBuf,
    pub(crate) database: PathBuf,
}

/// A backup that is on disk.
pub(crate) struct WrittenBackup {
    pub(crate) manifest: Manifest,
    /// Files beside the database.
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// Writes a backup, of which `file` is either whole or not there, however this ends.
pub(crate) fn write(source: &Source, file: &Path, now: Timestamp) -> Result<WrittenBackup, BackupError> {
    if !source.database.is_file() {
        return Err(BackupError::NoDatabase(source.database.clone()));
    }
    let part = Part::claim(file)?;
    // Before the database is copied: what that speaks of must still be there when the files are.
    let _hold =
        Hold::place(&source.data, entropy::word).map_err(BackupError::io("holding the uploaded files"))?;
    let database = part.beside();
    let mut progress = Progress::start("copying the database", None);
    let schema = bourse_store::copy_sqlite(&source.database, &database, |done, of| {
        progress.at(done, || format!("{done} of {of} pages"));
    })
    .map_err(BackupError::copying(&database))?;
    drop(progress);
    let manifest = Manifest::new(schema.applied, now);
    let mut archive = Archive::new(part.writer()?, now);
    let entry = serde_json::to_vec_pretty(&manifest).map_err(io::Error::other);
    archive.add_text(MANIFEST, &entry.map_err(BackupError::io("writing the manifest"))?)?;
    archive.add_file(SQLITE_FILE_NAME, &database)?;
    let before = archive.entries;
    for name in SMALL_FILES {
        let path = source.data.join(name);
        if path.is_file() {
            archive.add_file(name, &path)?;
        }
    }
    let mut progress = Progress::start("adding uploaded files", None);
    archive.add_directory(ASSETS_DIRECTORY, &source.data.join(ASSETS_DIRECTORY), &mut progress)?;
    let files = archive.entries - before;
    archive.finish()?;
    let bytes = part.place(file)?;
    Ok(WrittenBackup { manifest, files, bytes })
}

/// The file under its working name, which this process has for itself. What an earlier process left there when it was
/// killed is overwritten; whatever is left of this one is deleted, unless it is killed.
struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    fn claim(file: &Path) -> Result<Self, BackupError> {
        if fs::symlink_metadata(file).is_ok() {
            return Err(BackupError::FileExists(file.to_owned()));
        }
        let path = with_suffix(file, ".part");
        let shown = path.display().to_string();
        let mut options = File::options();
        // It will hold the signing secret and people's addresses.
        options.write(true).create(true).truncate(false).mode(0o600);
        let opened = options.open(&path).map_err(BackupError::io(format!("making {shown}")))?;
        match opened.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(BackupError::FileBusy(file.to_owned())),
            Err(fs::TryLockError::Error(error)) => {
                return Err(BackupError::Io { what: format!("locking {shown}"), source: error });
            }
        }
        let part = Self { path, file: opened };
        // Only now, since whoever had it before may have just finished.
        if fs::symlink_metadata(file).is_ok() {
            return Err(BackupError::FileExists(file.to_owned()));
        }
        remove_if_there(&part.beside())?;
        part.file.set_len(0).map_err(BackupError::io(format!("emptying {shown}")))?;
        Ok(part)
    }

    /// Where the copy of the database is kept until it is in the archive.
    fn beside(&self) -> PathBuf {
        with_suffix(&self.path, ".db")
    }

    fn writer(&self) -> Result<BufWriter<File>, BackupError> {
        let shared = self.file.try_clone().map_err(BackupError::io("opening the archive"))?;
        Ok(BufWriter::with_capacity(256 * 1024, shared))
    }

    /// Gives the file its name once it is on disk; tells its size.
    fn place(self, file: &Path) -> Result<u64, BackupError> {
        let shown = file.display();
        let synced = self.file.sync_all().and_then(|()| self.file.metadata());
        let bytes = synced.map_err(BackupError::io(format!("writing {shown}")))?.len();
        fs::rename(&self.path, file).map_err(BackupError::io(format!("renaming to {shown}")))?;
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new(".")))?;
        Ok(bytes)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        for path in [self.beside(), self.path.clone()] {
            if let Err(error) = remove_if_there(&path) {
                eprintln!("bourse: {error}");
            }
        }
    }
}

/// The archive as it is being written.
struct Archive {
    tar: tar::Builder<GzEncoder<BufWriter<File>>>,
    sums: String,
    entries: u64,
    now: Timestamp,
}

impl Archive {
    fn new(writer: BufWriter<File>, now: Timestamp) -> Self {
        // Images are compressed already, and of what is in a database the fast level finds most.
        let tar = tar::Builder::new(GzEncoder::new(writer, Compression::fast()));
        Self { tar, sums: String::new(), entries: 0, now }
    }

    fn add_text(&mut self, name: &str, text: &[u8]) -> Result<(), BackupError> {
        self.add(name, text.len() as u64, text).map_err(BackupError::io(format!("adding {name}")))
    }

    fn add_file(&mut self, name: &str, path: &Path) -> Result<(), BackupError> {
        self.add_opened(name, path, File::open(path))
    }

    fn add_opened(&mut self, name: &str, path: &Path, opened: io::Result<File>) -> Result<(), BackupError> {
        let added = opened.and_then(|file| {
            let size = file.metadata()?.len();
            self.add(name, size, file)
        });
        added.map_err(BackupError::io(format!("adding {}", path.display())))
    }

    /// Adds an uploaded file. One that was removed since it was listed was nobody's when the database was copied: later
    /// ones are held.
    fn add_upload(&mut self, name: &str, path: &Path) -> Result<(), BackupError> {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            opened => self.add_opened(name, path, opened),
        }
    }

    /// Adds all files below a directory, in the order of their names.
    fn add_directory(&mut self, name: &str, path: &Path, progress: &mut Progress) -> Result<(), BackupError> {
        let listed = match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed.and_then(Iterator::collect::<io::Result<Vec<_>>>),
        };
        let mut entries = listed.map_err(BackupError::io(format!("listing {}", path.display())))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, file_name) = (entry.path(), entry.file_name());
            let name = format!("{name}/{}", file_name.to_string_lossy());
            if path.is_dir() {
                self.add_directory(&name, &path, progress)?;
            } else if path.is_file() && path.extension().is_none() {
                // What has an extension is an upload under way, which nothing speaks of yet.
                self.add_upload(&name, &path)?;
                progress.at(self.entries, || format!("{} files", self.entries));
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(self.now.unix_seconds()).unwrap_or(0));
        let mut content = SummingReader { content: content.take(size), sum: Sha256::new(), bytes: 0 };
        self.tar.append_data(&mut header, name, &mut content)?;
        if content.bytes != size {
            return Err(io::Error::other("it became shorter while it was read"));
        }
        self.sums.push_str(&sum_line(content.sum.finalize().as_slice(), name));
        self.entries += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<(), BackupError> {
        let sums = std::mem::take(&mut self.sums);
        self.add_text(SUMS, sums.as_bytes())?;
        let finished = self.tar.into_inner().and_then(GzEncoder::finish).and_then(|mut file| file.flush());
        finished.map_err(BackupError::io("finishing the archive"))
    }
}

/// A line of the sums, as `sha256sum` writes it.
pub(super) fn sum_line(sum: &[u8], name: &str) -> String {
    format!("{}  {name}\n", const_hex::encode(sum))
}

/// Sums up what is read through it.
pub(super) struct SummingReader<R> {
    pub(super) content: R,
    pub(super) sum: Sha256,
    pub(super) bytes: u64,
}

impl<R: Read> Read for SummingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.sum.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn remove_if_there(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BackupError::Io { what: format!("removing {}", path.display()), source: error })
        }
        _ => Ok(()),
    }
}
