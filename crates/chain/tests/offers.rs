//! Who is asked about the money behind offers, and when.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolEvent, SolValue};
use bourse_chain::questions::{allowanceCall, balanceOfCall, getRoyaltyInfoCall};
use bourse_chain::{
    Call, CallResults, Caller, Failure, FollowedChain, LogFilter, Node, OfferOptions, Offers, Reverted, Span,
    SpanLogs, TimedLog,
};
use bourse_market::facts::{Block, BlockHash, Fact, Log, OrderMade, StatedFact};
use bourse_store::testing::TestDatabase;
use bourse_store::{Actor, BlockFacts, Blocks, BlocksCommitted, CollectionKey, History, Store};
use bourse_wire::{Address, Amount, ChainId, Marketplace, OrderSide, Timestamp};

alloy_sol_types::sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Withdrawal(address indexed account, uint256 value);
}

const CHAIN: ChainId = ChainId(137);
const OPTIONS: OfferOptions =
    OfferOptions { payers_at_once: 3, royalties_at_once: 100, sweep: Duration::from_mins(5) };

fn account(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

fn collection() -> CollectionKey {
    CollectionKey { chain: CHAIN, address: account(0xc0) }
}

const NOBODY: [u8; 0] = [];
const MARKET: u8 = 0xee;
const MONEY: u8 = 0xdd;

/// A node that knows what accounts have, and notes whom it is asked about.
#[derive(Default)]
struct Bank {
    held: Mutex<BTreeMap<Address, u64>>,
    logs: Mutex<Vec<Log>>,
    asked: Mutex<BTreeSet<Address>>,
    /// The blocks that it was asked about.
    asked_at: Mutex<BTreeSet<BlockHash>>,
    /// Basis points that the market pays to the makers of every token.
    royalty: Mutex<u64>,
    /// Whether it refuses to tell logs.
    is_shy: Mutex<bool>,
}

impl Node for Bank {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        Ok(CHAIN)
    }

    async fn head(&self) -> Result<Block, Failure> {
        Err(Failure::retry("nobody asks"))
    }

    async fn blocks(&self, _: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        Err(Failure::retry("nobody asks"))
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        if *self.is_shy.lock().unwrap() {
            return Err(Failure::SmallerRange { suggested: None, reason: "too much".to_owned() });
        }
        let is_in = |log: &&Log| match span {
            Span::Range { from, to } => (from..=to).contains(&log.block_number),
            Span::Block(hash) => log.block_hash == hash,
        };
        let logs = self.logs.lock().unwrap();
        let told = logs.iter().filter(is_in).filter(|log| filters.iter().any(|filter| filter.admits(log)));
        Ok(told.map(|log| TimedLog { log: log.clone(), at: None }).collect::<Vec<_>>().into())
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.asked_at.lock().unwrap().insert(at.unwrap());
        let answer = |call: &Call| {
            if call.to == account(MARKET) {
                // It charges what holds when an order is filled, and holds none to anything.
                getRoyaltyInfoCall::abi_decode(&call.data).map_err(|_| Reverted)?;
                let royalty = U256::from(*self.royalty.lock().unwrap());
                return Ok(Bytes::from((raw(9), royalty).abi_encode()));
            }
            assert_eq!(call.to, account(MONEY));
            if let Ok(asked) = allowanceCall::abi_decode(&call.data) {
                assert_eq!(asked.spender.into_array(), [MARKET; 20]);
                return Ok(Bytes::from(U256::MAX.abi_encode()));
            }
            let of = balanceOfCall::abi_decode(&call.data).unwrap().account;
            let of = Address::from_bytes(of.into_array());
            self.asked.lock().unwrap().insert(of);
            let held = self.held.lock().unwrap().get(&of).copied().unwrap_or_default();
            Ok(Bytes::from(U256::from(held).abi_encode()))
        };
        Ok(calls.iter().map(answer).collect())
    }

    async fn code(&self, _: &[Address]) -> Result<Vec<Bytes>, Failure> {
        Err(Failure::retry("nobody asks"))
    }
}

/// A followed collection, with offers for its tokens.
struct Stage {
    _database: TestDatabase,
    store: Store,
    bank: Bank,
    offers: Offers,
    at: FollowedChain,
    now: Timestamp,
}

fn second(number: u64) -> Timestamp {
    Timestamp::from_unix_seconds(1_700_000_000 + number)
}

impl Stage {
    /// Makers of offers who have enough money each.
    async fn with_makers(makers: u8) -> Self {
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        let block = Block { number: 100, hash: B256::repeat_byte(1), parent: B256::ZERO, at: second(0) };
        store.follow(collection(), block.number, Actor::command_line(block.at)).await.unwrap();
        store.start_chain(CHAIN, block).await.unwrap();
        let history =
            History { collection: collection(), from: 100, to: 100, blocks: Vec::new(), window: 10 };
        store.commit_history(history).await.unwrap();
        let live = [collection().address].into();
        let offers = Offers::new(Caller::new(None), OPTIONS);
        let at = FollowedChain { chain: CHAIN, block, reorgs: 0, live };
        let bank = Bank::default();
        let mut stage = Self { _database: database, store, bank, offers, at, now: second(0) };
        let made: Vec<Fact> = (1..=makers).map(offer_of).collect();
        for maker in 1..=makers {
            stage.set(maker, 1_000);
        }
        stage.grow(made).await;
        while stage.look().await.len() == OPTIONS.payers_at_once {}
        stage
    }

