//! What a collection says as a few numbers, by which two collections are compared: the one that followed the store for
//! months, and one that was loaded just now. Every index counts, not only what is indexed: a token that a filter no
//! longer finds makes another number, as much as a token whose metadata is another.
//!
//! What is only a matter of how the collection came to be does not count: how tokens, accounts and orders are numbered,
//! and which form a set has. So most of it is a sum of what each thing hashes to, in whatever order.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use bourse_wire::{OrderSide, Timestamp};

use crate::book::BookContext;
use crate::collection::Collection;
use crate::properties::extract_stored;
use crate::sorted_list::Run;

/// Tokens, accounts or orders that are looked at in one step: fewer than a block of a list, as each takes longer.
const STEP_ITEMS: usize = 128;

/// What is told apart of a collection.
#[derive(Clone, Copy)]
enum Part {
    Contract,
    Currencies,
    Tokens,
    Names,
    Properties,
    Holders,
    Orders,
    Prices,
    OrderOfCreation,
}

const PARTS: usize = 9;
/// The parts as people read of them.
const PART_WORDS: [&str; PARTS] = [
    "contract",
    "currencies",
    "tokens",
    "names",
    "properties",
    "holders",
    "orders",
    "prices",
    "order of creation",
];
const ORDER_OF_NAMES: &str = "order of names";

/// What a collection says at a time, as a few numbers. Collections that say the same have the same numbers, and those
/// that do not hardly ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    parts: [u64; PARTS],
    /// Only when somebody asked for that order before.
    by_name: Option<u64>,
}

impl Digest {
    /// In what two collections differ; nothing when they say the same. An order that only one of them was asked for is
    /// no difference.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let parts = self.parts.iter().zip(&other.parts).zip(PART_WORDS);
        let mut differences: Vec<&str> =
            parts.filter(|((one, other), _)| one != other).map(|(_, word)| word).collect();
        if let (Some(one), Some(other)) = (self.by_name, other.by_name)
            && one != other
        {
            differences.push(ORDER_OF_NAMES);
        }
        differences
    }

    fn add(&mut self, part: Part, said: &impl Hash) {
        self.add_hashed(part, hash(said));
    }

    fn add_hashed(&mut self, part: Part, said: u64) {
        let sum = &mut self.parts[part as usize];
        *sum = sum.wrapping_add(said);
    }
}

/// The same in every process, so that numbers that were told can be compared.
pub(crate) fn hash(said: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    said.hash(&mut hasher);
    hasher.finish()
}

/// What is gone through one after another.
#[derive(Clone, Copy)]
enum Stage {
    Whole,
    Tokens,
    Properties,
    Accounts,
    Orders,
    ById,
    ByName,
    /// One of the lists in price order of a side.
    Prices(OrderSide, usize),
    /// One of the lists in price order of a side's orders that are not the best of their token.
    Further(OrderSide, usize),
    /// The list by creation of a side.
    ByCreation(OrderSide),
}

const STAGES: [Stage; 17] = [
    Stage::Whole,
    Stage::Tokens,
    Stage::Properties,
    Stage::Accounts,
    Stage::Orders,
    Stage::ById,
    Stage::ByName,
    Stage::Prices(OrderSide::Listing, 0),
    Stage::Prices(OrderSide::Listing, 1),
    Stage::Prices(OrderSide::Offer, 0),
    Stage::Prices(OrderSide::Offer, 1),
    Stage::Further(OrderSide::Listing, 0),
    Stage::Further(OrderSide::Listing, 1),
    Stage::Further(OrderSide::Offer, 0),
    Stage::Further(OrderSide::Offer, 1),
    Stage::ByCreation(OrderSide::Listing),
    Stage::ByCreation(OrderSide::Offer),
];

impl Stage {
    /// How many items, or blocks of a list, are one step.
    fn step(self) -> usize {
        match self {
            Self::Whole
            | Self::ById
            | Self::ByName
            | Self::Prices(..)
            | Self::Further(..)
            | Self::ByCreation(_) => 1,
            Self::Tokens | Self::Properties | Self::Accounts | Self::Orders => STEP_ITEMS,
        }
    }
}

/// The collection changed while it was gone through, so that what was seen of it is of no time.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the collection changed meanwhile")]
pub struct ChangedMeanwhile;

