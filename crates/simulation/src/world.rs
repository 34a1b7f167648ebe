//! A chain that is made up: blocks, what contracts write into them, and what is so at the end of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use alloy_primitives::{B256, Bloom, Bytes, U256, keccak256};
use alloy_sol_types::SolValue;
use bourse_chain::Header;
use bourse_chain::decode::TOKEN_TOPICS;
use bourse_market::facts::{Block, Log};
use bourse_protocols::Protocol;
use bourse_protocols::own::{Own, TOPICS as MARKET_TOPICS};
use bourse_wire::{Address, Marketplace, Timestamp};

use crate::dice::Dice;
use crate::signed::{SEAPORT, SignedFacts, SignedOrder};

pub const fn address(byte: u8) -> Address {
    Address::from_bytes([byte; 20])
}

/// Collections: the first half has one of each token, the others several.
pub const COLLECTIONS: [Address; 4] = [address(0xc1), address(0xc2), address(0xc3), address(0xc4)];
/// A collection that nobody registers.
pub const STRANGER: Address = address(0xc9);
pub const MARKETS: [(Address, Marketplace); 2] =
    [(address(0x91), Marketplace::OwnV1), (address(0x92), Marketplace::OwnV2)];

/// How these are spoken with.
pub fn protocols() -> Vec<Arc<dyn Protocol>> {
    let [(v1, _), (v2, _)] = MARKETS;
    vec![Arc::new(Own::v1(v1)), Arc::new(Own::v2(v2, None))]
}

/// Who makes and takes orders.
pub const PEOPLE: [Address; 5] = [address(0xa1), address(0xa2), address(0xa3), address(0xa4), address(0xa5)];
/// What orders of contracts are paid with.
pub const MONEY: Address = address(0x20);

/// An order as the world has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldOrder {
    pub maker: Address,
    pub is_listing: bool,
    pub price: u64,
    pub remaining: u64,
    pub is_cancelled: bool,
}

/// What is so at the end of a block.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Collection, token and account.
    pub balances: BTreeMap<(Address, u64, Address), u64>,
    /// Collection, marketplace and number.
    pub orders: BTreeMap<(Address, u8, u64), WorldOrder>,
    /// Tokens that were ever made.
    pub tokens: BTreeSet<(Address, u64)>,
    /// What matters to signed orders.
    pub signed: SignedFacts,
    next_order: u64,
}

/// A block with what was written into it.
#[derive(Debug)]
pub struct WorldBlock {
    pub block: Block,
    pub logs: Vec<Log>,
    pub facts: Facts,
}

impl WorldBlock {
    /// The block, with what it says of its logs.
    pub fn header(&self) -> Header {
        let mut bloom = Bloom::ZERO;
        for log in &self.logs {
            bloom.accrue_raw_log(log.address.bytes().into(), &log.topics);
        }
        Header { block: self.block, bloom: Some(Box::new(bloom)) }
    }
}

/// All blocks that there ever were, and those that count.
pub struct World {
    pub dice: Dice,
    pub chain: Vec<Arc<WorldBlock>>,
    pub by_hash: HashMap<B256, Arc<WorldBlock>>,
    /// The highest block that there ever was.
    pub highest: u64,
    nonce: u64,
    /// Who makes and takes orders.
    people: Vec<Address>,
    /// Who may be let move tokens.
    operators: Vec<Address>,
    /// Orders that somebody signed.
    signed: Vec<SignedOrder>,
}

impl World {
    pub fn new(dice: Dice) -> Self {
        Self::trading(dice, Vec::new())
    }

