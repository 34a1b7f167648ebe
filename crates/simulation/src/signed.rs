//! Orders that somebody signed, and what the made-up chain says of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use alloy_primitives::{Address as RawAddress, B256, Bytes, U256};
use alloy_sol_types::{SolCall, SolEvent, SolValue, sol};
use bourse_chain::{Call, Reverted};
use bourse_protocols::venues::{Registry, Venue};
use bourse_wire::{Address, Marketplace};

use crate::node::CHAIN;
use crate::world::{COLLECTIONS, Facts, MONEY, Writer, address};

/// The contract in which signed orders are filled.
pub const SEAPORT: Address = address(0x93);

/// The marketplace of that contract.
pub fn seaport() -> Arc<Venue> {
    let deployment = format!("opensea {SEAPORT}").parse().unwrap();
    Registry::new([(CHAIN, vec![deployment])]).venue(CHAIN, Marketplace::Opensea).unwrap()
}

sol! {
    struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }
    struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }
    event OrderFulfilled(
        bytes32 orderHash,
        address indexed offerer,
        address indexed zone,
        address recipient,
        SpentItem[] offer,
        ReceivedItem[] consideration
    );
    event OrderCancelled(bytes32 orderHash, address indexed offerer, address indexed zone);
    event CounterIncremented(uint256 newCounter, address indexed offerer);
    event Deposit(address indexed account, uint256 value);
    event Withdrawal(address indexed account, uint256 value);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    function getOrderStatus(bytes32 orderHash) returns (bool isValidated, bool isCancelled, uint256 filled, uint256 size);
    function getCounter(address offerer) returns (uint256 counter);
    function isApprovedForAll(address owner, address operator) returns (bool isApproved);
    function getApproved(uint256 tokenId) returns (address operator);
    function ownerOf(uint256 tokenId) returns (address owner);
    function allowance(address owner, address spender) returns (uint256 allowance);
    interface Multiple { function balanceOf(address account, uint256 id) returns (uint256 balance); }
    interface Money { function balanceOf(address account) returns (uint256 balance); }
}

/// An order that somebody signed.
#[derive(Clone, Debug)]
pub struct SignedOrder {
    pub hash: B256,
    pub maker: Address,
    pub collection: Address,
    pub token: u64,
    pub is_listing: bool,
    pub quantity: u64,
    /// Of one unit.
    pub price: u64,
    /// The counter that its maker signed it with.
    pub counter: u64,
}

/// What matters to signed orders at the end of a block.
#[derive(Clone, Debug, Default)]
pub struct SignedFacts {
    /// How many units of how many of an order are filled.
    pub filled: BTreeMap<B256, (u64, u64)>,
    pub cancelled: BTreeSet<B256>,
    /// How often makers took back all that they had signed.
    pub counters: BTreeMap<Address, u64>,
    /// Collection, owner and operator.
    pub approvals: BTreeSet<(Address, Address, Address)>,
    /// Who may move a single token, by collection and token.
    pub token_approvals: BTreeMap<(Address, u64), Address>,
    /// What accounts have of [`MONEY`], all of which may be taken.
    pub funds: BTreeMap<Address, u64>,
}

impl SignedFacts {
    pub fn counter(&self, maker: Address) -> u64 {
        self.counters.get(&maker).copied().unwrap_or(0)
    }

    pub fn funds(&self, account: Address) -> u64 {
        self.funds.get(&account).copied().unwrap_or(0)
    }

    /// Units of an order that nobody has filled.
    pub fn remaining(&self, order: &SignedOrder) -> u64 {
        order.quantity - self.filled.get(&order.hash).map_or(0, |(units, _)| *units)
    }

    /// Whether somebody may move a token of an owner.
    pub fn may_move(&self, collection: Address, token: u64, (owner, operator): (Address, Address)) -> bool {
        self.approvals.contains(&(collection, owner, operator))
            || self.token_approvals.get(&(collection, token)) == Some(&operator)
    }

