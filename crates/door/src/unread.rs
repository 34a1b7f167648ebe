//! Bodies that nobody reads to the end. Whoever still writes does not read the answer, and finds the connection closed
//! instead: so what is left of a body is thrown away first, whichever part of the service refused the request.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming, SizeHint};

/// How much of a body is thrown away at most, and for how long.
const BYTES_MAX: usize = 8 * 1024 * 1024;
const TIME_MAX: Duration = Duration::from_secs(2);

/// What is left of the body of a request once nobody reads it any more.
pub struct Unread(Arc<Mutex<Option<Incoming>>>);

impl Unread {
    /// A body to be read, and what will be left of it; nothing where there is none, or where whoever sends it has asked
    /// whether to send it at all.
    pub fn of(headers: &HeaderMap, body: Incoming) -> (Body, Option<Self>) {
        if body.is_end_stream() || headers.contains_key(header::EXPECT) {
            return (Body::new(body), None);
        }
        let left = Arc::new(Mutex::new(None));
        let body = ReturnedBody { body: Some(body), left: Arc::clone(&left) };
        (Body::new(body), Some(Self(left)))
    }

    /// Reads it and throws it away, within bounds.
    pub async fn discard(self) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left else { return };
        let mut left = BYTES_MAX;
        let reading = async {
            while let Some(Ok(frame)) = body.frame().await {
                let Some(rest) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { break };
                left = rest;
            }
        };
        // However that ends, the answer comes next.
        let _ = tokio::time::timeout(TIME_MAX, reading).await;
    }
}

/// A body that is given back when it is dropped before its end.
struct ReturnedBody {
    body: Option<Incoming>,
    left: Arc<Mutex<Option<Incoming>>>,
}

impl HttpBody for ReturnedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}

impl Drop for ReturnedBody {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}
