//! Pictures that tokens and contracts name. They are fetched here and shown from here, so that no foreign host learns
//! who looks at what. Whoever makes a contract chooses the links, so they are followed as carefully as those of
//! metadata, and what comes is shown only if it is a picture.

mod cache;
mod picture;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bourse_chain::fetch::{Gateways, Getter, Link, Rules, SystemLookup};
use bourse_server::limits::{Bucket, RateLimiter};
use bourse_server::settings::Settings;
use bourse_wire::RecordId;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::Console;
use cache::PictureCache;
pub(super) use picture::Picture;

/// Pictures that are fetched at once.
const FETCHES_MAX: usize = 16;
/// Pictures that one visitor may have fetched in a minute: some pages full of them.
const FETCHES_PER_MINUTE: u32 = 600;
/// What hosts are asked for.
const ACCEPT: &str = "image/avif, image/webp, image/png, image/jpeg, image/gif, image/svg+xml, */*;q=0.5";

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPicture {
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
type PictureResult = Result<Arc<Picture>, NoPicture>;
/// A fetch that several may wait for.
type Fetching = Shared<BoxFuture<'static, PictureResult>>;
/// The hash of a link.
type LinkHash = [u8; 32];

/// Fetches pictures, and keeps some.
pub(super) struct Pictures {
    /// Made when the first picture is fetched: reading the machine's certificates takes a moment.
    fetcher: OnceLock<Option<Fetcher>>,
    cache: Mutex<PictureCache>,
    under_way: Mutex<HashMap<LinkHash, Fetching>>,
    places: Arc<Semaphore>,
    visitors: RateLimiter,
}

/// What it takes to fetch.
#[derive(Clone)]
struct Fetcher {
    getter: Getter,
    gateways: Gateways,
    timeout: Duration,
}

impl Fetcher {
    fn new(settings: &Settings) -> Option<Self> {
        let timeout = Duration::from_millis(settings.console.image_timeout_ms);
        let fetch = settings.metadata.fetch().ok()?;
        let rules = Rules {
            accept: ACCEPT,
            body_bytes_max: settings.console.image_bytes_max,
            timeout,
            ..fetch.rules
        };
        match Getter::new(rules, Arc::new(SystemLookup)) {
            Ok(getter) => Some(Self { getter, gateways: fetch.gateways, timeout }),
            Err(error) => {
                tracing::error!(%error, "pictures cannot be fetched");
                None
            }
        }
    }

    /// The first picture among the addresses of a link.
    async fn fetch(self, link: Link, places: Arc<Semaphore>) -> PictureResult {
        let work = async {
            let _place = places.acquire().await;
            let mut reason = "the link leads nowhere".to_owned();
            for url in link.urls(&self.gateways) {
                match self.getter.get(url).await {
                    Ok(content) => return Picture::new(content),
                    Err(error) => reason = error.to_string(),
                }
            }
            Err(NoPicture::Unusable(reason))
        };
        let too_slow = || Err(NoPicture::Unusable("it took too long".to_owned()));
        tokio::time::timeout(self.timeout, work).await.unwrap_or_else(|_| too_slow())
    }
}

impl Pictures {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            fetcher: OnceLock::new(),
            cache: Mutex::new(PictureCache::new(settings.console.image_cache_bytes_max)),
            under_way: Mutex::default(),
            places: Arc::new(Semaphore::new(FETCHES_MAX)),
            visitors: RateLimiter::new(FETCHES_PER_MINUTE),
        }
    }

    /// The picture that a link leads to, or that it holds.
    pub(super) async fn find(&self, console: &Arc<Console>, visitor: RecordId, text: &str) -> PictureResult {
        let text = text.trim();
        if text.is_empty() {
            return Err(NoPicture::Unnamed);
        }
        if text.starts_with('<') {
            return Picture::new(text.as_bytes().to_vec());
        }
        let link = Link::read(text, None, console.settings().console.image_bytes_max);
        match link.map_err(|error| NoPicture::Unusable(error.to_string()))? {
            Link::Inline(content) => Picture::new(content),
            link => self.fetch(console, visitor, Sha256::digest(text).into(), link).await,
        }
    }

    async fn fetch(
        &self,
        console: &Arc<Console>,
        visitor: RecordId,
        hash: LinkHash,
        link: Link,
    ) -> PictureResult {
        let now = console.now();
        if let Some(kept) = lock(&self.cache).get(&hash, now) {
            return kept;
        }
        let mut name = DefaultHasher::new();
        visitor.hash(&mut name);
        let allowance = self.visitors.take(Bucket::Name(name.finish()), 1, now);
        if allowance.is_some_and(|allowance| allowance.refused) {
            return Err(NoPicture::TooMany);
        }
        let fetcher = self.fetcher.get_or_init(|| Fetcher::new(console.settings())).clone();
        let fetcher = fetcher.ok_or_else(|| NoPicture::Unusable("nothing can be fetched".to_owned()))?;
        let fetching = lock(&self.under_way)
            .entry(hash)
            .or_insert_with(|| {
                begin(Arc::clone(console), hash, fetcher.fetch(link, Arc::clone(&self.places)))
            })
            .clone();
        fetching.await
    }
}

/// Begins a fetch. It goes on when those who asked for it are gone: what it brings is kept for others.
fn begin(
    console: Arc<Console>,
    hash: LinkHash,
    fetch: impl Future<Output = PictureResult> + Send + 'static,
) -> Fetching {
    let task = tokio::spawn(async move {
        let found = fetch.await;
        let pictures = &console.pictures;
        lock(&pictures.cache).put(hash, found.clone(), console.now());
        lock(&pictures.under_way).remove(&hash);
        found
    });
    let interrupted = |_| Err(NoPicture::Unusable("fetching it was interrupted".to_owned()));
    task.map(move |ended| ended.unwrap_or_else(interrupted)).boxed().shared()
}

/// Nothing panics while it is held, and what is there is right at any moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