    pub(crate) fn approve(&mut self, collection: Address, owner: Address, operator: Address, approved: bool) {
        if approved {
            self.approvals.insert((collection, owner, operator));
        } else {
            self.approvals.remove(&(collection, owner, operator));
        }
    }

    fn of_orders(&self, data: &[u8]) -> Option<Vec<u8>> {
        if let Ok(asked) = getCounterCall::abi_decode(data) {
            return Some(U256::from(self.counter(known(asked.offerer))).abi_encode());
        }
        let hash = getOrderStatusCall::abi_decode(data).ok()?.orderHash;
        let (filled, size) = self.filled.get(&hash).copied().unwrap_or_default();
        let status = getOrderStatusReturn {
            isValidated: size > 0,
            isCancelled: self.cancelled.contains(&hash),
            filled: U256::from(filled),
            size: U256::from(size),
        };
        Some(getOrderStatusCall::abi_encode_returns(&status))
    }

    fn of_money(&self, data: &[u8]) -> Option<Vec<u8>> {
        if allowanceCall::abi_decode(data).is_ok() {
            return Some(U256::MAX.abi_encode());
        }
        let account = Money::balanceOfCall::abi_decode(data).ok()?.account;
        Some(U256::from(self.funds(known(account))).abi_encode())
    }
}

impl Facts {
    /// What a contract answers about orders and who stands behind them; `None` when it is asked about something else.
    pub(crate) fn answer(&self, call: &Call) -> Option<Result<Bytes, Reverted>> {
        let told = |answer: Option<Vec<u8>>| Some(answer.map(Bytes::from).ok_or(Reverted));
        match call.to {
            SEAPORT => told(self.signed.of_orders(&call.data)),
            MONEY => told(self.signed.of_money(&call.data)),
            collection if COLLECTIONS.contains(&collection) => {
                self.of_tokens(collection, &call.data).map(|answer| answer.map(Bytes::from))
            }
            _ => None,
        }
    }

    /// What a collection answers, which may be that the call fails; `None` when it is asked about something else.
    fn of_tokens(&self, collection: Address, data: &[u8]) -> Option<Result<Vec<u8>, Reverted>> {
        let is_single = Writer::is_single(collection);
        if let Ok(asked) = isApprovedForAllCall::abi_decode(data) {
            let key = (collection, known(asked.owner), known(asked.operator));
            return Some(Ok(self.signed.approvals.contains(&key).abi_encode()));
        }
        if let Ok(asked) = getApprovedCall::abi_decode(data) {
            let token = asked.tokenId.to::<u64>();
            let approved = self.signed.token_approvals.get(&(collection, token)).copied().unwrap_or_default();
            return Some(is_single.then(|| raw(approved).abi_encode()).ok_or(Reverted));
        }
        if let Ok(asked) = ownerOfCall::abi_decode(data) {
            let token = asked.tokenId.to::<u64>();
            let mut held = self.balances.keys().filter(|(of, held, _)| (*of, *held) == (collection, token));
            let owner = held.next().filter(|_| is_single);
            return Some(owner.map(|(.., owner)| raw(*owner).abi_encode()).ok_or(Reverted));
        }
        let asked = Multiple::balanceOfCall::abi_decode(data).ok()?;
        let held = self.balances.get(&(collection, asked.id.to::<u64>(), known(asked.account)));
        let answer = || U256::from(held.copied().unwrap_or(0)).abi_encode();
        Some((!is_single).then(answer).ok_or(Reverted))
    }
}

fn known(address: RawAddress) -> Address {
    Address::from_bytes(address.into_array())
}

fn raw(address: Address) -> RawAddress {
    RawAddress::from(*address.bytes())
}

