//! Uploaded files, kept under the hash of their content, and how those that no asset has any more are removed.
//!
//! Assets of several projects may have the same content, several servers may share the directory, and a file is there
//! before the database speaks of it. So that no file is removed that somebody is just about to have:
//!
//! - whoever uploads puts a *claim* beside the content before looking whether it is there, and takes it away once the
//!   database knows, or never will;
//! - whoever removes sets the content aside under another name first, then looks for claims, then asks the database, and
//!   puts it back unless both say that nobody has it. Content that was set aside too early is missing to whoever
//!   uploads, who then writes it again; content that was claimed earlier is put back.
//!
//! A *hold*, any file in the directory itself whose name ends in `.hold`, keeps everything where it is for as long as a
//! backup needs. What is left behind by a process that was killed is seen to by whoever looks through all files.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bourse_store::AssetFile;
use bourse_wire::{Error, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::whole::{ignore_missing, sync_names, write_whole};

/// The media types that can be uploaded. What is not recognised as one of them is refused.
const ALLOWED: [&str; 15] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/svg+xml",
    "video/mp4",
    "video/webm",
    "video/quicktime",
    "audio/mpeg",
    "audio/x-wav",
    "audio/ogg",
    "audio/x-flac",
    "audio/m4a",
    "model/gltf-binary",
];

/// The directory of uploaded files in a data directory.
pub const ASSETS_DIRECTORY: &str = "assets";

/// How the name of a claim ends.
const CLAIM: &str = "claim";
/// How the name of content ends that was set aside.
const ASIDE: &str = "aside";
/// How the name of a hold ends.
const HOLD: &str = "hold";
/// After this time a claim or a part is what a killed process left behind: an upload takes minutes.
const ABANDONED_AFTER: Duration = Duration::from_hours(6);
/// After this time a hold was forgotten.
const HOLD_MAX: Duration = Duration::from_hours(48);

/// The directory of uploaded files.
pub struct Files {
    directory: PathBuf,
    draw: DrawWord,
}

/// Draws a word that nobody else has drawn, for names of files.
pub type DrawWord = fn() -> String;