    fn set(&self, maker: u8, held: u64) {
        self.bank.held.lock().unwrap().insert(account(maker), held);
    }

    /// The next block, with these facts of the collection.
    async fn grow(&mut self, facts: Vec<Fact>) {
        let parent = self.at.block;
        let number = parent.number + 1;
        let hash = keccak256(number.to_be_bytes());
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
            expected: parent.hash,
            rewind_to: None,
            blocks: vec![BlockFacts { block, facts }],
            covered: vec![collection().address],
            window: 10,
        };
        let done = self.store.commit_blocks(batch).await.unwrap();
        assert!(matches!(done, BlocksCommitted::Done { .. }));
        self.at.block = block;
    }

    /// A log of the money's contract in the newest block.
    fn log(&self, event: &impl SolEvent) {
        let data = event.encode_log_data();
        self.bank.logs.lock().unwrap().push(Log {
            address: account(MONEY),
            topics: data.topics().to_vec(),
            data: data.data,
            block_number: self.at.block.number,
            block_hash: self.at.block.hash,
            tx_hash: B256::ZERO,
            index: 0,
        });
    }

    /// Looks once; who was asked about.
    async fn look(&mut self) -> Vec<u8> {
        self.bank.asked.lock().unwrap().clear();
        let follower = || Some(self.at.clone());
        self.offers.look(&self.bank, &self.store, follower, self.now).await.unwrap();
        self.bank.asked.lock().unwrap().iter().map(|account| account.bytes()[0]).collect()
    }

    /// How many units of a maker's offer can be paid for.
    async fn covered(&self, maker: u8) -> Option<u64> {
        let offers = self.store.open_offers(CHAIN, vec![account(maker)]).await.unwrap();
        offers[0].1.backing.map(|units| u64::try_from(units.value()).unwrap())
    }
}

/// An offer for three units at 100 each.
fn offer_of(maker: u8) -> Fact {
    Fact::OrderMade(Box::new(OrderMade {
        marketplace: Marketplace::OwnV2,
        order_id: maker.to_string(),
        side: OrderSide::Offer,
        maker: account(maker),
        operator: account(MARKET),
        token_id: Some(1.into()),
        quantity: Amount::from(3),
        price_amount: Amount::from(100),
        currency: account(MONEY),
        valid_until: second(1_000_000),
        fees: Vec::new(),
    }))
}

fn raw(number: u8) -> alloy_primitives::Address {
    alloy_primitives::Address::from([number; 20])
}

/// Whoever offers something after a block gave them the money would be told that they lack it.
#[tokio::test]
async fn what_is_followed_while_offers_are_read_counts_for_them() {
    let mut stage = Stage::with_makers(1).await;
    stage.grow(Vec::new()).await;
    stage.log(&Transfer { from: raw(77), to: raw(1), value: U256::from(1) });
    let before = stage.at.clone();
    stage.grow(Vec::new()).await;
    let (newest, told) = (stage.at.clone(), Cell::new(0));
    let follower = || {
        told.set(told.get() + 1);
        Some(if told.get() == 1 { before.clone() } else { newest.clone() })
    };
    stage.bank.asked_at.lock().unwrap().clear();
    stage.offers.look(&stage.bank, &stage.store, follower, stage.now).await.unwrap();
    assert_eq!(*stage.bank.asked_at.lock().unwrap(), BTreeSet::from([newest.block.hash]));
}

#[tokio::test]
async fn only_those_whose_money_moved_are_asked_about() {
    let mut stage = Stage::with_makers(5).await;
    for maker in 1..=5 {
        assert_eq!(stage.covered(maker).await, Some(10), "{maker}");
    }
    stage.grow(Vec::new()).await;
    assert_eq!(stage.look().await, NOBODY, "nothing happened");
    stage.grow(Vec::new()).await;
    stage.set(2, 150);
    stage.log(&Transfer { from: raw(2), to: raw(77), value: U256::from(850) });
    assert_eq!(stage.look().await, [2]);
    assert_eq!((stage.covered(2).await, stage.covered(3).await), (Some(1), Some(10)));
    assert_eq!(stage.look().await, NOBODY, "once for each block");

    // In a block that was not looked at, and in the next one.
    stage.grow(Vec::new()).await;
    stage.log(&Approval { owner: raw(4), spender: raw(MARKET), value: U256::ZERO });
    stage.log(&Transfer { from: raw(77), to: raw(5), value: U256::ONE });
    stage.grow(Vec::new()).await;
    stage.log(&Withdrawal { account: raw(1), value: U256::ONE });
    stage.log(&Transfer { from: raw(77), to: raw(78), value: U256::ONE });
    assert_eq!(stage.look().await, [1, 4, 5]);
}

