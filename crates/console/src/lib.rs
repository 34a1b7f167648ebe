//! The console: the pages on which people make projects and credentials, and look at what their projects have.
//!
//! `access` finds out who asks and what they may do; a page takes that proof
//! as an argument, so that there is no page without it. What a page shows it mostly asks the operations for (`operations.rs`),
//! as any other client would; everything else of the service is behind [`Backstage`]. What people send comes as a `Form`,
//! which exists only if it was sent from a page of ours. Every page is whole without scripts.

mod access;
mod chart;
mod form;
mod notice;
mod operations;
mod page;
mod pages;
mod refusal;

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use bourse_pages::format;
use bourse_pictures::Pictures;
use bourse_server::{App, Backstage, Entrance};
use bourse_store::{Actor, Invited, NewInvite, Store, StoreError};
use bourse_wire::Timestamp;

use access::{Proof, SignIn};
use refusal::Refusal;

/// What a handler answers.
type Answer = Result<Response, Refusal>;

/// What a page may load: what comes from here. Nothing in it is written into the page itself.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; media-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// How long a link that makes an account can be used.
const INVITE_SECONDS: u64 = 72 * 3600;

/// Where all pages are.
const PREFIX: &str = "/console";

/// What all pages share.
struct Console {
    backstage: Backstage,
    sign_in: SignIn,
    pictures: Pictures,
}

/// A page finds everything of the service there.
impl Deref for Console {
    type Target = Backstage;

    fn deref(&self) -> &Backstage {
        &self.backstage
    }
}

/// The service of an open application with the console beside it, unless the settings leave it out.
pub fn service(app: Arc<App>) -> Entrance {
    let pictures = Pictures::new(Backstage::new(Arc::clone(&app)));
    with_console(bourse_server::service(Arc::clone(&app)), app, pictures)
}

/// The same beside other pages, with which it shares pictures.
pub fn with_console(entrance: Entrance, app: Arc<App>, pictures: Pictures) -> Entrance {
    if app.settings().console.enabled {
        entrance.with_pages(&[PREFIX], pages(app, pictures))
    } else {
        entrance
    }
}

/// Every page of the console.
fn pages(app: Arc<App>, pictures: Pictures) -> Router {
    let backstage = Backstage::new(app);
    let settings = backstage.settings();
    // Room for the form around a file.
    let body_limit = DefaultBodyLimit::max(settings.limits.upload_bytes_max.saturating_add(64 * 1024));
    let console = Console { sign_in: SignIn::new(), pictures, backstage };
    Router::new()
        .merge(pages::routes())
        .fallback(nowhere)
        .layer(body_limit)
        .layer(from_fn(protect))
        .with_state(Arc::new(console))
}

async fn nowhere() -> Refusal {
    Refusal::missing("page")
}

/// Puts on every answer what keeps it from being framed, sniffed, kept, or told to others.
async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let set = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
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

/// Sends the browser on to another page.
fn see_other(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// The path of a link that makes the first administrator, as long as there is nobody who could invite one.
pub async fn first_link(app: &App) -> Result<Option<String>, StoreError> {
    if !app.settings().console.enabled || app.store().has_accounts().await? {
        return Ok(None);
    }
    administrator_link(app.store(), Actor::service(app.now())).await.map(Some)
}

/// The path of a link that makes somebody an administrator, for the operator of the service.
pub async fn administrator_link(store: &Store, actor: Actor) -> Result<String, StoreError> {
    let proof = Proof::fresh();
    let expires_at = later(actor.at, INVITE_SECONDS);
    let invited = Invited::Administrator;
    store.create_invite(NewInvite { hash: proof.hash(), invited, made_by: None, expires_at }, actor).await?;
    Ok(join_path(&proof))
}

fn join_path(proof: &Proof) -> String {
    format!("{PREFIX}/join/{}", proof.expose())
}

fn later(now: Timestamp, seconds: u64) -> Timestamp {
    Timestamp::from_unix_nanos(now.unix_nanos() + i128::from(seconds) * 1_000_000_000)
}
