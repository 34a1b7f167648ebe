//! What a file is, by its content.

use bourse_store::AssetFile;
use bourse_wire::Error;
use sha2::{Digest as _, Sha256};

/// The media types that can be uploaded. What is not recognised as one of them is refused.
const ALLOWED: [&str; 15] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/svg+xml",
    "video/mp4",
    "video/webm",
    "video/quicktime",
    "audio/mpeg",
    "audio/x-wav",
    "audio/ogg",
    "audio/x-flac",
    "audio/m4a",
    "model/gltf-binary",
];

/// What content is, which is refused where it cannot be uploaded.
pub(crate) fn inspect(content: &[u8]) -> Result<AssetFile, Error> {
    let mime_type = media_type(content).ok_or_else(|| {
        Error::invalid(
            "file",
            format!("not of a type that can be uploaded, which are {}", ALLOWED.join(", ")),
        )
    })?;
    Ok(AssetFile {
        content_hash: const_hex::encode(Sha256::digest(content)),
        filesize: content.len() as u64,
        mime_type: mime_type.to_owned(),
        dimensions: dimensions(mime_type, content),
    })
}

/// The type of a file by its content; its name and what the sender says are not believed.
pub fn media_type(content: &[u8]) -> Option<&'static str> {
    let found = if content.starts_with(b"glTF") {
        "model/gltf-binary"
    } else if let Some(kind) = infer::get(content) {
        kind.mime_type()
    } else if is_svg(content) {
        "image/svg+xml"
    } else {
        return None;
    };
    let found = if found == "text/xml" && is_svg(content) { "image/svg+xml" } else { found };
    ALLOWED.into_iter().find(|allowed| *allowed == found)
}

fn is_svg(content: &[u8]) -> bool {
    let start = &content[..content.len().min(4096)];
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with("<svg") || (text.starts_with("<?xml") || text.starts_with("<!")) && text.contains("<svg")
}

/// Width and height of an image, where they are found.
pub fn dimensions(mime_type: &str, content: &[u8]) -> Option<(u64, u64)> {
    if mime_type == "image/svg+xml" {
        return svg_dimensions(content);
    }
    let size = imagesize::blob_size(content).ok()?;
    Some((size.width as u64, size.height as u64))
}

/// The size of an SVG: its `width` and `height`, or else those of its `viewBox`.
fn svg_dimensions(content: &[u8]) -> Option<(u64, u64)> {
    let text = String::from_utf8_lossy(&content[..content.len().min(16 * 1024)]);
    let tag = text.split("<svg").nth(1)?.split('>').next()?;
    let attribute = |name: &str| {
        let rest = tag.split(&format!(" {name}=")).nth(1)?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest[1..].split(quote).next().map(str::to_owned)
    };
    let pixels = |text: &str| {
        let number: f64 = text.trim().trim_end_matches("px").parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a sane size"
        )]
        (1.0..=1e6).contains(&number).then_some(number.round() as u64)
    };
    let stated = || Some((pixels(&attribute("width")?)?, pixels(&attribute("height")?)?));
    let boxed = || {
        let view_box = attribute("viewBox")?;
        let numbers: Vec<&str> = view_box.split([' ', ',']).filter(|part| !part.is_empty()).collect();
        Some((pixels(numbers.get(2)?)?, pixels(numbers.get(3)?)?))
    };
    stated().or_else(boxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        let png = inspect(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0").unwrap();
        assert_eq!((png.mime_type.as_str(), png.dimensions, png.filesize), ("image/png", Some((2, 3)), 29));
        let svg = inspect(b"<?xml version='1.0'?>\n<svg xmlns='x' viewBox='0 0 64 32'></svg>").unwrap();
        assert_eq!((svg.mime_type.as_str(), svg.dimensions), ("image/svg+xml", Some((64, 32))));
        let svg = inspect(b"<svg width=\"10px\" height=\"20\" viewBox='0 0 64 32'/>").unwrap();
        assert_eq!(svg.dimensions, Some((10, 20)));
    }

    #[test]
    fn other_content_is_refused() {
        let contents: [&[u8]; 5] =
            [b"", b"<html><svg></svg></html>", b"MZ\x90\0", b"%PDF-1.7", b"\x7fELF\x02\x01\x01"];
        for content in contents {
            assert!(inspect(content).is_err(), "{content:?}");
        }
    }
}
