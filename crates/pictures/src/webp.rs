//! What WebP files say of their size. The head of one has it, and each picture within has it again, which decoders believe when
//! they set memory aside: a small head with a huge picture behind it would pass every limit.

/// Bytes before the first chunk.
const HEAD_BYTES: usize = 12;
/// Bytes of a chunk before what it holds: its name and its length.
const CHUNK_HEAD_BYTES: usize = 8;
/// Bytes of a frame before the chunks that it holds.
const FRAME_HEAD_BYTES: usize = 16;

/// Width and height, in pixels.
type Dimensions = (u32, u32);

/// Whether every picture in a file has the size that was announced for it: that of the whole, or of its frame.
pub(crate) fn is_consistent(content: &[u8]) -> bool {
    let mut canvas = None;
    Chunks(content.get(HEAD_BYTES..).unwrap_or_default()).all(|chunk| match &chunk.name {
        b"VP8X" => {
            canvas = canvas.or_else(|| less_one(chunk.content, 4));
            chunk.is_whole
        }
        b"ANMF" => is_frame_consistent(chunk.content),
        // Where nothing announces it, this is the head.
        _ => canvas.is_none_or(|canvas| chunk.agrees(canvas)),
    })
}

/// The same of one frame of what moves. What follows a mask is taken for a picture, whatever it is called.
fn is_frame_consistent(frame: &[u8]) -> bool {
    let announced = less_one(frame, 6);
    let mut is_masked = false;
    Chunks(frame.get(FRAME_HEAD_BYTES..).unwrap_or_default()).all(|chunk| {
        let follows_mask = std::mem::replace(&mut is_masked, &chunk.name == b"ALPH");
        announced.is_some_and(|announced| {
            if follows_mask { lossy(chunk.content) == Some(announced) } else { chunk.agrees(announced) }
        })
    })
}

/// A part of a file.
struct Chunk<'c> {
    name: [u8; 4],
    content: &'c [u8],
    /// Whether all of it is there.
    is_whole: bool,
}

impl Chunk<'_> {
    /// Whether it is no picture, or one of this size.
    fn agrees(&self, announced: Dimensions) -> bool {
        match &self.name {
            b"VP8 " => lossy(self.content) == Some(announced),
            b"VP8L" => lossless(self.content) == Some(announced),
            b"ALPH" | b"ANIM" | b"ICCP" | b"EXIF" | b"XMP " => self.is_whole,
            _ => true,
        }
    }
}

/// The parts of a file, one after another. An odd length is followed by a byte that is nothing.
struct Chunks<'c>(&'c [u8]);

impl<'c> Iterator for Chunks<'c> {
    type Item = Chunk<'c>;

    fn next(&mut self) -> Option<Chunk<'c>> {
        let (head, rest) = self.0.split_at_checked(CHUNK_HEAD_BYTES)?;
        let (name, length) = (head.first_chunk::<4>()?, head.last_chunk::<4>()?);
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        self.0 = rest.get(length.saturating_add(length % 2)..).unwrap_or_default();
        let content = &rest[..length.min(rest.len())];
        Some(Chunk { name: *name, content, is_whole: content.len() == length })
    }
}

/// Two numbers of three bytes, each one less than what it stands for.
fn less_one(content: &[u8], place: usize) -> Option<Dimensions> {
    let number = |place: usize| {
        let [low, middle, high] = *content.get(place..)?.first_chunk()?;
        Some(u32::from_le_bytes([low, middle, high, 0]) + 1)
    };
    Some((number(place)?, number(place + 3)?))
}

/// The size of a picture that lost something.
fn lossy(content: &[u8]) -> Option<Dimensions> {
    let [_, _, _, 0x9d, 0x01, 0x2a, a, b, c, d] = *content.first_chunk()? else { return None };
    let size = |bytes| u32::from(u16::from_le_bytes(bytes) & 0x3fff);
    Some((size([a, b]), size([c, d])))
}

/// The size of a picture that lost nothing.
fn lossless(content: &[u8]) -> Option<Dimensions> {
    let [0x2f, a, b, c, d] = *content.first_chunk()? else { return None };
    let bits = u32::from_le_bytes([a, b, c, d]);
    Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(name: [u8; 4], content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap();
        let mut made = [&name[..], &length.to_le_bytes(), content].concat();
        made.resize(made.len().next_multiple_of(2), 0);
        made
    }

    fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
        let body = chunks.concat();
        let length = u32::try_from(body.len() + 4).unwrap();
        [b"RIFF", &length.to_le_bytes()[..], b"WEBP", &body].concat()
    }

    fn three([width, height]: [u16; 2]) -> Vec<u8> {
        let number = |size: u16| u32::from(size - 1).to_le_bytes()[..3].to_vec();
        [number(width), number(height)].concat()
    }

    fn head(size: [u16; 2]) -> Vec<u8> {
        chunk(*b"VP8X", &[vec![0; 4], three(size)].concat())
    }

    fn frame(size: [u16; 2], chunks: &[Vec<u8>]) -> Vec<u8> {
        chunk(*b"ANMF", &[vec![0; 6], three(size), vec![0; 4], chunks.concat()].concat())
    }

    fn lossy_of([width, height]: [u16; 2]) -> Vec<u8> {
        let size = [width.to_le_bytes(), height.to_le_bytes()].concat();
        chunk(*b"VP8 ", &[b"\0\0\0\x9d\x01\x2a", &size[..], &[0; 9]].concat())
    }

    fn lossless_of([width, height]: [u16; 2]) -> Vec<u8> {
        let bits = u32::from(width - 1) | u32::from(height - 1) << 14;
        chunk(*b"VP8L", &[&[0x2f], &bits.to_le_bytes()[..], &[0; 4]].concat())
    }

    #[test]
    fn what_is_announced_is_what_is_there() {
        let (small, large) = ([9, 7], [16383, 16383]);
        let mask = chunk(*b"ALPH", b"\0\x01\x02");
        for consistent in [
            file(&[lossy_of(small)]),
            file(&[lossless_of(large)]),
            file(&[head(small), mask.clone(), lossy_of(small), chunk(*b"EXIF", b"x")]),
            file(&[
                head(large),
                frame(small, &[mask.clone(), lossy_of(small)]),
                frame(small, &[lossless_of(small)]),
            ]),
            [file(&[head(small), lossy_of(small)]), b"left over".to_vec()].concat(),
        ] {
            assert!(is_consistent(&consistent), "{consistent:?}");
        }
        let mut renamed = lossy_of(large);
        renamed[..4].copy_from_slice(b"NONE");
        for other in [
            file(&[head(small), lossy_of(large)]),
            file(&[head(small), lossless_of(large)]),
            file(&[head(small), lossy_of(small), lossy_of(large)]),
            file(&[head(small), frame(small, &[lossy_of(large)])]),
            file(&[head(small), frame(small, &[mask.clone(), lossy_of(large)])]),
            file(&[head(small), frame(small, &[mask, renamed])]),
            file(&[head(small), frame(small, &[lossy_of(small)]), frame(small, &[lossless_of(large)])]),
            file(&[head(small), chunk(*b"EXIF", b"")])[..]
                .iter()
                .copied()
                .chain(*b"EXIF\xff\xff\xff\xff")
                .collect(),
        ] {
            assert!(!is_consistent(&other), "{other:?}");
        }
    }
}
