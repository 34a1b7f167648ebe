//! The HTTP surface: RPC, plain addresses, health, metrics, documentation, and what wraps all of them.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::future::RouteFuture;
use axum::routing::get;
use bourse_peers::Trouble;
use bourse_wire::{Code, Error};
use futures_util::future::{BoxFuture, Either};
use tower::{Layer as _, Service, ServiceExt as _, service_fn};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::App;
use crate::compression::{Coding, compressed};
use crate::data_version::DATA_VERSION;
use crate::dispatch::{
    EXPOSED_HEADERS, Side, Target, bad_route, bounded, dispatch, error_response, permit_at, response,
};
use crate::static_answer::StaticAnswer;
use crate::{compression, openapi, rest, self_check};

/// How long a browser may remember that it may call.
const PREFLIGHT_AGE: Duration = Duration::from_hours(24);
/// What the documentation pages may load: their own stylesheet, nothing else.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The OpenAPI document, made at the first request for it: it never changes.
static DOCUMENT: LazyLock<StaticAnswer> =
    LazyLock::new(|| StaticAnswer::new("application/json", openapi::document().to_string()));
static STYLE: LazyLock<StaticAnswer> =
    LazyLock::new(|| StaticAnswer::new("text/css; charset=utf-8", bourse_reference::STYLE));

/// The whole service, ready to be served. Cheap to clone: every connection has one.
#[derive(Clone)]
pub struct Entrance {
    ways: Arc<Ways>,
    pages: Vec<Arc<Pages>>,
}

/// The ways that a request may go.
struct Ways {
    app: Arc<App>,
    /// For programs.
    plain: Router,
    /// For browsers and whoever asks for compression: the same, with what that takes around it.
    wrapped: Router,
    /// What lets pages of other sites read an answer.
    cors: CorsLayer,
}

/// Where somebody comes who knows the host alone.
const FRONT: &str = "/";

/// Pages for people, at the paths that begin with one of these prefixes.
struct Pages {
    prefixes: &'static [&'static str],
    router: Router,
}

impl Pages {
    fn has(&self, path: &str) -> bool {
        let is_below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let is_at = |prefix: &&str| match *prefix {
            FRONT => path == FRONT,
            prefix => path.strip_prefix(prefix).is_some_and(is_below),
        };
        self.prefixes.iter().any(is_at)
    }
}

/// The service of an open application.
pub fn service(app: Arc<App>) -> Entrance {
    let cors = cors(&app);
    let plain = Router::new()
        .route("/health", get(health))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi_document))
        .route("/docs", get(docs))
        .route("/docs/style.css", get(docs_style))
        .merge(rest::routes(&app))
        .merge(self_check::routes())
        .fallback(rpc)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(&app));
    let wrapped = plain.clone().layer(compression::layer()).layer(cors.clone());
    Entrance { ways: Arc::new(Ways { app, plain, wrapped, cors }), pages: Vec::new() }
}

impl Entrance {
    /// Serves pages for people as well, at the paths that begin with a prefix, such as `/console`; `/` stands for itself alone.
    /// They are compressed; pages of other sites have no business there, so that nothing lets them call. All of them are one
    /// side, however many prefixes they have.
    pub fn with_pages(self, prefixes: &'static [&'static str], pages: Router) -> Self {
        let (app, side) = (Arc::clone(&self.ways.app), Side::Pages(prefixes));
        let bounds = move |request: Request, next: Next| bound_page(Arc::clone(&app), side, request, next);
        let router = pages.layer(compression::layer()).layer(from_fn(bounds));
        let mut known = self.pages;
        known.push(Arc::new(Pages { prefixes, router }));
        Self { pages: known, ways: self.ways }
    }

    /// The application whose service it is.
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.ways.app
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: Request) -> Answer {
        let Self { ways, pages } = self;
        let path = request.uri().path();
        if let Some(pages) = pages.iter().find(|pages| pages.has(path)) {
            return Either::Right(pages.router.clone().call(request));
        }
        if request.method() == Method::POST && is_operation(path) {
            // Straight to the answer: most requests are these, and the router has nothing to add.
            return Either::Left(Box::pin(Arc::clone(ways).operation(request)));
        }
        let wraps = [header::ORIGIN, header::ACCEPT_ENCODING];
        let is_wrapped = wraps.iter().any(|header| request.headers().contains_key(header));
        let way = if is_wrapped { &ways.wrapped } else { &ways.plain };
        Either::Right(way.clone().call(request))
    }
}

