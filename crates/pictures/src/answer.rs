//! Pictures as answers to browsers.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::FILE_POLICY;
use sha2::{Digest as _, Sha256};

use crate::NoPicture;
use crate::address::names_version;
use crate::picture::Picture;

/// Shown in place of a picture that cannot be had.
const NOTHING: &str = include_str!("nothing.svg");
/// How long is kept what a link leads to that may lead elsewhere tomorrow; another link has another address.
const A_DAY: &str = "max-age=86400";
/// The same of a link that names what it leads to by its content.
const LASTING: &str = "max-age=31536000, immutable";
/// The same where the address that was asked for is one of another link: who asks for that link is to see its picture, not
/// this one.
const BRIEF: &str = "max-age=60";
/// The same of a file of this service, in whose place another one may come, or none, at any moment.
pub(crate) const UNKEPT: &str = "no-cache";
/// How long a browser does without asking again when there is none.
const MISSED: &str = "private, max-age=60";
/// The same where it was not tried.
const UNTRIED: &str = "no-store";

/// Who may keep a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The browser that asked.
    Private,
    /// Whoever is on the way to it as well.
    Public,
}

/// Whether a link always leads to the same picture.
pub fn is_lasting(link: &str) -> bool {
    let link = link.trim();
    link.starts_with('<') || ["data:", "ipfs://", "ar://"].iter().any(|scheme| link.starts_with(scheme))
}

/// The answer with a picture that may be kept so long; that nothing has changed, for a browser that has it already.
pub(crate) fn response(asked: &HeaderMap, picture: &Picture, kept: &str, audience: Audience) -> Response {
    let tag = format!("\"{}\"", const_hex::encode(&Sha256::digest(&picture.content)[..12]));
    let is_kept = asked.get_all(header::IF_NONE_MATCH).iter().any(|known| {
        known
            .to_str()
            .is_ok_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag))
    });
    let mut response = if is_kept {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        picture.content.clone().into_response()
    };
    let word = if audience == Audience::Public { "public" } else { "private" };
    let kept = format!("{word}, {kept}");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(picture.media_type));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILE_POLICY));
    for (name, value) in [(header::ETAG, tag), (header::CACHE_CONTROL, kept)] {
        // Both are plain letters.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

/// How long a picture may be kept at an address. The year of one whose link never leads elsewhere holds only for an address that
/// names this link: a record may name another one between the page with the address and the request.
pub(crate) fn kept_for(link: &str, query: Option<&str>) -> &'static str {
    match (names_version(query, link), is_lasting(link)) {
        (false, _) => BRIEF,
        (true, false) => A_DAY,
        (true, true) => LASTING,
    }
}

/// The answer where there is no picture: a grey sign.
pub fn nothing(reason: &NoPicture) -> Response {
    tracing::debug!(%reason, "no picture");
    let (status, kept) = match reason {
        NoPicture::TooMany => (StatusCode::TOO_MANY_REQUESTS, UNTRIED),
        NoPicture::Unnamed | NoPicture::Unusable(_) => (StatusCode::NOT_FOUND, MISSED),
    };
    let mut response = (status, NOTHING).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILE_POLICY));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version;

    #[test]
    fn a_browser_that_has_the_picture_is_told_so() {
        let picture = Picture::new(b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()).unwrap();
        let link = "https://h.example/1.gif";
        let first =
            response(&HeaderMap::new(), &picture, kept_for(link, Some(&version(link))), Audience::Public);
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CACHE_CONTROL], "public, max-age=86400");
        let mut asked = HeaderMap::new();
        asked.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        let link = "ipfs://Qm/1.gif";
        let query = format!("{}&w=160", version(link));
        let again = response(&asked, &picture, kept_for(link, Some(&query)), Audience::Private);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(again.headers()[header::CACHE_CONTROL], "private, max-age=31536000, immutable");
        asked.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"other\""));
        assert_eq!(response(&asked, &picture, UNKEPT, Audience::Private).status(), StatusCode::OK);
        assert_eq!(nothing(&NoPicture::TooMany).status(), StatusCode::TOO_MANY_REQUESTS);
    }

    #[test]
    fn an_address_of_another_link_is_kept_for_a_minute_only() {
        let picture = Picture::new(b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()).unwrap();
        let (before, after) = ("ipfs://Qm/before.gif", "ipfs://Qm/after.gif");
        for query in [None, Some("w=160".to_owned()), Some(format!("{}&w=160", version(before)))] {
            let answer =
                response(&HeaderMap::new(), &picture, kept_for(after, query.as_deref()), Audience::Public);
            assert_eq!(answer.headers()[header::CACHE_CONTROL], "public, max-age=60", "{query:?}");
        }
    }
}
