//! Random facts in random blocks, random forks, restarts, and collections that join late: after each step the store is
//! what the blocks that count make of a store that never saw others.

use std::collections::BTreeMap;

use bourse_market::facts::{Block, Fact, StatedFact};
use bourse_store::testing::{TestDatabase, facts_digest, facts_rows};
use bourse_store::{
    Actor, BlockFacts, Blocks, BlocksCommitted, CollectionKey, Followed, History, HistoryCommitted, Store,
};
use bourse_wire::{Marketplace, Timestamp};
use proptest::prelude::Rng as _;
use proptest::test_runner::TestRunner;

use crate::database::open;
use crate::random::{explain, runner, seed};
use crate::stage::{
    CHAIN, Stage, WINDOW, account, approval, block_on, collection, filled, first_block, listing, stated,
    transfer,
};

const STEPS: u64 = 40;

/// The chain as it is, and the store that follows it.
struct Play {
    random: TestRunner,
    database: TestDatabase,
    store: Store,
    chain: Vec<BlockFacts>,
    forks: u64,
    /// How many collections are followed.
    collections: u8,
}

impl Play {
    async fn new(seed: u64) -> Self {
        let (database, store) = open().await;
        let first = first_block();
        store.start_chain(CHAIN, first).await.unwrap();
        let chain = vec![BlockFacts { block: first, facts: Vec::new() }];
        Self { random: runner(seed, 1), database, store, chain, forks: 0, collections: 0 }
    }

    fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.random.rng().next_u32()) % bound
    }

    fn small(&mut self, bound: u8) -> u8 {
        u8::try_from(self.below(bound.into())).unwrap()
    }

    fn fact(&mut self) -> Fact {
        let (token, order) = (self.below(5), self.below(8));
        let (one, other) = (self.small(4), self.small(4));
        match self.below(12) {
            0..=4 => transfer(token, one, other),
            5 => approval(one, other % 2 == 0),
            6 => Fact::TokenApproval { token_id: token.into(), operator: account(0xee * (one % 2)) },
            7 | 8 => listing(order, one, token),
            9 => filled(order, other, u64::from(one % 3)),
            10 => Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: order.to_string() },
            _ => Fact::OrdersInvalidated {
                marketplace: Marketplace::OwnV2,
                maker: account(one),
                below: order.to_string().parse().unwrap(),
            },
        }
    }

    fn block(&mut self, parent: &Block) -> BlockFacts {
        let block = block_on(parent, self.forks);
        let logs = self.below(6);
        let facts = (0..logs).map(|index| {
            let of = collection(self.small(3));
            stated(of, &block, index, self.fact())
        });
        let facts: Vec<StatedFact> = facts.collect();
        BlockFacts { block, facts }
    }

    /// The next blocks, after undoing some at times.
    async fn blocks(&mut self) {
        let newest = self.chain.last().unwrap().block;
        let kept = self.store.chain_state(CHAIN).await.unwrap().unwrap().window.len() as u64 - 1;
        let depth = if kept > 0 && self.below(2) == 0 { 1 + self.below(kept) } else { 0 };
        let rewind_to = (depth > 0).then(|| newest.number - depth);
        let mut all = self.chain.clone();
        all.retain(|facts| facts.block.number <= newest.number - depth);
        self.forks += 1;
        let mut blocks = Vec::new();
        for _ in 0..self.below(2 * WINDOW) {
            let parent = all.last().unwrap().block;
            let next = self.block(&parent);
            all.push(next.clone());
            blocks.push(next);
        }
        let followed = self.store.followed(CHAIN).await.unwrap();
        let live = followed.iter().filter(|collection| collection.live);
        let covered = live.map(|collection| collection.key.address).collect();
        let expected = newest.hash;
        let batch = Blocks { chain: CHAIN, expected, rewind_to, blocks, covered, window: WINDOW };
        let done = self.store.commit_blocks(batch).await.unwrap();
        assert!(matches!(done, BlocksCommitted::Done { .. }), "{done:?}");
        self.chain = all;
    }

    /// A collection joins, from a block that is there or will be.
    async fn join(&mut self) {
        if self.collections < 3 {
            let from = 100 + self.below(self.chain.len() as u64 + 3);
            self.store
                .follow(collection(self.collections), from, Actor::command_line(Timestamp::ZERO))
                .await
                .unwrap();
            self.collections += 1;
        }
    }

    /// The start of a collection moves to an earlier block: everything that was read of it is read again. Tokens stay
    /// meanwhile, so that it is read at once.
    async fn move_start(&mut self) {
        let followed = self.store.followed(CHAIN).await.unwrap();
        let Followed { key, from, .. } =
            followed[usize::try_from(self.below(followed.len() as u64)).unwrap()];
        let from = from.saturating_sub(self.below(3)).max(100);
        self.store.follow(key, from, Actor::command_line(Timestamp::ZERO)).await.unwrap();
        let followed = self.store.following(key).await.unwrap().unwrap();
        let newest = self.chain.last().unwrap().block.number;
        if !followed.live && followed.next_block <= newest {
            self.read(followed, newest).await;
        }
    }

    /// Those that are behind read some more of their history.
    async fn catch_up(&mut self) {
        let newest = self.chain.last().unwrap().block.number;
        for followed in self.store.followed(CHAIN).await.unwrap() {
            let from = followed.next_block;
            if !followed.live && from <= newest {
                let to = from + self.below(newest - from + 1);
                self.read(followed, to).await;
            }
        }
    }

    /// Reads the history of a collection up to a block.
    async fn read(&self, followed: Followed, to: u64) {
        let from = followed.next_block;
        let of_range = |facts: &&BlockFacts| (from..=to).contains(&facts.block.number);
        let blocks = self.chain.iter().filter(of_range).map(|facts| only(facts, followed.key)).collect();
        let history = History { collection: followed.key, from, to, blocks, window: WINDOW };
        let done = self.store.commit_history(history).await.unwrap();
        let live = to == self.chain.last().unwrap().block.number;
        assert!(matches!(done, HistoryCommitted::Done { live: is, .. } if is == live), "{done:?}");
    }

    async fn restart(&mut self) {
        self.store.close().await;
        self.store = self.database.open().await.unwrap();
    }

    /// A store that got only the blocks that count, at once, and of each collection what was read of it so far.
    async fn scratch(&self) -> (TestDatabase, Store) {
        let (database, fresh) = open().await;
        fresh.start_chain(CHAIN, first_block()).await.unwrap();
        let mut read = BTreeMap::new();
        for followed in self.store.followed(CHAIN).await.unwrap() {
            fresh.follow(followed.key, 100, Actor::command_line(Timestamp::ZERO)).await.unwrap();
            let (collection, window) = (followed.key, WINDOW);
            let history = History { collection, from: 100, to: 100, blocks: Vec::new(), window };
            fresh.commit_history(history).await.unwrap();
            read.insert(followed.key.address, followed.from..followed.next_block);
        }
        let blocks = self.chain.iter().skip(1).cloned().map(|mut facts| {
            let number = facts.block.number;
            facts
                .facts
                .retain(|stated| read.get(&stated.collection).is_some_and(|range| range.contains(&number)));
            facts
        });
        let batch = Blocks {
            chain: CHAIN,
            expected: first_block().hash,
            rewind_to: None,
            blocks: blocks.collect(),
            covered: read.keys().copied().collect(),
            window: WINDOW,
        };
        fresh.commit_blocks(batch).await.unwrap();
        (database, fresh)
    }
}

/// What a block states of one collection.
fn only(facts: &BlockFacts, of: CollectionKey) -> BlockFacts {
    let mut facts = facts.clone();
    facts.facts.retain(|stated| stated.collection == of.address);
    facts
}

#[tokio::test]
async fn the_store_is_what_the_blocks_that_count_make_of_it() {
    let seed = seed();
    let mut play = Play::new(seed).await;
    play.join().await;
    for step in 0..STEPS {
        match play.below(10) {
            0 => play.join().await,
            1..=3 => play.catch_up().await,
            4 => play.restart().await,
            5 => play.move_start().await,
            _ => play.blocks().await,
        }
        let (_database, fresh) = play.scratch().await;
        if facts_digest(&play.store, CHAIN).await.unwrap() != facts_digest(&fresh, CHAIN).await.unwrap() {
            let (found, expected) = (facts_rows(&play.store, CHAIN).await, facts_rows(&fresh, CHAIN).await);
            let why = explain(seed, format!("step {step}"));
            Stage::assert_same(&found.unwrap(), &expected.unwrap(), &why);
        }
        fresh.close().await;
    }
}
