//! What the follower asks of the store. A trait, so that a simulation can make it fail.

use std::collections::BTreeSet;

use bourse_market::facts::Block;
use bourse_store::{
    Blocks, BlocksCommitted, ChainState, CollectionId, CollectionKey, Followed, History, HistoryCommitted,
    LeaseHeld, LeaseHolder, LeaseSeen, Store, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};

/// Where facts go.
pub trait Books: Send + Sync + 'static {
    /// How far a chain is followed; nothing before it is started.
    fn chain_state(
        &self,
        chain: ChainId,
    ) -> impl Future<Output = Result<Option<ChainState>, StoreError>> + Send;

    /// Starts to follow a chain at a block.
    fn start_chain(&self, chain: ChainId, at: Block) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The collections that are followed.
    fn followed(&self, chain: ChainId) -> impl Future<Output = Result<Vec<Followed>, StoreError>> + Send;

    /// The contracts that are not followed although something happens to them.
    fn left(&self, chain: ChainId) -> impl Future<Output = Result<Vec<Address>, StoreError>> + Send;

    /// Follows a collection that nobody registered, unless it was left.
    fn discover(
        &self,
        key: CollectionKey,
        from: u64,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The first block that was not looked through for collections, of those from one on; nothing before any was.
    fn looked_back(
        &self,
        chain: ChainId,
        from: u64,
    ) -> impl Future<Output = Result<Option<u64>, StoreError>> + Send;

    /// Keeps that.
    fn set_looked_back(
        &self,
        chain: ChainId,
        from: u64,
        next: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the next blocks of a chain.
    fn commit_blocks(
        &self,
        batch: Blocks,
    ) -> impl Future<Output = Result<BlocksCommitted, StoreError>> + Send;

    /// Takes what older blocks state of a collection.
    fn commit_history(
        &self,
        batch: History,
    ) -> impl Future<Output = Result<HistoryCommitted, StoreError>> + Send;

    /// Those of some collections that live where nobody can reach them now.
    fn out_of_reach(
        &self,
        ids: Vec<CollectionId>,
    ) -> impl Future<Output = Result<BTreeSet<CollectionId>, StoreError>> + Send;

    /// Takes the right to follow a chain, or keeps it; that of another where it is as it was when it was seen to have ended, or
    /// where an older program has it. Programs before schema 33 leave the chain alone until a time.
    fn hold_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
        until: Timestamp,
        ended: Option<LeaseSeen>,
    ) -> impl Future<Output = Result<LeaseHeld, StoreError>> + Send;

    /// Gives the right back.
    fn release_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

impl Books for Store {
    async fn chain_state(&self, chain: ChainId) -> Result<Option<ChainState>, StoreError> {
        Store::chain_state(self, chain).await
    }

    async fn start_chain(&self, chain: ChainId, at: Block) -> Result<(), StoreError> {
        Store::start_chain(self, chain, at).await
    }

    async fn followed(&self, chain: ChainId) -> Result<Vec<Followed>, StoreError> {
        Store::followed(self, chain).await
    }

    async fn left(&self, chain: ChainId) -> Result<Vec<Address>, StoreError> {
        self.left_collections(chain).await
    }

    async fn discover(&self, key: CollectionKey, from: u64, now: Timestamp) -> Result<(), StoreError> {
        Store::discover(self, key, from, now).await
    }

    async fn looked_back(&self, chain: ChainId, from: u64) -> Result<Option<u64>, StoreError> {
        Store::looked_back(self, chain, from).await
    }

    async fn set_looked_back(&self, chain: ChainId, from: u64, next: u64) -> Result<(), StoreError> {
        Store::set_looked_back(self, chain, from, next).await
    }

    async fn commit_blocks(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        Store::commit_blocks(self, batch).await
    }

    async fn commit_history(&self, batch: History) -> Result<HistoryCommitted, StoreError> {
        Store::commit_history(self, batch).await
    }

    async fn out_of_reach(&self, ids: Vec<CollectionId>) -> Result<BTreeSet<CollectionId>, StoreError> {
        Store::out_of_reach(self, ids).await
    }

    async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
        until: Timestamp,
        ended: Option<LeaseSeen>,
    ) -> Result<LeaseHeld, StoreError> {
        Store::hold_lease(self, chain, holder, until, ended).await
    }

    async fn release_lease(&self, chain: ChainId, holder: &LeaseHolder) -> Result<(), StoreError> {
        Store::release_lease(self, chain, holder).await
    }
}
