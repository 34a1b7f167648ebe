//! Who calls, and what they get.

use std::net::IpAddr;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, header};
use bourse_server::{Entrance, Peer, Service};
use bourse_wire::{Code, Word};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// Somebody who calls the service, always with the same headers.
#[derive(Clone, Default)]
pub(crate) struct Actor {
    /// None for one that is yet to be told which.
    service: Option<Entrance>,
    headers: Vec<(String, String)>,
    address: Option<IpAddr>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The body as JSON, null when it is something else.
    pub(crate) json: Value,
}

impl Answer {
    /// A header as text; empty when there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The number of the error.
    pub(crate) fn code(&self) -> i64 {
        self.json["code"].as_i64().unwrap_or_else(|| panic!("no error: {} {}", self.status, self.json))
    }

    /// Fails when an error is told otherwise than the client of its service knows it.
    #[track_caller]
    fn check_words(&self, service: Service) {
        if self.status == 200 || !self.json["code"].is_i64() {
            return;
        }
        let told = (&self.json["code"], &self.json["error"], self.status);
        let known = Code::ALL.into_iter().any(|code| {
            let Word { number, name, status } = service.dialect().word(code);
            told == (&json!(number), &json!(name), status)
        });
        assert!(known, "the client of {service:?} knows no {told:?}");
    }

    /// HTTP status and number of the error, which are told apart by both.
    pub(crate) fn refusal(&self) -> (u16, i64) {
        (self.status, self.code())
    }

    /// The answer of an operation that must have worked.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.json);
        self.json
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Actor {
    pub(crate) fn new(service: Entrance) -> Self {
        Self { service: Some(service), ..Self::default() }
    }

    /// The same caller with one more header.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut actor = self.clone();
        actor.headers.push((name.to_owned(), value.to_owned()));
        actor
    }

    /// The same caller from this address.
    pub(crate) fn from(&self, address: [u8; 4]) -> Self {
        Self { address: Some(IpAddr::from(address)), ..self.clone() }
    }

    /// Calls an operation, named as `Service/Operation`.
    pub(crate) async fn call(&self, operation: &str, body: Value) -> Answer {
        self.post(&format!("/rpc/{operation}"), body.to_string()).await
    }

    /// Posts a body that says it is JSON.
    pub(crate) async fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path).await
    }

    /// Sends a request without a body.
    pub(crate) async fn request(&self, method: Method, path: &str) -> Answer {
        self.send(Request::builder().method(method).uri(path).body(Body::empty()).unwrap()).await
    }

    /// Sends a request, with this caller's headers unless it brings its own.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Answer {
        for (name, value) in &self.headers {
            let name = axum::http::HeaderName::try_from(name).unwrap();
            request.headers_mut().entry(name).or_insert(value.try_into().unwrap());
        }
        if let Some(address) = self.address {
            request.extensions_mut().insert(Peer(address));
        }
        let service = service_of(request.uri().path());
        let response = self.service.clone().unwrap().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = whole(&parts.headers, body).await;
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, body, json };
        if let Some(service) = service {
            answer.check_words(service);
        }
        answer
    }
}

/// All of a body; of one that never ends, its first part.
async fn whole(headers: &HeaderMap, mut body: Body) -> Bytes {
    let kind = headers.get(header::CONTENT_TYPE).map_or("", |kind| kind.to_str().unwrap());
    if !["application/x-ndjson", "text/event-stream"].contains(&kind) {
        return body.collect().await.unwrap().to_bytes();
    }
    body.frame().await.unwrap().unwrap().into_data().unwrap()
}

/// The service of an operation's path.
fn service_of(path: &str) -> Option<Service> {
    let (_, operation) = path.split_once("/rpc/")?;
    let (name, _) = operation.split_once('/')?;
    Service::ALL.into_iter().find(|service| service.name() == name)
}
