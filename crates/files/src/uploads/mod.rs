//! Uploaded files, kept under the hash of their content, and how those that no asset has any more are removed.
//!
//! They are in a directory or in a bucket; nobody outside of this module knows which. Assets of several projects may have the
//! same content, several servers may share the place, and a file is there before the database speaks of it. So that no file
//! is removed that somebody is just about to have:
//!
//! - whoever uploads places a *claim* before looking whether the content is there, and takes it away once the database
//!   knows, or never will;
//! - whoever removes *sets the content aside* first, so that whoever looks from then on does not rely on it and writes it
//!   again; then looks for claims, then asks the database, then looks for holds, and puts it back unless all of them say that
//!   nobody needs it. Content that was claimed before it was set aside is put back.
//!
//! In a directory, setting aside is a rename. In a bucket it is a mark beside the content, which stays where it is:
//! `bucket.rs` has the argument for a store in which requests may be carried out late.
//!
//! A *hold*, in a directory any file in it whose name ends in `.hold`, keeps everything where it is for as long as a
//! backup needs. What is left behind by a process that was killed is seen to by whoever looks through all files.

mod bucket;
mod directory;
mod http;
#[cfg(test)]
mod interleaving;
mod removal;
mod silence;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bourse_settings::{FilesPlace, S3, Storage};
use bourse_store::AssetFile;
use bourse_wire::{Error, Timestamp};
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::{BackoffConfig, RetryConfig};
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use self::bucket::{Bucket, Marked, Named};
use self::directory::Directory;
use self::http::Courier;
use crate::media::inspect;

pub use removal::{Registry, RemovalError};

/// How the name of a claim ends.
const CLAIM: &str = "claim";
/// How the name of a hold ends.
const HOLD: &str = "hold";
/// How the name of what only tries a place out ends.
const PROBE: &str = "probe";
/// After this time a claim or a part is what a killed process left behind: an upload takes minutes.
const ABANDONED_AFTER: Duration = Duration::from_hours(6);
/// After this time a hold was forgotten.
const HOLD_MAX: Duration = Duration::from_hours(48);
/// How often a store is asked again that fails.
const RETRIES_MAX: usize = 2;
/// How long to wait before that, at first.
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// How long to wait before that, at most.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(1);

/// The uploaded files.
#[derive(Clone)]
pub struct Files {
    home: Home,
}

#[derive(Clone)]
enum Home {
    Directory(Directory),
    Bucket(Bucket),
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

/// Content that is read piece by piece.
pub struct Content {
    /// How long it is, in bytes.
    pub length: u64,
    /// Its pieces. Whoever takes them slowly makes us keep one, not the whole.
    pub pieces: BoxStream<'static, io::Result<Bytes>>,
}

impl Files {
    /// Opens the place that the settings name, and makes sure that it can be used. A store that is merely away is told to
    /// the log only: the rest of the service can do without it.
    pub async fn open(storage: &Storage, s3: &S3, draw: DrawWord) -> io::Result<Self> {
        let files = Self::connect(storage, s3, draw)?;
        if let Home::Bucket(bucket) = &files.home {
            match bucket.try_out().await {
                Err(error) if error.kind() == io::ErrorKind::HostUnreachable => {
                    tracing::warn!(%error, "uploaded files can be neither read nor written for now");
                }
                tried => drop(tried?),
            }
        }
        Ok(files)
    }

    /// Opens the place that the settings name, without asking a store whether it is there.
    pub fn connect(storage: &Storage, s3: &S3, draw: DrawWord) -> io::Result<Self> {
        let FilesPlace::Bucket { bucket, prefix } = &storage.files else {
            return Self::in_directory(storage.files_directory(), draw);
        };
        let (objects, patience) = (Arc::new(objects(bucket, s3)?), Duration::from_millis(s3.timeout_ms));
        let named = Named { prefix: prefix.clone(), shown: storage.files_shown() };
        Ok(Self { home: Home::Bucket(Bucket::new(objects, named, draw, patience)) })
    }

    /// Opens a directory, making it when missing.
    pub fn in_directory(path: PathBuf, draw: DrawWord) -> io::Result<Self> {
        Ok(Self { home: Home::Directory(Directory::open(path, draw)?) })
    }

    /// Where they are, for people.
    pub fn place(&self) -> String {
        match &self.home {
            Home::Directory(directory) => directory.shown(),
            Home::Bucket(bucket) => bucket.shown(),
        }
    }

    /// Makes sure that something can be written, read, listed and removed there.
    pub async fn try_out(&self) -> io::Result<()> {
        match &self.home {
            Home::Directory(directory) => directory.on_disk(Directory::try_out).await,
            Home::Bucket(bucket) => bucket.try_out().await.map(drop),
        }
    }

    /// Stores content and tells what it was found to be. It lasts when this returns, and is not removed before the claim ends.
    pub async fn put(
        &self,
        content: impl Into<Bytes>,
        now: Timestamp,
    ) -> Result<(AssetFile, Claim), FileError> {
        let content: Bytes = content.into();
        let inspected = content.clone();
        let file =
            tokio::task::spawn_blocking(move || inspect(&inspected)).await.map_err(io::Error::other)??;
        let claim = self.put_content(&file.content_hash, content, now).await?;
        Ok((file, claim))
    }

