//! A store of objects as S3 has it, in memory and over HTTP, for tests: it checks every signature, and fails when told.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bourse_wire::Timestamp;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

/// The half of its key that requests name.
pub const KEY: &str = "a-key-that-nobody-is-shown";
/// The half that they are signed with.
pub const SECRET: &str = "a-secret-that-never-leaves";
/// Its only bucket and what all keys in it begin with, as settings name them.
pub const PLACE: &str = "s3://bucket/files";
/// Few, so that listings are continued.
const LISTED_AT_ONCE: usize = 2;
/// Its time at first, in seconds.
const START: u64 = 1_738_368_000;

/// How it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// It does what is asked.
    Fair,
    /// It does nothing of what is asked about keys that end so, and says nothing.
    Silent(&'static str),
    /// It does what is asked, and says so about keys that end so only after a while.
    Late(&'static str, Duration),
    /// It answers everything with this.
    Status(u16, &'static str),
    /// Contents break off in the middle.
    CutInBody,
}

/// A running store, which ends with this value.
pub struct TestBucket {
    shared: Arc<Shared>,
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

struct Shared {
    /// What is kept under each key, and since when.
    objects: Mutex<BTreeMap<String, (Bytes, u64)>>,
    weather: Mutex<Weather>,
    seconds: AtomicU64,
    requests: AtomicU64,
    refused: AtomicU64,
    unanswered: AtomicU64,
}

impl TestBucket {
    /// Starts one, at a free port and in a thread of its own: tests that wait do not keep it from answering.
    pub fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared {
            objects: Mutex::default(),
            weather: Mutex::new(Weather::Fair),
            seconds: AtomicU64::new(START),
            requests: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let (stop, stopped) = oneshot::channel();
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    _ = axum::serve(listener, router) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { shared, address, _stop: stop })
    }

    /// The settings of a service that keeps its files here, as dotted keys and values.
    pub fn settings(&self) -> [(&'static str, String); 4] {
        [
            ("storage.files", PLACE.to_owned()),
            ("s3.endpoint", format!("http://{}", self.address)),
            ("s3.access_key_id", KEY.to_owned()),
            ("s3.secret_access_key", SECRET.to_owned()),
        ]
    }

    /// All keys, in their order.
    pub fn keys(&self) -> Vec<String> {
        self.shared.objects().keys().cloned().collect()
    }

    /// How it does from now on. Whoever is kept waiting waits on.
    pub fn set(&self, weather: Weather) {
        *self.shared.weather.lock().unwrap_or_else(PoisonError::into_inner) = weather;
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        self.shared.seconds.fetch_add(time.as_secs(), Ordering::Relaxed);
    }

    /// Puts something there, as somebody else would.
    pub fn insert(&self, key: &str, content: &'static [u8]) {
        let at = self.shared.seconds.load(Ordering::Relaxed);
        self.shared.objects().insert(key.to_owned(), (Bytes::from_static(content), at));
    }

    /// How many requests came.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// How many of them were signed wrongly.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// How many are kept waiting just now.
    pub fn unanswered(&self) -> u64 {
        self.shared.unanswered.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn objects(&self) -> MutexGuard<'_, BTreeMap<String, (Bytes, u64)>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn weather(&self) -> Weather {
        *self.weather.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a request for as long as whoever sent it waits.
struct Unanswered<'s>(&'s AtomicU64);

impl<'s> Unanswered<'s> {
    fn new(count: &'s AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    shared.requests.fetch_add(1, Ordering::Relaxed);
    let (parts, body) = request.into_parts();
    // Of whoever is killed in the middle nothing is kept.
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if !is_signed(&parts.method, &parts.uri.to_string(), &parts.headers, &body) {
        shared.refused.fetch_add(1, Ordering::Relaxed);
        let said = format!(
            "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId></Error>"
        );
        return (StatusCode::FORBIDDEN, said).into_response();
    }
    let key = parts.uri.path().trim_start_matches("/bucket").trim_start_matches('/').to_owned();
    let is_cut = match shared.weather() {
        Weather::Silent(ending) if key.ends_with(ending) => {
            let _unanswered = Unanswered::new(&shared.unanswered);
            std::future::pending().await
        }
        Weather::Late(ending, time) if key.ends_with(ending) => {
            tokio::time::sleep(time).await;
            false
        }
        Weather::Status(status, text) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return (status, text).into_response();
        }
        weather => weather == Weather::CutInBody,
    };
    let mut objects = shared.objects();
    match parts.method {
        Method::GET if key.is_empty() => {
            list(&objects, parts.uri.query().unwrap_or_default()).into_response()
        }
        Method::GET => match objects.get(&key) {
            None => StatusCode::NOT_FOUND.into_response(),
            Some((content, _)) => object(content.clone(), is_cut),
        },
        Method::PUT => {
            objects.insert(key, (body, shared.seconds.load(Ordering::Relaxed)));
            [("etag", "\"tag\"")].into_response()
        }
        Method::DELETE => {
            objects.remove(&key);
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

/// Computes the signature of a request anew, from the secret.
fn is_signed(method: &Method, uri: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let given = text("authorization");
    let part =
        |name: &str| given.split(name).nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
    let named = part("Credential=");
    let Some(scope) = named.strip_prefix(KEY).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let (signed, signature) = (part("SignedHeaders="), part("Signature="));
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let mut query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    let hash = const_hex::encode(Sha256::digest(body));
    let lines: Vec<String> = signed.split(';').map(|name| format!("{name}:{}\n", text(name))).collect();
    let canonical = format!("{method}\n{path}\n{}\n{}\n{signed}\n{hash}", query.join("&"), lines.concat());
    let digest = const_hex::encode(Sha256::digest(canonical.as_bytes()));
    let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{digest}", text("x-amz-date"));
    let first = format!("AWS4{SECRET}").into_bytes();
    let key = scope.split('/').fold(first, |key, part| hmac(&key, part));
    text("x-amz-content-sha256") == hash && const_hex::encode(hmac(&key, &to_sign)) == signature
}

/// Nothing where there is no such thing, which no signature is.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn object(content: Bytes, is_cut: bool) -> Response {
    let length = content.len().to_string();
    let headers = [("content-length", length.as_str()), ("last-modified", "Sat, 01 Feb 2025 00:00:00 GMT")];
    let half = content.slice(..content.len() / 2);
    let cut = stream::iter([Ok(half)]).chain(stream::once(async { Err(io::Error::other("cut")) }));
    let body = if is_cut { Body::from_stream(cut) } else { Body::from(content) };
    (headers, body).into_response()
}

fn list(objects: &BTreeMap<String, (Bytes, u64)>, query: &str) -> String {
    let value = |name: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name));
        pair.unwrap_or_default().replace("%2F", "/")
    };
    let (prefix, after) = (value("prefix="), value("continuation-token="));
    let found = objects.iter().filter(|(key, _)| key.starts_with(&prefix) && **key > after);
    let found: Vec<_> = found.take(LISTED_AT_ONCE + 1).collect();
    let shown = &found[..found.len().min(LISTED_AT_ONCE)];
    let entry = |(key, (content, at)): &(&String, &(Bytes, u64))| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>{}</LastModified><ETag>\"tag\"</ETag><Size>{}</Size></Contents>",
            Timestamp::from_unix_seconds(*at),
            content.len()
        )
    };
    let next = shown.last().filter(|_| found.len() > LISTED_AT_ONCE);
    let next = next.map(|(key, _)| format!("<NextContinuationToken>{key}</NextContinuationToken>"));
    format!(
        "<ListBucketResult><IsTruncated>{}</IsTruncated>{}{}</ListBucketResult>",
        next.is_some(),
        shown.iter().map(entry).collect::<String>(),
        next.unwrap_or_default()
    )
}
