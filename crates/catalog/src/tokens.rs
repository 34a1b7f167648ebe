//! The tokens of a collection: their ids, their metadata as JSON text, and their order.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use bourse_wire::{TokenId, TokenMetadata, write_stored};

use crate::arena::{Arena, Span};
use crate::kept::Kept;
use crate::members::Missing;
use crate::ordinals::Ordinals;
use crate::sorted_list::SortedList;

/// The tokens, numbered densely as they come.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    ordinals: Ordinals,
    ids: Vec<TokenId>,
    /// Ordinal to metadata, behind a byte that tells what it lacks; empty when none is known.
    spans: Vec<Span>,
    arena: Arena,
    by_id: SortedList,
    ascending: bool,
}

impl Default for Tokens {
    fn default() -> Self {
        let (ids, spans) = (Vec::new(), Vec::new());
        let (ordinals, arena, by_id) = (Ordinals::default(), Arena::default(), SortedList::default());
        Self { ordinals, ids, spans, arena, by_id, ascending: true }
    }
}

/// An id, about.
fn rough(id: TokenId) -> f64 {
    f64::from(id.value())
}

impl Tokens {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn find(&self, token: TokenId) -> Option<u32> {
        self.ordinals.find(token)
    }

    pub(crate) fn id(&self, ordinal: u32) -> TokenId {
        self.ids[ordinal as usize]
    }

    /// The ids, by ordinal.
    pub(crate) fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// All tokens in the order of their ids.
    pub(crate) fn by_id(&self) -> &SortedList {
        &self.by_id
    }

    /// The ordinal of a token, and whether it is new. A new one has its place by [`Tokens::place`] or [`Tokens::sort`].
    pub(crate) fn find_or_add(&mut self, token: TokenId) -> (u32, bool) {
        // Ordinals are 32 bits: a collection has fewer tokens than that, or does not fit in memory anyway.
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let ordinal = self.ordinals.find_or_insert(token, next);
        if ordinal == next {
            self.ascending &= self.ids.last().is_none_or(|last| *last < token);
            self.ids.push(token);
            self.spans.push(Span::default());
        }
        (ordinal, ordinal == next)
    }

    /// Puts a new token where its id belongs among the others.
    pub(crate) fn place(&mut self, ordinal: u32) {
        let ids = &self.ids;
        let entry = (ordinal, rough(ids[ordinal as usize]));
        self.by_id.insert(entry, |a, b| ids[a as usize].cmp(&ids[b as usize]));
    }

    /// Whether ordinals are in the order of ids, as they are unless tokens came late.
    pub(crate) fn are_ascending(&self) -> bool {
        self.ascending
    }

    /// The first ordinal whose id is above another, where ordinals are in the order of ids.
    pub(crate) fn first_above(&self, id: TokenId) -> usize {
        self.ids.partition_point(|other| *other <= id)
    }

    /// The ordinals of the ids from one to another, both included, where ordinals are in the order of ids.
    pub(crate) fn between(&self, min: TokenId, max: TokenId) -> Range<usize> {
        let start = self.ids.partition_point(|id| *id < min);
        start..self.first_above(max).max(start)
    }

    /// Puts all tokens in order, when many came at once.
    pub(crate) fn sort(&mut self) {
        let mut keyed: Vec<(TokenId, u32)> = self.ids.iter().copied().zip(0..).collect();
        if !self.ascending {
            keyed.sort_unstable();
            self.ordinals = Ordinals::of(&self.ids);
        }
        let entries: Vec<(u32, f64)> = keyed.into_iter().map(|(id, ordinal)| (ordinal, rough(id))).collect();
        self.by_id = SortedList::from_sorted(&entries);
    }

    /// Numbers all tokens anew in the order of their ids; each one's number, by the one it had. Nobody may know the old
    /// numbers afterwards.
    pub(crate) fn renumber(&mut self) -> Vec<u32> {
        let mut keyed: Vec<(TokenId, u32)> = self.ids.iter().copied().zip(0..).collect();
        keyed.sort_unstable();
        let mut numbers = vec![0; keyed.len()];
        for ((_, old), new) in keyed.iter().zip(0..) {
            numbers[*old as usize] = new;
        }
        self.spans = keyed.iter().map(|(_, old)| self.spans[*old as usize]).collect();
        self.ids = keyed.into_iter().map(|(id, _)| id).collect();
        self.ascending = true;
        self.ordinals = Ordinals::of(&self.ids);
        numbers
    }

    /// Expects so many more tokens.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.ordinals.expect(self.ids.len() + more);
    }

    pub(crate) fn set_metadata(&mut self, ordinal: u32, metadata: &str) {
        let span = &mut self.spans[ordinal as usize];
        self.arena.discard(*span);
        if metadata.is_empty() {
            *span = Span::default();
            return;
        }
        let missing = Missing::in_metadata(metadata).byte();
        *span = self.arena.push_after(&[missing], metadata.as_bytes());
    }

    /// The metadata of a token, as JSON text; `None` when nobody ever said any.
    pub(crate) fn metadata(&self, ordinal: u32) -> Option<&[u8]> {
        self.kept(ordinal).map(|(_, metadata)| metadata)
    }

    fn kept(&self, ordinal: u32) -> Option<(Missing, &[u8])> {
        let span = self.spans.get(ordinal as usize).filter(|span| !span.is_empty())?;
        let (missing, metadata) = self.arena.get(*span).split_first()?;
        Some((Missing::of_byte(*missing), metadata))
    }

    /// Appends a token's metadata; a token without any shows its id.
    pub(crate) fn write_metadata(&self, out: &mut Vec<u8>, ordinal: u32) {
        if let Some(metadata) = self.metadata(ordinal) {
            write_stored(out, metadata);
        } else {
            write_stored(out, self.of_nobody(ordinal).as_bytes());
        }
    }

    /// The same with the members that it lacks, as listings have them.
    pub(crate) fn write_whole_metadata(&self, out: &mut Vec<u8>, ordinal: u32) {
        match self.kept(ordinal) {
            Some((missing, metadata)) => missing.write(out, metadata),
            None => Missing::write_of(out, &self.of_nobody(ordinal)),
        }
    }

    fn of_nobody(&self, ordinal: u32) -> String {
        TokenMetadata::not_available(self.id(ordinal)).to_json().unwrap_or_default()
    }

    /// Whether replaced texts take more memory than they are worth.
    pub(crate) fn are_wasteful(&self) -> bool {
        self.arena.is_wasteful()
    }

    /// Gives memory back that replaced texts took.
    pub(crate) fn compact(&mut self) {
        self.spans = self.arena.compact(&self.spans);
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.arena.bytes()
    }

    /// Memory that no copy shares.
    pub(crate) fn bytes_alone(&self) -> usize {
        self.bytes() - self.text_bytes() + self.arena.bytes_alone()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text_bytes()
            + self.ordinals.bytes()
            + self.by_id.bytes()
            + self.ids.capacity() * size_of::<TokenId>()
            + self.spans.capacity() * size_of::<Span>()
    }
}

impl Kept for Tokens {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.ids.keep(out)?;
        self.spans.keep(out)?;
        self.arena.keep(out)?;
        self.ascending.keep(out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let (ids, spans) = (Vec::read(from)?, Vec::read(from)?);
        let (arena, ascending) = (Arena::read(from)?, bool::read(from)?);
        let mut tokens =
            Self { ordinals: Ordinals::of(&ids), ids, spans, arena, ascending, ..Self::default() };
        tokens.sort();
        Ok(tokens)
    }
}
