//! Collections of the real store that are out of reach for a while, as if on a node of a cluster that is away: their chain goes
//! on without them, and once they can be reached again the store is what a sync from scratch gives.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use bourse_chain::{Books, FollowError};
use bourse_market::facts::Block;
use bourse_simulation::{CHAIN, COLLECTIONS, STRANGER, run, seeds};
use bourse_store::testing::TestDatabase;
use bourse_store::{
    Blocks, BlocksCommitted, ChainState, CollectionId, CollectionKey, Followed, History, HistoryCommitted,
    LeaseHeld, LeaseHolder, LeaseSeen, Mark, Store, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};

use crate::real_store::check_store;
use crate::simulation::{Sim, WINDOW, weather_of};
use crate::stated_by;

/// A store of which a part is out of reach.
struct PartOfStore {
    store: Store,
    lost: Mutex<BTreeSet<Address>>,
}

impl PartOfStore {
    fn is_lost(&self, address: Address) -> bool {
        self.lost.lock().unwrap().contains(&address)
    }

    async fn lost_ids(&self) -> BTreeSet<CollectionId> {
        let followed = self.store.followed(CHAIN).await.unwrap();
        followed.iter().filter(|one| self.is_lost(one.key.address)).map(|one| one.id).collect()
    }

    async fn marks(&self, ids: &BTreeSet<CollectionId>) -> BTreeSet<(CollectionId, Mark)> {
        self.store.versions(ids.iter().copied().collect()).await.unwrap().into_iter().collect()
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("made up".into())
}

impl Books for PartOfStore {
    async fn chain_state(&self, chain: ChainId) -> Result<Option<ChainState>, StoreError> {
        self.store.chain_state(chain).await
    }

    async fn start_chain(&self, chain: ChainId, at: Block) -> Result<(), StoreError> {
        self.store.start_chain(chain, at).await
    }

    async fn followed(&self, chain: ChainId) -> Result<Vec<Followed>, StoreError> {
        self.store.followed(chain).await
    }

    async fn left(&self, chain: ChainId) -> Result<Vec<Address>, StoreError> {
        Books::left(&self.store, chain).await
    }

    async fn discover(&self, key: CollectionKey, from: u64, now: Timestamp) -> Result<(), StoreError> {
        if self.is_lost(key.address) {
            return Err(unavailable());
        }
        self.store.discover(key, from, now).await
    }

    async fn looked_back(&self, chain: ChainId, from: u64) -> Result<Option<u64>, StoreError> {
        self.store.looked_back(chain, from).await
    }

    async fn set_looked_back(&self, chain: ChainId, from: u64, next: u64) -> Result<(), StoreError> {
        self.store.set_looked_back(chain, from, next).await
    }

    async fn commit_blocks(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        let lost = self.lost_ids().await;
        // Now and then a node is away that nothing of the chain is on: then collections are asked one by one as well.
        let is_other_away = batch.blocks.first().is_some_and(|first| first.block.number % 2 == 1);
        if lost.is_empty() && !is_other_away {
            return self.store.commit_blocks(batch).await;
        }
        let before = self.marks(&lost).await;
        let committed = self.store.commit_blocks_without(batch, Some(lost.clone())).await;
        assert_eq!(before, self.marks(&lost).await, "what cannot be reached is not written");
        committed
    }

    async fn commit_history(&self, batch: History) -> Result<HistoryCommitted, StoreError> {
        if self.is_lost(batch.collection.address) {
            return Err(unavailable());
        }
        self.store.commit_history(batch).await
    }

    async fn out_of_reach(&self, ids: Vec<CollectionId>) -> Result<BTreeSet<CollectionId>, StoreError> {
        let lost = self.lost_ids().await;
        Ok(ids.into_iter().filter(|id| lost.contains(id)).collect())
    }

    async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
        until: Timestamp,
        ended: Option<LeaseSeen>,
    ) -> Result<LeaseHeld, StoreError> {
        self.store.hold_lease(chain, holder, until, ended).await
    }

    async fn release_lease(&self, chain: ChainId, holder: &LeaseHolder) -> Result<(), StoreError> {
        self.store.release_lease(chain, holder).await
    }
}

impl Sim<PartOfStore> {
    async fn on(seed: u64, database: &TestDatabase) -> Self {
        let store = database.open().await.unwrap();
        Self::new(seed, Arc::new(PartOfStore { store, lost: Mutex::default() }))
    }

    fn lose(&self, address: Address) {
        self.books.lost.lock().unwrap().insert(address);
    }

    fn find_again(&self) {
        self.books.lost.lock().unwrap().clear();
    }

    /// Follows until the store has the newest block, which nothing that is out of reach may prevent.
    async fn come_to_head(&mut self) {
        for _ in 0..200 {
            self.turn().await.unwrap();
            let head = self.shared.world().head().block;
            let state = self.books.store.chain_state(CHAIN).await.unwrap().unwrap();
            if state.checkpoint.hash == head.hash {
                return;
            }
        }
        panic!("the chain does not go on");
    }

    async fn next_block_of(&self, address: Address) -> (bool, u64) {
        let followed = self.books.store.following(CollectionKey { chain: CHAIN, address }).await.unwrap();
        let followed = followed.unwrap();
        (followed.live, followed.next_block)
    }

