//! The way of every RPC request: route, method, content type, credential, limits, body, handler.

use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
// While the database is away: how many seconds ago everything that is answered from memory was as it is stored.
use bourse_peers::{Admission, DATA_AGE};
use bourse_store::StoreError;
use bourse_wire::{ChainId, Code, Dialect, Error, ProjectId, Timestamp};
use futures_util::FutureExt as _;

use crate::app::App;
use crate::auth::{Authority, Caller, RequestCredentials};
use crate::body::read_body;
use crate::call::{Call, Media, resolve};
use crate::data_version::{self, DATA_VERSION, WrittenVersions};
use crate::door::{Peer, Refusal};
use crate::failure::Failure;
use crate::forwarding::{self, Elsewhere};
use crate::limits::{Allowance, Bucket};
use crate::outcomes::FailedRequest;
use crate::route::{Effect, Handler};
use crate::router::Registered;
use crate::shares::{Exhausted, Share};
use crate::streams::{LINES, Standing};
use crate::trial::Trial;

const WEBRPC: HeaderName = HeaderName::from_static("webrpc");
const WEBRPC_VALUE: &str =
    concat!("webrpc@v0.25.3;gen-rust@v", env!("CARGO_PKG_VERSION"), ";bourse@v", env!("CARGO_PKG_VERSION"));
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const SESSION_TYPE: HeaderName = HeaderName::from_static("session-type");
const RATE_LIMIT: HeaderName = HeaderName::from_static("credits-rate-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("credits-rate-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("credits-rate-reset");
const RATE_COST: HeaderName = HeaderName::from_static("credits-rate-cost");
const QUOTA_LIMIT: HeaderName = HeaderName::from_static("quota-limit");
const QUOTA_REMAINING: HeaderName = HeaderName::from_static("quota-remaining");
const QUOTA_COST: HeaderName = HeaderName::from_static("quota-cost");

/// The headers of an answer that a browser's script may read.
pub(crate) const EXPOSED_HEADERS: [HeaderName; 13] = [
    WEBRPC,
    REQUEST_ID,
    SESSION_TYPE,
    RATE_LIMIT,
    RATE_REMAINING,
    RATE_RESET,
    RATE_COST,
    QUOTA_LIMIT,
    QUOTA_REMAINING,
    QUOTA_COST,
    DATA_AGE,
    DATA_VERSION,
    header::RETRY_AFTER,
];

/// What a path says.
pub(crate) struct Target<'p> {
    pub(crate) network: Option<&'p str>,
    pub(crate) service: &'p str,
    pub(crate) operation: &'p str,
}

/// Answers an RPC request.
pub(crate) async fn dispatch(app: Arc<App>, target: Target<'_>, request: Request) -> Response {
    let Some(route) = app.routes.find(target.service, target.operation) else {
        let path = format!("/rpc/{}/{}", target.service, target.operation);
        return error_response(&app, bad_route(&path).into(), HeaderMap::new());
    };
    let (result, RequestNotes { headers, forwarded, .. }) = run(&app, route, &target, request).await;
    let response = match result {
        Ok(answered) => response(&app, StatusCode::OK, headers, answered.into()),
        Err((error, id)) => {
            // Servers understand each other in their own words.
            let dialect = if forwarded.is_some() { Dialect::House } else { route.service.dialect() };
            envelope(&app, (&error, dialect), &id, headers)
        }
    };
    match forwarded {
        Some(forwarded) => forwarding::proven(&app, &forwarded, response).await,
        None => response,
    }
}

/// Answers a request that a page makes for its visitor, just as if it had come by itself.
pub(crate) async fn ask(app: &Arc<App>, target: Target<'_>, request: Request) -> Result<Vec<u8>, Error> {
    let Some(route) = app.routes.find(target.service, target.operation) else {
        return Err(bad_route(target.operation));
    };
    match run(app, route, &target, request).await.0 {
        Ok(Answered::Whole(body)) => Ok(body),
        Ok(Answered::Stream(_)) => Err(Error::new(Code::BadRequest, "no page can be made of a stream")),
        Err((error, _)) => Err(error),
    }
}