#[tokio::test]
async fn new_offers_are_looked_at_at_once_and_others_that_changed() {
    let mut stage = Stage::with_makers(2).await;
    stage.set(7, 100);
    stage.grow(vec![offer_of(7)]).await;
    assert_eq!(stage.look().await, [7]);
    assert_eq!(stage.covered(7).await, Some(1));
    // One that is over is nobody's to pay for.
    stage
        .grow(vec![Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: "7".to_owned() }])
        .await;
    stage.log(&Transfer { from: raw(7), to: raw(2), value: U256::ONE });
    assert_eq!(stage.look().await, [2, 7]);
    stage.grow(Vec::new()).await;
    stage.log(&Transfer { from: raw(7), to: raw(2), value: U256::ONE });
    assert_eq!(stage.look().await, [2]);
}

/// Three units at 100: 315 pay for them with 5 % on top, and for two of them with 10 %.
#[tokio::test]
async fn money_pays_for_the_royalty_that_holds_whatever_was_shown() {
    let mut stage = Stage::with_makers(1).await;
    let mut block = async |royalty: u64, held: u64| {
        *stage.bank.royalty.lock().unwrap() = royalty;
        stage.set(1, held);
        stage.grow(Vec::new()).await;
        stage.log(&Transfer { from: raw(1), to: raw(77), value: U256::ONE });
        assert_eq!(stage.look().await, [1]);
        stage.covered(1).await
    };
    assert_eq!(block(500, 315).await, Some(3));
    assert_eq!(block(500, 314).await, Some(2));
    assert_eq!(block(1_000, 315).await, Some(2));
    assert_eq!(block(10_000, 315).await, Some(1));
    assert_eq!(block(0, 300).await, Some(3));
}

#[tokio::test]
async fn money_that_changes_without_a_word_is_found_after_a_while() {
    let mut stage = Stage::with_makers(2).await;
    stage.set(1, 0);
    stage.grow(Vec::new()).await;
    stage.now = second(60);
    assert_eq!(stage.look().await, NOBODY);
    stage.grow(Vec::new()).await;
    stage.now = second(301);
    assert_eq!(stage.look().await, [1, 2]);
    assert_eq!(stage.covered(1).await, Some(0));
    assert_eq!(stage.look().await, NOBODY);
}

/// Whoever is not watched because of a clock that is ahead is watched again once it is right.
#[tokio::test]
async fn offers_that_were_over_by_a_clock_that_was_ahead_are_looked_at_once_it_is_set_back() {
    let mut stage = Stage::with_makers(2).await;
    stage.now = second(2_000_000);
    stage.grow(Vec::new()).await;
    assert_eq!(stage.look().await, [1, 2], "for the last time");
    stage.set(1, 150);
    stage.grow(Vec::new()).await;
    stage.log(&Transfer { from: raw(1), to: raw(77), value: U256::from(850) });
    assert_eq!(stage.look().await, NOBODY, "there is no offer");
    stage.now = second(10);
    assert_eq!(stage.look().await, [1, 2]);
    assert_eq!(stage.covered(1).await, Some(1));
    assert_eq!(stage.look().await, NOBODY, "once");
}

#[tokio::test]
async fn more_than_one_look_has_room_for_waits_for_the_next() {
    let mut stage = Stage::with_makers(5).await;
    stage.grow(Vec::new()).await;
    for maker in 1..=5 {
        stage.log(&Transfer { from: raw(maker), to: raw(77), value: U256::ONE });
    }
    let mut asked = stage.look().await;
    assert_eq!(asked.len(), OPTIONS.payers_at_once);
    assert!(stage.offers.has_more());
    asked.extend(stage.look().await);
    asked.sort_unstable();
    assert_eq!(asked, [1, 2, 3, 4, 5]);
    assert!(!stage.offers.has_more());
}

#[tokio::test]
async fn all_are_looked_at_when_nobody_can_tell_what_happened() {
    let mut stage = Stage::with_makers(3).await;
    // Blocks were taken back.
    stage.at.reorgs += 1;
    assert_eq!(stage.look().await, [1, 2, 3]);
    // The node does not tell.
    stage.grow(Vec::new()).await;
    *stage.bank.is_shy.lock().unwrap() = true;
    assert_eq!(stage.look().await, [1, 2, 3]);
    *stage.bank.is_shy.lock().unwrap() = false;
    // Somebody else followed meanwhile.
    stage.offers.forget();
    assert_eq!(stage.look().await, [1, 2, 3]);
    // A collection arrives with offers of older blocks.
    stage.at.live.clear();
    stage.look().await;
    stage.at.live.insert(collection().address);
    assert_eq!(stage.look().await, [1, 2, 3]);
}
