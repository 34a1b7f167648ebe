//! The shops of this service; where there is one alone, or one that is at the host, the way to it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::Peer;
use bourse_wire::ProjectId;
use maud::html;

use crate::asking::{PAGE_COST, admit, open_shop};
use crate::refusal::Refusal;
use crate::{Answer, PREFIX, Shop, page};

/// Shops that are shown.
const SHOWN_MAX: u64 = 50;
/// What this service answers, for people who write programs.
const REFERENCE: &str = "/docs";
/// The longest name of a host.
const HOST_BYTES_MAX: usize = 260;

pub(super) async fn show(State(shop): State<Arc<Shop>>, request: Request) -> Answer {
    let shops = match find(&shop, Peer::of(request.extensions()), request.headers()).await? {
        Found::One(project) => return Ok(go_to(&format!("{PREFIX}/{project}"))),
        Found::Several(shops) => shops,
    };
    if shops.is_empty() {
        return Err(Refusal::Missing);
    }
    let words = shop.languages.of_browser(request.headers());
    let body = html! {
        h1 { (words.say("shops.title")) }
        ul.plain { @for (project, title) in &shops {
            li { a href={ (PREFIX) "/" (project) } { bdi { (title) } } }
        } }
    };
    Ok(page::bare(&words, StatusCode::OK, words.say("shops.title"), &body))
}

/// Where whoever names the host alone is led: to the shop that is meant, or to the reference for programs.
pub(super) async fn front(State(shop): State<Arc<Shop>>, request: Request) -> Answer {
    Ok(match find(&shop, Peer::of(request.extensions()), request.headers()).await? {
        Found::One(project) => go_to(&format!("{PREFIX}/{project}")),
        Found::Several(_) => go_to(REFERENCE),
    })
}

/// The shops of this service, as a request names its host.
enum Found {
    /// The one that is at the host, or the only one.
    One(ProjectId),
    /// None or several, each with its name.
    Several(Vec<(ProjectId, String)>),
}

async fn find(shop: &Shop, peer: Option<IpAddr>, headers: &HeaderMap) -> Result<Found, Refusal> {
    admit(shop, peer, PAGE_COST)?;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if let Some(project) = at_host(shop, host.unwrap_or_default()).await? {
        return Ok(Found::One(project));
    }
    let mut shops = Vec::new();
    for project in shop.backstage.store().projects_with_sites(SHOWN_MAX).await? {
        let parts = shop.backstage.storefront(project).await?;
        if let Some(storefront) = open_shop(&parts) {
            let title = storefront.settings.title.into_string();
            shops.push((project, if title.is_empty() { parts.project.name.clone() } else { title }));
        }
    }
    Ok(match shops.as_slice() {
        [(project, _)] => Found::One(*project),
        _ => Found::Several(shops),
    })
}

/// The project whose shop is at a host.
async fn at_host(shop: &Shop, host: &str) -> Result<Option<ProjectId>, Refusal> {
    if host.is_empty() || host.len() > HOST_BYTES_MAX {
        return Ok(None);
    }
    let Some(project) = shop.backstage.store().project_at(host.to_ascii_lowercase()).await? else {
        return Ok(None);
    };
    let parts = shop.backstage.storefront(project).await?;
    Ok(open_shop(&parts).map(|_| project))
}

fn go_to(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::try_from(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}