/// What a request is answered with.
enum Answered {
    /// All of it.
    Whole(Vec<u8>),
    /// What comes to be while it is read.
    Stream(Body),
}

impl From<Vec<u8>> for Answered {
    fn from(body: Vec<u8>) -> Self {
        Self::Whole(body)
    }
}

impl From<Answered> for Body {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Whole(body) => body.into(),
            Answered::Stream(body) => body,
        }
    }
}

/// Runs a request to its end, and notes what became of it. An error comes with the id that the log has it under.
async fn run(
    app: &Arc<App>,
    route: &Registered,
    target: &Target<'_>,
    request: Request,
) -> (Result<Answered, (Error, String)>, RequestNotes) {
    let started = Instant::now();
    let (parts, mut body) = request.into_parts();
    let mut noted = RequestNotes { headers: HeaderMap::with_capacity(16), came: None, forwarded: None };
    let result = match check_request(app, target, &parts, &mut noted) {
        Err(error) => Err(error.into()),
        Ok(network) => guarded(app, route, network, (&parts, &mut body), &mut noted).await,
    };
    let took = started.elapsed();
    let result = match result {
        Ok(body) => {
            app.metrics.note(&route.metrics, took, None);
            if let Some((project, at)) = noted.came {
                app.outcomes.note_answer(project, at);
            }
            Ok(body)
        }
        Err(failure) => {
            let id = app.request_id();
            let error = told(failure, &id);
            app.metrics.note(&route.metrics, took, Some(error.code.word().number));
            if let Some((project, at)) = noted.came {
                app.outcomes.note_error(project, FailedRequest::new(at, route, &error, &id));
            }
            Err((error, id))
        }
    };
    (result, noted)
}

/// What is found out about a request on its way, whatever becomes of it.
#[derive(Default)]
struct RequestNotes {
    /// Headers of the answer.
    headers: HeaderMap,
    /// The project that came, and when.
    came: Option<(ProjectId, Timestamp)>,
    /// That another server sent it on, which has charged its project already.
    forwarded: Option<Admission>,
}

/// Checks what can be told from the head of a request, and finds the chain that its path names.
fn check_request(
    app: &App,
    target: &Target<'_>,
    parts: &Parts,
    noted: &mut RequestNotes,
) -> Result<Option<ChainId>, Error> {
    check_shape(parts)?;
    noted.forwarded = forwarding::admission(app, parts)?;
    target.network.map(|network| resolve(&app.settings.networks, network)).transpose()
}

pub(crate) fn bad_route(path: &str) -> Error {
    let shown: String = path.chars().take(128).collect();
    Error::new(Code::BadRoute, format!("there is nothing at {shown}: /openapi.json lists every operation"))
}

fn check_shape(parts: &Parts) -> Result<(), Error> {
    if parts.method != Method::POST {
        let message = format!("operations are called with POST, not {}", parts.method);
        return Err(Error::new(Code::BadMethod, message));
    }
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    if media_type.is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let message = "the Content-Type header must be application/json";
    Err(Error::new(Code::BadRequest, message)
        .with_cause(format!("it is {}", content_type.unwrap_or("missing"))))
}

/// Runs a request within its bounds: so long, and a panic is one request's trouble.
async fn guarded(
    app: &Arc<App>,
    route: &Registered,
    network: Option<ChainId>,
    request: (&Parts, &mut Body),
    noted: &mut RequestNotes,
) -> Result<Answered, Failure> {
    let limit_ms = app.settings.limits.request_timeout_ms;
    bounded(limit_ms, answer(app, route, network, request, noted)).await?
}

/// Where requests of nobody go. Each side has half of their places at most, so that a crowd at one leaves the others theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// Plain addresses, which everybody may ask for.
    Addresses,
    /// The pages for people at the paths with these prefixes.
    Pages(&'static [&'static str]),
}

