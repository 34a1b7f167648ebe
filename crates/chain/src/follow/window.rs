//! The newest blocks as they were followed, and where another chain leaves them. Pure: nothing here asks anybody.

use std::collections::VecDeque;

use bourse_market::facts::{Block, BlockHash};

/// The newest blocks that were followed, each on the one before it; never empty.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    blocks: VecDeque<Block>,
    checkpoint: Block,
}

/// Where a node's newest block is, seen from a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// It is one that was followed: there is nothing new, or the node is behind.
    FollowState,
    /// It is higher than all that were followed.
    Ahead,
    /// It is another block than the one that was followed at its height: the chain became shorter, or the node is
    /// behind on a chain that others have left.
    Elsewhere,
    /// It is older than everything that is kept.
    Below,
}

impl Window {
    /// The blocks that a store kept, oldest first, with the checkpoint as the last.
    pub(crate) fn new(checkpoint: Block, kept: Vec<Block>) -> Self {
        let mut blocks: VecDeque<Block> = kept.into();
        if blocks.back().map(|block| block.hash) != Some(checkpoint.hash) {
            blocks.push_back(checkpoint);
        }
        Self { blocks, checkpoint }
    }

    /// The newest block that was followed.
    pub(crate) fn checkpoint(&self) -> Block {
        self.checkpoint
    }

    /// The height of the oldest block that is kept.
    pub(crate) fn oldest(&self) -> u64 {
        self.blocks.front().unwrap_or(&self.checkpoint).number
    }

    /// The block that was followed at a height.
    pub(crate) fn at(&self, number: u64) -> Option<&Block> {
        let place = number.checked_sub(self.oldest())?;
        self.blocks.get(usize::try_from(place).ok()?)
    }

    /// Whether a block that somebody tells of is no news.
    pub(crate) fn knows(&self, block: &Block) -> bool {
        matches!(self.position(block), Position::FollowState | Position::Below)
    }

    /// The blocks from a height on.
    pub(crate) fn from(&self, number: u64) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(move |block| block.number >= number)
    }

    /// Where a node's newest block is.
    pub(crate) fn position(&self, head: &Block) -> Position {
        match self.at(head.number) {
            Some(followed) if followed.hash == head.hash => Position::FollowState,
            Some(_) => Position::Elsewhere,
            None if head.number > self.checkpoint.number => Position::Ahead,
            None => Position::Below,
        }
    }

    /// Goes back to a block, then takes those that follow on it, and keeps so many.
    pub(crate) fn advance(
        &mut self,
        rewind_to: Option<u64>,
        blocks: impl IntoIterator<Item = Block>,
        keep: u64,
    ) {
        if let Some(number) = rewind_to {
            self.blocks.retain(|block| block.number <= number);
        }
        self.blocks.extend(blocks);
        if let Some(newest) = self.blocks.back() {
            self.checkpoint = *newest;
        }
        let oldest = self.checkpoint.number.saturating_sub(keep);
        self.blocks.retain(|block| block.number >= oldest);
    }
}

/// The height of the first block that does not follow on the one before it, if any.
pub(crate) fn broken_link(parent: BlockHash, parent_number: u64, blocks: &[Block]) -> Option<u64> {
    let (mut parent, mut number) = (parent, parent_number);
    for block in blocks {
        if block.parent != parent || Some(block.number) != number.checked_add(1) {
            return Some(block.number);
        }
        (parent, number) = (block.hash, block.number);
    }
    None
}

/// A search for the newest block that a window shares with a node. It asks about few blocks first, as most forks are
/// short, and about twice as many each time.
#[derive(Debug)]
pub(crate) struct ForkSearch {
    /// The lowest height at which the node is known to have another block, and the name of what it must have before it.
    differs: u64,
    parent: BlockHash,
    asks: u64,
}

/// How a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searched {
    /// This is the newest block that both have.
    Forked(u64),
    /// Ask about the next heights.
    Further,
    /// Everything that is kept differs.
    Beyond,
    /// The answers do not fit together: the node changed its mind while it was asked.
    Unclear,
}

impl ForkSearch {
    /// A search below a block that only the node has.
    pub(crate) fn below(theirs: &Block) -> Self {
        Self { differs: theirs.number, parent: theirs.parent, asks: 2 }
    }

    /// The heights to ask about, ascending; none when there is nothing left.
    pub(crate) fn next(&self, window: &Window) -> Vec<u64> {
        let first = self.differs.saturating_sub(self.asks).max(window.oldest());
        (first..self.differs).collect()
    }

    /// Takes what a node has at the heights that [`ForkSearch::next`] told.
    pub(crate) fn learn(&mut self, window: &Window, theirs: &[Option<Block>]) -> Searched {
        let Some(blocks) = theirs.iter().copied().collect::<Option<Vec<Block>>>() else {
            return Searched::Unclear;
        };
        let Some(first) = blocks.first() else { return Searched::Beyond };
        let is_parent = blocks.last().is_some_and(|last| last.hash == self.parent);
        if !is_parent || broken_link(first.hash, first.number, &blocks[1..]).is_some() {
            return Searched::Unclear;
        }
        let same = |block: &&Block| window.at(block.number).is_some_and(|ours| ours.hash == block.hash);
        if let Some(shared) = blocks.iter().rev().find(same) {
            return Searched::Forked(shared.number);
        }
        (self.differs, self.parent) = (first.number, first.parent);
        self.asks *= 2;
        if self.differs <= window.oldest() { Searched::Beyond } else { Searched::Further }
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, keccak256};
    use bourse_wire::Timestamp;

