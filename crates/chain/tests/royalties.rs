//! Whose royalties are asked for, and when, and what becomes of orders.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolValue};
use bourse_chain::questions::{getRoyaltyInfoCall, royaltyLeftCall};
use bourse_chain::testing::{Answers, Contracts};
use bourse_chain::{Call, CallResults, Caller, Failure, FollowedChain, Reverted, RoyaltyWatch};
use bourse_market::facts::{Block, BlockHash, Fact, OrderFilled, OrderMade, OrderRef, StatedFact};
use bourse_store::testing::TestDatabase;
use bourse_store::{
    Actor, BlockFacts, Blocks, BlocksCommitted, CollectionKey, History, OwnOrders, Payer, Store,
};
use bourse_wire::{Address, Amount, ChainId, Marketplace, OrderSide, Timestamp};

const CHAIN: ChainId = ChainId(137);
const INTERVAL: Duration = Duration::from_mins(5);
/// A marketplace that charges what holds at the fill, and one that holds its orders to what they were made with.
const THEIRS: u8 = 0xee;
const OURS: u8 = 0xef;
const MONEY: u8 = 0xdd;

fn account(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

fn collection() -> CollectionKey {
    CollectionKey { chain: CHAIN, address: account(0xc0) }
}

fn second(number: u64) -> Timestamp {
    Timestamp::from_unix_seconds(1_700_000_000 + number)
}

/// What contracts answer, and which tokens and blocks they were asked about.
#[derive(Default)]
struct Told {
    /// Basis points of tokens; all others have those of token 0.
    rates: Mutex<BTreeMap<u64, u64>>,
    /// What orders of our own market may still cost, and how many units that are.
    left: Mutex<BTreeMap<u64, (u64, u64)>>,
    /// What is answered once for all tokens, before anything else.
    too_early: Mutex<Option<u64>>,
    asked: Mutex<BTreeSet<u64>>,
    asked_at: Mutex<BTreeSet<BlockHash>>,
}

impl Answers for Told {
    fn answers(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.asked_at.lock().unwrap().insert(at.unwrap());
        let too_early = self.too_early.lock().unwrap().take();
        let answer = |call: &Call| {
            if let Ok(asked) = getRoyaltyInfoCall::abi_decode(&call.data) {
                let token = u64::try_from(asked.tokenId).unwrap();
                self.asked.lock().unwrap().insert(token);
                let rates = self.rates.lock().unwrap();
                let rate = rates.get(&token).or_else(|| rates.get(&0)).copied().unwrap_or_default();
                let rate = too_early.unwrap_or(rate);
                return Ok((raw(7), U256::from(rate)).abi_encode().into());
            }
            let order = royaltyLeftCall::abi_decode(&call.data).unwrap().requestId;
            let left = self.left.lock().unwrap().get(&u64::try_from(order).unwrap()).copied();
            let (royalty, units) = left.filter(|_| call.to == account(OURS)).ok_or(Reverted)?;
            Ok(Bytes::from((U256::from(royalty), U256::from(units)).abi_encode()))
        };
        Ok(calls.iter().map(answer).collect())
    }
}

fn raw(number: u8) -> alloy_primitives::Address {
    alloy_primitives::Address::from([number; 20])
}

/// A followed collection, with orders for its tokens.
struct Stage {
    _database: TestDatabase,
    store: Store,
    node: Contracts<Told>,
    watch: RoyaltyWatch,
    at: FollowedChain,
    now: Timestamp,
}

impl Stage {
    async fn with_orders(orders: Vec<Fact>) -> Self {
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        let block = Block { number: 100, hash: B256::repeat_byte(1), parent: B256::ZERO, at: second(0) };
        store.follow(collection(), block.number, Actor::command_line(block.at)).await.unwrap();
        store.start_chain(CHAIN, block).await.unwrap();
        let history =
            History { collection: collection(), from: 100, to: 100, blocks: Vec::new(), window: 10 };
        store.commit_history(history).await.unwrap();
        let at = FollowedChain { chain: CHAIN, block, reorgs: 0, live: [collection().address].into() };
        let watch = RoyaltyWatch::new(Caller::new(None), INTERVAL);
        let node = Contracts(Told::default());
        let mut stage = Self { _database: database, store, node, watch, at, now: second(0) };
        stage.grow(orders).await;
        stage
    }

    /// The next block, with these facts of the collection.
    async fn grow(&mut self, facts: Vec<Fact>) {
        self.replace(None, facts).await;
    }

    /// A block with these facts, instead of those after one or after the newest.
    async fn replace(&mut self, rewind_to: Option<Block>, facts: Vec<Fact>) {
        let parent = rewind_to.unwrap_or(self.at.block);
        let number = parent.number + 1;
        let hash = keccak256([&number.to_be_bytes()[..], &self.at.reorgs.to_be_bytes()].concat());
        let block = Block { number, hash, parent: parent.hash, at: second(number - 100) };
        let stated = |(log_index, fact)| StatedFact {
            collection: collection().address,
            tx_hash: hash,
            log_index,
            part: 0,
            fact,
        };
        let facts = (0..).zip(facts).map(stated).collect();
        let batch = Blocks {
            chain: CHAIN,
            expected: self.at.block.hash,
            rewind_to: rewind_to.map(|block| block.number),
            blocks: vec![BlockFacts { block, facts }],
            covered: vec![collection().address],
            window: 10,
        };
        let done = self.store.commit_blocks(batch).await.unwrap();
        assert!(matches!(done, BlocksCommitted::Done { .. }));
        self.at.block = block;
    }

    fn set_rate(&self, token: u64, bps: u64) {
        self.node.0.rates.lock().unwrap().insert(token, bps);
    }

    /// Looks as long as there is something to look at; whose offers cost something else, and which tokens were asked about.
    async fn look(&mut self) -> (Vec<Payer>, Vec<u64>) {
        self.node.0.asked.lock().unwrap().clear();
        let mut payers = Vec::new();
        for _ in 0..100 {
            payers.extend(self.watch.look(&self.node, &self.store, &self.at, self.now).await.unwrap());
            if !self.watch.has_more(self.now) {
                let asked = self.node.0.asked.lock().unwrap().iter().copied().collect();
                return (payers, asked);
            }
        }
        panic!("there is always more");
    }

    /// Which tokens were asked about.
    async fn asked(&mut self) -> Vec<u64> {
        self.look().await.1
    }

    /// The basis points of all orders, by their numbers.
    async fn shown(&self) -> Vec<(String, i64)> {
        let all = OwnOrders { after: None, open_at: None, most: 1_000 };
        let orders = self.store.own_orders(collection(), all).await.unwrap();
        let shown = |order: bourse_wire::OrderFacts| {
            assert_eq!(order.fee_breakdown.iter().map(|fee| fee.bps).sum::<i64>(), order.fee_bps);
            (order.order_id, order.fee_bps)
        };
        orders.into_iter().map(shown).collect()
    }
}

fn shown(orders: &[(&str, i64)]) -> Vec<(String, i64)> {
    orders.iter().map(|(order, bps)| ((*order).to_owned(), *bps)).collect()
}

/// An order for three units of a token at 100 each.
fn made(side: OrderSide, order: u64, token: u64, market: u8) -> Fact {
    Fact::OrderMade(Box::new(OrderMade {
        marketplace: if market == OURS { Marketplace::OwnV2 } else { Marketplace::OwnV1 },
        order_id: order.to_string(),
        side,
        maker: account(1),
        operator: account(market),
        token_id: Some(token.into()),
        quantity: Amount::from(3),
        price_amount: Amount::from(100),
        currency: account(MONEY),
        valid_until: second(1_000_000),
        fees: Vec::new(),
    }))
}

fn listing(order: u64, token: u64) -> Fact {
    made(OrderSide::Listing, order, token, THEIRS)
}

/// That all of an order was filled.
fn filled(order: u64) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: Marketplace::OwnV1,
        order_ref: OrderRef::Id(order.to_string()),
        taker: account(2),
        recipient: account(2),
        token_id: None,
        quantity: Amount::from(3),
        remaining: Some(Amount::ZERO),
    }))
}

