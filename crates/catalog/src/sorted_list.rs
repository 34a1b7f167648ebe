//! Ordinals in some order of rank, kept sorted while they come and go.

use std::cmp::Ordering;
use std::io::{self, BufRead, Write};

use bourse_sets::Relocation;

use crate::kept::{Kept, kept};

/// Places of a block; one whose places are all taken is split.
pub(crate) const PLACES: usize = 1_024;
/// Words with a bit for each place of a block.
pub(crate) const PLACE_WORDS: usize = PLACES / 64;
/// Places of a block that are taken at first: the next insertions split nothing, and few places are empty.
const PLACES_AT_FIRST: usize = PLACES / 4 * 3;
/// The slots of a block.
const BLOCK_SLOTS: u32 = 1_024;
const _: () = assert!(BLOCK_SLOTS as usize == PLACES);
/// How far apart two hints must be, relatively, to decide which ranks first.
const CLEARLY_APART: f64 = 1e-9;

/// A sorted list in blocks: finding is two binary searches, inserting moves at most a block, and skipping goes by whole
/// blocks. The order itself is an argument of every call; it must rank what is in the list as it did when it came. With
/// every ordinal comes a hint that ranks it roughly, so that searching seldom has to look elsewhere.
///
/// Whatever is in the list also has a slot, which it keeps until it leaves or its block is split: a place of its block,
/// in no order. So sets of slots are roughly in the order of the list, and change little when the list does.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedList {
    blocks: Vec<Block>,
    /// The last hint of each block.
    bounds: Vec<f64>,
    len: usize,
    /// Where the slots of the next block begin, unless some became free.
    next_base: u32,
    free_bases: Vec<u32>,
}

#[derive(Debug)]
struct Block {
    ordinals: Vec<u32>,
    hints: Vec<f64>,
    places: Vec<u16>,
    taken: Places,
    /// Its first slot.
    base: u32,
}

/// Places of a block, one bit each.
pub(crate) type Places = [u64; PLACE_WORDS];

/// A block of a list, or what is left of it: ordinals with their places, in the order of rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) ordinals: &'a [u32],
    pub(crate) places: &'a [u16],
    /// What ranks each of them roughly.
    pub(crate) hints: &'a [f64],
    /// The slot of the block's first place.
    pub(crate) base: u32,
}

/// Slots that moved to another block, where they have the same places.
pub(crate) type SlotRelocation = Relocation<PLACE_WORDS>;

/// Where something is in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    block: usize,
    /// Where it is among the ordinals of the block.
    index: usize,
}

impl Cursor {
    /// Before the first.
    pub(crate) const START: Self = Self { block: 0, index: 0 };
}

impl SortedList {
    /// Takes ordinals that are sorted already, with their hints.
    pub(crate) fn from_sorted(entries: &[(u32, f64)]) -> Self {
        let mut ranked = Self::default();
        for chunk in entries.chunks(PLACES_AT_FIRST) {
            let mut block = Block::empty(ranked.new_base());
            for entry in chunk {
                block.push(*entry);
            }
            ranked.bounds.push(block.bound());
            ranked.blocks.push(block);
        }
        ranked.len = entries.len();
        ranked
    }

