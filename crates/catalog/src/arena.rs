//! Many small texts in few large pieces of memory.

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

/// The texts. Replaced ones stay until [`Arena::compact`].
#[derive(Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
    bytes: usize,
    discarded: usize,
}

impl Arena {
    /// Keeps a text. Records are bounded far below 4 GiB, so that 32 bits tell where it is.
    pub(crate) fn push(&mut self, text: &[u8]) -> Span {
        let fits = self.chunks.last().is_some_and(|chunk| chunk.capacity() - chunk.len() >= text.len());
        if !fits {
            let chunk_bytes = self.bytes.clamp(CHUNK_BYTES_MIN, CHUNK_BYTES);
            self.chunks.push(Vec::with_capacity(text.len().max(chunk_bytes)));
        }
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[index];
        let span = Span { chunk: number(index), offset: number(chunk.len()), len: number(text.len()) };
        chunk.extend_from_slice(text);
        self.bytes += text.len();
        span
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
        self.chunks.iter().map(Vec::capacity).sum()
    }
}
