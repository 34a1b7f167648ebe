//! Answers compressed, for whoever asks for it.

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use tower::{Layer as _, ServiceExt as _};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use crate::http::finished;
use crate::streams::LINES;

/// Answers smaller than this are not worth compressing.
pub(crate) const COMPRESS_BYTES_MIN: u64 = 1024;

/// What compresses answers that are worth it.
pub(crate) fn layer() -> CompressionLayer<impl Predicate> {
    // What comes line by line must not wait until there is enough of it to be compressed.
    let compress = SizeAbove::new(COMPRESS_BYTES_MIN)
        .and(NotForContentType::IMAGES)
        .and(NotForContentType::const_new(LINES))
        .and(NotForContentType::SSE);
    CompressionLayer::new().gzip(true).br(true).compress_when(compress)
}

/// A finished answer in a coding, where that is worth it. The layer around a whole route costs every small answer as much as
/// the answer itself.
pub(crate) async fn compressed(coding: Coding, response: Response) -> Response {
    let is_small = response.body().size_hint().upper().is_some_and(|bytes| bytes < COMPRESS_BYTES_MIN);
    if coding == Coding::Identity || is_small {
        return response;
    }
    let mut request = Request::new(Body::empty());
    request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static(coding.name()));
    match layer().layer(finished(response)).oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Brotli,
}

impl Coding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }

    /// The coding that somebody likes best of those that there are; the smallest of those that are liked the same.
    pub(crate) fn accepted(request: &HeaderMap) -> Self {
        let texts = request.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let wishes: Vec<(&str, f32)> = texts.flat_map(|text| text.split(',')).filter_map(wish).collect();
        let liking = |coding: Self| {
            let named = wishes.iter().find(|(name, _)| name.eq_ignore_ascii_case(coding.name()));
            named.or_else(|| wishes.iter().find(|(name, _)| *name == "*")).map_or(0.0, |(_, liking)| *liking)
        };
        let mut best = (Self::Identity, 0.0);
        for coding in [Self::Brotli, Self::Gzip] {
            let liking = liking(coding);
            if liking > best.1 {
                best = (coding, liking);
            }
        }
        best.0
    }
}

/// `gzip;q=0.5` as a name and how much it is liked.
fn wish(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next()?;
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let liking = quality.map_or(Some(1.0), |quality| quality.parse().ok())?;
    Some((name, liking))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_liked_coding_is_chosen() {
        let accepted = |text: &'static str| {
            Coding::accepted(&HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(text),
            )]))
        };
        for (text, coding) in [
            ("gzip, deflate, br, zstd", Coding::Brotli),
            ("GZIP", Coding::Gzip),
            ("br;q=0.5, gzip;q=0.8", Coding::Gzip),
            ("br;q=0, gzip;q=0", Coding::Identity),
            ("br;q=0, *", Coding::Gzip),
            ("*;q=0.1", Coding::Brotli),
            ("zstd, deflate, identity", Coding::Identity),
            ("gzip;q=many, br;x=1;q=0.1", Coding::Brotli),
            ("", Coding::Identity),
        ] {
            assert_eq!(accepted(text), coding, "{text}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), Coding::Identity);
    }
}