    fn new_base(&mut self) -> u32 {
        self.free_bases.pop().unwrap_or_else(|| {
            let base = self.next_base;
            self.next_base += BLOCK_SLOTS;
            base
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first whose ordinal does not come before: `before` tells of each whether it does.
    pub(crate) fn cursor(&self, before: impl Fn(u32) -> bool) -> Cursor {
        // Blocks are never empty.
        let is_before = |block: &Block| block.ordinals.last().is_some_and(|last| before(*last));
        let block = self.blocks.partition_point(is_before);
        let within = |block: &Block| block.ordinals.partition_point(|ordinal| before(*ordinal));
        Cursor { block, index: self.blocks.get(block).map_or(0, within) }
    }

    /// Where an ordinal is or would be.
    fn cursor_of(&self, (ordinal, hint): (u32, f64), compare: impl Fn(u32, u32) -> Ordering) -> Cursor {
        let before = |other: u32, other_hint: f64| {
            if are_apart(other_hint, hint) { other_hint < hint } else { compare(other, ordinal).is_lt() }
        };
        let last = |index: usize| self.blocks[index].ordinals[self.blocks[index].ordinals.len() - 1];
        let block = partition(self.blocks.len(), |index| before(last(index), self.bounds[index]));
        let within = |block: &Block| {
            partition(block.ordinals.len(), |index| before(block.ordinals[index], block.hints[index]))
        };
        Cursor { block, index: self.blocks.get(block).map_or(0, within) }
    }

    /// Puts one in. Its slot, and what moved after it got it.
    pub(crate) fn insert(
        &mut self,
        entry: (u32, f64),
        compare: impl Fn(u32, u32) -> Ordering,
    ) -> (u32, Option<SlotRelocation>) {
        let Cursor { block, index } = self.cursor_of(entry, compare);
        self.len += 1;
        if self.blocks.is_empty() {
            let base = self.new_base();
            self.blocks.push(Block::empty(base));
            self.bounds.push(entry.1);
        }
        // Past the end of all is the end of the last.
        let last = self.blocks.len() - 1;
        let (block, index) =
            if block > last { (last, self.blocks[last].ordinals.len()) } else { (block, index) };
        let found = &mut self.blocks[block];
        let slot = found.base + u32::from(found.insert(index, entry));
        let moved = (found.ordinals.len() == PLACES).then(|| self.split(block));
        self.bounds[block] = self.blocks[block].bound();
        (slot, moved)
    }

    /// Gives the second half of a block a block of its own.
    fn split(&mut self, block: usize) -> SlotRelocation {
        let to = self.new_base();
        let rest = self.blocks[block].split(to);
        let moved = Relocation { from: self.blocks[block].base, to, places: rest.taken };
        self.bounds.insert(block + 1, rest.bound());
        self.blocks.insert(block + 1, rest);
        moved
    }

    /// Takes one out, whose rank and hint must be what they were when it came. The slot that it had.
    pub(crate) fn remove(
        &mut self,
        entry: (u32, f64),
        compare: impl Fn(u32, u32) -> Ordering,
    ) -> Option<u32> {
        let Cursor { block, index } = self.find(entry, compare)?;
        let found = &mut self.blocks[block];
        let slot = found.base + u32::from(found.remove(index));
        self.len -= 1;
        if found.ordinals.is_empty() {
            self.free_bases.push(found.base);
            self.blocks.remove(block);
            self.bounds.remove(block);
        } else {
            self.bounds[block] = found.bound();
        }
        Some(slot)
    }

    /// The slot of one that is in the list.
    pub(crate) fn slot_of(&self, entry: (u32, f64), compare: impl Fn(u32, u32) -> Ordering) -> Option<u32> {
        let Cursor { block, index } = self.find(entry, compare)?;
        let block = &self.blocks[block];
        Some(block.base + u32::from(block.places[index]))
    }

    fn find(&self, entry: (u32, f64), compare: impl Fn(u32, u32) -> Ordering) -> Option<Cursor> {
        let Cursor { block, index } = self.cursor_of(entry, compare);
        let is_there = self.blocks.get(block).and_then(|block| block.ordinals.get(index)) == Some(&entry.0);
        debug_assert!(is_there, "ordinal {} is not where its rank says", entry.0);
        is_there.then_some(Cursor { block, index })
    }

    /// Slots are below this.
    pub(crate) fn slots_end(&self) -> usize {
        self.next_base as usize
    }

    /// The blocks from a cursor on, the first of them cut, in the order of rank.
    pub(crate) fn blocks_from(&self, Cursor { block, index }: Cursor) -> impl Iterator<Item = Run<'_>> {
        let first = self.blocks.get(block).map(|block| block.run(index..block.ordinals.len()));
        let rest = self.blocks.iter().skip(block + 1).map(|block| block.run(0..block.ordinals.len()));
        first.into_iter().chain(rest)
    }

    /// The blocks before a cursor, the first of them cut, against the order of rank; read each from its end.
    pub(crate) fn blocks_before(&self, Cursor { block, index }: Cursor) -> impl Iterator<Item = Run<'_>> {
        let first = self.blocks.get(block).map(|block| block.run(0..index));
        let before = self.blocks[..block.min(self.blocks.len())].iter().rev();
        let rest = before.map(|block| block.run(0..block.ordinals.len()));
        first.into_iter().chain(rest)
    }

    /// All ordinals, in the order of rank.
    pub(crate) fn ordinals(&self) -> Vec<u32> {
        self.blocks.iter().flat_map(|block| &block.ordinals).copied().collect()
    }

    /// The block at an index, in the order of rank.
    pub(crate) fn block(&self, index: usize) -> Option<Run<'_>> {
        self.blocks.get(index).map(|block| block.run(0..block.ordinals.len()))
    }