/// Lets a request begin, of a project or of nobody.
pub(crate) fn permit(app: &App, project: Option<ProjectId>) -> Result<Share, Error> {
    app.permits.take(project, 1).map_err(|exhausted| overloaded(app, exhausted))
}

/// Lets a request of nobody begin at a side.
pub(crate) fn permit_at(app: &App, side: Side) -> Result<(Share, Share<Side>), Error> {
    let of_side = app.sides.take(side, 1).map_err(|exhausted| overloaded(app, exhausted))?;
    Ok((permit(app, None)?, of_side))
}

fn overloaded(app: &App, exhausted: Exhausted) -> Error {
    app.refusals.note(match exhausted {
        Exhausted::Total => Refusal::Requests,
        Exhausted::Owner => Refusal::ProjectRequests,
    });
    let message = "the service is answering as many requests as it can: try again in a second";
    Error::new(Code::Overloaded, message)
}

/// Lets work take so long and no longer, and turns a panic in it into an error.
pub(crate) async fn bounded<T>(limit_ms: u64, work: impl Future<Output = T>) -> Result<T, Error> {
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    // Most are done at once, and need no timer.
    let done = match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => tokio::time::timeout(Duration::from_millis(limit_ms), work).await,
    };
    match done {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_panic)) => Err(Error::new(Code::ServerPanic, "the service failed on this request")),
        Err(_elapsed) => {
            Err(Error::new(Code::Timeout, format!("the request took longer than {limit_ms} ms")))
        }
    }
}

async fn answer(
    app: &Arc<App>,
    route: &Registered,
    network: Option<ChainId>,
    (parts, body): (&Parts, &mut Body),
    noted: &mut RequestNotes,
) -> Result<Answered, Failure> {
    let now = app.clock.now();
    let caller = identify(app, route, parts, now, noted).await?;
    let RequestNotes { headers, forwarded, .. } = noted;
    let caller = match (&route.handler, caller) {
        (Handler::Constant(json), _) => return Ok(json.as_bytes().to_vec().into()),
        (Handler::Open(answer), _) => return answer(app, network).map(Answered::from),
        (Handler::Scoped(_) | Handler::Streaming(_), Some(caller)) => caller,
        (Handler::Scoped(_) | Handler::Streaming(_), None) => {
            return Err(Error::new(Code::Unauthorized, "no credential").into());
        }
    };
    let wanted = data_version::wanted(&parts.headers, &app.signer)?;
    if forwarded.is_none() {
        charge(app, route, caller.project(), now, headers)?;
    }
    let project = Some(caller.project());
    let body = read_body(app, project, &parts.headers, body, app.settings.limits.body_bytes_max).await?;
    if forwarded.as_ref().is_some_and(|forwarded| !forwarded.has_body(&body.bytes)) {
        return Err(forwarding::not_forwarded().into());
    }
    // Only now, so that nobody holds a place who has not said what they want.
    let _permit = permit(app, project)?;
    if !wanted.is_empty() {
        app.resident.reach(&wanted).await?;
    }
    let peer = Peer::of(&parts.extensions);
    let media = if route.is_tabular { Media::asked(&parts.headers) } else { Media::Json };
    let written = (route.effect == Effect::Writes).then(|| Arc::new(WrittenVersions::default()));
    // A stream is of what is stored, which every server can follow by itself.
    let elsewhere = Elsewhere::of(app, route, parts, forwarded.is_some() || route.is_streaming());
    let call = Call {
        app: Arc::clone(app),
        caller,
        peer,
        network,
        now,
        media,
        written: written.clone(),
        elsewhere: elsewhere.clone(),
    };
    if let Handler::Streaming(open) = &route.handler {
        let standing = Standing::new(parts, (route.service, route.credential), &call);
        let subscription = open(call, body.bytes.clone()).await?;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(LINES));
        return Ok(Answered::Stream(subscription.body(standing)));
    }
    let answer = match &elsewhere {
        None => route.handler.answer(call, body.bytes.clone()).await?,
        Some(elsewhere) => elsewhere.answer(&route.handler, call, body.bytes.clone()).await?,
    };
    if let Some(age) = elsewhere.and_then(|elsewhere| elsewhere.age()) {
        headers.insert(DATA_AGE, age);
    }
    if let Some(version) = written.and_then(|written| written.header(&app.signer)) {
        headers.insert(DATA_VERSION, version);
    }
    if media == Media::Csv {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    }
    Ok(answer.into())
}