    /// Stores content under its hash, whatever it is.
    async fn put_content(&self, hash: &str, content: Bytes, now: Timestamp) -> io::Result<Claim> {
        let hash = hash.to_owned();
        let place = match &self.home {
            Home::Directory(directory) => {
                let stored = directory.on_disk(move |directory| {
                    let claim = directory.claim(&hash, now)?;
                    directory.store(&hash, &content).inspect_err(|_| forget(directory::remove(&claim)))?;
                    Ok(claim)
                });
                Place::File(stored.await?)
            }
            Home::Bucket(bucket) => Place::Object(bucket.clone(), bucket.put(&hash, content).await?),
        };
        Ok(Claim(place))
    }

    /// The content under a hash, to be read piece by piece.
    pub async fn read(&self, hash: &str) -> io::Result<Content> {
        if !is_hash(hash) {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{hash:?} is not the hash of a file"),
            ));
        }
        match &self.home {
            Home::Directory(directory) => directory.read(hash).await,
            Home::Bucket(bucket) => bucket.read(hash).await,
        }
    }

    /// Keeps all files from being removed until this is released.
    pub async fn hold(&self) -> io::Result<Hold> {
        Ok(Hold(match &self.home {
            Home::Directory(directory) => Place::File(directory.on_disk(Directory::hold).await?),
            Home::Bucket(bucket) => Place::Object(bucket.clone(), bucket.hold().await?),
        }))
    }

    /// The hashes of all contents in one of the 256 parts, in their order.
    pub async fn hashes(&self, part: u8) -> io::Result<Vec<String>> {
        Ok(self.list(part, Timestamp::ZERO).await?.contents)
    }

    /// Copies all contents of another place here; tells how many there are. What is damaged there is not copied.
    pub async fn copy_from(
        &self,
        other: &Self,
        now: Timestamp,
        copied: &mut (dyn FnMut(u64) + Send),
    ) -> io::Result<u64> {
        let mut count = 0;
        for part in 0..=u8::MAX {
            for hash in other.hashes(part).await? {
                let pieces = match other.read(&hash).await {
                    // Since it was listed it was removed, as nobody's.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    read => read?.pieces,
                };
                let content = Bytes::from(pieces.try_collect::<BytesMut>().await?);
                if const_hex::encode(Sha256::digest(&content)) != hash {
                    let place = other.place();
                    let text = format!("the file {hash} of {place} is damaged: its content has another hash");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
                self.put_content(&hash, content, now).await?.end().await;
                count += 1;
                copied(count);
            }
        }
        Ok(count)
    }

    /// Sets the content under a hash aside; `None` where there is none, or where everything is held.
    async fn set_aside(&self, hash: &str, now: Timestamp) -> io::Result<Option<Aside>> {
        let name = hash.to_owned();
        let how = match &self.home {
            Home::Directory(directory) => {
                // What is held is not even touched: whoever holds is reading it.
                let renamed = directory.on_disk(move |directory| {
                    if directory.is_held(now)? { Ok(None) } else { directory.set_aside(&name) }
                });
                renamed.await?.map(SetAside::Renamed)
            }
            Home::Bucket(bucket) => bucket.mark(hash).await?.map(SetAside::Marked),
        };
        Ok(how.map(|how| Aside { hash: hash.to_owned(), how }))
    }

    /// Whether somebody was uploading this content after it was set aside.
    async fn is_claimed(&self, aside: &Aside, now: Timestamp) -> io::Result<bool> {
        match (&self.home, &aside.how) {
            (Home::Directory(directory), _) => {
                let hash = aside.hash.clone();
                directory.on_disk(move |directory| directory.is_claimed(&hash, now)).await
            }
            (Home::Bucket(_), SetAside::Marked(marked)) => Ok(marked.is_claimed),
            (Home::Bucket(_), SetAside::Renamed(_)) => Ok(true),
        }
    }

    async fn is_held(&self, aside: &Aside, now: Timestamp) -> io::Result<bool> {
        match (&self.home, &aside.how) {
            (Home::Directory(directory), _) => {
                directory.on_disk(move |directory| directory.is_held(now)).await
            }
            (Home::Bucket(bucket), SetAside::Marked(marked)) => bucket.is_held(marked).await,
            (Home::Bucket(_), SetAside::Renamed(_)) => Ok(true),
        }
    }

    /// Puts content back that was set aside; another process may have done it, or removed it, already.
    async fn put_back(&self, Aside { hash, how }: Aside) -> io::Result<()> {
        match (&self.home, how) {
            (Home::Directory(directory), SetAside::Renamed(path)) => {
                directory.on_disk(move |directory| directory.put_back(&hash, &path)).await
            }
            (Home::Bucket(bucket), SetAside::Marked(marked)) => bucket.unmark(&marked).await,
            _ => Ok(()),
        }
    }

    /// Removes content that was set aside for good.
    async fn remove(&self, aside: Aside) -> io::Result<()> {
        match (&self.home, aside.how) {
            (Home::Directory(directory), SetAside::Renamed(path)) => {
                directory.on_disk(move |_| directory::remove(&path)).await
            }
            (Home::Bucket(bucket), SetAside::Marked(marked)) => bucket.remove_marked(&marked).await,
            _ => Ok(()),
        }
    }

    /// The time by the clock that tells when files were written.
    async fn time(&self, now: Timestamp) -> io::Result<Timestamp> {
        match &self.home {
            Home::Directory(_) => Ok(now),
            Home::Bucket(bucket) => {
                let at = bucket.try_out().await?;
                Ok(Timestamp::from_unix_seconds(u64::try_from(at).unwrap_or_default()))
            }
        }
    }

    /// Everything that is kept in one of the 256 parts.
    async fn list(&self, part: u8, at: Timestamp) -> io::Result<Listed> {
        match &self.home {
            Home::Directory(directory) => {
                let listing = directory.on_disk(move |directory| directory.list(part, at)).await?;
                let aside = |(hash, path)| Aside { hash, how: SetAside::Renamed(path) };
                Ok(Listed {
                    contents: listing.contents,
                    set_aside: listing.set_aside.into_iter().map(aside).collect(),
                    abandoned: listing.abandoned.into_iter().map(Place::File).collect(),
                })
            }
            Home::Bucket(bucket) => {
                let listing = bucket.list(part, at.unix_seconds()).await?;
                let place = |path| Place::Object(bucket.clone(), path);
                let abandoned = listing.abandoned.into_iter().map(place).collect();
                Ok(Listed { contents: listing.contents, set_aside: Vec::new(), abandoned })
            }
        }
    }

    /// Removes what belongs to uploads that never ended.
    async fn remove_abandoned(&self, listed: Listed) -> io::Result<()> {
        for place in listed.abandoned {
            place.remove().await?;
        }
        Ok(())
    }
}