    /// A world in which these orders are filled and taken back too.
    pub fn trading(dice: Dice, signed: Vec<SignedOrder>) -> Self {
        let makers: BTreeSet<Address> = signed.iter().map(|order| order.maker).collect();
        let mut operators = MARKETS.map(|(market, _)| market).to_vec();
        if !signed.is_empty() {
            operators.push(SEAPORT);
        }
        let mut world = Self {
            dice,
            chain: Vec::new(),
            by_hash: HashMap::new(),
            highest: 0,
            nonce: 0,
            people: PEOPLE.into_iter().chain(makers).collect(),
            operators,
            signed,
        };
        world.mine(1);
        world
    }

    /// Whether orders are filled here that somebody signed.
    pub(crate) fn is_trading(&self) -> bool {
        !self.signed.is_empty()
    }

    pub fn head(&self) -> &Arc<WorldBlock> {
        &self.chain[self.chain.len() - 1]
    }

    /// Makes so many blocks.
    pub fn mine(&mut self, blocks: u64) {
        for _ in 0..blocks {
            self.nonce += 1;
            let number = self.chain.len() as u64;
            let parent = self.chain.last();
            let (hash, facts) = parent
                .map_or((B256::ZERO, Facts::default()), |parent| (parent.block.hash, parent.facts.clone()));
            let block = Block {
                number,
                hash: keccak256([hash.as_slice(), &self.nonce.to_be_bytes()].concat()),
                parent: hash,
                at: Timestamp::from_unix_nanos(
                    i128::from(1_700_000_000 + number * 2 + self.nonce % 2) * 1_000_000_000,
                ),
            };
            let mut writer = Writer {
                dice: &mut self.dice,
                people: &self.people,
                operators: &self.operators,
                signed: &self.signed,
                block,
                facts,
                logs: Vec::new(),
            };
            if number > 0 {
                writer.act();
            }
            let made = Arc::new(WorldBlock { block, facts: writer.facts, logs: writer.logs });
            self.by_hash.insert(block.hash, Arc::clone(&made));
            self.chain.push(made);
            self.highest = self.highest.max(number);
        }
    }

    /// Takes back so many blocks, and makes others.
    pub fn reorganise(&mut self, depth: u64, blocks: u64) {
        let keep = self.chain.len() - usize::try_from(depth).unwrap();
        self.chain.truncate(keep.max(1));
        self.mine(blocks);
    }

    /// The most blocks that may be taken back, when a window of that many is kept.
    pub fn depth_max(&self, window: u64) -> u64 {
        let lowest = self.highest.saturating_sub(window);
        self.head().block.number.saturating_sub(lowest)
    }
}

/// Writes a block.
pub(crate) struct Writer<'a> {
    pub(crate) dice: &'a mut Dice,
    people: &'a [Address],
    operators: &'a [Address],
    pub(crate) signed: &'a [SignedOrder],
    block: Block,
    pub(crate) facts: Facts,
    logs: Vec<Log>,
}

fn word_of(address: Address) -> B256 {
    let mut word = [0; 32];
    word[12..].copy_from_slice(address.bytes());
    B256::from(word)
}

fn word(number: u64) -> B256 {
    U256::from(number).into()
}

