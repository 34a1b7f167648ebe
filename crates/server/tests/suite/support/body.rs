//! Bodies that are more than a text.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{Request, header};
use futures_util::{StreamExt as _, stream};
use tokio::sync::Notify;

/// A picture of two by three pixels, as far as anybody looks.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0";
pub(crate) const SVG: &[u8] =
    br#"<svg xmlns="http://www.w3.org/2000/svg" width="64" height="32"><script>alert(1)</script></svg>"#;

const BOUNDARY: &str = "a-boundary";

/// A request that uploads a file in a field of a form.
pub(crate) fn upload(path: &str, field: &str, filename: &str, content: &[u8]) -> Request<Body> {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{filename}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    let tail = format!("\r\n--{BOUNDARY}--\r\n");
    let form = [head.as_bytes(), content, tail.as_bytes()].concat();
    Request::put(path)
        .header(header::CONTENT_TYPE, format!("multipart/form-data; boundary={BOUNDARY}"))
        .body(form.into())
        .unwrap()
}

/// A body that never ends, and a notice of when the service begins to wait for it.
pub(crate) fn endless() -> (Body, Arc<Notify>) {
    let waiting = Arc::new(Notify::new());
    let notice = Arc::clone(&waiting);
    let begin = stream::once(async move {
        notice.notify_one();
        Ok::<_, std::io::Error>(Bytes::from_static(b"{"))
    });
    (Body::from_stream(begin.chain(stream::pending())), waiting)
}
