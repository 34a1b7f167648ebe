//! What happens in a collection, for pages in browsers: server-sent events at an address. A browser asks again by itself, and
//! names the last event that it was told.

use std::sync::Arc;

use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use bourse_store::CollectionKey;
use bourse_wire::{Address, Error, ProjectId, TokenId};

use crate::app::App;
use crate::auth::{ACCESS_KEY, Authority, Caller, RequestCredentials};
use crate::call::resolve;
use crate::dispatch::{error_response, response};
use crate::door::Peer;
use crate::failure::Failure;
use crate::limits::Bucket;
use crate::route::{Credential, Service};
use crate::streams::{self, Standing, Subject};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Opens the stream of a collection, or of one of its tokens.
pub(super) async fn open(State(app): State<Arc<App>>, params: RawPathParams, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    match begin(&app, &params, &parts).await {
        Ok(response) => response,
        Err(failure) => error_response(&app, failure, HeaderMap::new()),
    }
}

async fn begin(app: &Arc<App>, params: &RawPathParams, request: &Parts) -> Result<Response, Failure> {
    let subject = subject(app, params, request)?;
    let headers = credentials(request)?;
    let project = project(app, &headers).await?;
    let standing = Standing::of_page(headers, project);
    standing.charge(app)?;
    let address = Peer::of(&request.extensions).map(Bucket::of_address);
    let subscription = streams::frames(app, (project, address), subject).await?;
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Proxies that gather answers would hold the stream back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ]);
    Ok(response(app, StatusCode::OK, headers, subscription.body(standing)))
}

fn subject(app: &App, params: &RawPathParams, request: &Parts) -> Result<Subject, Error> {
    let text = |name: &str| params.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
    let chain = resolve(&app.settings.networks, text("network").unwrap_or_default())?;
    let address = text("contract").unwrap_or_default();
    let address = address.parse::<Address>().map_err(|error| Error::invalid("contract", error))?;
    let token = text("token").map(str::parse::<TokenId>).transpose();
    let token = token.map_err(|error| Error::invalid("token", error))?;
    // A browser's own word is newer than that of the page's address.
    let named = request.headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    let after = named.filter(|text| !text.is_empty()).or_else(|| asked(request, "cursor"));
    let after = after.map(streams::cursor).transpose()?;
    Ok(Subject { key: CollectionKey { chain, address }, token, after })
}

/// A field of the address. Neither keys nor cursors have anything in them that would be written otherwise there.
fn asked<'r>(request: &'r Parts, name: &str) -> Option<&'r str> {
    let mut fields = request.uri.query()?.split('&').filter_map(|field| field.split_once('='));
    fields.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The credentials of a request, of which the key may be in the address: scripts cannot give headers to such a request.
fn credentials(request: &Parts) -> Result<HeaderMap, Error> {
    let named = [ACCESS_KEY, header::AUTHORIZATION, header::ORIGIN];
    let known = |name: HeaderName| Some((name.clone(), request.headers.get(&name)?.clone()));
    let mut headers: HeaderMap = named.into_iter().filter_map(known).collect();
    if let Some(key) = asked(request, "key") {
        let key = HeaderValue::from_str(key).map_err(|_| Error::invalid("key", "is no access key"))?;
        headers.entry(ACCESS_KEY).or_insert(key);
    }
    Ok(headers)
}

async fn project(app: &App, headers: &HeaderMap) -> Result<ProjectId, Error> {
    let presented = RequestCredentials::read(headers)?;
    let authority = Authority { credentials: &app.credentials, signer: &app.signer };
    let check = || presented.check(Credential::AccessKey, Service::Marketplace, authority, app.clock.now());
    let mut checked = check();
    if checked.as_ref().is_err_and(|denied| denied.is_unknown) {
        app.credentials.look(&app.store).await;
        checked = check();
    }
    let caller = checked.map_err(|denied| denied.error)?;
    caller.as_ref().map(Caller::project).ok_or_else(|| Error::not_found("project"))
}
