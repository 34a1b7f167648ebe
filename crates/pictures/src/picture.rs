//! A picture: content that was looked at and is one.

use std::sync::Arc;

use axum::body::Bytes;
use bourse_server::files::{dimensions, media_type};

use crate::NoPicture;

/// The most pixels: browsers unpack a picture before they make it small.
const PIXELS_MAX: u64 = 64 * 1024 * 1024;
/// With entities a small drawing can stand for a huge one.
const ENTITY: &[u8] = b"<!ENTITY";

/// A picture.
#[derive(Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its type, by what it holds.
    pub media_type: &'static str,
    /// It itself.
    pub content: Bytes,
    /// Width and height, in pixels, where they are found.
    pub(crate) size: Option<(u64, u64)>,
}

impl Picture {
    /// Content that is a picture by what it holds; what its host calls it is not believed.
    pub fn new(content: Vec<u8>) -> Result<Arc<Self>, NoPicture> {
        let unusable = |reason: &str| Err(NoPicture::Unusable(reason.to_owned()));
        let Some(media_type) = media_type(&content).filter(|found| found.starts_with("image/")) else {
            return unusable("it is no picture of a kind that is shown");
        };
        let size = dimensions(media_type, &content);
        let pixels = size.map(|(width, height)| width.saturating_mul(height));
        if media_type != "image/svg+xml" && pixels.is_some_and(|pixels| pixels > PIXELS_MAX) {
            return unusable("it has too many pixels");
        }
        if media_type == "image/svg+xml"
            && content.windows(ENTITY.len()).any(|part| part.eq_ignore_ascii_case(ENTITY))
        {
            return unusable("it declares entities");
        }
        Ok(Arc::new(Self { media_type, content: content.into(), size }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut content = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        content.extend(width.to_be_bytes());
        content.extend(height.to_be_bytes());
        content.extend(b"\x08\x06\0\0\0");
        content
    }

    fn kind(content: &[u8]) -> Option<&'static str> {
        Picture::new(content.to_vec()).ok().map(|picture| picture.media_type)
    }

    #[test]
    fn only_pictures_are_taken_whatever_they_are_called() {
        assert_eq!(kind(&png(2, 3)), Some("image/png"));
        assert_eq!(kind(b"GIF89a\x01\0\x01\0\0\0\0;"), Some("image/gif"));
        assert_eq!(kind(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), Some("image/svg+xml"));
        for other in [
            "",
            "<html><script>alert(1)</script></html>",
            "%PDF-1.7",
            "{}",
            "\0\0\0\x18ftypmp42\0\0\0\0mp42isom",
        ] {
            assert_eq!(kind(other.as_bytes()), None, "{other:?}");
        }
    }

    #[test]
    fn what_would_grow_when_it_is_unpacked_is_refused() {
        assert_eq!(kind(&png(8192, 8192)), Some("image/png"));
        assert_eq!(kind(&png(8192, 8193)), None);
        assert_eq!(kind(&png(u32::MAX, u32::MAX)), None);
        assert_eq!(kind(b"<?xml version='1.0'?><!DOCTYPE svg [<!entity a 'aaaa'>]><svg>&a;</svg>"), None);
    }
}