impl Writer<'_> {
    /// Something happens to a signed order, or to who stands behind it.
    pub(crate) fn act_signed(&mut self) {
        let orders = self.signed;
        let order = self.dice.pick(orders);
        match self.dice.below(30) {
            0..=5 => self.fill_signed(order),
            6 => self.cancel_signed(order),
            7 => self.raise_counter(order.maker),
            8..=15 => self.let_move(order),
            16..=23 => self.supply(order),
            _ => self.move_money(order.maker),
        }
    }

    /// Whoever made an order gets some of the token that it is for.
    fn supply(&mut self, order: &SignedOrder) {
        let SignedOrder { maker, collection, token, .. } = *order;
        if !Self::is_single(collection) {
            let quantity = 1 + self.dice.below(4);
            return self.tell_transfer(collection, token, (Address::ZERO, maker), quantity);
        }
        let mut holders =
            self.facts.balances.keys().filter(|(of, held, _)| (*of, *held) == (collection, token));
        if let Some((.., holder)) = holders.next().copied() {
            self.tell_transfer(collection, token, (holder, maker), 1);
        }
    }

    fn emit(&mut self, contract: Address, event: &impl SolEvent) {
        let log = event.encode_log_data();
        self.log(contract, log.topics(), log.data.to_vec());
    }

    fn fill_signed(&mut self, order: &SignedOrder) {
        let facts = &self.facts.signed;
        let remaining = facts.remaining(order);
        let is_over = facts.cancelled.contains(&order.hash) || facts.counter(order.maker) != order.counter;
        if is_over || remaining == 0 {
            return;
        }
        let units = 1 + self.dice.below(remaining);
        let filled = (order.quantity - remaining + units, order.quantity);
        self.facts.signed.filled.insert(order.hash, filled);
        let kind = if Self::is_single(order.collection) { 2 } else { 3 };
        let (token, identifier, amount) = (raw(order.collection), U256::from(order.token), U256::from(units));
        let (money, paid) = (raw(MONEY), U256::from(order.price * units));
        let (maker, taker) = (raw(order.maker), raw(address(0xb1)));
        let of_money = SpentItem { itemType: 1, token: money, identifier: U256::ZERO, amount: paid };
        let of_token = SpentItem { itemType: kind, token, identifier, amount };
        let (given, asked) = if order.is_listing { (of_token, of_money) } else { (of_money, of_token) };
        let SpentItem { itemType, token, identifier, amount } = asked;
        let event = OrderFulfilled {
            orderHash: order.hash,
            offerer: maker,
            zone: RawAddress::ZERO,
            recipient: taker,
            offer: vec![given],
            consideration: vec![ReceivedItem { itemType, token, identifier, amount, recipient: maker }],
        };
        self.emit(SEAPORT, &event);
    }

    fn cancel_signed(&mut self, order: &SignedOrder) {
        self.facts.signed.cancelled.insert(order.hash);
        let event =
            OrderCancelled { orderHash: order.hash, offerer: raw(order.maker), zone: RawAddress::ZERO };
        self.emit(SEAPORT, &event);
    }

    fn raise_counter(&mut self, maker: Address) {
        let counter = self.facts.signed.counters.entry(maker).or_default();
        *counter += 1;
        let event = CounterIncremented { newCounter: U256::from(*counter), offerer: raw(maker) };
        self.emit(SEAPORT, &event);
    }

    /// Somebody lets the marketplace move all tokens, or does so no longer with those of one collection.
    fn let_move(&mut self, order: &SignedOrder) {
        let approved = self.dice.happens(700);
        let collections = if approved { COLLECTIONS.as_slice() } else { &[order.collection] };
        let event = ApprovalForAll { owner: raw(order.maker), operator: raw(SEAPORT), approved };
        for collection in collections {
            self.facts.signed.approve(*collection, order.maker, SEAPORT, approved);
            self.emit(*collection, &event);
        }
    }

    fn move_money(&mut self, account: Address) {
        let (had, has) = (self.facts.signed.funds(account), self.dice.below(200));
        self.facts.signed.funds.insert(account, has);
        let (account, value) = (raw(account), U256::from(had.abs_diff(has)));
        if has < had {
            self.emit(MONEY, &Withdrawal { account, value });
        } else {
            self.emit(MONEY, &Deposit { account, value });
        }
    }
}
