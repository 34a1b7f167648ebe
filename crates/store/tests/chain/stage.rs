//! A chain to play, and a store that follows it.

use alloy_primitives::{B256, keccak256};
use bourse_market::facts::{Block, Fact, OrderFilled, OrderMade, OrderRef, StatedFact};
use bourse_store::testing::{TestDatabase, facts_rows};
use bourse_store::{
    Actor, BlockFacts, Blocks, BlocksCommitted, CollectionId, CollectionKey, History, HistoryCommitted,
    Store, StoreError,
};
use bourse_wire::{Address, ChainId, Marketplace, OrderSide, Timestamp};

use crate::database::open;

pub(crate) const CHAIN: ChainId = ChainId(137);
pub(crate) const WINDOW: u64 = 4;

pub(crate) fn account(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

pub(crate) fn collection(number: u8) -> CollectionKey {
    CollectionKey { chain: CHAIN, address: account(0xc0 + number) }
}

/// The block of a fork at a height, upon its parent.
pub(crate) fn block_on(parent: &Block, fork: u64) -> Block {
    let number = parent.number + 1;
    let hash = keccak256(format!("{fork} {number} {}", parent.hash));
    Block { number, hash, parent: parent.hash, at: time_of(number) }
}

pub(crate) fn first_block() -> Block {
    Block { number: 100, hash: B256::repeat_byte(1), parent: B256::ZERO, at: time_of(100) }
}

fn time_of(number: u64) -> Timestamp {
    Timestamp::from_unix_nanos(1_700_000_000_000_000_000 + i128::from(number) * 12_000_000_000)
}

/// What a collection's contract, or a marketplace of it, states in a block. Every other transaction is in all forks.
pub(crate) fn stated(collection: CollectionKey, block: &Block, log_index: u64, fact: Fact) -> StatedFact {
    let only_in = if log_index.is_multiple_of(2) { block.hash } else { B256::ZERO };
    let tx_hash = keccak256(format!("{} {log_index} {only_in}", block.number));
    StatedFact { collection: collection.address, tx_hash, log_index, part: 0, fact }
}

pub(crate) fn transfer(token: u64, from: u8, to: u8) -> Fact {
    let (from, to) = (account(from), account(to));
    Fact::Transfer { token_id: token.into(), from, to, quantity: 1.into(), single: true }
}

pub(crate) fn listing(order_id: u64, maker: u8, token: u64) -> Fact {
    Fact::OrderMade(Box::new(OrderMade {
        marketplace: Marketplace::OwnV2,
        order_id: order_id.to_string(),
        side: OrderSide::Listing,
        maker: account(maker),
        operator: account(0xee),
        token_id: Some(token.into()),
        quantity: 3.into(),
        price_amount: 1_000.into(),
        currency: Address::ZERO,
        valid_until: time_of(1_000_000),
        fees: Vec::new(),
    }))
}

pub(crate) fn filled(order_id: u64, taker: u8, remaining: u64) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: Marketplace::OwnV2,
        order_ref: OrderRef::Id(order_id.to_string()),
        taker: account(taker),
        recipient: account(taker),
        token_id: None,
        quantity: 1.into(),
        remaining: Some(remaining.into()),
    }))
}

pub(crate) fn approval(owner: u8, approved: bool) -> Fact {
    Fact::Approval { owner: account(owner), operator: account(0xee), approved }
}

