//! Writing a backup.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bourse_server::Files;
use bourse_server::settings::{ASSETS_DIRECTORY, SQLITE_FILE_NAME};
use bourse_wire::Timestamp;
use bytes::{Buf as _, Bytes};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::{BackupError, MANIFEST, Manifest, SMALL_FILES, SUMS, sync_directory};
use crate::progress::Progress;

/// What is backed up.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) data: PathBuf,
    pub(crate) database: PathBuf,
    /// The uploaded files, wherever they are.
    pub(crate) files: Files,
}

impl Source {
    /// Backs up what this has, of which nothing is removed meanwhile: from before the database is copied, as what that speaks
    /// of must still be there when the files are read.
    pub(crate) async fn write(self, file: &Path, now: Timestamp) -> Result<WrittenBackup, BackupError> {
        let hold = self.files.hold().await.map_err(BackupError::io("holding the uploaded files"))?;
        let (file, runtime) = (file.to_owned(), Handle::current());
        let written = tokio::task::spawn_blocking(move || write(&self, &file, &runtime, now)).await;
        hold.release().await;
        written.map_err(|error| BackupError::io("writing the backup")(io::Error::other(error)))?
    }
}

/// A backup that is on disk.
pub(crate) struct WrittenBackup {
    pub(crate) manifest: Manifest,
    /// Files beside the database.
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// Writes a backup, of which `file` is either whole or not there, however this ends.
fn write(
    source: &Source,
    file: &Path,
    runtime: &Handle,
    now: Timestamp,
) -> Result<WrittenBackup, BackupError> {
    let part = Part::claim(file)?;
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
    archive.add_uploads(&source.files, runtime, &mut progress)?;
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
        let added = File::open(path).and_then(|file| {
            let size = file.metadata()?.len();
            self.add(name, size, file)
        });
        added.map_err(BackupError::io(format!("adding {}", path.display())))
    }

    /// Adds all uploaded files, in the order of their hashes.
    fn add_uploads(
        &mut self,
        files: &Files,
        runtime: &Handle,
        progress: &mut Progress,
    ) -> Result<(), BackupError> {
        for part in 0..=u8::MAX {
            let listed = runtime.block_on(files.hashes(part));
            for hash in listed.map_err(BackupError::io(format!("listing {}", files.place())))? {
                let added = self.add_upload(files, runtime, &hash);
                added.map_err(BackupError::io(format!("adding the file {hash} of {}", files.place())))?;
                progress.at(self.entries, || format!("{} files", self.entries));
            }
        }
        Ok(())
    }

    /// Adds an uploaded file. One that was removed since it was listed was nobody's when the database was copied: later
    /// ones are held.
    fn add_upload(&mut self, files: &Files, runtime: &Handle, hash: &str) -> io::Result<()> {
        let content = match runtime.block_on(files.read(hash)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            content => content?,
        };
        let (start, rest) = hash.split_at_checked(2).unwrap_or(("", hash));
        let reader = PieceReader { runtime, pieces: content.pieces, piece: Bytes::new() };
        self.add(&format!("{ASSETS_DIRECTORY}/{start}/{rest}"), content.length, reader)
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

/// Reads what comes in pieces.
struct PieceReader<'r> {
    runtime: &'r Handle,
    pieces: BoxStream<'static, io::Result<Bytes>>,
    piece: Bytes,
}

impl Read for PieceReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let Some(piece) = self.runtime.block_on(self.pieces.next()) else { return Ok(0) };
            self.piece = piece?;
        }
        let length = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
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