    /// Past the last.
    pub(crate) fn end(&self) -> Cursor {
        Cursor { block: self.blocks.len(), index: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        let entries: usize = self.blocks.iter().map(|block| block.ordinals.capacity()).sum();
        entries * (size_of::<u32>() + size_of::<f64>() + size_of::<u16>())
            + self.blocks.capacity() * size_of::<(Block, f64)>()
    }
}

kept!(SortedList { blocks, bounds, len, next_base, free_bases });

impl Kept for Block {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.base.keep(out)?;
        self.ordinals.keep(out)?;
        self.hints.keep(out)?;
        self.places.keep(out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut block = Self::empty(u32::read(from)?);
        block.ordinals.extend(Vec::<u32>::read(from)?);
        block.hints.extend(Vec::<f64>::read(from)?);
        block.places.extend(Vec::<u16>::read(from)?);
        for place in &block.places {
            set(&mut block.taken, *place);
        }
        Ok(block)
    }
}

impl<'a> Run<'a> {
    /// The ordinals with their slots.
    pub(crate) fn slots(self) -> impl Iterator<Item = (u32, u32)> + 'a {
        self.ordinals
            .iter()
            .zip(self.places)
            .map(move |(ordinal, place)| (*ordinal, self.base + u32::from(*place)))
    }
}

impl Clone for Block {
    /// With room for all its places, like every block.
    fn clone(&self) -> Self {
        let mut block = Self { taken: self.taken, ..Self::empty(self.base) };
        block.ordinals.extend_from_slice(&self.ordinals);
        block.hints.extend_from_slice(&self.hints);
        block.places.extend_from_slice(&self.places);
        block
    }
}

impl Block {
    fn empty(base: u32) -> Self {
        Self {
            ordinals: Vec::with_capacity(PLACES),
            hints: Vec::with_capacity(PLACES),
            places: Vec::with_capacity(PLACES),
            taken: [0; PLACE_WORDS],
            base,
        }
    }

    fn bound(&self) -> f64 {
        self.hints.last().copied().unwrap_or_default()
    }

    fn run(&self, range: std::ops::Range<usize>) -> Run<'_> {
        let (ordinals, places) = (&self.ordinals[range.clone()], &self.places[range.clone()]);
        Run { ordinals, places, hints: &self.hints[range], base: self.base }
    }

    fn push(&mut self, entry: (u32, f64)) {
        self.insert(self.ordinals.len(), entry);
    }

    /// The place that it gets; there must be one.
    fn insert(&mut self, index: usize, (ordinal, hint): (u32, f64)) -> u16 {
        let place = self.free_place();
        set(&mut self.taken, place);
        self.ordinals.insert(index, ordinal);
        self.hints.insert(index, hint);
        self.places.insert(index, place);
        place
    }

    fn remove(&mut self, index: usize) -> u16 {
        self.ordinals.remove(index);
        self.hints.remove(index);
        let place = self.places.remove(index);
        self.taken[usize::from(place) / 64] &= !(1 << (place % 64));
        place
    }

    fn free_place(&self) -> u16 {
        let mut words = (0_u16..).zip(&self.taken);
        let free = |(index, word): (u16, &u64)| {
            (0_u16..64).nth(word.trailing_ones() as usize).map(|bit| index * 64 + bit)
        };
        words.find_map(free).unwrap_or_default()
    }

    /// Gives away its second half, which keeps its places.
    fn split(&mut self, base: u32) -> Self {
        let middle = self.ordinals.len() / 2;
        let mut rest = Self::empty(base);
        rest.ordinals.extend(self.ordinals.drain(middle..));
        rest.hints.extend(self.hints.drain(middle..));
        rest.places.extend(self.places.drain(middle..));
        for place in &rest.places {
            set(&mut rest.taken, *place);
        }
        for (word, given) in self.taken.iter_mut().zip(&rest.taken) {
            *word &= !given;
        }
        rest
    }
}

