//! What contracts are asked about signed orders, and what becomes of the answers.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::{Arc, Mutex};

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::{SolCall, sol};
use bourse_chain::testing::{Answers, Contracts};
use bourse_chain::{Call, CallResults, Caller, Failure, Reverted, Standings};
use bourse_market::facts::{Block, BlockHash};
use bourse_protocols::native::SubmittedOrder;
use bourse_protocols::venues::{Registry, Venue};
use bourse_store::testing::{TestDatabase, batch};
use bourse_store::{Actor, BlockFacts, Blocks, Change, CollectionKey, History, SignedOrder, Store};
use bourse_wire::{
    Address, Amount, ChainId, JsonObject, Marketplace, OrderFacts, OrderKey, OrderStatus, Timestamp,
};
use serde_json::Value;

sol! {
    function getOrderStatus(bytes32 orderHash) returns (bool isValidated, bool isCancelled, uint256 filled, uint256 size);
    function getCounter(address offerer) returns (uint256 counter);
    function isApprovedForAll(address owner, address operator) returns (bool isApproved);
}

const CHAIN: ChainId = ChainId(1);
const MARKET: Marketplace = Marketplace::Opensea;

/// A contract that knows what became of all orders, at one block.
struct Contract {
    at: BlockHash,
    cancelled: bool,
    filled: (u64, u64),
    counter: u64,
    /// Whether tokens may be moved, by now and at that block.
    approved: bool,
    approved_then: bool,
    /// How many more answers come from the state of the next block, in which all orders are cancelled.
    ahead: Mutex<usize>,
    asked: Mutex<usize>,
}

impl Answers for Contract {
    fn answers(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        if at.is_none() {
            return Ok(calls.iter().map(|call| Self::approval(call, self.approved)).collect());
        }
        assert_eq!(at, Some(self.at), "the block that the chain is followed to");
        if calls.iter().any(|call| isApprovedForAllCall::abi_decode(&call.data).is_ok()) {
            return Ok(calls.iter().map(|call| Self::approval(call, self.approved_then)).collect());
        }
        *self.asked.lock().unwrap() += calls.len();
        let mut ahead = self.ahead.lock().unwrap();
        let is_ahead = *ahead > 0;
        *ahead = ahead.saturating_sub(1);
        drop(ahead);
        let answer = |call: &Call| {
            let answer = if getCounterCall::abi_decode(&call.data).is_ok() {
                getCounterCall::abi_encode_returns(&U256::from(self.counter))
            } else {
                let (filled, size) = (U256::from(self.filled.0), U256::from(self.filled.1));
                getOrderStatusCall::abi_encode_returns(&getOrderStatusReturn {
                    isValidated: filled != U256::ZERO,
                    isCancelled: self.cancelled || is_ahead,
                    filled,
                    size,
                })
            };
            Ok(Bytes::from(answer))
        };
        Ok(calls.iter().map(answer).collect())
    }
}

impl Contract {
    /// What the collection says, in which single tokens have no approvals.
    fn approval(call: &Call, approved: bool) -> Result<Bytes, Reverted> {
        isApprovedForAllCall::abi_decode(&call.data).map_err(|_| Reverted)?;
        Ok(isApprovedForAllCall::abi_encode_returns(&approved).into())
    }
}

fn venue() -> Arc<Venue> {
    Registry::default().venue(CHAIN, MARKET).unwrap()
}

/// An order that somebody signed, and its collection.
fn order(name: &str) -> (CollectionKey, SignedOrder) {
    let vectors: Value = serde_json::from_str(include_str!("../../protocols/vectors/vectors.json")).unwrap();
    let cases = vectors["seaport"]["cases"].as_array().unwrap().clone();
    let case = cases.into_iter().find(|case| case["name"] == name).unwrap();
    let native: JsonObject = serde_json::from_value(case["orders"][0]["native"].clone()).unwrap();
    let signature = case["orders"][0]["signature"].as_str();
    let admitted = venue().read_order(SubmittedOrder { native: &native, signature }).unwrap();
    let key = CollectionKey { chain: CHAIN, address: admitted.collection };
    (key, SignedOrder { facts: admitted.facts, native: admitted.text, nonces: admitted.nonces })
}