/// Whether a path is one of an operation, with a network before it or not.
fn is_operation(path: &str) -> bool {
    path.split('/').skip(1).take(2).any(|segment| segment == "rpc")
}

impl Ways {
    /// Answers a call of an operation, with around it only what the request asks for.
    async fn operation(self: Arc<Self>, request: Request) -> Result<Response, Infallible> {
        let coding = Coding::accepted(request.headers());
        let origin = request.headers().get(header::ORIGIN).cloned();
        let response = with_length(rpc(State(Arc::clone(&self.app)), request).await);
        let response = compressed(coding, response).await;
        match origin {
            None => Ok(response),
            Some(origin) => self.readable_from(origin, response).await,
        }
    }

    /// An answer that pages of an origin may read, if they may.
    async fn readable_from(&self, origin: HeaderValue, response: Response) -> Result<Response, Infallible> {
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(header::ORIGIN, origin);
        self.cors.layer(finished(response)).oneshot(request).await
    }
}

/// Pages have the bounds of other requests: so many at once, and so long each.
async fn bound_page(app: Arc<App>, side: Side, request: Request, next: Next) -> Response {
    let (limits, console) = (&app.settings.limits, &app.settings.console);
    // A page may be a picture that is fetched first.
    let for_page = limits.request_timeout_ms.saturating_add(console.image_timeout_ms);
    let limit_ms = if request.method() == Method::POST { limits.upload_timeout_ms } else { for_page };
    let answered = match permit_at(&app, side) {
        Ok(_permit) => bounded(limit_ms, next.run(request)).await,
        Err(error) => Err(error),
    };
    answered.unwrap_or_else(|error| error_response(&app, error.into(), HeaderMap::new()))
}

/// An answer under way.
type Answer = Either<BoxFuture<'static, Result<Response, Infallible>>, RouteFuture<Infallible>>;

/// As other programs' layers and tests know services.
impl Service<Request> for Entrance {
    type Response = Response;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Answer {
        self.answer(request)
    }
}

/// A finished answer, for layers that want a service to be around.
pub(crate) fn finished(
    response: Response,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Send {
    let mut response = Some(response);
    service_fn(move |_: Request| std::future::ready(Ok(response.take().unwrap_or_default())))
}

fn with_length(mut response: Response) -> Response {
    if let Some(length) = response.body().size_hint().exact() {
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    }
    response
}

fn cors(app: &App) -> CorsLayer {
    let origins = &app.settings.cors.origins;
    let allowed = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::PUT])
        .allow_headers([
            header::CONTENT_TYPE,
            header::AUTHORIZATION,
            HeaderName::from_static("x-access-key"),
            HeaderName::from_static("webrpc"),
            DATA_VERSION,
        ])
        .expose_headers(EXPOSED_HEADERS)
        .max_age(PREFLIGHT_AGE)
}

/// `/rpc/<Service>/<Operation>` and `/<network>/rpc/<Service>/<Operation>`; anything else is nowhere.
async fn rpc(State(app): State<Arc<App>>, request: Request) -> Response {
    // A share of the text, not a copy of it.
    let target = request.uri().path_and_query().cloned();
    let path = target.as_ref().map_or("", PathAndQuery::path);
    let mut segments = path.trim_start_matches('/').split('/');
    let segments: [Option<&str>; 5] = std::array::from_fn(|_| segments.next());
    let target = match segments {
        [Some("rpc"), Some(service), Some(operation), None, None] => {
            Target { network: None, service, operation }
        }
        [network @ Some(_), Some("rpc"), Some(service), Some(operation), None] => {
            Target { network, service, operation }
        }
        _ => return error_response(&app, bad_route(path).into(), HeaderMap::new()),
    };
    dispatch(app, target, request).await
}