/// Goes through a collection in small steps, so that nobody who changes it has to wait for long in between.
#[derive(Debug)]
pub struct Digester {
    now: Timestamp,
    revision: u64,
    stage: usize,
    next: usize,
    /// How many there were before in a list.
    rank: u64,
    /// The one before in a list by creation.
    previous: Option<u32>,
    digest: Digest,
}

impl Digester {
    /// Begins with a collection that was made ready for a time.
    pub fn new(collection: &Collection, now: Timestamp) -> Self {
        let (revision, digest) = (collection.revision(), Digest::default());
        Self { now, revision, stage: 0, next: 0, rank: 0, previous: None, digest }
    }

    /// Goes on a little. The digest, once everything was seen.
    pub fn step(&mut self, collection: &Collection) -> Result<Option<Digest>, ChangedMeanwhile> {
        if collection.revision() != self.revision {
            return Err(ChangedMeanwhile);
        }
        let Some(stage) = STAGES.get(self.stage).copied() else { return Ok(Some(self.digest)) };
        for _ in 0..stage.step() {
            if !self.take(stage, collection) {
                (self.stage, self.next, self.rank, self.previous) = (self.stage + 1, 0, 0, None);
                break;
            }
            self.next += 1;
        }
        Ok(None)
    }

    /// Takes in the next item of a stage; whether there was one.
    fn take(&mut self, stage: Stage, collection: &Collection) -> bool {
        let index = self.next;
        match stage {
            Stage::Whole => {
                self.digest.add(Part::Contract, &collection.contract());
                self.digest.add(Part::Holders, &collection.holders.are_known());
                self.digest.add_hashed(Part::Orders, collection.book.digest_of_sets());
                collection.book.currencies().digests().for_each(|said| {
                    self.digest.add_hashed(Part::Currencies, said);
                });
                false
            }
            Stage::Tokens => self.take_token(collection, index),
            Stage::Properties => {
                let said = collection.properties.digest_of_property(index);
                said.inspect(|said| self.digest.add_hashed(Part::Properties, *said)).is_some()
            }
            Stage::Accounts => self.take_account(collection, index),
            Stage::Orders => {
                let said = number(index)
                    .and_then(|slot| collection.book.digest_of_order(slot, collection, self.now));
                said.inspect(|said| self.digest.add_hashed(Part::Orders, *said)).is_some()
            }
            Stage::ById => match collection.tokens.by_id().block(index) {
                Some(run) => {
                    let said = self.sum_of_run(collection, run);
                    self.digest.add_hashed(Part::Tokens, said);
                    true
                }
                None => false,
            },
            Stage::ByName => self.take_names(collection, index),
            Stage::Prices(side, list) => self.take_prices(collection, (side, list), index),
            Stage::Further(side, list) => self.take_further(collection, (side, list), index),
            Stage::ByCreation(side) => self.take_creation(collection, side, index),
        }
    }

