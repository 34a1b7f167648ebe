//! The shops of this service; where there is one alone, the way to it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::{Peer, StorefrontParts};
use bourse_wire::ProjectId;
use maud::html;

use crate::asking::{PAGE_COST, admit, open_shop};
use crate::refusal::Refusal;
use crate::{Answer, PREFIX, Shop, page};

/// Shops that are shown.
const SHOWN_MAX: u64 = 50;
/// The longest name of a host.
const HOST_BYTES_MAX: usize = 260;

pub(super) async fn show(State(shop): State<Arc<Shop>>, request: Request) -> Answer {
    admit(&shop, Peer::of(request.extensions()), PAGE_COST)?;
    let words = shop.languages.of_browser(request.headers());
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if let Some(project) = at_host(&shop, host.unwrap_or_default()).await? {
        return Ok(go_to(project));
    }
    let mut shops = Vec::new();
    for project in shop.backstage.store().projects_with_sites(SHOWN_MAX).await? {
        let parts = shop.backstage.storefront(project).await?;
        if let Some(storefront) = open_shop(&parts) {
            shops.push((project, storefront.settings.title.into_string(), parts));
        }
    }
    if let [(project, ..)] = shops.as_slice() {
        return Ok(go_to(*project));
    }
    if shops.is_empty() {
        return Err(Refusal::Missing);
    }
    let name = |title: &str, parts: &StorefrontParts| {
        if title.is_empty() { parts.project.name.clone() } else { title.to_owned() }
    };
    let body = html! {
        h1 { (words.say("shops.title")) }
        ul.plain { @for (project, title, parts) in &shops {
            li { a href={ (PREFIX) "/" (project) } { bdi { (name(title, parts)) } } }
        } }
    };
    Ok(page::bare(&words, StatusCode::OK, words.say("shops.title"), &body))
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

fn go_to(project: ProjectId) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::try_from(format!("{PREFIX}/{project}")) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}
