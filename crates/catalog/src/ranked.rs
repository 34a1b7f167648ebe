//! Ordinals in some order of rank, kept sorted while they come and go.

use std::cmp::Ordering;

/// Ordinals of a block at most; a full one is split.
const BLOCK_MAX: usize = 1_024;
/// How far apart two hints must be, relatively, to decide which ranks first.
const CLEARLY_APART: f64 = 1e-9;

/// A sorted list in blocks: finding is two binary searches, inserting moves at most a block, and skipping goes by whole
/// blocks. The order itself is an argument of every call; it must rank what is in the list as it did when it came. With
/// every ordinal comes a hint that ranks it roughly, so that searching seldom has to look elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Ranked {
    blocks: Vec<Block>,
    /// The last hint of each block.
    bounds: Vec<f64>,
    len: usize,
}

#[derive(Debug)]
struct Block {
    ordinals: Vec<u32>,
    hints: Vec<f64>,
}

/// A place in a list: block, and index in it.
pub(crate) type Place = (usize, usize);

impl Ranked {
    /// Takes ordinals that are sorted already, with their hints.
    pub(crate) fn from_sorted(entries: &[(u32, f64)]) -> Self {
        // Half full, so that the next insertions split nothing.
        let chunks = entries.chunks(BLOCK_MAX / 2);
        let blocks: Vec<Block> = chunks
            .map(|chunk| {
                let (mut ordinals, mut hints) =
                    (Vec::with_capacity(BLOCK_MAX), Vec::with_capacity(BLOCK_MAX));
                ordinals.extend(chunk.iter().map(|(ordinal, _)| *ordinal));
                hints.extend(chunk.iter().map(|(_, hint)| *hint));
                Block { ordinals, hints }
            })
            .collect();
        let bounds = blocks.iter().map(Block::bound).collect();
        Self { blocks, bounds, len: entries.len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first place whose ordinal does not come before: `before` tells of each whether it does.
    pub(crate) fn place(&self, before: impl Fn(u32) -> bool) -> Place {
        // Blocks are never empty.
        let is_before = |block: &Block| block.ordinals.last().is_some_and(|last| before(*last));
        let block = self.blocks.partition_point(is_before);
        let within = |block: &Block| block.ordinals.partition_point(|ordinal| before(*ordinal));
        (block, self.blocks.get(block).map_or(0, within))
    }

    /// The place where an ordinal is or would be.
    fn place_of(&self, (ordinal, hint): (u32, f64), compare: impl Fn(u32, u32) -> Ordering) -> Place {
        let before = |other: u32, other_hint: f64| {
            if (other_hint - hint).abs() > other_hint.abs().max(hint.abs()) * CLEARLY_APART {
                other_hint < hint
            } else {
                compare(other, ordinal).is_lt()
            }
        };
        let last = |index: usize| self.blocks[index].ordinals[self.blocks[index].ordinals.len() - 1];
        let block = partition(self.blocks.len(), |index| before(last(index), self.bounds[index]));
        let within = |block: &Block| {
            partition(block.ordinals.len(), |index| before(block.ordinals[index], block.hints[index]))
        };
        (block, self.blocks.get(block).map_or(0, within))
    }

    pub(crate) fn insert(&mut self, entry: (u32, f64), compare: impl Fn(u32, u32) -> Ordering) {
        let (block, index) = self.place_of(entry, compare);
        self.len += 1;
        // Past the end of all is the end of the last.
        let Some(last) = self.blocks.len().checked_sub(1) else {
            self.blocks.push(Block { ordinals: vec![entry.0], hints: vec![entry.1] });
            self.bounds.push(entry.1);
            return;
        };
        let (block, index) =
            if block > last { (last, self.blocks[last].ordinals.len()) } else { (block, index) };
        self.blocks[block].ordinals.insert(index, entry.0);
        self.blocks[block].hints.insert(index, entry.1);
        if self.blocks[block].ordinals.len() >= BLOCK_MAX {
            let rest = self.blocks[block].split();
            self.bounds.insert(block + 1, rest.bound());
            self.blocks.insert(block + 1, rest);
        }
        self.bounds[block] = self.blocks[block].bound();
    }

    /// Takes one out, whose rank and hint must be what they were when it came.
    pub(crate) fn remove(&mut self, entry: (u32, f64), compare: impl Fn(u32, u32) -> Ordering) {
        let (block, index) = self.place_of(entry, compare);
        let Some(found) = self.blocks.get_mut(block) else { return };
        if found.ordinals.get(index) != Some(&entry.0) {
            debug_assert!(false, "ordinal {} is not where its rank says", entry.0);
            return;
        }
        found.ordinals.remove(index);
        found.hints.remove(index);
        self.len -= 1;
        if found.ordinals.is_empty() {
            self.blocks.remove(block);
            self.bounds.remove(block);
        } else {
            self.bounds[block] = found.bound();
        }
    }

    /// The blocks from a place on, the first of them cut, in the order of rank.
    pub(crate) fn blocks_from(&self, (block, index): Place) -> impl Iterator<Item = &[u32]> {
        let first = self.blocks.get(block).map(|block| &block.ordinals[index..]);
        let rest = self.blocks.iter().skip(block + 1).map(|block| block.ordinals.as_slice());
        first.into_iter().chain(rest)
    }

    /// The blocks before a place, the first of them cut, against the order of rank; read each from its end.
    pub(crate) fn blocks_before(&self, (block, index): Place) -> impl Iterator<Item = &[u32]> {
        let first = self.blocks.get(block).map(|block| &block.ordinals[..index]);
        let rest =
            self.blocks[..block.min(self.blocks.len())].iter().rev().map(|block| block.ordinals.as_slice());
        first.into_iter().chain(rest)
    }

    /// Past the last.
    pub(crate) fn end(&self) -> Place {
        (self.blocks.len(), 0)
    }

    pub(crate) fn bytes(&self) -> usize {
        let entries: usize = self.blocks.iter().map(|block| block.ordinals.capacity()).sum();
        entries * size_of::<(u32, f64)>() + self.blocks.capacity() * size_of::<(Block, f64)>()
    }
}

impl Block {
    fn bound(&self) -> f64 {
        self.hints.last().copied().unwrap_or_default()
    }

    /// Gives away its second half.
    fn split(&mut self) -> Self {
        let middle = self.ordinals.len() / 2;
        Self { ordinals: self.ordinals.split_off(middle), hints: self.hints.split_off(middle) }
    }
}

/// How many of the first numbers have a property that all those before one without it have.
fn partition(count: usize, has: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if has(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
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
            let mut ranked = Ranked::from_sorted(&model.iter().map(|ordinal| entry(*ordinal)).collect::<Vec<_>>());
            for (add, ordinal) in changes {
                match model.binary_search_by(|other| compare(*other, ordinal)) {
                    Ok(position) if !add => {
                        model.remove(position);
                        ranked.remove(entry(ordinal), compare);
                    }
                    Err(position) if add => {
                        model.insert(position, ordinal);
                        ranked.insert(entry(ordinal), compare);
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(ranked.len(), model.len());
            let place = ranked.place(|other| compare(other, probe).is_lt());
            let position = model.partition_point(|other| compare(*other, probe).is_lt());
            let after: Vec<u32> = ranked.blocks_from(place).flatten().copied().collect();
            prop_assert_eq!(&after, &model[position..]);
            let before: Vec<u32> = ranked.blocks_before(place).flat_map(|block| block.iter().rev()).copied().collect();
            prop_assert_eq!(before, model[..position].iter().rev().copied().collect::<Vec<_>>());
            let all: Vec<u32> = ranked.blocks_before(ranked.end()).flat_map(|block| block.iter().rev()).copied().collect();
            prop_assert_eq!(all.len(), model.len());
        }
    }
}