async fn wrong_method(State(app): State<Arc<App>>, request: Request) -> Response {
    let message = format!("{} is not a method of {}", request.method(), request.uri().path());
    let mut response = error_response(&app, Error::new(Code::BadMethod, message).into(), HeaderMap::new());
    // Which methods there are is added by the router, which knows.
    response.headers_mut().remove(header::ALLOW);
    response
}

async fn health(State(app): State<Arc<App>>) -> Response {
    response(&app, StatusCode::OK, HeaderMap::new(), r#"{"status":"ok"}"#.into())
}

/// Whether requests can be answered. Anybody may ask, so that this says nothing of nodes; and reads are answered although a
/// chain is behind, so that nodes do not decide.
async fn ready(State(app): State<Arc<App>>) -> Response {
    let not_yet = |body| response(&app, StatusCode::SERVICE_UNAVAILABLE, HeaderMap::new(), body);
    if app.is_stopping() {
        return not_yet(r#"{"status":"stopping","reason":"the service was told to stop"}"#.into());
    }
    match (app.store.ping().await, app.resident.bringing_in()) {
        (Ok(()), Some((left, found))) => {
            let reason = format!("collections used last are brought into memory, {left} of {found} are left");
            not_yet(format!(r#"{{"status":"starting","reason":"{reason}"}}"#).into())
        }
        (Ok(()), None) => {
            let body = match degradation(&app).await {
                None => r#"{"status":"ready"}"#.to_owned(),
                Some(reason) => format!(r#"{{"status":"degraded","reason":"{reason}"}}"#),
            };
            response(&app, StatusCode::OK, HeaderMap::new(), body.into())
        }
        (Err(error), _) => {
            error.log("not ready");
            not_yet(r#"{"status":"unavailable","reason":"the database does not answer"}"#.into())
        }
    }
}

/// What cannot be answered, or not as it should be, while everything else can. Who asks is told no names.
async fn degradation(app: &App) -> Option<String> {
    let Ok(workers) = app.store.workers().await else {
        return Some("the nodes of the database cannot be asked".to_owned());
    };
    let away = workers.iter().filter(|worker| !worker.answers).count();
    if away > 0 {
        return Some(format!("of {} nodes of the database {away} cannot be reached", workers.len()));
    }
    let peers = app.peers.as_ref()?.states();
    let troubled = peers.iter().filter(|peer| peer.trouble.is_some_and(Trouble::is_lasting)).count();
    let reason = || format!("of {} other servers {troubled} cannot be asked for collections", peers.len());
    (troubled > 0).then(reason)
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    if let Some(peers) = &app.peers {
        peers.measure();
    }
    app.resident.measure(app.counting.bytes());
    app.metrics.note_database(&app.store).await;
    for nodes in app.nodes.iter() {
        app.metrics.note_chain(nodes.name(), &nodes.status());
    }
    let known = app.resident.all_currencies();
    app.metrics.note_rates(
        known
            .iter()
            .flat_map(|list| list.iter())
            .map(|currency| (app.settings.networks.label(currency.chain_id.0), currency.clone())),
    );
    match app.metrics.encode() {
        Ok(text) => typed(&app, "application/openmetrics-text; version=1.0.0; charset=utf-8", text.into()),
        Err(error) => {
            error_response(&app, crate::failure::Failure::Internal(Box::new(error)), HeaderMap::new())
        }
    }
}

async fn openapi_document(State(app): State<Arc<App>>, request: HeaderMap) -> Response {
    unchanging(&app, &DOCUMENT, &request).await
}

async fn docs(State(app): State<Arc<App>>, request: HeaderMap) -> Response {
    let mut response = unchanging(&app, app.reference(), &request).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    response
}

async fn docs_style(State(app): State<Arc<App>>, request: HeaderMap) -> Response {
    unchanging(&app, &STYLE, &request).await
}

async fn unchanging(app: &App, answer: &StaticAnswer, request: &HeaderMap) -> Response {
    let (parts, body) = answer.answer(request).await.into_parts();
    response(app, parts.status, parts.headers, body)
}

fn typed(app: &App, content_type: &'static str, body: Body) -> Response {
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))]);
    response(app, StatusCode::OK, headers, body)
}
