//! What chains state: which collections are followed, how far, and what it takes to undo the newest blocks.

mod aside;
mod backing;
mod balance_changes;
mod blocks;
mod error;
mod follow;
mod held;
mod history;
mod lease;
mod leave;
mod metadata;
mod orders;
mod restate;
mod resync;
mod rewind;
mod royalties;
pub(crate) mod standing;
mod state;
mod tokens;
mod undo;
mod write;

use bourse_market::facts::{Block, BlockHash, StatedFact};
use bourse_wire::{Address, ChainId};

pub use backing::{Backing, OfferScope, Payer};
pub use balance_changes::{BalanceChanges, ChangesQuery};
pub use error::ChainError;
pub use follow::ProjectFollow;
pub use held::HeldSample;
pub use lease::{LeaseHeld, LeaseHolder, LeaseSeen};
pub use royalties::{OrderFees, OwnOrders};
pub use standing::{Settled, Unsettled};
#[cfg(feature = "testing")]
pub(crate) use state::Checkpoint;
pub(crate) use state::{is_followed, is_live, read_checkpoint};
pub(crate) use tokens::keep_said;
pub(crate) use undo::Undo;
#[cfg(feature = "testing")]
pub(crate) use write::{Approval, TokenApproval};

use crate::{CollectionId, CollectionKey};

/// A collection whose chain is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The collection.
    pub id: CollectionId,
    /// Its contract and chain.
    pub key: CollectionKey,
    /// The first block that is read for it.
    pub from: u64,
    /// The first block that was not read for it yet.
    pub next_block: u64,
    /// Whether it has come as far as its chain's checkpoint and moves on with it.
    pub live: bool,
}

/// How far a chain is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainState {
    /// The newest block that is known.
    pub checkpoint: Block,
    /// The blocks that a rewind may go back to, oldest first; the checkpoint is the last.
    pub window: Vec<Block>,
}

/// The next blocks of a chain, and perhaps that some before them are no longer part of it.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The chain.
    pub chain: ChainId,
    /// The checkpoint that this was prepared for.
    pub expected: BlockHash,
    /// The newest block that is still part of the chain, when the checkpoint is not.
    pub rewind_to: Option<u64>,
    /// The blocks that follow, each on the one before it.
    pub blocks: Vec<BlockFacts>,
    /// Contracts of the live collections whose logs were asked for.
    pub covered: Vec<Address>,
    /// How many blocks a later rewind may undo.
    pub window: u64,
}

/// A block and what it states, in the order of its logs.
#[derive(Clone, Debug)]
pub struct BlockFacts {
    /// The block.
    pub block: Block,
    /// What its logs state.
    pub facts: Vec<StatedFact>,
}

/// What became of the next blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksCommitted {
    /// They are on disk.
    Done {
        /// How many records are different now.
        changed: u64,
        /// How many collections are live no more, as the node of the cluster that they are on is away.
        set_aside: usize,
    },
    /// Somebody else moved the checkpoint: read the chain's state again.
    Moved,
    /// A collection went live that was not asked for: ask again.
    Uncovered,
}

/// What a range of blocks states of one collection that is not live yet.
#[derive(Clone, Debug)]
pub struct History {
    /// The collection.
    pub collection: CollectionKey,
    /// The first block that was asked for.
    pub from: u64,
    /// The last block that was asked for.
    pub to: u64,
    /// The blocks that state something, ascending.
    pub blocks: Vec<BlockFacts>,
    /// How many blocks a later rewind may undo.
    pub window: u64,
}

/// What became of a range of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryCommitted {
    /// It is on disk.
    Done {
        /// Whether the collection has come as far as the checkpoint.
        live: bool,
        /// How many records are different now.
        changed: u64,
    },
    /// The range does not begin where the collection stands, or ends behind the checkpoint, or the collection is not
    /// followed any more: read where it stands again.
    Stale,
    /// A block of it is no longer, or not yet, part of the chain that is followed: ask again.
    Forked,
}