impl Writer<'_> {
    fn act(&mut self) {
        let actions = if self.dice.happens(300) { 0 } else { 1 + self.dice.below(6) };
        for _ in 0..actions {
            if !self.signed.is_empty() && self.dice.happens(400) {
                self.act_signed();
                continue;
            }
            let collection = *self.dice.pick(&COLLECTIONS);
            match self.dice.below(12) {
                0..=2 => self.mint(collection),
                3 | 4 => self.transfer(collection),
                5 => self.approve(collection),
                6 | 7 => self.make_order(collection),
                8 => self.fill(collection),
                9 => self.cancel(collection),
                10 => self.invalidate(collection),
                _ => self.noise(collection),
            }
        }
    }

    pub(crate) fn log(&mut self, writer: Address, topics: &[B256], data: Vec<u8>) {
        let index = self.logs.len() as u64;
        self.logs.push(Log {
            address: writer,
            topics: topics.to_vec(),
            data: Bytes::from(data),
            block_number: self.block.number,
            block_hash: self.block.hash,
            tx_hash: keccak256([self.block.hash.as_slice(), &(index / 2).to_be_bytes()].concat()),
            index,
        });
    }

    pub(crate) fn is_single(collection: Address) -> bool {
        COLLECTIONS[..2].contains(&collection) || collection == STRANGER
    }

    fn moved(&mut self, collection: Address, token: u64, (from, to): (Address, Address), quantity: u64) {
        if from != Address::ZERO {
            *self.facts.balances.get_mut(&(collection, token, from)).unwrap() -= quantity;
        }
        if to != Address::ZERO {
            *self.facts.balances.entry((collection, token, to)).or_default() += quantity;
        }
        if Self::is_single(collection) {
            self.facts.signed.token_approvals.remove(&(collection, token));
        }
        self.facts.tokens.insert((collection, token));
        self.facts.balances.retain(|_, held| *held > 0);
    }

    pub(crate) fn tell_transfer(
        &mut self,
        collection: Address,
        token: u64,
        (from, to): (Address, Address),
        quantity: u64,
    ) {
        self.moved(collection, token, (from, to), quantity);
        if Self::is_single(collection) {
            let topics = [TOKEN_TOPICS[0], word_of(from), word_of(to), word(token)];
            self.log(collection, &topics, Vec::new());
        } else {
            let topics = [TOKEN_TOPICS[3], word_of(PEOPLE[0]), word_of(from), word_of(to)];
            self.log(collection, &topics, (U256::from(token), U256::from(quantity)).abi_encode());
        }
    }

    fn mint(&mut self, collection: Address) {
        let to = *self.dice.pick(self.people);
        if Self::is_single(collection) {
            let token = self.facts.tokens.iter().filter(|(of, _)| *of == collection).count() as u64;
            self.tell_transfer(collection, token, (Address::ZERO, to), 1);
        } else if self.dice.happens(300) {
            let (first, second) = (self.dice.below(5), self.dice.below(5));
            for token in [first, second] {
                self.moved(collection, token, (Address::ZERO, to), 3);
            }
            let ids = vec![U256::from(first), U256::from(second)];
            let data = (ids, vec![U256::from(3), U256::from(3)]).abi_encode_params();
            let topics = [TOKEN_TOPICS[4], word_of(to), word_of(Address::ZERO), word_of(to)];
            self.log(collection, &topics, data);
        } else {
            let (token, quantity) = (self.dice.below(5), 1 + self.dice.below(9));
            self.tell_transfer(collection, token, (Address::ZERO, to), quantity);
        }
    }

    fn transfer(&mut self, collection: Address) {
        let held: Vec<_> = self.facts.balances.iter().filter(|((of, ..), _)| *of == collection).collect();
        if held.is_empty() {
            return;
        }
        let (&(_, token, from), &balance) = *self.dice.pick(&held);
        let to = if self.dice.happens(100) { Address::ZERO } else { *self.dice.pick(self.people) };
        let quantity = 1 + self.dice.below(balance);
        self.tell_transfer(collection, token, (from, to), quantity);
    }

    fn approve(&mut self, collection: Address) {
        let owner = *self.dice.pick(self.people);
        let operator = *self.dice.pick(self.operators);
        if self.dice.happens(500) {
            let approved = self.dice.happens(500);
            self.facts.signed.approve(collection, owner, operator, approved);
            let topics = [TOKEN_TOPICS[2], word_of(owner), word_of(operator)];
            self.log(collection, &topics, approved.abi_encode());
        } else if Self::is_single(collection) {
            let token = self.dice.below(5);
            self.facts.signed.token_approvals.insert((collection, token), operator);
            let topics = [TOKEN_TOPICS[1], word_of(owner), word_of(operator), word(token)];
            self.log(collection, &topics, Vec::new());
        }
    }

    fn make_order(&mut self, collection: Address) {
        let (market, kind) = *self.dice.pick(&MARKETS);
        let maker = *self.dice.pick(&PEOPLE);
        let id = self.facts.next_order;
        self.facts.next_order += 1;
        let (token, quantity, price) =
            (self.dice.below(5), 1 + self.dice.below(5), 1 + self.dice.below(1000));
        let is_listing = self.dice.happens(600);
        let order = WorldOrder { maker, is_listing, price, remaining: quantity, is_cancelled: false };
        self.facts.orders.insert((collection, kind.number(), id), order);
        let topics = [MARKET_TOPICS[0], word(id), word_of(maker), word_of(collection)];
        let data = [
            word(token),
            word(u64::from(is_listing)),
            word(quantity),
            word_of(MONEY),
            word(price),
            word(9_000_000_000),
        ];
        self.log(market, &topics, data.concat());
    }

    /// An order that may still be filled.
    fn some_order(&mut self, collection: Address) -> Option<(u8, u64)> {
        let open = |(key, order): (&(Address, u8, u64), &WorldOrder)| {
            (key.0 == collection && !order.is_cancelled && order.remaining > 0).then_some((key.1, key.2))
        };
        let open: Vec<_> = self.facts.orders.iter().filter_map(open).collect();
        (!open.is_empty()).then(|| *self.dice.pick(&open))
    }

    fn fill(&mut self, collection: Address) {
        let Some((kind, id)) = self.some_order(collection) else { return };
        let taker = *self.dice.pick(&PEOPLE);
        let order = self.facts.orders.get_mut(&(collection, kind, id)).unwrap();
        let quantity = 1 + self.dice.below(order.remaining);
        order.remaining -= quantity;
        let remaining = order.remaining;
        let topics = [MARKET_TOPICS[1], word(id), word_of(taker), word_of(collection)];
        let data = [word_of(taker), word(quantity), word(remaining)];
        self.log(market_of(kind), &topics, data.concat());
    }

    fn cancel(&mut self, collection: Address) {
        let Some((kind, id)) = self.some_order(collection) else { return };
        self.facts.orders.get_mut(&(collection, kind, id)).unwrap().is_cancelled = true;
        self.log(market_of(kind), &[MARKET_TOPICS[2], word(id), word_of(collection)], Vec::new());
    }

    fn invalidate(&mut self, collection: Address) {
        let (market, kind) = MARKETS[1];
        let maker = *self.dice.pick(&PEOPLE);
        let below = self.facts.next_order.saturating_sub(self.dice.below(5));
        let is_everywhere = self.dice.happens(500);
        for ((of, at, id), order) in &mut self.facts.orders {
            let is_meant = *at == kind.number() && order.maker == maker && *id < below;
            if is_meant && (is_everywhere || *of == collection) && order.remaining > 0 {
                order.is_cancelled = true;
            }
        }
        if is_everywhere {
            self.log(market, &[MARKET_TOPICS[3], word_of(maker), word(below)], Vec::new());
        } else {
            let topics = [MARKET_TOPICS[4], word_of(maker), word_of(collection), word(below)];
            self.log(market, &topics, Vec::new());
        }
    }

    /// What looks like something, and is not.
    fn noise(&mut self, collection: Address) {
        match self.dice.below(4) {
            0 => {
                let topics = [TOKEN_TOPICS[0], word_of(PEOPLE[0]), word_of(PEOPLE[1])];
                self.log(MONEY, &topics, word(5).to_vec());
            }
            1 => self.log(collection, &[TOKEN_TOPICS[4], word(1)], vec![1, 2, 3]),
            2 => self.log(market_of(MARKETS[1].1.number()), &[MARKET_TOPICS[0], word(1)], Vec::new()),
            _ => self.mint(STRANGER),
        }
    }
}

fn market_of(kind: u8) -> Address {
    MARKETS.iter().find(|(_, market)| market.number() == kind).unwrap().0
}