/// Why a file was not taken.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not of a type that can be uploaded.
    #[error(transparent)]
    Refused(#[from] Error),
    /// It could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Files {
    /// Opens the directory in a data directory, making both when missing.
    pub fn open(data: &Path, draw: DrawWord) -> io::Result<Self> {
        let directory = data.join(ASSETS_DIRECTORY);
        fs::create_dir_all(&directory)?;
        Ok(Self { directory, draw })
    }

    /// Stores content and tells what it was found to be. On disk when this returns, and not removed before the claim ends.
    pub fn put(&self, content: &[u8], now: Timestamp) -> Result<(AssetFile, Claim), FileError> {
        let mime_type = media_type(content).ok_or_else(|| {
            Error::invalid(
                "file",
                format!("not of a type that can be uploaded, which are {}", ALLOWED.join(", ")),
            )
        })?;
        let hash = const_hex::encode(Sha256::digest(content));
        let path = self.path(&hash);
        let claim = Claim::place(&path, &(self.draw)(), now)?;
        // Where it is there already, somebody else may be just about to make its name last.
        let stored = if path.exists() {
            sync_names(&path)
        } else {
            write_whole(&path, &(self.draw)(), |file| file.write_all(content))
        };
        if let Err(error) = stored {
            claim.end();
            return Err(error.into());
        }
        let file = AssetFile {
            content_hash: hash,
            filesize: content.len() as u64,
            mime_type: mime_type.to_owned(),
            dimensions: dimensions(mime_type, content),
        };
        Ok((file, claim))
    }

    /// The content under a hash, opened to be read piece by piece, and how long it is.
    pub async fn open_content(&self, hash: &str) -> io::Result<(tokio::fs::File, u64)> {
        let file = tokio::fs::File::open(self.path(hash)).await?;
        let length = file.metadata().await?.len();
        Ok((file, length))
    }

    /// Sets the content under a hash aside; `None` where there is none, or where everything is held.
    pub fn set_aside(&self, hash: &str, now: Timestamp) -> io::Result<Option<Aside>> {
        if self.is_held(now)? {
            return Ok(None);
        }
        let path = self.path(hash);
        let aside = path.with_extension(format!("{}.{ASIDE}", (self.draw)()));
        match fs::rename(&path, &aside) {
            Ok(()) => Ok(Some(Aside { hash: hash.to_owned(), path: aside })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether somebody is uploading this content, or everything is held. To be asked after the content was set aside, and
    /// before the database is asked.
    pub fn is_claimed(&self, hash: &str, now: Timestamp) -> io::Result<bool> {
        let path = self.path(hash);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        for entry in fs::read_dir(parent)? {
            let entry = entry?.path();
            let is_of_content = entry.with_extension("").file_stem() == Some(name);
            if is_of_content && has_ending(&entry, CLAIM) && is_younger(&entry, ABANDONED_AFTER, now) {
                return Ok(true);
            }
        }
        self.is_held(now)
    }

    /// Puts content back that was set aside; another process may have done it, or removed it, already.
    pub fn put_back(&self, aside: &Aside) -> io::Result<()> {
        ignore_missing(fs::rename(&aside.path, self.path(&aside.hash)))
    }

    fn is_held(&self, now: Timestamp) -> io::Result<bool> {
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if has_ending(&path, HOLD) && is_younger(&path, HOLD_MAX, now) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Everything that is kept in one of the parts that the directory has, of which there are 256.
    pub fn list(&self, part: u8, now: Timestamp) -> io::Result<Listed> {
        let start = const_hex::encode([part]);
        let mut listed = Listed::default();
        let entries = match fs::read_dir(self.directory.join(&start)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listed),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let rest = name.split('.').next().unwrap_or_default();
            if path.extension().is_none() {
                listed.contents.push(format!("{start}{rest}"));
            } else if has_ending(&path, ASIDE) {
                listed.set_aside.push(Aside { hash: format!("{start}{rest}"), path });
            } else if !is_younger(&path, ABANDONED_AFTER, now) {
                listed.abandoned.push(path);
            }
        }
        Ok(listed)
    }

    fn path(&self, hash: &str) -> PathBuf {
        let (start, rest) = hash.split_at_checked(2).unwrap_or(("", hash));
        self.directory.join(start).join(rest)
    }
}

/// That somebody is uploading content, which is not removed until this is ended. One that is dropped stays for a while:
/// then nobody knows whether the database will speak of the content.
#[must_use = "it is to be ended once the database knows of the content, or never will"]
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
}

impl Claim {
    fn place(content: &Path, word: &str, now: Timestamp) -> io::Result<Self> {
        fs::create_dir_all(content.parent().unwrap_or(Path::new(".")))?;
        let path = content.with_extension(format!("{word}.{CLAIM}"));
        fs::File::create_new(&path)?.set_modified(system_time(now))?;
        Ok(Self { path })
    }

    /// Ends it.
    pub fn end(self) {
        if let Err(error) = ignore_missing(fs::remove_file(&self.path)) {
            tracing::warn!(%error, "removing the claim of an upload");
        }
    }
}

/// Content that was set aside.
pub struct Aside {
    /// Its hash.
    pub hash: String,
    path: PathBuf,
}

impl Aside {
    /// Removes it for good; another process may have done it already.
    pub fn remove(&self) -> io::Result<()> {
        ignore_missing(fs::remove_file(&self.path))
    }
}

/// What is kept in a part of the directory.
#[derive(Default)]
pub struct Listed {
    /// The hashes of contents.
    pub contents: Vec<String>,
    /// What was set aside by a process that is at it, or was killed.
    pub set_aside: Vec<Aside>,
    /// What belongs to uploads that never ended.
    abandoned: Vec<PathBuf>,
}

impl Listed {
    /// Removes what belongs to uploads that never ended.
    pub fn remove_abandoned(&self) -> io::Result<()> {
        self.abandoned.iter().try_for_each(|path| ignore_missing(fs::remove_file(path)))
    }
}

/// Keeps files from being removed while it lives.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
}

impl Hold {
    /// Keeps the files of a data directory; `None` where it has none.
    pub fn place(data: &Path, draw: DrawWord) -> io::Result<Option<Self>> {
        let path = data.join(ASSETS_DIRECTORY).join(format!("backup.{}.{HOLD}", draw()));
        match fs::File::create_new(&path) {
            Ok(_) => Ok(Some(Self { path })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Err(error) = ignore_missing(fs::remove_file(&self.path)) {
            tracing::warn!(%error, "removing a hold of files");
        }
    }
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

/// The type of a file by its content; its name and what the sender says are not believed.
pub fn media_type(content: &[u8]) -> Option<&'static str> {
    let found = if content.starts_with(b"glTF") {
        "model/gltf-binary"
    } else if let Some(kind) = infer::get(content) {
        kind.mime_type()
    } else if is_svg(content) {
        "image/svg+xml"
    } else {
        return None;
    };
    let found = if found == "text/xml" && is_svg(content) { "image/svg+xml" } else { found };
    ALLOWED.into_iter().find(|allowed| *allowed == found)
}

fn is_svg(content: &[u8]) -> bool {
    let start = &content[..content.len().min(4096)];
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with("<svg") || (text.starts_with("<?xml") || text.starts_with("<!")) && text.contains("<svg")
}

/// Width and height of an image, where they are found.
pub fn dimensions(mime_type: &str, content: &[u8]) -> Option<(u64, u64)> {
    if mime_type == "image/svg+xml" {
        return svg_dimensions(content);
    }
    let size = imagesize::blob_size(content).ok()?;
    Some((size.width as u64, size.height as u64))
}

/// The size of an SVG: its `width` and `height`, or else those of its `viewBox`.
fn svg_dimensions(content: &[u8]) -> Option<(u64, u64)> {
    let text = String::from_utf8_lossy(&content[..content.len().min(16 * 1024)]);
    let tag = text.split("<svg").nth(1)?.split('>').next()?;
    let attribute = |name: &str| {
        let rest = tag.split(&format!(" {name}=")).nth(1)?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest[1..].split(quote).next().map(str::to_owned)
    };
    let pixels = |text: &str| {
        let number: f64 = text.trim().trim_end_matches("px").parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a sane size"
        )]
        (1.0..=1e6).contains(&number).then_some(number.round() as u64)
    };
    let stated = || Some((pixels(&attribute("width")?)?, pixels(&attribute("height")?)?));
    let boxed = || {
        let view_box = attribute("viewBox")?;
        let numbers: Vec<&str> = view_box.split([' ', ',']).filter(|part| !part.is_empty()).collect();
        Some((pixels(numbers.get(2)?)?, pixels(numbers.get(3)?)?))
    };
    stated().or_else(boxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word() -> String {
        "word".to_owned()
    }

    const NOW: Timestamp = Timestamp::ZERO;
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0";

    #[test]
    fn content_decides_and_comes_back() {
        let data = tempfile::tempdir().unwrap();
        let files = Files::open(data.path(), word).unwrap();
        let put = |content: &[u8]| {
            let (file, claim) = files.put(content, NOW).unwrap();
            claim.end();
            file
        };
        let png = put(PNG);
        assert_eq!((png.mime_type.as_str(), png.dimensions, png.filesize), ("image/png", Some((2, 3)), 29));
        assert_eq!(fs::read(files.path(&png.content_hash)).unwrap(), PNG);
        assert_eq!(put(PNG), png);
        let svg = put(b"<?xml version='1.0'?>\n<svg xmlns='x' viewBox='0 0 64 32'></svg>");
        assert_eq!((svg.mime_type.as_str(), svg.dimensions), ("image/svg+xml", Some((64, 32))));
        let svg = put(b"<svg width=\"10px\" height=\"20\" viewBox='0 0 64 32'/>");
        assert_eq!(svg.dimensions, Some((10, 20)));
    }

    #[test]
    fn other_content_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let files = Files::open(data.path(), word).unwrap();
        let contents: [&[u8]; 5] =
            [b"", b"<html><svg></svg></html>", b"MZ\x90\0", b"%PDF-1.7", b"\x7fELF\x02\x01\x01"];
        for content in contents {
            assert!(matches!(files.put(content, NOW), Err(FileError::Refused(_))), "{content:?}");
        }
    }
}
