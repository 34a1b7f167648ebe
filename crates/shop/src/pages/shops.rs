//! The shops of this service; where there is one alone, or one that is at the host, the way to it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::{Peer, site_address};
use bourse_wire::ProjectId;
use maud::html;

use crate::asking::{PAGE_COST, admit, host_in, open_shop};
use crate::refusal::Refusal;
use crate::{Answer, PREFIX, Shop, page};

/// Shops that are shown.
const SHOWN_MAX: u64 = 50;
/// What this service answers, for people who write programs.
const REFERENCE: &str = "/docs";

pub(super) async fn show(State(shop): State<Arc<Shop>>, request: Request) -> Answer {
    let (request, _) = request.into_parts();
    let shops = match find(&shop, &request).await? {
        Found::One(project) => return Ok(go_to(&format!("{PREFIX}/{project}"))),
        Found::Several(shops) => shops,
    };
    if shops.is_empty() {
        return Err(Refusal::Missing);
    }
    let words = shop.languages.of_browser(&request.headers);
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
    let (request, _) = request.into_parts();
    Ok(match find(&shop, &request).await? {
        Found::One(project) => go_to(&format!("{PREFIX}/{project}")),
        Found::Several(_) => go_to(REFERENCE),
    })
}

/// What programs that look for pages are told: where the lists of them are.
pub(super) async fn robots(State(shop): State<Arc<Shop>>, request: Request) -> Answer {
    let (request, _) = request.into_parts();
    let projects: Vec<ProjectId> = match find(&shop, &request).await? {
        Found::One(project) => vec![project],
        Found::Several(shops) => shops.into_iter().map(|(project, _)| project).collect(),
    };
    let mut lines = vec!["User-agent: *".to_owned(), "Disallow: /console".to_owned()];
    for project in projects {
        let parts = shop.backstage.storefront(project).await?;
        if let Some(storefront) = open_shop(&parts) {
            let address = site_address(&storefront, shop.backstage.settings());
            lines.push(format!("Sitemap: {address}{PREFIX}/{project}/sitemap.xml"));
        }
    }
    Ok((lines.join("\n") + "\n").into_response())
}

/// The shops of this service, as a request names its host.
enum Found {
    /// The one that is at the host, or the only one.
    One(ProjectId),
    /// None or several, each with its name.
    Several(Vec<(ProjectId, String)>),
}

async fn find(shop: &Shop, request: &Parts) -> Result<Found, Refusal> {
    admit(shop, Peer::of(&request.extensions), PAGE_COST)?;
    if let Some(project) = shop.backstage.project_at(host_in(&request.headers, &request.uri)).await? {
        let parts = shop.backstage.storefront(project).await?;
        // At somebody's host no other shop is shown either.
        return Ok(match open_shop(&parts) {
            Some(_) => Found::One(project),
            None => Found::Several(Vec::new()),
        });
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

fn go_to(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::try_from(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}
