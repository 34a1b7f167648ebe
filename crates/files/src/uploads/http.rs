//! Requests to a bucket, by the HTTP client that the rest of the service has.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};

use super::silence::Silence;

/// How slow a line may be on which content is sent, in bytes for each millisecond.
const BYTES_PER_MS_MIN: u64 = 256;

/// Sends requests, and waits for each answer for a bounded time.
#[derive(Debug, Clone)]
pub(super) struct Courier {
    /// For requests without content.
    asking: reqwest::Client,
    /// For those with content, during which nothing is heard for longer.
    sending: reqwest::Client,
    timeout: Duration,
    silence: Arc<Silence>,
}

impl Courier {
    /// It goes nowhere but to the host that the operator named, and without encryption only where that says so.
    pub(super) fn new(timeout: Duration, allow_plain: bool) -> io::Result<Self> {
        let config = bourse_chain::tls_config().map_err(io::Error::other)?;
        let builder = || {
            let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
            let builder = builder.connect_timeout(timeout).https_only(!allow_plain);
            builder.tls_backend_preconfigured(config.clone())
        };
        let asking = builder().read_timeout(timeout).build().map_err(io::Error::other)?;
        let sending = builder().build().map_err(io::Error::other)?;
        Ok(Self { asking, sending, timeout, silence: Arc::default() })
    }

    async fn send(
        &self,
        request: reqwest::Request,
        patience: Duration,
    ) -> Result<http::Response<reqwest::Body>, HttpError> {
        // Nobody asks again because of this.
        let refused = |error| HttpError::new(HttpErrorKind::Unknown, error);
        self.silence.may_ask(Instant::now(), patience).map_err(refused)?;
        let client = if request.timeout().is_some() { &self.sending } else { &self.asking };
        let sent = tokio::time::timeout(patience, client.execute(request)).await;
        let answered = sent.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late));
        let answered = answered.and_then(|answer| answer.map_err(broken));
        match &answered {
            Ok(_) if self.silence.end() => tracing::info!("the store of uploaded files answers again"),
            Err(error) if error.kind() == HttpErrorKind::Timeout && self.silence.begin(Instant::now()) => {
                tracing::warn!(
                    "the store of uploaded files is silent: requests for files are refused until it answers"
                );
            }
            _ => {}
        }
        answered.map(Into::into)
    }
}

impl HttpConnector for Courier {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Courier {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string().parse::<reqwest::Url>();
        let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, io::Error::other(error)))?;
        // In one piece already, which is not copied.
        let body = body.collect().await?.to_bytes();
        let sending = Duration::from_millis(body.len() as u64 / BYTES_PER_MS_MIN);
        let mut sent = reqwest::Request::new(parts.method, url);
        *sent.headers_mut() = parts.headers;
        let patience = self.timeout + sending;
        *sent.timeout_mut() = (!body.is_empty()).then_some(patience);
        *sent.body_mut() = Some(body.into());
        let (parts, body) = self.send(sent, patience).await?.into_parts();
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body.map_err(broken))))
    }
}

/// Everything that is asked may be asked again: a key is written by one process only, and always with the same content.
fn broken(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}