const NOTHING: [u64; 0] = [];

#[tokio::test]
async fn a_royalty_that_changes_without_a_word_is_found_after_a_while() {
    let mut stage =
        Stage::with_orders(vec![listing(1, 1), listing(2, 2), listing(3, 2), listing(4, 4)]).await;
    stage.grow(vec![filled(4)]).await;
    stage.set_rate(0, 500);
    assert_eq!(stage.asked().await, [1, 2, 4], "what is different has all orders looked at");
    assert_eq!(stage.shown().await, shown(&[("1", 500), ("2", 500), ("3", 500), ("4", 500)]));
    assert_eq!(*stage.node.0.asked_at.lock().unwrap(), BTreeSet::from([stage.at.block.hash]));

    stage.set_rate(2, 1_000);
    stage.grow(Vec::new()).await;
    stage.now = second(299);
    assert_eq!(stage.asked().await, NOTHING);
    stage.now = second(301);
    stage.node.0.asked_at.lock().unwrap().clear();
    assert_eq!(stage.asked().await, [1, 2, 4]);
    assert_eq!(stage.shown().await, shown(&[("1", 500), ("2", 1_000), ("3", 1_000), ("4", 500)]));
    assert_eq!(*stage.node.0.asked_at.lock().unwrap(), BTreeSet::from([stage.at.block.hash]));
    stage.now = second(602);
    assert_eq!(stage.asked().await, [1, 2], "only what can be filled");
}

