//! Pictures that tokens and contracts name. They are fetched here and shown from here, so that no foreign host learns
//! who looks at what. Whoever makes a contract chooses the links, so they are followed as carefully as those of
//! metadata, and what comes is shown only if it is a picture. Pages with many pictures show small copies, which are made here.
//!
//! Who asks proves first that they may see the record that names a picture: a link is never taken from a request.

mod address;
mod answer;
mod cache;
mod fetcher;
mod picture;
mod shelf;
mod thumbnail;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bourse_chain::fetch::Link;
use bourse_server::Backstage;
use bourse_server::limits::{Bucket, RateLimiter};
use bourse_server::settings::Settings;
use bourse_wire::RecordId;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

pub use address::{own_path, size_in};
pub use answer::{Audience, is_lasting, nothing, response};
use cache::PictureCache;
use fetcher::Fetcher;
pub use picture::Picture;
use shelf::Shelf;
pub use thumbnail::Size;

/// Pictures that are fetched at once.
const FETCHES_MAX: usize = 16;
/// Pictures that are made small at once: each takes much memory for a moment.
const DECODERS: usize = 2;
/// Pictures that are being fetched or wait for it; whoever asks for more is turned away.
const UNDER_WAY_MAX: usize = 2_000;
/// Pictures that one visitor may have fetched or made small in a minute: some pages full of them. Guests are known by their
/// address only, and an address may be many people's.
const WORK_PER_MINUTE: u32 = 600;
/// What small copies take on disk at most, in bytes (256 MiB).
const SHELF_BYTES_MAX: u64 = 256 << 20;
/// Where they are in the data directory.
const SHELF: &str = "thumbnails";

/// Who looks at a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// Somebody who signed in.
    Account(RecordId),
    /// Somebody of whom nothing is known but where they come from, if that.
    Guest(Option<IpAddr>),
}

impl Visitor {
    fn bucket(self) -> Bucket {
        let mut name = DefaultHasher::new();
        match self {
            Self::Guest(Some(address)) => return Bucket::of_address(address),
            Self::Guest(None) => "guest".hash(&mut name),
            Self::Account(account) => account.hash(&mut name),
        }
        Bucket::Name(name.finish())
    }
}

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPicture {
    /// None is named.
    #[error("no picture is named")]
    Unnamed,
    /// What is named is none, or cannot be had.
    #[error("{0}")]
    Unusable(String),
    /// Somebody asks for too many.
    #[error("too many pictures were asked for")]
    TooMany,
}

/// The picture that a link leads to.
pub type PictureResult = Result<Arc<Picture>, NoPicture>;
/// Work that several may wait for.
type UnderWay = Shared<BoxFuture<'static, PictureResult>>;
/// The hash of a link.
type LinkHash = [u8; 32];
/// What is kept: a picture by its link, in a size.
type Key = (LinkHash, Size);

/// Fetches pictures, makes them small, and keeps some.
#[derive(Clone)]
pub struct Pictures(Arc<Inner>);

struct Inner {
    backstage: Backstage,
    /// Made when the first picture is fetched: reading the machine's certificates takes a moment.
    fetcher: OnceLock<Option<Fetcher>>,
    cache: Mutex<PictureCache>,
    shelf: Shelf,
    under_way: Mutex<HashMap<Key, UnderWay>>,
    places: Semaphore,
    decoders: Semaphore,
    visitors: RateLimiter,
}

impl Pictures {
    /// Pictures as the settings of a service allow them.
    pub fn new(backstage: Backstage) -> Self {
        let settings = backstage.settings();
        let cache = Mutex::new(PictureCache::new(settings.console.image_cache_bytes_max));
        let shelf = Shelf::new(settings.storage.data.join(SHELF), SHELF_BYTES_MAX);
        Self(Arc::new(Inner {
            fetcher: OnceLock::new(),
            cache,
            shelf,
            under_way: Mutex::default(),
            places: Semaphore::new(FETCHES_MAX),
            decoders: Semaphore::new(DECODERS),
            visitors: RateLimiter::new(WORK_PER_MINUTE),
            backstage,
        }))
    }

