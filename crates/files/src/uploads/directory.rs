//! Uploaded files in a directory, which several servers may share.
//!
//! Content is `ab/cdef…`, by its hash. Beside it lie claims, `ab/cdef….WORD.claim`, and what was set aside,
//! `ab/cdef….WORD.aside`: a rename takes content away from whoever looks for it, and back, at one instant.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bourse_wire::Timestamp;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::io::AsyncReadExt as _;

use super::{ABANDONED_AFTER, CLAIM, Content, DrawWord, HOLD, HOLD_MAX, PROBE, is_hash};
use crate::whole::{ignore_missing, sync_names, write_whole};

/// How the name of content ends that was set aside.
const ASIDE: &str = "aside";
/// How much of a file is read at once, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Clone)]
pub(super) struct Directory {
    path: PathBuf,
    draw: DrawWord,
}

/// What is kept in a part of the directory.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) contents: Vec<String>,
    /// Hashes, and where what has them is now.
    pub(super) set_aside: Vec<(String, PathBuf)>,
    pub(super) abandoned: Vec<PathBuf>,
}

impl Directory {
    /// Opens a directory, making it when missing.
    pub(super) fn open(path: PathBuf, draw: DrawWord) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        Ok(Self { path, draw })
    }

    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Does something that may wait for the disk where nobody else waits.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let directory = self.clone();
        tokio::task::spawn_blocking(move || act(&directory)).await.map_err(io::Error::other)?
    }

    /// Says that somebody is uploading this content.
    pub(super) fn claim(&self, hash: &str, now: Timestamp) -> io::Result<PathBuf> {
        let content = self.content(hash);
        fs::create_dir_all(content.parent().unwrap_or(Path::new(".")))?;
        let path = content.with_extension(format!("{}.{CLAIM}", (self.draw)()));
        fs::File::create_new(&path)?.set_modified(system_time(now))?;
        Ok(path)
    }

    /// Stores claimed content unless it is there.
    pub(super) fn store(&self, hash: &str, content: &[u8]) -> io::Result<()> {
        let path = self.content(hash);
        if path.exists() {
            // Somebody else may be just about to make its name last.
            return sync_names(&path);
        }
        write_whole(&path, &(self.draw)(), |file| file.write_all(content))
    }

    pub(super) async fn read(&self, hash: &str) -> io::Result<Content> {
        let file = tokio::fs::File::open(self.content(hash)).await?;
        let length = file.metadata().await?.len();
        let pieces = stream::try_unfold(file, async |mut file| {
            let mut piece = BytesMut::with_capacity(PIECE_BYTES);
            let read = file.read_buf(&mut piece).await?;
            Ok::<(Bytes, _), io::Error>((piece.freeze(), file)).map(|next| (read > 0).then_some(next))
        });
        Ok(Content { length, pieces: pieces.boxed() })
    }

    /// Sets content aside, if it is there.
    pub(super) fn set_aside(&self, hash: &str) -> io::Result<Option<PathBuf>> {
        let path = self.content(hash);
        let aside = path.with_extension(format!("{}.{ASIDE}", (self.draw)()));
        match fs::rename(&path, &aside) {
            Ok(()) => Ok(Some(aside)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn is_claimed(&self, hash: &str, now: Timestamp) -> io::Result<bool> {
        let path = self.content(hash);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        for entry in fs::read_dir(parent)? {
            let entry = entry?.path();
            let is_of_content = entry.with_extension("").file_stem() == Some(name);
            if is_of_content && has_ending(&entry, CLAIM) && is_younger(&entry, ABANDONED_AFTER, now) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts content back; another process may have done it, or removed it, already.
    pub(super) fn put_back(&self, hash: &str, aside: &Path) -> io::Result<()> {
        ignore_missing(fs::rename(aside, self.content(hash)))
    }

    pub(super) fn hold(&self) -> io::Result<PathBuf> {
        let path = self.path.join(format!("backup.{}.{HOLD}", (self.draw)()));
        fs::File::create_new(&path)?;
        Ok(path)
    }

    pub(super) fn is_held(&self, now: Timestamp) -> io::Result<bool> {
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            if has_ending(&path, HOLD) && is_younger(&path, HOLD_MAX, now) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Everything in the part whose hashes begin with this byte.
    pub(super) fn list(&self, part: u8, now: Timestamp) -> io::Result<Listing> {
        let start = const_hex::encode([part]);
        let mut listing = Listing::default();
        let entries = match fs::read_dir(self.path.join(&start)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let hash = format!("{start}{}", name.split('.').next().unwrap_or_default());
            // What else lies here is not ours.
            if !is_hash(&hash) {
                continue;
            }
            if path.extension().is_none() {
                listing.contents.push(hash);
            } else if has_ending(&path, ASIDE) {
                listing.set_aside.push((hash, path));
            } else if !is_younger(&path, ABANDONED_AFTER, now) {
                listing.abandoned.push(path);
            }
        }
        listing.contents.sort_unstable();
        Ok(listing)
    }

    /// Writes something and removes it again.
    pub(super) fn try_out(&self) -> io::Result<()> {
        let path = self.path.join(format!("{}.{PROBE}", (self.draw)()));
        fs::write(&path, b"probe")?;
        remove(&path)
    }

    fn content(&self, hash: &str) -> PathBuf {
        let (start, rest) = hash.split_at_checked(2).unwrap_or(("", hash));
        self.path.join(start).join(rest)
    }
}

/// Removes a file; another process may have done it already.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_file(path))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension == ending)
}

/// Whether a file was written within this time. One that cannot be looked at is taken for young: nothing is done to it.
fn is_younger(path: &Path, than: Duration, now: Timestamp) -> bool {
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    let age = written.ok().and_then(|written| system_time(now).duration_since(written).ok());
    age.is_none_or(|age| age < than)
}

fn system_time(at: Timestamp) -> SystemTime {
    let since_start = Duration::from_secs(u64::try_from(at.unix_seconds()).unwrap_or_default());
    SystemTime::UNIX_EPOCH + since_start
}