#[tokio::test]
async fn a_log_has_all_orders_of_its_collection_looked_at_at_once() {
    let mut stage = Stage::with_orders(vec![listing(1, 1), listing(2, 2)]).await;
    stage.grow(vec![filled(2)]).await;
    stage.set_rate(0, 300);
    stage.look().await;
    stage.set_rate(0, 700);
    assert_eq!(stage.asked().await, NOTHING);
    stage.watch.changed(collection().address, stage.now);
    assert_eq!(stage.asked().await, [1, 2]);
    assert_eq!(stage.shown().await, shown(&[("1", 700), ("2", 700)]));
}

/// Whoever believed a node that answers from the block that it makes would look at funds for another royalty than it shows.
#[tokio::test]
async fn a_royalty_of_a_block_that_is_not_followed_yet_is_not_believed() {
    let mut stage = Stage::with_orders(vec![made(OrderSide::Offer, 1, 1, THEIRS)]).await;
    stage.set_rate(0, 500);
    assert_eq!(stage.look().await.0.len(), 1);
    stage.now = second(301);
    *stage.node.0.too_early.lock().unwrap() = Some(900);
    assert_eq!(stage.look().await.0, []);
    assert_eq!(stage.shown().await, shown(&[("1", 500)]));
}

/// What a block that no longer counts said is not left behind, whether the order was in it or before it.
#[tokio::test]
async fn blocks_that_are_taken_back_take_their_royalties_with_them() {
    let mut stage = Stage::with_orders(vec![listing(1, 1)]).await;
    stage.set_rate(0, 500);
    stage.look().await;
    let base = stage.at.block;
    stage.grow(vec![listing(2, 2), filled(1)]).await;
    stage.set_rate(0, 900);
    stage.watch.changed(collection().address, stage.now);
    stage.look().await;
    assert_eq!(stage.shown().await, shown(&[("1", 900), ("2", 900)]));
    stage.at.reorgs += 1;
    stage.replace(Some(base), vec![listing(3, 3)]).await;
    assert_eq!(
        stage.shown().await,
        shown(&[("1", 900), ("3", 0)]),
        "what was looked up stays so until it is again"
    );
    stage.set_rate(0, 500);
    assert_eq!(stage.asked().await, [1, 3]);
    assert_eq!(stage.shown().await, shown(&[("1", 500), ("3", 500)]));
}