/// Something small that was written to be removed again.
#[derive(Clone)]
enum Place {
    File(PathBuf),
    Object(Bucket, object_store::path::Path),
}

impl Place {
    async fn remove(self) -> io::Result<()> {
        match self {
            Self::File(path) => {
                let removed = tokio::task::spawn_blocking(move || directory::remove(&path)).await;
                removed.map_err(io::Error::other)?
            }
            Self::Object(bucket, path) => bucket.remove(&path).await,
        }
    }
}

/// That somebody is uploading content, which is not removed until this is ended. One that is dropped stays for a while:
/// then nobody knows whether the database will speak of the content.
#[must_use = "it is to be ended once the database knows of the content, or never will"]
pub struct Claim(Place);

impl Claim {
    /// Ends it.
    pub async fn end(self) {
        if let Err(error) = self.0.remove().await {
            tracing::warn!(%error, "removing the claim of an upload");
        }
    }
}

/// Keeps files from being removed until it is released, or was forgotten for two days.
#[must_use = "it is to be released"]
pub struct Hold(Place);

impl Hold {
    /// Releases it.
    pub async fn release(self) {
        if let Err(error) = self.0.remove().await {
            tracing::warn!(%error, "removing a hold of files");
        }
    }
}

/// Content that was set aside.
struct Aside {
    hash: String,
    how: SetAside,
}

enum SetAside {
    Renamed(PathBuf),
    Marked(Marked),
}

/// What is kept in a part.
struct Listed {
    /// The hashes of contents.
    contents: Vec<String>,
    /// What was set aside by a process that is at it, or was killed.
    set_aside: Vec<Aside>,
    /// What belongs to uploads that never ended.
    abandoned: Vec<Place>,
}

/// Whether this is the hash of a content: 64 hexadecimal digits in lower case.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn forget(removed: io::Result<()>) {
    if let Err(error) = removed {
        tracing::warn!(%error, "removing the claim of an upload that failed");
    }
}

/// The bucket, with everything that it takes to ask for it.
fn objects(bucket: &str, s3: &S3) -> io::Result<AmazonS3> {
    let timeout = Duration::from_millis(s3.timeout_ms);
    let endpoint = s3.endpoint.trim_end_matches('/');
    let allow_plain = endpoint.starts_with("http://");
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(&s3.region)
        .with_access_key_id(s3.access_key_id.expose_secret())
        .with_secret_access_key(s3.secret_access_key.expose_secret())
        .with_virtual_hosted_style_request(!s3.path_style)
        .with_allow_http(allow_plain)
        // One by one: not every store knows how to delete several at once.
        .with_disable_bulk_delete(true)
        .with_retry(RetryConfig {
            backoff: BackoffConfig { init_backoff: RETRY_AFTER, max_backoff: RETRY_AFTER_MAX, base: 2.0 },
            max_retries: RETRIES_MAX,
            retry_timeout: timeout,
        })
        .with_http_connector(Courier::new(timeout, allow_plain)?);
    if !endpoint.is_empty() {
        let of_bucket = endpoint.replacen("://", &format!("://{bucket}."), 1);
        builder = builder.with_endpoint(if s3.path_style { endpoint.to_owned() } else { of_bucket });
    }
    builder.build().map_err(io::Error::other)
}