/// A store that follows one collection from the block after the first one on, which is live.
pub(crate) struct Stage {
    /// Kept until the end.
    _database: TestDatabase,
    pub(crate) store: Store,
    pub(crate) id: CollectionId,
    /// The blocks that count, oldest first.
    pub(crate) chain: Vec<BlockFacts>,
    covered: Vec<Address>,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let (database, store) = open().await;
        let first = first_block();
        let id =
            store.follow(collection(0), first.number, Actor::command_line(Timestamp::ZERO)).await.unwrap();
        store.start_chain(CHAIN, first).await.unwrap();
        let chain = vec![BlockFacts { block: first, facts: Vec::new() }];
        let stage = Self { _database: database, store, id, chain, covered: vec![collection(0).address] };
        let caught_up = stage.history(collection(0), first.number, first.number, Vec::new()).await.unwrap();
        assert_eq!(caught_up, HistoryCommitted::Done { live: true, changed: 0 });
        stage
    }

    pub(crate) fn newest(&self) -> Block {
        self.chain.last().unwrap().block
    }

    /// The blocks of a fork upon one that counts, with these facts of the first collection each.
    pub(crate) fn fork(&self, upon: u64, fork: u64, facts: &[&[Fact]]) -> Vec<BlockFacts> {
        let mut parent = self.at(upon).block;
        let block = |facts: &&[Fact]| {
            let block = block_on(&parent, fork);
            parent = block;
            let of_block = |(index, fact): (u64, &Fact)| stated(collection(0), &block, index, fact.clone());
            BlockFacts { block, facts: (0..).zip(*facts).map(of_block).collect() }
        };
        facts.iter().map(block).collect()
    }

    pub(crate) fn at(&self, number: u64) -> &BlockFacts {
        self.chain.iter().find(|facts| facts.block.number == number).unwrap()
    }

    pub(crate) fn batch(&self, rewind_to: Option<u64>, blocks: Vec<BlockFacts>) -> Blocks {
        let (expected, covered) = (self.newest().hash, self.covered.clone());
        Blocks { chain: CHAIN, expected, rewind_to, blocks, covered, window: WINDOW }
    }

    pub(crate) async fn commit(
        &mut self,
        rewind_to: Option<u64>,
        blocks: Vec<BlockFacts>,
    ) -> Result<u64, StoreError> {
        match self.store.commit_blocks(self.batch(rewind_to, blocks.clone())).await? {
            BlocksCommitted::Done { changed, .. } => {
                self.chain.retain(|facts| rewind_to.is_none_or(|to| facts.block.number <= to));
                self.chain.extend(blocks);
                Ok(changed)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Takes the next blocks, with these facts each.
    pub(crate) async fn grow(&mut self, facts: &[&[Fact]]) -> u64 {
        let blocks = self.fork(self.newest().number, 0, facts);
        self.commit(None, blocks).await.unwrap()
    }

    /// Replaces the blocks after one.
    pub(crate) async fn replace(&mut self, upon: u64, fork: u64, facts: &[&[Fact]]) -> u64 {
        let blocks = self.fork(upon, fork, facts);
        self.commit(Some(upon), blocks).await.unwrap()
    }

    pub(crate) fn cover(&mut self, collection: CollectionKey) {
        self.covered.push(collection.address);
    }

    pub(crate) async fn history(
        &self,
        collection: CollectionKey,
        from: u64,
        to: u64,
        blocks: Vec<BlockFacts>,
    ) -> Result<HistoryCommitted, StoreError> {
        self.store.commit_history(History { collection, from, to, blocks, window: WINDOW }).await
    }

    /// Everything that the chain made of the store.
    pub(crate) async fn facts(&self) -> Vec<String> {
        facts_rows(&self.store, CHAIN).await.unwrap()
    }

    /// What the same blocks make of a store that never saw others.
    pub(crate) async fn facts_from_scratch(&self) -> Vec<String> {
        let mut fresh = Self::new().await;
        let after_first = self.chain.iter().skip(1).cloned().collect();
        fresh.commit(None, after_first).await.unwrap();
        fresh.facts().await
    }

    /// Fails when the store is not what the blocks that count make of it.
    #[track_caller]
    pub(crate) fn assert_same(found: &[String], expected: &[String], why: &str) {
        let missing: Vec<_> = expected.iter().filter(|row| !found.contains(row)).collect();
        let surplus: Vec<_> = found.iter().filter(|row| !expected.contains(row)).collect();
        assert!(found == expected, "{why}: missing {missing:#?}, surplus {surplus:#?}");
    }
}
