//! Where facts go: a store in memory that knows the rules and nothing else, and one that fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use bourse_chain::Books;
use bourse_market::facts::{Block, StatedFact};
use bourse_store::testing::collection_id;
use bourse_store::{
    BlockFacts, Blocks, BlocksCommitted, ChainState, CollectionId, CollectionKey, Followed, History,
    HistoryCommitted, LeaseHeld, LeaseHolder, LeaseSeen, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};

use crate::stated_by;
use bourse_simulation::Shared;

/// What was committed of one collection, block by block.
pub(crate) type Ledger = BTreeMap<u64, Vec<StatedFact>>;

/// Keeps facts as they were stated.
#[derive(Default)]
pub(crate) struct MemoryBooks(pub(crate) Mutex<Memory>);

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) state: Option<ChainState>,
    pub(crate) followed: Vec<Followed>,
    pub(crate) ledgers: BTreeMap<Address, Ledger>,
    pub(crate) rewinds: u32,
    pub(crate) looked_back: Option<u64>,
    /// How often the right to follow was asked for.
    pub(crate) renewals: u32,
    /// What is compared with what is committed, when it is.
    pub(crate) truth: Option<Arc<Shared>>,
}

impl Memory {
    /// Whether an entry is what its block states, in every collection that is meant.
    fn check(&self, entry: &BlockFacts, collections: &[Address]) {
        let Some(truth) = &self.truth else { return };
        let world = truth.world();
        let block = &world.by_hash[&entry.block.hash];
        for collection in collections {
            let found = entry.facts.iter().filter(|stated| stated.collection == *collection);
            let found: Vec<(u64, u32)> = found.map(|stated| (stated.log_index, stated.part)).collect();
            let stated = stated_by(block, *collection);
            let expected: Vec<(u64, u32)> = stated.iter().map(|one| (one.log_index, one.part)).collect();
            assert_eq!(found, expected, "block {} of {collection}", entry.block.number);
        }
    }

    /// Whether a history has what its blocks state: those that are kept, or those that count.
    fn check_history(&self, batch: &History) {
        let (Some(truth), Some(state)) = (&self.truth, &self.state) else { return };
        for number in batch.from..=batch.to {
            let kept = state.window.iter().find(|block| block.number == number).copied();
            let counts = || truth.world().chain[usize::try_from(number).unwrap()].block;
            let block = kept.unwrap_or_else(counts);
            let given = batch.blocks.iter().find(|entry| entry.block.number == number);
            let facts = given.map(|entry| entry.facts.clone()).unwrap_or_default();
            self.check(&BlockFacts { block, facts }, &[batch.collection.address]);
        }
    }

    fn put(&mut self, entry: &BlockFacts) {
        for stated in &entry.facts {
            let ledger = self.ledgers.entry(stated.collection).or_default();
            ledger.entry(entry.block.number).or_default().push(stated.clone());
        }
    }

    fn rewind(&mut self, to: u64) {
        let state = self.state.as_mut().unwrap();
        assert!(state.window[0].number <= to, "a rewind below what is kept");
        state.window.retain(|block| block.number <= to);
        state.checkpoint = *state.window.last().unwrap();
        for ledger in self.ledgers.values_mut() {
            ledger.retain(|number, _| *number <= to);
        }
        for followed in &mut self.followed {
            followed.next_block = followed.next_block.min(to + 1).max(followed.from);
        }
        self.rewinds += 1;
    }

    fn take(&mut self, batch: &Blocks) -> BlocksCommitted {
        let state = self.state.as_ref().unwrap();
        if state.checkpoint.hash != batch.expected {
            return BlocksCommitted::Moved;
        }
        if self.followed.iter().any(|one| one.live && !batch.covered.contains(&one.key.address)) {
            return BlocksCommitted::Uncovered;
        }
        if let Some(to) = batch.rewind_to {
            self.rewind(to);
        }
        for entry in &batch.blocks {
            let state = self.state.as_mut().unwrap();
            assert_eq!(entry.block.parent, state.checkpoint.hash, "block {} is no child", entry.block.number);
            state.checkpoint = entry.block;
            state.window.push(entry.block);
            let live = self.followed.iter().filter(|one| one.live).map(|one| one.key.address);
            self.check(entry, &live.collect::<Vec<_>>());
            self.put(entry);
        }
        let state = self.state.as_mut().unwrap();
        let oldest = state.checkpoint.number.saturating_sub(batch.window);
        state.window.retain(|block| block.number >= oldest);
        let next = state.checkpoint.number + 1;
        self.followed.iter_mut().filter(|one| one.live).for_each(|one| one.next_block = next);
        BlocksCommitted::Done { changed: 0, set_aside: 0 }
    }

    fn take_history(&mut self, batch: &History) -> HistoryCommitted {
        let state = self.state.clone().unwrap();
        let followed = self.followed.iter_mut().find(|one| one.key == batch.collection).unwrap();
        if followed.live || followed.next_block != batch.from || batch.to > state.checkpoint.number {
            return HistoryCommitted::Stale;
        }
        let is_other = |block: &Block| {
            state.window.iter().any(|kept| kept.number == block.number && kept.hash != block.hash)
        };
        if batch.blocks.iter().any(|entry| is_other(&entry.block)) {
            return HistoryCommitted::Forked;
        }
        followed.next_block = batch.to + 1;
        followed.live = batch.to == state.checkpoint.number;
        let live = followed.live;
        self.check_history(batch);
        for entry in &batch.blocks {
            assert!((batch.from..=batch.to).contains(&entry.block.number));
            assert!(entry.facts.iter().all(|stated| stated.collection == batch.collection.address));
            self.put(entry);
        }
        HistoryCommitted::Done { live, changed: 0 }
    }
}

