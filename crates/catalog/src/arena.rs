//! Many small texts in few large pieces of memory.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use crate::kept::{Kept, keep_blob, kept, read_blob};

/// Size of a piece once there are several. A longer text has a piece of its own.
const CHUNK_BYTES: usize = 1 << 20;
/// Size of the first piece. Each is as large as all before it, so that a small collection takes little.
const CHUNK_BYTES_MIN: usize = 1 << 12;

/// Where a text is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    chunk: u32,
    offset: u32,
    len: u32,
}

impl Span {
    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The texts. Replaced ones stay until [`Arena::compact`]. Copies share the pieces that they have in common: what either
/// adds goes into a piece of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<Arc<Vec<u8>>>,
    bytes: usize,
    discarded: usize,
}

impl Arena {
    /// Keeps a text. Records are bounded far below 4 GiB, so that 32 bits tell where it is.
    pub(crate) fn push(&mut self, text: &[u8]) -> Span {
        self.push_after(&[], text)
    }

    /// Keeps a text behind another, as one.
    pub(crate) fn push_after(&mut self, head: &[u8], text: &[u8]) -> Span {
        let length = head.len() + text.len();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (bytes, chunks) = (self.bytes, self.chunks.len());
        self.bytes += length;
        let span = |chunk, offset| Span { chunk: number(chunk), offset: number(offset), len: number(length) };
        let has_room = |chunk: &&mut Vec<u8>| chunk.capacity() - chunk.len() >= length;
        if let Some(chunk) = self.chunks.last_mut().and_then(Arc::get_mut).filter(has_room) {
            let offset = chunk.len();
            chunk.extend_from_slice(head);
            chunk.extend_from_slice(text);
            return span(chunks - 1, offset);
        }
        let mut chunk = Vec::with_capacity(length.max(bytes.clamp(CHUNK_BYTES_MIN, CHUNK_BYTES)));
        chunk.extend_from_slice(head);
        chunk.extend_from_slice(text);
        self.chunks.push(Arc::new(chunk));
        span(chunks, 0)
    }

    /// A text that was kept; the default span is the empty text.
    pub(crate) fn get(&self, span: Span) -> &[u8] {
        if span.is_empty() {
            return &[];
        }
        let start = span.offset as usize;
        &self.chunks[span.chunk as usize][start..start + span.len as usize]
    }

    /// Notes that a text is no longer needed.
    pub(crate) fn discard(&mut self, span: Span) {
        self.discarded += span.len as usize;
    }

    /// Whether more is waste than worth keeping it for.
    pub(crate) fn is_wasteful(&self) -> bool {
        self.discarded > CHUNK_BYTES && self.discarded > self.bytes / 2
    }

    /// Moves the texts that are needed together; where each is now, in the same order.
    pub(crate) fn compact(&mut self, spans: &[Span]) -> Vec<Span> {
        let old = std::mem::take(self);
        spans.iter().map(|span| self.push(old.get(*span))).collect()
    }

    /// Memory it takes up.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity()).sum()
    }

    /// Memory that no copy of it shares.
    pub(crate) fn bytes_alone(&self) -> usize {
        let alone = self.chunks.iter().filter(|chunk| Arc::strong_count(chunk) == 1);
        alone.map(|chunk| chunk.capacity()).sum()
    }
}

kept!(Span { chunk, offset, len });

impl Kept for Arena {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.bytes.keep(out)?;
        self.discarded.keep(out)?;
        self.chunks.len().keep(out)?;
        self.chunks.iter().try_for_each(|chunk| keep_blob(chunk, out))
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let (bytes, discarded, len) = (usize::read(from)?, usize::read(from)?, usize::read(from)?);
        let chunks = (0..len).map(|_| read_blob(from).map(Arc::new)).collect::<io::Result<_>>()?;
        Ok(Self { chunks, bytes, discarded })
    }
}