struct Stage {
    _database: TestDatabase,
    store: Store,
    at: Block,
    key: CollectionKey,
    order_id: String,
}

impl Stage {
    /// A followed collection with one signed order.
    async fn with(name: &str) -> Self {
        let (key, order) = order(name);
        let order_id = order.facts.order_id.clone();
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        let block =
            Block { number: 100, hash: B256::repeat_byte(1), parent: B256::ZERO, at: Timestamp::ZERO };
        store.follow(key, block.number, Actor::command_line(block.at)).await.unwrap();
        store.start_chain(CHAIN, block).await.unwrap();
        let history = History { collection: key, from: 100, to: 100, blocks: Vec::new(), window: 10 };
        store.commit_history(history).await.unwrap();
        let changes = vec![Change::SignedOrder(Box::new(order))];
        store.commit(batch(key, changes)).await.unwrap();
        Self { _database: database, store, at: block, key, order_id }
    }

    /// The next block, so many seconds later.
    async fn grow(&mut self, seconds: i128) {
        let Block { number, hash, at, .. } = self.at;
        let block = Block {
            number: number + 1,
            hash: B256::repeat_byte(u8::try_from(number - 98).unwrap()),
            parent: hash,
            at: Timestamp::from_unix_nanos(at.unix_nanos() + seconds * 1_000_000_000),
        };
        let blocks = vec![BlockFacts { block, facts: Vec::new() }];
        let covered = vec![self.key.address];
        let batch = Blocks { chain: CHAIN, expected: hash, rewind_to: None, blocks, covered, window: 10 };
        self.store.commit_blocks(batch).await.unwrap();
        self.at = block;
    }

    fn contract(&self) -> Contract {
        let asked = Mutex::new(0);
        Contract {
            at: self.at.hash,
            cancelled: false,
            filled: (0, 0),
            counter: 0,
            approved: true,
            approved_then: true,
            ahead: Mutex::new(0),
            asked,
        }
    }

    /// Looks; whose money is to be looked at.
    async fn look(&self, contract: &Contracts<Contract>) -> Vec<Address> {
        let standings = Standings::new(Caller::new(None), vec![venue()]);
        let payers = standings.look(contract, &self.store, CHAIN).await.unwrap();
        payers.into_iter().map(|payer| payer.maker).collect()
    }

    async fn order(&self) -> OrderFacts {
        let id = self.store.collection(self.key).await.unwrap().unwrap();
        let keys = vec![OrderKey { marketplace: MARKET, order_id: self.order_id.clone() }];
        self.store.orders_by_key(id, keys).await.unwrap().pop().unwrap()
    }
}

#[tokio::test]
async fn an_answer_from_the_state_of_the_next_block_is_not_believed() {
    let stage = Stage::with("four of ten units, with a fee that is scaled").await;
    let contract = Contracts(Contract { ahead: Mutex::new(1), ..stage.contract() });
    stage.look(&contract).await;
    assert_eq!(stage.order().await.status, OrderStatus::Active);
    assert_eq!(*contract.0.asked.lock().unwrap(), 4, "asked again");
}

#[tokio::test]
async fn what_was_filled_before_is_asked_once() {
    let stage = Stage::with("four of ten units, with a fee that is scaled").await;
    let contract = Contracts(Contract { filled: (3, 5), ..stage.contract() });
    assert!(stage.look(&contract).await.is_empty(), "listings need nobody's money");
    assert_eq!(stage.order().await.quantity_remaining, 4.into());
    assert_eq!(*contract.0.asked.lock().unwrap(), 4, "what changes something twice");
    stage.look(&contract).await;
    assert_eq!(*contract.0.asked.lock().unwrap(), 4, "that is settled");
}

