//! Asking another server, over connections that are kept.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::HeaderMap;
use hyper::{Method, Request, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{self, Builder};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::proof::{CARRIED, FORWARDED, Receiver, Seal};
use crate::server::Server;

/// How long a server may take to let somebody in. They stand beside each other.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections to each server that are kept while nobody uses them.
const IDLE_MAX: usize = 64;
/// What is read of an answer: more than any is, so that a stranger at an address cannot fill the memory.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// What is asked of another server: a request as it came from a client.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its path, with the query.
    pub path: String,
    /// Its headers, of which those go along that the answer depends on.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// What the other server answered.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// Why a server did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// Nobody lets us in there.
    #[error("it cannot be connected to: {0}")]
    Unreachable(String),
    /// It was asked, and the connection ended before its answer.
    #[error("its connection ended: {0}")]
    Broken(String),
    /// Whoever answered is not the server that was asked, or has another secret.
    #[error(
        "whoever answers there with status {status} does not prove to be that server: do all servers have the same \
         auth.jwt_secret, and is server.peer_address theirs alone?"
    )]
    Stranger {
        /// What was answered.
        status: u16,
    },
    /// It stopped beating while it was waited for.
    #[error("it counts as dead by now")]
    Dead,
}

impl AskError {
    /// The word for it in the metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Broken(_) => "broken",
            Self::Stranger { .. } => "stranger",
            Self::Dead => "dead",
        }
    }
}

/// Asks other servers.
pub(crate) struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    seal: Seal,
}

impl Client {
    /// A client that keeps a connection for so long while nobody uses it, which had better be less than the others do.
    pub(crate) fn new(seal: Seal, idle: Duration) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        // Small requests must not wait for the acknowledgement of earlier ones.
        connector.set_nodelay(true);
        let mut builder: Builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(idle).pool_max_idle_per_host(IDLE_MAX);
        Self { http: builder.build(connector), seal }
    }

    /// Asks a server whose counter was last seen at `beat`.
    pub(crate) async fn ask(
        &self,
        server: &Server,
        beat: u64,
        question: &Question,
    ) -> Result<Reply, AskError> {
        let impossible = |error: String| AskError::Unreachable(error);
        let Question { path, headers, body } = question;
        let uri: Uri = format!("http://{}{path}", server.address)
            .parse()
            .map_err(|error: hyper::http::uri::InvalidUri| impossible(error.to_string()))?;
        let (proof, asked) = self
            .seal
            .forwarded(Receiver { id: server.id, beat }, path, headers, body)
            .ok_or_else(|| impossible("there is no key".to_owned()))?;
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        for name in &CARRIED {
            for value in headers.get_all(name) {
                request.headers_mut().append(name.clone(), value.clone());
            }
        }
        request.headers_mut().insert(FORWARDED, proof);
        let answer = self.http.request(request).await.map_err(|error| {
            let told = AskError::broken(&error);
            if error.is_connect() { AskError::Unreachable(told) } else { AskError::Broken(told) }
        })?;
        let (parts, body) = answer.into_parts();
        let (status, headers) = (parts.status.as_u16(), parts.headers);
        let read = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = read.map_err(|error| AskError::Broken(error.to_string()))?.to_bytes();
        if !self.seal.is_answer(&asked, status, &headers, &body) {
            return Err(AskError::Stranger { status });
        }
        Ok(Reply { status, headers, body })
    }
}

impl AskError {
    /// An error with what it comes from, which says more than it does.
    fn broken(error: &legacy::Error) -> String {
        let source = std::error::Error::source(error);
        source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
    }
}