/// Finds out whose page asks at an address of its own for what an operation tells, and takes what that costs.
pub(crate) async fn admit(
    app: &App,
    route: &Registered,
    parts: &Parts,
    headers: &mut HeaderMap,
) -> Result<ProjectId, Failure> {
    let (now, mut noted) = (app.clock.now(), RequestNotes::default());
    let caller = identify(app, route, parts, now, &mut noted).await;
    *headers = noted.headers;
    let caller = caller?.ok_or_else(|| Error::new(Code::Unauthorized, "no credential"))?;
    charge(app, route, caller.project(), now, headers)?;
    Ok(caller.project())
}

/// Finds out who calls, within the limits of requests a minute.
async fn identify(
    app: &App,
    route: &Registered,
    parts: &Parts,
    now: Timestamp,
    RequestNotes { headers, came, forwarded }: &mut RequestNotes,
) -> Result<Option<Caller>, Failure> {
    let peer = Peer::of(&parts.extensions).filter(|_| forwarded.is_none());
    let authority = Authority { credentials: &app.credentials, signer: &app.signer };
    let check = || {
        let presented = RequestCredentials::read(&parts.headers)?;
        presented.check(route.credential, route.service, authority, now)
    };
    let mut checked = check();
    let is_unknown = checked.as_ref().is_err_and(|denied| denied.is_unknown);
    if is_unknown {
        // Failed credentials count against their address, so that guessing is limited, and before the store is asked.
        limit_rate(app, route, (None, peer), headers)?;
        app.credentials.look(&app.store).await;
        checked = check();
        if app.store.away_for().is_some() && checked.as_ref().is_err_and(|denied| denied.is_unknown) {
            // Nobody can tell whether there is such a credential.
            return Err(StoreError::Away.into());
        }
    }
    let caller = checked.as_ref().ok().and_then(Option::as_ref);
    if forwarded.is_none() {
        let project = match &checked {
            Ok(caller) => caller.as_ref().map(Caller::project),
            Err(denied) => denied.project,
        };
        *came = project.map(|project| (project, now));
        if !is_unknown || caller.is_some() {
            limit_rate(app, route, (caller, peer), headers)?;
        }
    }
    let caller = checked.map_err(|denied| denied.error)?;
    if forwarded.is_none() && caller.as_ref().is_some_and(|caller| !caller.is_secret()) {
        limit_trial(app, route, (&parts.headers, peer), now, headers)?;
    }
    headers.insert(
        SESSION_TYPE,
        HeaderValue::from_static(caller.as_ref().map_or("Public", Caller::session_type)),
    );
    Ok(caller)
}

fn limit_rate(
    app: &App,
    route: &Registered,
    (caller, peer): (Option<&Caller>, Option<IpAddr>),
    headers: &mut HeaderMap,
) -> Result<(), Error> {
    headers.insert(RATE_COST, route.cost.into());
    let bucket = match (caller, peer) {
        (Some(caller), _) => Bucket::Project(caller.project()),
        (None, Some(peer)) => Bucket::of_address(peer),
        (None, None) => return Ok(()),
    };
    let Some(allowance) = app.limiter.take(bucket, route.cost.max(1), app.clock.steady()) else {
        return Ok(());
    };
    within_rate(allowance, caller.is_some(), headers)
}

/// Bounds what is done with the key that everybody may try the service with.
fn limit_trial(
    app: &App,
    route: &Registered,
    (asked, peer): (&HeaderMap, Option<IpAddr>),
    now: Timestamp,
    headers: &mut HeaderMap,
) -> Result<(), Error> {
    let Some(trial) = &app.trial else { return Ok(()) };
    if !trial.is_key(RequestCredentials::read(asked)?.key()) {
        return Ok(());
    }
    Trial::check(route)?;
    if let Some(allowance) = trial.take(peer, route.cost.max(1), now) {
        within_rate(allowance, true, headers)?;
    }
    trial.charge(route.cost.max(1), now)
}

