//! What happens in a collection, for pages in browsers: server-sent events at an address. A browser asks again by itself, and
//! names the last event that it was told.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use bourse_store::CollectionKey;
use bourse_wire::{Address, Error, TokenId};

use crate::app::App;
use crate::auth::{ACCESS_KEY, Authority, RequestCredentials};
use crate::call::resolve;
use crate::dispatch::{admit, bad_route, error_response, response};
use crate::door::Peer;
use crate::failure::Failure;
use crate::limits::Bucket;
use crate::route::{Credential, Service};
use crate::storefronts::origin_of;
use crate::streams::{self, Standing, Subject};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The operation that tells programs the same.
const OPERATION: (&str, &str) = ("Marketplace", "SubscribeActivities");

/// Opens the stream of a collection, or of one of its tokens.
pub(super) async fn open(State(app): State<Arc<App>>, params: RawPathParams, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let mut headers = HeaderMap::new();
    match begin(&app, &params, parts, &mut headers).await {
        Ok(body) => {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            // Proxies that gather answers would hold the stream back.
            headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
            response(&app, StatusCode::OK, headers, body)
        }
        Err(failure) => error_response(&app, failure, headers),
    }
}

async fn begin(
    app: &Arc<App>,
    params: &RawPathParams,
    mut request: Parts,
    headers: &mut HeaderMap,
) -> Result<Body, Failure> {
    let subject = subject(app, params, &request)?;
    let (service, operation) = OPERATION;
    let route = app.routes.find(service, operation).ok_or_else(|| bad_route(operation))?;
    request.headers = credentials(app, &request)?;
    let project = admit(app, route, &request, headers).await?;
    let peer = Peer::of(&request.extensions);
    let subscription = streams::frames(app, (project, peer.map(Bucket::of_address)), subject).await?;
    Ok(subscription.body(Standing::of_page(request.headers, project, peer)))
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
fn credentials(app: &App, request: &Parts) -> Result<HeaderMap, Error> {
    let named = [ACCESS_KEY, header::AUTHORIZATION, header::ORIGIN];
    let known = |name: HeaderName| Some((name.clone(), request.headers.get(&name)?.clone()));
    let mut headers: HeaderMap = named.into_iter().filter_map(known).collect();
    if let Some(key) = asked(request, "key") {
        let key = HeaderValue::from_str(key).map_err(|_| Error::invalid("key", "is no access key"))?;
        headers.entry(ACCESS_KEY).or_insert(key);
    }
    // Browsers name no origin where they read from their own. No script can say this of itself.
    let is_own = request.headers.get(FETCH_SITE).is_some_and(|site| site == "same-origin");
    if is_own && !headers.contains_key(header::ORIGIN) {
        put_own_origin(app, request, &mut headers)?;
    }
    Ok(headers)
}

/// Puts in the origin that a page of this service has: that of its host, as shops may have their own, or of the whole service, as
/// a proxy may not say which host was asked for. The key says which of them it is for.
fn put_own_origin(app: &App, request: &Parts, headers: &mut HeaderMap) -> Result<(), Error> {
    let public = app.settings.public_url();
    let scheme = public.split_once("://").map_or("https", |(scheme, _)| scheme);
    let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let at_host = host.map(|host| origin_of(&format!("{scheme}://{host}")));
    let authority = Authority { credentials: &app.credentials, signer: &app.signer };
    for origin in at_host.into_iter().chain([origin_of(&public)]) {
        let Ok(origin) = HeaderValue::from_str(&origin) else { continue };
        headers.insert(header::ORIGIN, origin);
        let presented = RequestCredentials::read(headers)?;
        if presented.check(Credential::AccessKey, Service::Marketplace, authority, app.clock.now()).is_ok() {
            break;
        }
    }
    Ok(())
}
