//! Data URIs, and the two small binary files of the demo, built by hand.

use std::fmt::Write as _;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// An SVG as a percent-encoded data URI: readable, and shorter than base64 for our pictures.
pub(super) fn svg_uri(svg: &str) -> String {
    let mut uri = String::from("data:image/svg+xml,");
    let mut before = b' ';
    for (at, byte) in svg.bytes().enumerate() {
        let after = svg.as_bytes().get(at + 1).copied().unwrap_or(b' ');
        if byte == b' ' && before.is_ascii_digit() && (after.is_ascii_digit() || after == b'.') {
            // SVG separates numbers by commas as well, and a comma needs no escape.
            uri.push(',');
        } else if matches!(byte, b'<' | b'>' | b'#' | b'%' | b' ' | b'"' | b'{' | b'}') || !byte.is_ascii() {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        } else {
            uri.push(char::from(byte));
        }
        before = byte;
    }
    uri
}

/// An SVG as a base64 data URI, the other spelling found in the wild.
pub(super) fn svg_uri_base64(svg: &str) -> String {
    format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()))
}

/// Standard base64 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0_usize, |group, at| group << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
        for position in 0..4 {
            if position <= chunk.len() {
                text.push(char::from(BASE64[group >> (18 - 6 * position) & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// A quarter second of a struck bell, 8-bit mono at 4 kHz, as a WAV file.
pub(super) fn bell_wav(period: u32) -> Vec<u8> {
    let samples = 1000_u32;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + samples).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(4000_u32.to_le_bytes());
    file.extend(4000_u32.to_le_bytes());
    file.extend(b"\x01\0\x08\0data");
    file.extend(samples.to_le_bytes());
    for at in 0..samples {
        let loudness = (samples - at) / 9;
        let phase = at % period * 2;
        // A triangle wave, fading out; 128 is silence.
        let height = if phase < period { phase } else { 2 * period - phase } * loudness / period;
        file.push(u8::try_from(128 + height - loudness / 2).unwrap_or(128));
    }
    file
}

/// A PNG of four colours, drawn from rows of digits, each digit a square of `scale` pixels.
pub(super) fn png(rows: &[&str], palette: [[u8; 3]; 4], scale: usize) -> Vec<u8> {
    let mut raw = Vec::new();
    for row in rows {
        let pixels: Vec<u8> =
            row.bytes().flat_map(|digit| std::iter::repeat_n(digit.wrapping_sub(b'0') & 3, scale)).collect();
        let packed: Vec<u8> =
            pixels.chunks(4).map(|four| four.iter().fold(0, |byte, pixel| byte << 2 | pixel)).collect();
        for _ in 0..scale {
            raw.push(0);
            raw.extend(&packed);
        }
    }
    let size = u32::try_from(rows.len() * scale).unwrap_or(0).to_be_bytes();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    // Two bits per pixel, palette colours, no interlacing.
    chunk(&mut file, *b"IHDR", &[&size[..], &size[..], &[2, 3, 0, 0, 0]].concat());
    chunk(&mut file, *b"PLTE", &palette.concat());
    chunk(&mut file, *b"IDAT", &stored_zlib(&raw));
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], body: &[u8]) {
    file.extend(u32::try_from(body.len()).unwrap_or(0).to_be_bytes());
    let tagged = [&kind[..], body].concat();
    file.extend(&tagged);
    file.extend(crc32(&tagged).to_be_bytes());
}

/// A zlib stream that compresses nothing; good for up to 65,535 bytes.
fn stored_zlib(raw: &[u8]) -> Vec<u8> {
    let length = u16::try_from(raw.len()).unwrap_or(0);
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(raw);
    let (low, high) = raw.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}