    use super::*;

    fn hash(number: u64, branch: u8) -> B256 {
        keccak256([&number.to_be_bytes()[..], &[branch]].concat())
    }

    /// A chain on branch 0 up to `fork`, and on `branch` above it.
    fn chain(from: u64, to: u64, fork: u64, branch: u8) -> Vec<Block> {
        let name = |number| hash(number, if number > fork { branch } else { 0 });
        (from..=to)
            .map(|number| Block {
                number,
                hash: name(number),
                parent: name(number.wrapping_sub(1)),
                at: Timestamp::ZERO,
            })
            .collect()
    }

    fn window(from: u64, to: u64) -> Window {
        let blocks = chain(from, to, u64::MAX, 0);
        Window::new(blocks[blocks.len() - 1], blocks)
    }

    /// Searches in a node's blocks; tells how it ended and how often it was asked.
    fn search(window: &Window, theirs: &[Block], differs: u64) -> (Searched, u32) {
        let theirs_at = |number: u64| theirs.iter().find(|block| block.number == number).copied();
        let mut search = ForkSearch::below(&theirs_at(differs).unwrap());
        for asked in 1.. {
            let answers: Vec<Option<Block>> = search.next(window).into_iter().map(theirs_at).collect();
            match search.learn(window, &answers) {
                Searched::Further => {}
                other => return (other, asked),
            }
        }
        unreachable!()
    }

    #[test]
    fn forks_of_every_depth_are_found() {
        let ours = window(100, 228);
        for fork in 100..228 {
            let theirs = chain(90, 230, fork, 1);
            let (found, asked) = search(&ours, &theirs, 228);
            assert_eq!(found, Searched::Forked(fork));
            assert!(asked <= 7, "asked {asked} times for a fork at {fork}");
        }
    }

    #[test]
    fn a_fork_below_the_window_is_told() {
        let ours = window(100, 228);
        assert_eq!(search(&ours, &chain(90, 230, 99, 1), 228).0, Searched::Beyond);
        assert_eq!(search(&ours, &chain(90, 230, 95, 1), 228).0, Searched::Beyond);
        // Only the checkpoint is kept.
        let only = window(228, 228);
        assert_eq!(search(&only, &chain(226, 230, 99, 1), 229).0, Searched::Beyond);
    }

    #[test]
    fn the_very_first_block_may_be_kept() {
        let ours = window(0, 20);
        assert_eq!(search(&ours, &chain(0, 30, 0, 1), 20).0, Searched::Forked(0));
    }

    #[test]
    fn answers_that_do_not_fit_are_no_answer() {
        let ours = window(100, 120);
        let mut theirs = chain(90, 121, 110, 1);
        theirs.retain(|block| block.number != 112);
        assert_eq!(search(&ours, &theirs, 120).0, Searched::Unclear);
        let mut theirs = chain(90, 121, 110, 1);
        theirs[28].hash = hash(118, 9);
        assert_eq!(search(&ours, &theirs, 120).0, Searched::Unclear);
    }

    /// The node has the checkpoint, and a block after it that follows on another: it did not take anything back.
    #[test]
    fn a_block_that_follows_on_none_is_no_fork() {
        for ours in [window(100, 120), window(120, 120)] {
            let mut theirs = chain(90, 121, u64::MAX, 0);
            theirs[31].parent = hash(120, 9);
            assert_eq!(search(&ours, &theirs, 121).0, Searched::Unclear);
        }
    }

    #[test]
    fn positions() {
        let ours = window(100, 120);
        let block = |number, branch| Block { number, hash: hash(number, branch), ..ours.checkpoint() };
        assert_eq!(ours.position(&block(120, 0)), Position::FollowState);
        assert_eq!(ours.position(&block(100, 0)), Position::FollowState);
        assert_eq!(ours.position(&block(121, 0)), Position::Ahead);
        assert_eq!(ours.position(&block(120, 1)), Position::Elsewhere);
        assert_eq!(ours.position(&block(99, 0)), Position::Below);
    }

    #[test]
    fn blocks_come_and_go() {
        let mut ours = window(100, 120);
        ours.advance(Some(117), chain(118, 122, 117, 1), 10);
        assert_eq!(ours.checkpoint().hash, hash(122, 1));
        assert_eq!(ours.oldest(), 112);
        assert_eq!(ours.at(117).map(|block| block.hash), Some(hash(117, 0)));
        assert_eq!(ours.at(118).map(|block| block.hash), Some(hash(118, 1)));
        assert_eq!(ours.from(120).count(), 3);
        ours.advance(Some(119), [], 10);
        assert_eq!(ours.checkpoint().hash, hash(119, 1));
    }

    #[test]
    fn links() {
        let blocks = chain(5, 9, u64::MAX, 0);
        assert_eq!(broken_link(hash(4, 0), 4, &blocks), None);
        assert_eq!(broken_link(hash(4, 1), 4, &blocks), Some(5));
        let mut gap = blocks;
        gap.remove(2);
        assert_eq!(broken_link(hash(4, 0), 4, &gap), Some(8));
    }
}
