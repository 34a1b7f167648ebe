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
mod places;
mod shelf;
mod source;
mod thumbnail;
mod webp;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::Response;
use bourse_chain::fetch::Link;
use bourse_server::Backstage;
use bourse_server::limits::{Bucket, RateLimiter, Shares};
use bourse_server::settings::Settings;
use bourse_wire::RecordId;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use address::size_in;
pub use address::{own_path, version};
pub use answer::{Audience, is_lasting, nothing};
use answer::{UNKEPT, kept_for, response};
use cache::PictureCache;
use fetcher::Fetcher;
pub use picture::Picture;
use places::{Bounds, Places};
use shelf::Shelf;
use source::Source;
pub use thumbnail::Size;

/// Pictures that are fetched and made small at once, those of one visitor, and those of one host. Each is held in memory whole
/// until it is small. Whoever asked may be gone before there is a place: it is fetched for those who ask again.
const PLACES: Bounds = Bounds { all: 16, of_visitor: 8, of_host: 4, wait_max: Duration::from_secs(30) };
/// Pictures that metadata holds itself and that wait for being made small: they are in memory already.
const INLINE_MAX: usize = 64;
/// Pictures that are made small at once: each takes much memory for a moment.
const DECODERS: usize = 2;
/// How long one waits for that.
const DECODER_WAIT_MAX: Duration = Duration::from_secs(10);
/// Pictures that are being fetched or wait for it, and those of one visitor; whoever asks for more is turned away.
const UNDER_WAY_MAX: usize = 2_000;
const UNDER_WAY_OF_VISITOR_MAX: usize = 200;
/// Requests that wait for pictures at once, and those of one visitor: a page of thirty, and some more. A request that waits has
/// a place among all requests for pages.
const WAITING_MAX: usize = 128;
const WAITING_OF_VISITOR_MAX: usize = 40;
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
    /// So many are asked for that this one was not tried, or takes longer than anybody waits.
    #[error("too many pictures were asked for")]
    TooMany,
}

/// The picture that a link leads to.
pub type PictureResult = Result<Arc<Picture>, NoPicture>;
/// Work that several may wait for.
type UnderWay = Shared<BoxFuture<'static, PictureResult>>;
/// The hash of a link, or of what an uploaded file holds.
type LinkHash = [u8; 32];
/// What is kept: a picture by this hash, in a size.
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
    /// Those of them that are read from where they are: all sizes of a picture need one fetch.
    fetches: Mutex<HashMap<LinkHash, UnderWay>>,
    work: Arc<Shares<Bucket>>,
    inline: Arc<Semaphore>,
    places: Places,
    decoders: Semaphore,
    waiting: Arc<Shares<Bucket>>,
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
            fetches: Mutex::default(),
            work: Shares::new(UNDER_WAY_MAX, UNDER_WAY_OF_VISITOR_MAX),
            inline: Arc::new(Semaphore::new(INLINE_MAX)),
            places: Places::new(PLACES),
            decoders: Semaphore::new(DECODERS),
            waiting: Shares::new(WAITING_MAX, WAITING_OF_VISITOR_MAX),
            visitors: RateLimiter::new(WORK_PER_MINUTE),
            backstage,
        }))
    }

    /// The answer with the picture that a link leads to, or that it holds, asked for at an address whose query says in which size.
    /// The link must be one that a record names which the visitor may see.
    pub async fn answer(
        &self,
        visitor: Visitor,
        asked: &HeaderMap,
        (link, query): (&str, Option<&str>),
        audience: Audience,
    ) -> Result<Response, NoPicture> {
        let picture = self.find(visitor, link.trim(), size_in(query)).await?;
        let is_own = own_path(&self.0.settings().public_url(), link.trim()).is_some();
        let kept = if is_own { UNKEPT } else { kept_for(link, query) };
        Ok(response(asked, &picture, kept, audience))
    }

    async fn find(&self, visitor: Visitor, text: &str, size: Size) -> PictureResult {
        if text.is_empty() {
            return Err(NoPicture::Unnamed);
        }
        let named = self.0.read(text).await?;
        if let Named::Here(picture) = &named
            && picture.is_small(size)
        {
            return Ok(Arc::clone(picture));
        }
        let key = (named.hash(text), size);
        if let Some(kept) = self.0.kept(&key).await {
            return kept;
        }
        let (inner, who) = (&self.0, visitor.bucket());
        let _waiting = inner.waiting.take(who, 1).map_err(|_| NoPicture::TooMany)?;
        let allowance = inner.visitors.take(who, 1, inner.backstage.now());
        if allowance.is_some_and(|allowance| allowance.refused) {
            return Err(NoPicture::TooMany);
        }
        let work = self.begin(key, named, who)?;
        tokio::time::timeout(inner.patience(), work).await.unwrap_or(Err(NoPicture::TooMany))
    }

    /// Begins the work, or joins in that of others. It goes on when those who asked for it are gone: what it brings is kept for
    /// others.
    fn begin(&self, key: Key, named: Named, who: Bucket) -> Result<UnderWay, NoPicture> {
        let mut under_way = lock(&self.0.under_way);
        if let Some(begun) = under_way.get(&key) {
            return Ok(begun.clone());
        }
        let share = self.0.work.take(who, 1).map_err(|_| NoPicture::TooMany)?;
        let inline = match &named {
            Named::Here(_) => {
                Some(Arc::clone(&self.0.inline).try_acquire_owned().map_err(|_| NoPicture::TooMany)?)
            }
            Named::Away(_) => None,
        };
        let inner = Arc::clone(&self.0);
        let task = tokio::spawn(async move {
            let found = whatever_happens(inner.make(&key, named, who)).await;
            inner.keep(key, found.clone());
            lock(&inner.under_way).remove(&key);
            drop((share, inline));
            found
        });
        let work = task.map(|ended| ended.unwrap_or_else(|_| interrupted())).boxed().shared();
        under_way.insert(key, work.clone());
        Ok(work)
    }
}