fn set(places: &mut Places, place: u16) {
    places[usize::from(place) / 64] |= 1 << (place % 64);
}

/// Whether two hints decide which of what they are of comes first.
pub(crate) fn are_apart(a: f64, b: f64) -> bool {
    (a - b).abs() > a.abs().max(b.abs()) * CLEARLY_APART
}

/// How many of the first numbers have a property that all those before one without it have.
pub(crate) fn partition(count: usize, has: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if has(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a sorted vector; ranks come from a table, as they do in the book.
        #[test]
        fn stays_sorted(
            start in prop::collection::btree_set(0_u32..5_000, 0..3_000),
            changes in prop::collection::vec((any::<bool>(), 0_u32..5_000), 0..2_000),
            probe in 0_u32..5_000,
        ) {
            // Many share a rank, and with it the hint.
            let rank = |ordinal: u32| (ordinal.wrapping_mul(2_654_435_761) >> 22, ordinal);
            let entry = |ordinal: u32| (ordinal, f64::from(rank(ordinal).0));
            let compare = |a: u32, b: u32| rank(a).cmp(&rank(b));
            let mut model: Vec<u32> = start.into_iter().collect();
            model.sort_by(|a, b| compare(*a, *b));
            let mut ranked = SortedList::from_sorted(&model.iter().map(|ordinal| entry(*ordinal)).collect::<Vec<_>>());
            let mut slots = slots_of(&ranked);
            for (add, ordinal) in changes {
                match model.binary_search_by(|other| compare(*other, ordinal)) {
                    Ok(position) if !add => {
                        model.remove(position);
                        prop_assert_eq!(ranked.slot_of(entry(ordinal), compare), slots.get(&ordinal).copied());
                        prop_assert_eq!(ranked.remove(entry(ordinal), compare), slots.remove(&ordinal));
                    }
                    Err(position) if add => {
                        model.insert(position, ordinal);
                        let (slot, moved) = ranked.insert(entry(ordinal), compare);
                        slots.insert(ordinal, slot);
                        if let Some(moved) = moved {
                            for slot in slots.values_mut() {
                                *slot = moved.number(*slot);
                            }
                        }
                    }
                    _ => {}
                }
            }
            // No two have the same, and those told are those that there are.
            prop_assert_eq!(slots.values().collect::<BTreeSet<_>>().len(), slots.len());
            prop_assert!(slots.values().all(|slot| (*slot as usize) < ranked.slots_end()));
            prop_assert_eq!(&slots, &slots_of(&ranked));
            prop_assert_eq!(ranked.len(), model.len());
            let place = ranked.cursor(|other| compare(other, probe).is_lt());
            let position = model.partition_point(|other| compare(*other, probe).is_lt());
            let after: Vec<u32> = ranked.blocks_from(place).flat_map(|run| run.ordinals).copied().collect();
            prop_assert_eq!(&after, &model[position..]);
            let against = |place| ranked.blocks_before(place).flat_map(|run| run.ordinals.iter().rev()).copied();
            prop_assert_eq!(against(place).collect::<Vec<_>>(), model[..position].iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!(against(ranked.end()).count(), model.len());
        }
    }

    fn slots_of(ranked: &SortedList) -> BTreeMap<u32, u32> {
        ranked.blocks_from(Cursor::START).flat_map(Run::slots).collect()
    }
}