/// Tells what is left of a minute, and refuses where that was not enough.
fn within_rate(allowance: Allowance, is_known: bool, headers: &mut HeaderMap) -> Result<(), Error> {
    headers.insert(RATE_LIMIT, allowance.limit.into());
    headers.insert(RATE_REMAINING, allowance.remaining.into());
    headers.insert(RATE_RESET, allowance.reset_seconds.into());
    if allowance.refused {
        headers.insert(header::RETRY_AFTER, allowance.reset_seconds.into());
    }
    allowance.check(is_known)
}

fn charge(
    app: &App,
    route: &Registered,
    project: ProjectId,
    now: Timestamp,
    headers: &mut HeaderMap,
) -> Result<(), Error> {
    headers.insert(QUOTA_COST, route.cost.into());
    let quota = app.meter.charge(project, route.service, route.cost, now);
    let Some(quota) = quota else { return Ok(()) };
    headers.insert(QUOTA_LIMIT, quota.limit.into());
    headers.insert(QUOTA_REMAINING, quota.remaining.into());
    if !quota.refused {
        return Ok(());
    }
    let service = route.service.short();
    let message = format!("the month's {} compute units of the service {service} are used up", quota.limit);
    Err(Error::new(Code::QuotaExceeded, message))
}

/// An answer with the headers that every answer has.
pub(crate) fn response(app: &App, status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    headers.insert(WEBRPC, HeaderValue::from_static(WEBRPC_VALUE));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(age) = app.store.memory_age() {
        let age = age.as_secs().saturating_add(1).max(forwarding::age_in(headers));
        headers.insert(DATA_AGE, age.into());
    }
    if !headers.contains_key(REQUEST_ID)
        && let Ok(id) = HeaderValue::try_from(app.request_id())
    {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// The answer to a request that failed.
pub(crate) fn error_response(app: &App, failure: Failure, headers: HeaderMap) -> Response {
    let id = app.request_id();
    envelope(app, (&told(failure, &id), Dialect::House), &id, headers)
}

/// What a caller is told. What is nobody's business but ours is logged under the request's id, which the caller gets.
fn told(failure: Failure, id: &str) -> Error {
    match failure {
        Failure::Refused(error) => error,
        Failure::Storage { told, source } => {
            tracing::warn!(request.id = %id, error = %source, "a request fails for want of storage");
            told
        }
        // Who asks for a collection that others hold asks them, so that nobody is told this.
        Failure::HeldElsewhere(key) => told(Failure::Internal(format!("{key} is held elsewhere").into()), id),
        Failure::Internal(source) => {
            tracing::error!(request.id = %id, error = %source, "internal error");
            let message = format!("internal error: the service's log has the details under {id}");
            Error::new(Code::Internal, message)
        }
    }
}

/// When to come back after an error that passes by itself or once somebody has seen to it.
pub(crate) fn retry_after_seconds(code: Code) -> Option<u16> {
    match code {
        Code::Overloaded => Some(1),
        Code::StorageUnavailable | Code::ChainUnavailable => Some(5),
        // Somebody has to make room.
        Code::StorageFull => Some(60),
        _ => None,
    }
}

/// The error envelope.
fn envelope(app: &App, (error, dialect): (&Error, Dialect), id: &str, mut headers: HeaderMap) -> Response {
    if error.code == Code::BadMethod {
        headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
    }
    if let Some(seconds) = retry_after_seconds(error.code) {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(REQUEST_ID, id);
    }
    let status = dialect.word(error.code).status;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // The envelope is a plain record of texts and numbers; writing it cannot fail.
    let body = serde_json::to_vec(&error.said(dialect)).unwrap_or_default();
    response(app, status, headers, body.into())
}