    /// The picture that a link leads to, or that it holds, in a size. The link must be one that a record names which the visitor
    /// may see.
    pub async fn find(&self, visitor: Visitor, text: &str, size: Size) -> PictureResult {
        let text = text.trim();
        if text.is_empty() {
            return Err(NoPicture::Unnamed);
        }
        let named = self.0.read(text)?;
        if let Named::Here(picture) = &named
            && picture.is_small(size)
        {
            return Ok(Arc::clone(picture));
        }
        let key = (Sha256::digest(text).into(), size);
        if let Some(kept) = self.0.kept(&key).await {
            return kept;
        }
        let inner = &self.0;
        let allowance = inner.visitors.take(visitor.bucket(), 1, inner.backstage.now());
        if allowance.is_some_and(|allowance| allowance.refused) {
            return Err(NoPicture::TooMany);
        }
        self.begin(key, named)?.await
    }

    /// Begins the work, or joins in that of others. It goes on when those who asked for it are gone: what it brings is kept for
    /// others.
    fn begin(&self, key: Key, named: Named) -> Result<UnderWay, NoPicture> {
        let mut under_way = lock(&self.0.under_way);
        if let Some(begun) = under_way.get(&key) {
            return Ok(begun.clone());
        }
        if under_way.len() >= UNDER_WAY_MAX {
            return Err(NoPicture::TooMany);
        }
        let own = self.clone();
        let task = tokio::spawn(async move {
            let found = own.make(&key, named).await;
            own.0.keep(key, found.clone());
            lock(&own.0.under_way).remove(&key);
            found
        });
        let interrupted = |_| Err(NoPicture::Unusable("fetching it was interrupted".to_owned()));
        let work = task.map(move |ended| ended.unwrap_or_else(interrupted)).boxed().shared();
        under_way.insert(key, work.clone());
        Ok(work)
    }

    /// Fetches a picture, or makes it as small as is wanted; several sizes need one fetch.
    async fn make(&self, key: &Key, named: Named) -> PictureResult {
        let (hash, size) = *key;
        let whole = match named {
            Named::Here(picture) => picture,
            Named::There(link) if size == Size::Whole => return self.0.fetch(link).await,
            there @ Named::There(_) => {
                let key = (hash, Size::Whole);
                let kept = lock(&self.0.cache).get(&key, self.0.backstage.now());
                match kept {
                    Some(kept) => kept?,
                    None => self.begin(key, there)?.await?,
                }
            }
        };
        if whole.is_small(size) {
            return Ok(whole);
        }
        let made = self.0.make_small(whole, size).await?;
        self.0.shelf.put(key, &made).await;
        Ok(made)
    }
}

/// What a text is that names a picture.
enum Named {
    /// The picture itself.
    Here(Arc<Picture>),
    /// Where it is.
    There(Link),
}

impl Inner {
    fn settings(&self) -> &Settings {
        self.backstage.settings()
    }

    fn read(&self, text: &str) -> Result<Named, NoPicture> {
        if text.starts_with('<') {
            return Picture::new(text.as_bytes().to_vec()).map(Named::Here);
        }
        let link = Link::read(text, None, self.settings().console.image_bytes_max);
        match link.map_err(|error| NoPicture::Unusable(error.to_string()))? {
            Link::Inline(content) => Picture::new(content).map(Named::Here),
            link => Ok(Named::There(link)),
        }
    }

    /// What is in memory, or of small copies on disk.
    async fn kept(&self, key: &Key) -> Option<PictureResult> {
        if let Some(kept) = lock(&self.cache).get(key, self.backstage.now()) {
            return Some(kept);
        }
        if key.1 == Size::Whole {
            return None;
        }
        let picture = self.shelf.get(key, self.backstage.now()).await?;
        self.keep(*key, Ok(Arc::clone(&picture)));
        Some(Ok(picture))
    }

    fn keep(&self, key: Key, found: PictureResult) {
        lock(&self.cache).put(key, found, self.backstage.now());
    }

    /// The picture as its host has it.
    async fn fetch(&self, link: Link) -> PictureResult {
        let fetcher = self.fetcher.get_or_init(|| Fetcher::new(self.settings()));
        let fetcher =
            fetcher.as_ref().ok_or_else(|| NoPicture::Unusable("nothing can be fetched".to_owned()))?;
        fetcher.fetch(link, &self.places).await
    }

    /// A small copy, made beside the threads that answer requests.
    async fn make_small(&self, whole: Arc<Picture>, size: Size) -> PictureResult {
        let closed = |_| NoPicture::Unusable("no pictures are made small any more".to_owned());
        let _place = self.decoders.acquire().await.map_err(closed)?;
        let failed = |_| NoPicture::Unusable("making it small failed".to_owned());
        tokio::task::spawn_blocking(move || whole.small(size)).await.map_err(failed)?
    }
}

/// Nothing panics while it is held, and what is there is right at any moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
