//! Answers that never change while the process runs: style sheets, the script, the OpenAPI document and its page. Each is
//! compressed once, when somebody first asks for it so, and kept in the two forms that browsers ask for.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use crate::compression::{COMPRESS_BYTES_MIN, Coding, compressed};

/// A whole answer in its forms.
pub struct StaticAnswer {
    content_type: &'static str,
    content: Bytes,
    /// The hash of the content, as far as a tag needs it.
    hash: String,
    gzip: OnceCell<Bytes>,
    brotli: OnceCell<Bytes>,
}

impl StaticAnswer {
    /// An answer of this type and content.
    pub fn new(content_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let hash = const_hex::encode(&Sha256::digest(&content)[..16]);
        Self { content_type, content, hash, gzip: OnceCell::new(), brotli: OnceCell::new() }
    }

    /// The answer to a request: as it likes it best, or only that it is as before.
    pub async fn answer(&self, request: &HeaderMap) -> Response {
        let (coding, content) = self.content(Coding::accepted(request)).await;
        let tag = match coding {
            Coding::Identity => format!("\"{}\"", self.hash),
            coding => format!("\"{}-{}\"", self.hash, coding.name()),
        };
        let is_known = request.get(header::IF_NONE_MATCH).is_some_and(|known| names_tag(known, &tag));
        let mut response = Response::new(if is_known { Body::empty() } else { content.into() });
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::try_from(tag) {
            headers.insert(header::ETAG, tag);
        }
        if coding != Coding::Identity {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        response
    }

    /// The content in a coding; as it is where that is not worth it.
    async fn content(&self, coding: Coding) -> (Coding, Bytes) {
        let kept = match coding {
            Coding::Gzip => &self.gzip,
            Coding::Brotli => &self.brotli,
            Coding::Identity => return (coding, self.content.clone()),
        };
        if (self.content.len() as u64) < COMPRESS_BYTES_MIN {
            return (Coding::Identity, self.content.clone());
        }
        match kept.get_or_try_init(|| compress(self.content.clone(), coding)).await {
            Ok(content) => (coding, content.clone()),
            Err(error) => {
                tracing::warn!(%error, "compressing an answer");
                (Coding::Identity, self.content.clone())
            }
        }
    }
}

async fn compress(content: Bytes, coding: Coding) -> Result<Bytes, axum::Error> {
    to_bytes(compressed(coding, Response::new(Body::from(content))).await.into_body(), usize::MAX).await
}

/// Whether an `If-None-Match` names this tag: in a list, as a weak tag, or as any.
pub(crate) fn names_tag(known: &HeaderValue, tag: &str) -> bool {
    let known = known.to_str().unwrap_or_default();
    known.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_every_spelling() {
        let names = |header: &'static str| names_tag(&HeaderValue::from_static(header), "\"a\"");
        assert!(names("\"a\"") && names("W/\"a\"") && names("\"b\", \"a\"") && names("*"));
        assert!(!names("a") && !names("\"b\"") && !names(""));
    }

    #[tokio::test]
    async fn it_is_compressed_once() {
        let answer = StaticAnswer::new("text/plain", "many words ".repeat(1000));
        for coding in [Coding::Gzip, Coding::Brotli] {
            let (first, again) = (answer.content(coding).await, answer.content(coding).await);
            assert_eq!(first, again);
            assert_eq!(first.1.as_ptr(), again.1.as_ptr(), "it is the same memory");
            assert!(first.0 == coding && first.1.len() < 200, "{} bytes", first.1.len());
        }
        let short = StaticAnswer::new("text/plain", "few words");
        assert_eq!(short.content(Coding::Gzip).await, (Coding::Identity, "few words".into()));
    }
}