    async fn check(&mut self) {
        self.settle().await;
        check_store(self, &self.books.store).await;
        // What was read belatedly can be taken back like everything else.
        let depth = self.shared.world().depth_max(WINDOW).min(WINDOW - 2);
        self.shared.world().reorganise(depth.max(1), depth + 2);
        self.settle().await;
        check_store(self, &self.books.store).await;
    }
}

/// Collections come and go out of reach, whatever happens to the chain, the process and the node.
async fn storm(seed: u64) {
    let database = TestDatabase::fresh().await.unwrap();
    let mut sim = Sim::on(seed, &database).await;
    sim.shared.world().mine(60);
    sim.add_all().await;
    sim.settle().await;
    sim.set(weather_of(seed));
    for _ in 0..90 {
        let roll = |sides| sim.shared.dice.lock().unwrap().below(sides);
        let address = COLLECTIONS[usize::try_from(roll(COLLECTIONS.len() as u64)).unwrap()];
        let (step, blocks) = (roll(16), 1 + roll(12));
        match step {
            0..=2 => sim.shared.reorganise(),
            3 => sim.restart(),
            4 | 5 => sim.lose(address),
            6 => sim.find_again(),
            7..=13 => sim.shared.world().mine(blocks),
            _ => {}
        }
        match sim.turn().await {
            Err(FollowError::Stopped { message }) => panic!("stopped: {message}"),
            Err(FollowError::Store(error)) if !error.to_string().contains("made up") => {
                panic!("the store refused: {error}")
            }
            _ => {}
        }
    }
    sim.find_again();
    sim.check().await;
}

#[test]
fn whatever_is_out_of_reach_for_a_while_ends_with_the_same_store() {
    for seed in seeds(6) {
        run(seed, storm(seed));
    }
}

/// Blocks go on, are taken back twice and become too old to be undone while a collection is out of reach.
#[test]
fn blocks_that_were_taken_back_meanwhile_are_undone_however_late() {
    for (seed, later) in [(1, 3), (2, WINDOW / 2), (3, 3 * WINDOW)] {
        run(seed, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let mut sim = Sim::on(seed, &database).await;
            sim.shared.world().mine(60);
            sim.add_all().await;
            sim.settle().await;
            sim.shared.world().mine(6);
            sim.settle().await;
            let [lost, kept, ..] = COLLECTIONS;
            let (_, before) = sim.next_block_of(lost).await;
            sim.lose(lost);
            for depth in [4, 9] {
                sim.shared.world().reorganise(depth, depth + 1);
                sim.come_to_head().await;
                sim.restart();
            }
            for _ in 0..later {
                sim.shared.world().mine(1);
                sim.come_to_head().await;
            }
            let (is_live, next) = sim.next_block_of(lost).await;
            assert!(!is_live && next < before, "{next} {before}");
            assert!(sim.next_block_of(kept).await.0, "others are live");
            sim.find_again();
            sim.check().await;
        });
    }
}

/// Follows block by block while two collections are out of reach, each of which is set aside by the first block that states something
/// of it, or of no collection in particular; tells whether one was at a time when the other was not.
async fn one_by_one(seed: u64) -> bool {
    let database = TestDatabase::fresh().await.unwrap();
    let mut sim = Sim::on(seed, &database).await;
    sim.shared.world().mine(40);
    sim.add_all().await;
    // Nothing ever happens to it alone.
    let (busy, quiet) = (COLLECTIONS[0], Address::from_bytes([0x77; 20]));
    sim.add(quiet).await;
    sim.settle().await;
    let (mut is_apart, mut concerned) = (false, [false; 2]);
    for address in [busy, quiet] {
        sim.lose(address);
    }
    for _ in 0..20 {
        sim.shared.world().mine(1);
        sim.come_to_head().await;
        for (concerned, address) in concerned.iter_mut().zip([busy, quiet]) {
            *concerned |= !stated_by(sim.shared.world().head(), address).is_empty();
            assert_eq!(sim.next_block_of(address).await.0, !*concerned, "{address}");
        }
        is_apart |= concerned == [true, false];
    }
    sim.find_again();
    sim.check().await;
    is_apart
}

#[test]
fn a_collection_is_set_aside_by_the_first_block_that_concerns_it() {
    let (mut seed, is_apart) = (0, Arc::new(Mutex::new(false)));
    while !*is_apart.lock().unwrap() {
        assert!(seed < 20, "all blocks concern all collections");
        let found = Arc::clone(&is_apart);
        run(seed, async move {
            let is_apart = one_by_one(seed).await;
            *found.lock().unwrap() = is_apart;
        });
        seed += 1;
    }
}

/// Neither a chain on which all collections are wanted waits for those that cannot be made now, nor are these forgotten, also
/// not by who follows next.
#[test]
fn a_stranger_that_is_out_of_reach_is_followed_later() {
    run(6, async {
        let database = TestDatabase::fresh().await.unwrap();
        let mut sim = Sim::on(6, &database).await;
        sim.discover = true;
        sim.lose(STRANGER);
        sim.shared.world().mine(60);
        for _ in 0..5 {
            sim.shared.world().mine(20);
            sim.come_to_head().await;
            sim.restart();
        }
        let key = CollectionKey { chain: CHAIN, address: STRANGER };
        assert_eq!(sim.books.store.following(key).await.unwrap(), None);
        sim.find_again();
        sim.settle().await;
        assert!(sim.books.store.following(key).await.unwrap().is_some());
        let followed = sim.books.store.followed(CHAIN).await.unwrap();
        sim.added = followed.iter().map(|one| one.key.address).collect();
        sim.check().await;
    });
}
