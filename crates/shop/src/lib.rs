//! The shop: pages on which people look at what a project sells, and buy it with a wallet of their own.
//!
//! A project switches it on with `site` of its storefront. Whoever opens a page is a stranger: `asking` lets the page ask
//! public operations, with the public key that the storefront names, within the limits of that key, and nothing else. There are
//! no sessions, no cookies and no secrets. Pages can be read without scripts; only trading needs one (`script`).

mod asking;
mod links;
mod page;
mod pages;
mod refusal;
mod renewals;
mod theme;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use bourse_pictures::Pictures;
use bourse_server::limits::RateLimiter;
use bourse_server::{App, Backstage, Entrance};

use links::Links;
use refusal::{Refusal, Shown};
use renewals::Renewals;
pub use words::{LanguageError, Languages};

/// What a handler answers.
type Answer = Result<Response, Refusal>;

/// What a page may load: what comes from here. Nothing in it is written into the page itself.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Where all pages are.
const PREFIX: &str = "/shop";
/// Where somebody comes who knows the host alone.
const FRONT: &str = "/";
/// Where programs look that look for pages.
const ROBOTS: &str = "/robots.txt";

/// What one address may ask for in a minute, in pictures: a page counts as ten, and as one more for each operation that it asks.
const WORK_PER_MINUTE: u32 = 3_000;

/// What all pages share.
struct Shop {
    backstage: Backstage,
    visitors: RateLimiter,
    pictures: Pictures,
    links: Links,
    renewals: Renewals,
    languages: Languages,
}

/// The service with the shops of its projects beside it; whoever names the host alone is led to the shop that is meant.
pub fn with_shops(entrance: Entrance, app: Arc<App>, pictures: Pictures, languages: Languages) -> Entrance {
    entrance.with_pages(&[PREFIX, ROBOTS, FRONT], routes(Backstage::new(app), pictures, languages))
}

/// Every page.
fn routes(backstage: Backstage, pictures: Pictures, languages: Languages) -> Router {
    let shop = Arc::new(Shop {
        backstage,
        visitors: RateLimiter::new(WORK_PER_MINUTE),
        pictures,
        links: Links::default(),
        renewals: Renewals::default(),
        languages,
    });
    let protect = from_fn_with_state(Arc::clone(&shop), protect);
    let renew = from_fn_with_state(Arc::clone(&shop), renewals::renew);
    Router::new().merge(pages::routes()).fallback(nowhere).layer(renew).layer(protect).with_state(shop)
}

async fn nowhere() -> Refusal {
    Refusal::missing()
}

/// Puts on every answer what keeps it from being framed, sniffed, or told to others. What was refused is told in the visitor's
/// language, which only the request knows.
async fn protect(State(shop): State<Arc<Shop>>, request: Request, next: Next) -> Response {
    let words = shop.languages.of_browser(request.headers());
    let mut response = next.run(request).await;
    if let Some(refusal) = response.extensions_mut().remove::<Shown>() {
        response = page::refused(&words, &refusal);
    }
    let headers = response.headers_mut();
    let set = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin-allow-popups"),
    ];
    for (name, value) in set {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let kept = [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CACHE_CONTROL, "no-store")];
    for (name, value) in kept {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