#[tokio::test]
async fn an_order_that_is_over_is_cancelled() {
    for over in [
        |contract: Contract| Contract { cancelled: true, ..contract },
        |contract| Contract { counter: 1, ..contract },
    ] {
        let stage = Stage::with("a token for the chain's own currency").await;
        stage.look(&Contracts(over(stage.contract()))).await;
        assert_eq!(stage.order().await.status, OrderStatus::Cancelled);
    }
}

#[tokio::test]
async fn a_listing_that_nobody_may_move_the_token_of_is_not_covered() {
    for (approved, backing) in [(false, Some(Amount::ZERO)), (true, None)] {
        let stage = Stage::with("four of ten units, with a fee that is scaled").await;
        let approved_then = approved;
        stage
            .look(&Contracts(Contract { approved, approved_then, filled: (3, 5), ..stage.contract() }))
            .await;
        let order = stage.order().await;
        assert_eq!((order.backing, order.quantity_remaining), (backing, 4.into()));
    }
}

/// Nothing tells of a block that was taken back before it was read.
#[tokio::test]
async fn an_approval_of_a_block_that_is_taken_back_unread_is_asked_about_again() {
    for (approved, shown) in [(true, None), (false, Some(Amount::ZERO))] {
        let mut stage = Stage::with("a token for the chain's own currency").await;
        let ahead = Contract { approved, approved_then: !approved, ..stage.contract() };
        stage.look(&Contracts(ahead)).await;
        assert_eq!(stage.order().await.backing, shown, "who has just allowed it signs at once");
        stage.grow(12).await;
        let without = Contract { approved: !approved, approved_then: !approved, ..stage.contract() };
        stage.look(&Contracts(without)).await;
        assert_eq!(stage.order().await.backing, approved.then_some(Amount::ZERO));
        assert!(stage.store.unsettled_orders(CHAIN, 10).await.unwrap().is_empty(), "that is settled");
    }
}

#[tokio::test]
async fn the_money_behind_a_new_offer_is_looked_at() {
    let stage = Stage::with("an offer is taken").await;
    let maker = stage.order().await.maker;
    assert_eq!(stage.look(&Contracts(stage.contract())).await, [maker]);
}

#[tokio::test]
async fn a_marketplace_that_is_not_spoken_with_settles_nothing_and_is_not_asked_again() {
    let stage = Stage::with("a token for the chain's own currency").await;
    let standings = Standings::new(Caller::new(None), Vec::new());
    let contract = Contracts(stage.contract());
    standings.look(&contract, &stage.store, CHAIN).await.unwrap();
    assert_eq!(stage.order().await.status, OrderStatus::Active);
    assert!(stage.store.unsettled_orders(CHAIN, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_order_signed_after_its_maker_raised_the_counter_is_asked_about_again() {
    // What follows the chain has not come to the block in which the maker raised the counter to 7.
    let mut stage = Stage::with("a token for a currency, through the conduit").await;
    stage.look(&Contracts(Contract { counter: 6, ..stage.contract() })).await;
    assert_eq!(stage.order().await.status, OrderStatus::Active);
    assert_eq!(stage.store.unsettled_orders(CHAIN, 10).await.unwrap().len(), 1, "it is asked about again");
    stage.grow(30).await;
    stage.look(&Contracts(Contract { counter: 7, ..stage.contract() })).await;
    assert_eq!(stage.order().await.status, OrderStatus::Active);
    assert!(stage.store.unsettled_orders(CHAIN, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_order_whose_number_its_maker_never_comes_to_is_over() {
    let mut stage = Stage::with("a token for a currency, through the conduit").await;
    for seconds in [0, 300, 299, 1] {
        assert_eq!(stage.order().await.status, OrderStatus::Active);
        stage.grow(seconds).await;
        stage.look(&Contracts(Contract { counter: 6, ..stage.contract() })).await;
    }
    assert_eq!(stage.order().await.status, OrderStatus::Cancelled);
    assert!(stage.store.unsettled_orders(CHAIN, 10).await.unwrap().is_empty());
}
