//! Which collections are followed, and how far.

use bourse_market::facts::Block;
use bourse_wire::{ChainId, Timestamp};

use super::{ChainState, Followed};
use crate::{CollectionId, CollectionKey, Store, StoreError};

impl Store {
    /// Follows a collection from a block on. Again changes nothing; an earlier block is refused once something was read.
    pub async fn follow(
        &self,
        key: CollectionKey,
        from: u64,
        now: Timestamp,
    ) -> Result<CollectionId, StoreError> {
        let _ = (key, from, now);
        Err(StoreError::Closed)
    }

    /// The collections of a chain that are followed, in the order of their ids.
    pub async fn followed(&self, chain: ChainId) -> Result<Vec<Followed>, StoreError> {
        let _ = chain;
        Err(StoreError::Closed)
    }

    /// How far a chain is followed; `None` before it is started.
    pub async fn chain_state(&self, chain: ChainId) -> Result<Option<ChainState>, StoreError> {
        let _ = chain;
        Err(StoreError::Closed)
    }

    /// Starts to follow a chain at a block, unless that was done before.
    pub async fn start_chain(&self, chain: ChainId, at: Block) -> Result<(), StoreError> {
        let _ = (chain, at);
        Err(StoreError::Closed)
    }
}
