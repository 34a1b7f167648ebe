//! What following a chain can run into.

use bourse_market::facts::BlockHash;

/// Why blocks cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// A block does not follow on the one before it.
    #[error("block {number} follows on {parent}, which is not the block before it, {expected}")]
    NotAdjacent {
        /// Height of the block.
        number: u64,
        /// The block that it names as the one before it.
        parent: BlockHash,
        /// The block before it.
        expected: BlockHash,
    },
    /// The block to go back to is no longer kept.
    #[error(
        "the chain changed from a block below {oldest} on, deeper than what is kept to undo: it must be read anew, \
        with `bourse chain resync`"
    )]
    BeyondWindow {
        /// The block to go back to.
        to: u64,
        /// The oldest block that is kept.
        oldest: u64,
    },
    /// A block of a history lies outside of its range, or does not come after the one before it.
    #[error("block {number} is not in the order and range of the history it came with")]
    OutOfRange {
        /// Height of the block.
        number: u64,
    },
}