#[tokio::test]
async fn offers_that_cost_something_else_have_their_makers_looked_at() {
    let offer = made(OrderSide::Offer, 2, 2, THEIRS);
    let mut stage = Stage::with_orders(vec![listing(1, 1), offer]).await;
    let payer = Payer { maker: account(1), currency: account(MONEY), operator: account(THEIRS) };
    stage.set_rate(0, 500);
    assert_eq!(stage.look().await.0, [payer]);
    stage.now = second(301);
    assert_eq!(stage.look().await.0, []);
    // One that is held to less shows no other royalty, while a part of it costs more.
    stage.grow(vec![made(OrderSide::Offer, 3, 2, OURS)]).await;
    stage.node.0.left.lock().unwrap().insert(3, (15, 3));
    stage.watch.changed(collection().address, stage.now);
    let payer = Payer { operator: account(OURS), ..payer };
    assert_eq!(stage.look().await.0, [payer]);
    assert_eq!(stage.look().await.0, []);
    stage.set_rate(2, 700);
    stage.watch.changed(collection().address, stage.now);
    assert!(stage.look().await.0.contains(&payer));
    assert_eq!(stage.shown().await[2], ("3".to_owned(), 500));
}

/// 300 for all three units, of which 5 % were 15.
#[tokio::test]
async fn a_contract_that_holds_orders_to_their_royalty_is_believed() {
    let orders = [made(OrderSide::Listing, 1, 1, THEIRS), made(OrderSide::Listing, 1, 1, OURS)];
    let mut stage = Stage::with_orders(orders.into()).await;
    stage.node.0.left.lock().unwrap().insert(1, (15, 3));
    for (rate, ours) in [(500, 500), (1_000, 500), (200, 200), (0, 0), (800, 500)] {
        stage.set_rate(0, rate);
        stage.watch.changed(collection().address, stage.now);
        stage.look().await;
        let theirs = i64::try_from(rate).unwrap();
        assert_eq!(stage.shown().await, shown(&[("1", theirs), ("1", ours)]), "{rate}");
    }
}

/// Nothing that can be filled shows that the royalty was raised, and what is over does.
#[tokio::test]
async fn orders_that_are_over_follow_where_all_others_are_held_to_less() {
    let of_ours = |order| made(OrderSide::Listing, order, order, OURS);
    let mut stage = Stage::with_orders(vec![of_ours(1), of_ours(2), of_ours(3)]).await;
    stage.set_rate(0, 500);
    stage.node.0.left.lock().unwrap().extend([(1, (15, 3)), (3, (15, 3))]);
    let cancelled =
        |order: &str| Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: order.to_owned() };
    stage.grow(vec![cancelled("2")]).await;
    stage.look().await;
    stage.set_rate(0, 900);
    stage.now = second(301);
    stage.look().await;
    assert_eq!(stage.shown().await, shown(&[("1", 500), ("2", 900), ("3", 500)]));
    // One that is over is held to nothing any more.
    stage.node.0.left.lock().unwrap().remove(&3);
    stage.grow(vec![cancelled("3")]).await;
    stage.now = second(602);
    stage.look().await;
    assert_eq!(stage.shown().await, shown(&[("1", 500), ("2", 900), ("3", 900)]));
}

#[tokio::test]
async fn many_orders_are_looked_at_piece_by_piece() {
    let mut stage = Stage::with_orders((0..450).map(|order| listing(order, order)).collect()).await;
    stage.set_rate(0, 500);
    assert_eq!(stage.asked().await.len(), 450);
    assert!(stage.shown().await.iter().all(|(_, bps)| *bps == 500));
    stage.set_rate(449, 100);
    stage.now = second(301);
    stage.look().await;
    assert!(stage.shown().await.contains(&("449".to_owned(), 100)));
}