    fn take_token(&mut self, collection: &Collection, index: usize) -> bool {
        let Collection { tokens, names, properties, book, .. } = collection;
        let Some(ordinal) = number(index).filter(|_| index < tokens.len()) else { return false };
        let id = tokens.id(ordinal);
        // A token without metadata is there because somebody has it or ordered it, or did: they tell of it.
        if let Some(metadata) = tokens.metadata(ordinal) {
            let read = extract_stored(metadata);
            self.digest.add(Part::Tokens, &(id, metadata, tokens.find(id) == Some(ordinal)));
            self.digest.add(Part::Names, &(id, names.digest_of(ordinal)));
            self.digest.add(Part::Properties, &(id, properties.digest_of(ordinal, &read.properties)));
        }
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let is_member = book.side(side).members().contains(ordinal);
            let best = book.side(side).best(ordinal).map(|slot| book.digest_of_key(slot));
            if is_member || best.is_some() {
                self.digest.add(Part::Prices, &(id, side, is_member, best));
            }
        }
        for key in book.digests_of_token(ordinal, self.now) {
            self.digest.add(Part::Orders, &(id, key));
        }
        true
    }

    fn take_account(&mut self, collection: &Collection, index: usize) -> bool {
        let Collection { tokens, holders, .. } = collection;
        let Some(account) = number(index).filter(|_| index < holders.len()) else { return false };
        let (address, is_found) = (holders.address(account), holders.find(holders.address(account)));
        for (token, balance) in holders.held(account) {
            let sums = (holders.total(account), holders.supply(*token));
            let said = (address, tokens.id(*token), balance, is_found == Some(account));
            self.digest.add(Part::Holders, &(said, sums));
        }
        true
    }

    fn take_names(&mut self, collection: &Collection, index: usize) -> bool {
        let Some(by_name) = &collection.by_name else { return false };
        let known = self.digest.by_name.get_or_insert_default();
        let Some(run) = by_name.block(index) else { return false };
        let before = *known;
        self.digest.by_name = Some(before.wrapping_add(self.sum_of_run(collection, run)));
        true
    }

    /// Which tokens have which ranks. Tokens that nothing is said of are passed over.
    fn sum_of_run(&mut self, collection: &Collection, run: Run<'_>) -> u64 {
        let mut sum = 0_u64;
        for ordinal in run.ordinals {
            if collection.tokens.metadata(*ordinal).is_some() {
                sum = sum.wrapping_add(hash(&(self.rank, collection.tokens.id(*ordinal))));
                self.rank += 1;
            }
        }
        sum
    }

    fn take_prices(&mut self, collection: &Collection, list: (OrderSide, usize), index: usize) -> bool {
        let Some(prices) = collection.book.side(list.0).price_lists().nth(list.1) else { return false };
        let Some(run) = prices.list().block(index) else { return false };
        for (ordinal, slot) in run.slots() {
            let read = collection.tokens.metadata(ordinal).map(extract_stored).unwrap_or_default();
            let best = collection.book.side(list.0).best(ordinal);
            let indexed = (prices.digest_of(slot, &read), collection.book.is_found_in(prices, slot, best));
            self.digest.add(Part::Prices, &(list, self.rank, collection.tokens.id(ordinal), indexed));
            self.rank += 1;
        }
        true
    }

    fn take_further(&mut self, collection: &Collection, list: (OrderSide, usize), index: usize) -> bool {
        let Collection { tokens, book, .. } = collection;
        let Some(prices) = book.side(list.0).further().price_lists().nth(list.1) else { return false };
        let Some(run) = prices.list().block(index) else { return false };
        for (order, slot) in run.slots() {
            let token = book.order(order).map(|order| order.token);
            let metadata = token.and_then(|token| tokens.metadata(token));
            let read = metadata.map(extract_stored).unwrap_or_default();
            let indexed = (prices.digest_of(slot, &read), book.is_found_in(prices, slot, Some(order)));
            self.digest.add(Part::Prices, &("further", list, self.rank, book.digest_of_key(order), indexed));
            self.rank += 1;
        }
        true
    }

    /// Counts what is wrong with a list that is made only once somebody asks for it: which tokens it must have and in which order
    /// follows from what else was looked at. So one that is right is as good as none, and needs no other to be compared with.
    fn take_creation(&mut self, collection: &Collection, side: OrderSide, index: usize) -> bool {
        let Collection { tokens, holders, properties, book, .. } = collection;
        let context = BookContext { tokens, holders, properties };
        let Some(list) = book.side(side).by_creation() else { return false };
        let members = book.side(side).members();
        let Some(run) = list.block(index) else {
            let is_whole = usize::try_from(self.rank) == Ok(members.count());
            self.digest.add_hashed(Part::OrderOfCreation, u64::from(!is_whole));
            return false;
        };
        for ordinal in run.ordinals.iter().copied() {
            let follows = self
                .previous
                .is_none_or(|previous| book.compare_creation(side, context, previous, ordinal).is_lt());
            self.digest.add_hashed(Part::OrderOfCreation, u64::from(!(follows && members.contains(ordinal))));
            (self.previous, self.rank) = (Some(ordinal), self.rank + 1);
        }
        true
    }
}

fn number(index: usize) -> Option<u32> {
    u32::try_from(index).ok()
}

impl Collection {
    /// What it says at a time that it was made ready for, all at once.
    pub fn digest(&self, now: Timestamp) -> Digest {
        let mut digester = Digester::new(self, now);
        loop {
            // Nobody else has it meanwhile.
            if let Ok(Some(digest)) = digester.step(self) {
                return digest;
            }
        }
    }

    /// Counts every change, also those that time or rates make, which have no version.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether somebody asked for the order of names.
    pub fn has_order_of_names(&self) -> bool {
        self.by_name.is_some()
    }
}

#[cfg(test)]
mod tests;