/// Work that fails is over as well: nobody waits for it, and whoever asks again begins it anew.
async fn whatever_happens(work: impl Future<Output = PictureResult>) -> PictureResult {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_panic| interrupted())
}

fn interrupted() -> PictureResult {
    Err(NoPicture::Unusable("fetching it was interrupted".to_owned()))
}

/// What a text is that names a picture.
enum Named {
    /// The picture itself.
    Here(Arc<Picture>),
    /// Where it is.
    Away(Source),
}

impl Named {
    /// Tells it apart from others: by its link, or by what it holds where another file may be at its address tomorrow.
    fn hash(&self, text: &str) -> LinkHash {
        match self {
            Self::Away(Source::Own(file)) => {
                Sha256::new().chain_update("file:").chain_update(file.content_hash()).finalize().into()
            }
            Self::Here(_) | Self::Away(Source::Host(_)) => Sha256::digest(text).into(),
        }
    }
}

impl Inner {
    fn settings(&self) -> &Settings {
        self.backstage.settings()
    }

    async fn read(&self, text: &str) -> Result<Named, NoPicture> {
        if let Some(path) = own_path(&self.settings().public_url(), text) {
            return source::find_own(&self.backstage, path).await.map(Named::Away);
        }
        if text.starts_with('<') {
            return Picture::new(text.as_bytes().to_vec()).map(Named::Here);
        }
        let link = Link::read(text, None, self.settings().console.image_bytes_max);
        match link.map_err(|error| NoPicture::Unusable(error.to_string()))? {
            Link::Inline(content) => Picture::new(content).map(Named::Here),
            link => Ok(Named::Away(Source::Host(link))),
        }
    }

    /// How long a visitor waits: less than a page may take, so that a sign is shown in place of the picture.
    fn patience(&self) -> Duration {
        let settings = self.settings();
        let (fetch, page) = (settings.console.image_timeout_ms, settings.limits.request_timeout_ms);
        Duration::from_millis(fetch.saturating_add(page / 2))
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
        // An earlier program may have left heavier ones.
        if picture.content.len() > key.1.bytes() {
            return None;
        }
        self.keep(*key, Ok(Arc::clone(&picture)));
        Some(Ok(picture))
    }

    /// Keeps what was found, also that there is nothing; what was not tried may be there.
    fn keep(&self, key: Key, found: PictureResult) {
        if found != Err(NoPicture::TooMany) {
            lock(&self.cache).put(key, found, self.backstage.now());
        }
    }

    /// Fetches a picture, and makes it as small as is wanted. It has its place until it is small: so many are in memory whole.
    async fn make(self: &Arc<Self>, key: &Key, named: Named, who: Bucket) -> PictureResult {
        let (hash, size) = *key;
        let (whole, _place) = match named {
            Named::Here(picture) => (picture, None),
            Named::Away(source) => {
                let is_kept = lock(&self.cache).get(&(hash, Size::Whole), self.backstage.now()).is_some();
                let host = if is_kept { "" } else { source.host() };
                let place = self.places.take(who, host).await.ok_or(NoPicture::TooMany)?;
                (self.whole(hash, source).await?, Some(place))
            }
        };
        if whole.is_small(size) {
            return Ok(whole);
        }
        let made = self.make_small(whole, size).await?;
        self.shelf.put(key, &made).await;
        Ok(made)
    }

    /// The whole picture, from memory or from where it is, for somebody who has a place.
    async fn whole(self: &Arc<Self>, hash: LinkHash, source: Source) -> PictureResult {
        let key = (hash, Size::Whole);
        let begin = || {
            let inner = Arc::clone(self);
            let fetch = async move {
                let found = whatever_happens(inner.fetch(source)).await;
                inner.keep(key, found.clone());
                lock(&inner.fetches).remove(&hash);
                found
            };
            fetch.boxed().shared()
        };
        let fetch = {
            let mut fetches = lock(&self.fetches);
            if let Some(kept) = lock(&self.cache).get(&key, self.backstage.now()) {
                return kept;
            }
            fetches.entry(hash).or_insert_with(begin).clone()
        };
        fetch.await
    }

    /// The picture as its host has it, or as it was uploaded.
    async fn fetch(&self, source: Source) -> PictureResult {
        let link = match source {
            Source::Host(link) => link,
            Source::Own(file) => return source::read_own(&self.backstage, &file).await,
        };
        let fetcher = self.fetcher.get_or_init(|| Fetcher::new(self.settings()));
        let fetcher =
            fetcher.as_ref().ok_or_else(|| NoPicture::Unusable("nothing can be fetched".to_owned()))?;
        fetcher.fetch(link).await
    }

    /// A small copy, made beside the threads that answer requests.
    async fn make_small(&self, whole: Arc<Picture>, size: Size) -> PictureResult {
        let closed = |_| NoPicture::Unusable("no pictures are made small any more".to_owned());
        let turn = tokio::time::timeout(DECODER_WAIT_MAX, self.decoders.acquire()).await;
        let _decoder = turn.map_err(|_| NoPicture::TooMany)?.map_err(closed)?;
        let failed = |_| NoPicture::Unusable("making it small failed".to_owned());
        tokio::task::spawn_blocking(move || whole.small(size)).await.map_err(failed)?
    }
}

/// Nothing panics while it is held, and what is there is right at any moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