impl Books for MemoryBooks {
    async fn chain_state(&self, _: ChainId) -> Result<Option<ChainState>, StoreError> {
        Ok(self.0.lock().unwrap().state.clone())
    }

    async fn start_chain(&self, _: ChainId, at: Block) -> Result<(), StoreError> {
        self.0.lock().unwrap().state = Some(ChainState { checkpoint: at, window: vec![at] });
        Ok(())
    }

    async fn followed(&self, _: ChainId) -> Result<Vec<Followed>, StoreError> {
        Ok(self.0.lock().unwrap().followed.clone())
    }

    async fn left(&self, _: ChainId) -> Result<Vec<Address>, StoreError> {
        Ok(Vec::new())
    }

    async fn discover(&self, key: CollectionKey, from: u64, _: Timestamp) -> Result<(), StoreError> {
        let mut memory = self.0.lock().unwrap();
        if memory.followed.iter().all(|one| one.key != key) {
            let id = collection_id(memory.followed.len() as u64 + 1);
            memory.followed.push(Followed { id, key, from, next_block: from, live: false });
        }
        Ok(())
    }

    async fn looked_back(&self, _: ChainId, _: u64) -> Result<Option<u64>, StoreError> {
        Ok(self.0.lock().unwrap().looked_back)
    }

    async fn set_looked_back(&self, _: ChainId, _: u64, next: u64) -> Result<(), StoreError> {
        self.0.lock().unwrap().looked_back = Some(next);
        Ok(())
    }

    async fn commit_blocks(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        Ok(self.0.lock().unwrap().take(&batch))
    }

    async fn commit_history(&self, batch: History) -> Result<HistoryCommitted, StoreError> {
        Ok(self.0.lock().unwrap().take_history(&batch))
    }

    async fn out_of_reach(&self, _: Vec<CollectionId>) -> Result<BTreeSet<CollectionId>, StoreError> {
        Ok(BTreeSet::new())
    }

    async fn hold_lease(
        &self,
        _: ChainId,
        _: &LeaseHolder,
        _: Timestamp,
        _: Option<LeaseSeen>,
    ) -> Result<LeaseHeld, StoreError> {
        self.0.lock().unwrap().renewals += 1;
        Ok(LeaseHeld::Here)
    }

    async fn release_lease(&self, _: ChainId, _: &LeaseHolder) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A store that fails now and then: before it did something, or after; and around which the process dies.
pub(crate) struct Faulty<B> {
    pub(crate) books: Arc<B>,
    pub(crate) shared: Arc<Shared>,
}

impl<B: Books> Faulty<B> {
    async fn around<T>(&self, done: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let failed = || StoreError::Database("made up".into());
        self.shared.live_or_die().await;
        if self.shared.happens(|weather| weather.store) {
            return Err(failed());
        }
        let done = done.await?;
        self.shared.live_or_die().await;
        if self.shared.happens(|weather| weather.store) {
            return Err(failed());
        }
        Ok(done)
    }
}

impl<B: Books> Books for Faulty<B> {
    async fn chain_state(&self, chain: ChainId) -> Result<Option<ChainState>, StoreError> {
        self.around(self.books.chain_state(chain)).await
    }

    async fn start_chain(&self, chain: ChainId, at: Block) -> Result<(), StoreError> {
        self.around(self.books.start_chain(chain, at)).await
    }

    async fn followed(&self, chain: ChainId) -> Result<Vec<Followed>, StoreError> {
        self.around(self.books.followed(chain)).await
    }

    async fn left(&self, chain: ChainId) -> Result<Vec<Address>, StoreError> {
        self.around(self.books.left(chain)).await
    }

    async fn discover(&self, key: CollectionKey, from: u64, now: Timestamp) -> Result<(), StoreError> {
        self.around(self.books.discover(key, from, now)).await
    }

    async fn looked_back(&self, chain: ChainId, from: u64) -> Result<Option<u64>, StoreError> {
        self.around(self.books.looked_back(chain, from)).await
    }

    async fn set_looked_back(&self, chain: ChainId, from: u64, next: u64) -> Result<(), StoreError> {
        self.around(self.books.set_looked_back(chain, from, next)).await
    }

    async fn commit_blocks(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        self.around(self.books.commit_blocks(batch)).await
    }

    async fn commit_history(&self, batch: History) -> Result<HistoryCommitted, StoreError> {
        self.around(self.books.commit_history(batch)).await
    }

    async fn out_of_reach(&self, ids: Vec<CollectionId>) -> Result<BTreeSet<CollectionId>, StoreError> {
        self.around(self.books.out_of_reach(ids)).await
    }

    async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
        until: Timestamp,
        ended: Option<LeaseSeen>,
    ) -> Result<LeaseHeld, StoreError> {
        self.around(self.books.hold_lease(chain, holder, until, ended)).await
    }

    async fn release_lease(&self, chain: ChainId, holder: &LeaseHolder) -> Result<(), StoreError> {
        self.around(self.books.release_lease(chain, holder)).await
    }
}
