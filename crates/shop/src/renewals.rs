//! Pages that scripts ask for again because something changed. All who look at a page hear of a change at the same moment, and ask
//! within the next ones: they get a page that is made once. Nothing on a page is for one visitor alone.
//!
//! Whoever opens a page gets one that is made for them, so that they see what they have just done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bourse_server::Peer;
use bourse_wire::Timestamp;

use crate::Shop;
use crate::asking::{admit, host_in};

/// How long a page is given to others: less than scripts wait after they were told of a change (`LEAST` in `script/live.js`), so that
/// none is older than that.
const BELIEVED_NANOS: i128 = 400_000_000;
/// Pages that are kept at most, and how large one of them may be, in bytes.
const KEPT_MAX: usize = 256;
const PAGE_BYTES_MAX: usize = 256 * 1024;
/// What it counts for to be given one.
const COST: u64 = 1;
/// What browsers say of themselves when a script asks.
const ASKED_FOR: &str = "sec-fetch-dest";
const BY_SCRIPT: &str = "empty";

/// The host, the path with its query, and the language.
type Key = (String, String, String);
/// Held while the page is made, so that the others wait for it.
type Slot = tokio::sync::Mutex<Option<Page>>;

#[derive(Default)]
pub(crate) struct Renewals(Mutex<HashMap<Key, Arc<Slot>>>);

struct Page {
    made_at: Timestamp,
    headers: HeaderMap,
    html: Bytes,
}

impl Renewals {
    fn slot(&self, key: Key) -> Arc<Slot> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        Arc::clone(kept.entry(key).or_default())
    }
}

impl Page {
    fn is_believed(&self, now: Timestamp) -> bool {
        (0..BELIEVED_NANOS).contains(&(now.unix_nanos() - self.made_at.unix_nanos()))
    }

    /// The page; that it is as before, for who has it.
    fn answer(&self, known: Option<&HeaderValue>) -> Response {
        let mut response = if known.is_some() && known == self.headers.get(header::ETAG) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            self.html.clone().into_response()
        };
        response.headers_mut().extend(self.headers.clone());
        response
    }
}

/// Answers scripts with a page that was made a moment ago, where there is one.
pub(crate) async fn renew(State(shop): State<Arc<Shop>>, mut request: Request, next: Next) -> Response {
    let Some(key) = key_of(&shop, &request) else { return next.run(request).await };
    if let Err(refusal) = admit(&shop, Peer::of(request.extensions()), COST) {
        return refusal.into_response();
    }
    let known = request.headers_mut().remove(header::IF_NONE_MATCH);
    let slot = shop.renewals.slot(key);
    let mut kept = slot.lock().await;
    let now = shop.backstage.now();
    if let Some(page) = kept.as_ref().filter(|page| page.is_believed(now)) {
        return page.answer(known.as_ref());
    }
    let (parts, body) = next.run(request).await.into_parts();
    if parts.status != StatusCode::OK || !parts.headers.contains_key(header::ETAG) {
        return Response::from_parts(parts, body);
    }
    match whole(body).await {
        Ok(html) => {
            let page = kept.insert(Page { made_at: now, headers: parts.headers, html });
            page.answer(known.as_ref())
        }
        Err(body) => Response::from_parts(parts, body),
    }
}

/// All of a page; the page as it came where it is too large to be kept.
async fn whole(body: Body) -> Result<Bytes, Body> {
    match body.size_hint().exact() {
        Some(bytes) if bytes <= PAGE_BYTES_MAX as u64 => {
            // What is in memory already is not lost on the way.
            Ok(to_bytes(body, PAGE_BYTES_MAX).await.unwrap_or_default())
        }
        _ => Err(body),
    }
}

fn key_of(shop: &Shop, request: &Request) -> Option<Key> {
    let asked_for = request.headers().get(ASKED_FOR).and_then(|word| word.to_str().ok());
    if request.method() != Method::GET || asked_for != Some(BY_SCRIPT) {
        return None;
    }
    let address = request.uri().path_and_query().map_or("/", |address| address.as_str());
    let words = shop.languages.of_browser(request.headers());
    let host = host_in(request.headers(), request.uri());
    Some((host.to_owned(), address.to_owned(), words.tag.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_too_large_to_be_kept_is_answered_all_the_same() {
        let small = vec![b'a'; PAGE_BYTES_MAX];
        assert_eq!(whole(Body::from(small.clone())).await.unwrap(), small);
        let large = vec![b'a'; PAGE_BYTES_MAX + 1];
        let told = whole(Body::from(large.clone())).await.unwrap_err();
        assert_eq!(to_bytes(told, usize::MAX).await.unwrap(), large);
    }
}
