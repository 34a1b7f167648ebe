//! A resident collection: what it consists of, and how it changes.

use bourse_market::World;
use bourse_wire::{Address, Amount, ChainId, Currency, OrderFacts, ServiceName, Timestamp, TokenId};

use crate::book::{Around, Book, NO_TOKEN, PreparedOrder, Shared};
use crate::holders::Holders;
use crate::names::Names;
use crate::properties::{Properties, extract};
use crate::query::{Cache, Column};
use crate::ranked::Ranked;
use crate::tokens::Tokens;

/// Names are compared as they are.
const NO_HINT: f64 = 0.0;

/// What a collection is called in answers.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its number in the database.
    pub number: u64,
    /// Chain.
    pub chain: ChainId,
    /// Contract address.
    pub address: Address,
    /// The service's own name, which some marketplaces carry.
    pub service: ServiceName,
}

/// A resident collection.
#[derive(Debug)]
pub struct Collection {
    pub(crate) shared: Shared,
    pub(crate) tokens: Tokens,
    pub(crate) names: Names,
    /// Tokens by name, once somebody asked for that order.
    pub(crate) by_name: Option<Ranked>,
    pub(crate) properties: Properties,
    pub(crate) holders: Holders,
    pub(crate) book: Book,
    pub(crate) cache: Cache,
    version: u64,
    contract: Option<String>,
}

/// What changed since the last version.
#[derive(Debug, Default)]
pub struct Update {
    /// The version that the collection has after it.
    pub version: u64,
    /// Contract information as JSON text, when it changed.
    pub contract: Option<String>,
    /// Tokens with their metadata as JSON text.
    pub tokens: Vec<(TokenId, String)>,
    /// Who holds how much of which token.
    pub balances: Vec<(TokenId, Address, Amount)>,
    /// Orders.
    pub orders: Vec<PreparedOrder>,
}

/// A collection that is being loaded: it takes everything in, and puts it in order at the end.
#[derive(Debug)]
pub struct Loader {
    collection: Collection,
    tokens_complete: bool,
}

impl Loader {
    /// An empty collection at a time.
    pub fn new(identity: &Identity, now: Timestamp) -> Self {
        let shared = Shared::new(identity.number, identity.chain, identity.address, &identity.service);
        let mut book = Book::default();
        book.begin_loading(now);
        let collection = Collection {
            shared,
            tokens: Tokens::default(),
            names: Names::default(),
            by_name: None,
            properties: Properties::default(),
            holders: Holders::default(),
            book,
            cache: Cache::default(),
            version: 0,
            contract: None,
        };
        Self { collection, tokens_complete: false }
    }

    /// Takes contract information.
    pub fn contract(&mut self, info: String) {
        self.collection.contract = Some(info);
    }

    /// Takes tokens with their metadata; best before anything that names them.
    pub fn tokens(&mut self, tokens: &[(TokenId, String)]) {
        let Collection { tokens: known, names, properties, .. } = &mut self.collection;
        known.reserve(tokens.len());
        let mut fresh = Vec::with_capacity(tokens.len());
        let mut again = Vec::new();
        for (token, metadata) in tokens {
            match known.find_or_add(*token) {
                (ordinal, true) => fresh.push((ordinal, metadata.as_str())),
                (ordinal, false) => again.push((ordinal, metadata.as_str())),
            }
        }
        let extracted = in_halves(&fresh, |(_, metadata)| extract(metadata));
        let indexed = || fresh.iter().map(|(ordinal, _)| *ordinal).zip(&extracted);
        together(
            fresh.len(),
            || indexed().for_each(|(ordinal, token)| names.put(ordinal, &token.name)),
            || indexed().for_each(|(ordinal, token)| properties.add(ordinal, token)),
        );
        for (ordinal, metadata) in &fresh {
            known.set_metadata(*ordinal, metadata);
        }
        for (ordinal, metadata) in again {
            self.collection.set_metadata(ordinal, metadata);
        }
    }

    /// Takes balances.
    pub fn balances(&mut self, balances: &[(TokenId, Address, Amount)]) {
        self.complete_tokens();
        for (token, account, balance) in balances {
            let (ordinal, _) = self.collection.tokens.find_or_add(*token);
            self.collection.holders.put(*account, ordinal, *balance);
        }
    }

    /// Takes orders; best after balances.
    pub fn orders(&mut self, orders: &[OrderFacts]) {
        self.complete_tokens();
        for order in in_halves(orders, PreparedOrder::new) {
            self.collection.put_order(&order, |_, _| {});
        }
    }

    /// Memory that texts take so far, which is most of what it will be.
    pub fn text_bytes(&self) -> usize {
        self.collection.tokens.text_bytes()
    }

    /// Once all tokens are there they are numbered in the order of their ids, whatever order they came in: then sets of
    /// them are in that order.
    fn complete_tokens(&mut self) {
        if std::mem::replace(&mut self.tokens_complete, true) {
            return;
        }
        let collection = &mut self.collection;
        let numbers = collection.tokens.renumber();
        collection.names.renumber(&numbers);
        collection.properties.renumber(&numbers);
    }

    /// The collection, with everything in its place.
    pub fn finish(mut self, version: u64, currencies: &[Currency]) -> Collection {
        self.complete_tokens();
        let mut collection = self.collection;
        collection.version = version;
        collection.tokens.sort();
        let universe = collection.tokens.len();
        collection.names.settle(universe);
        collection.properties.settle(universe);
        let around = Around { tokens: &collection.tokens, holders: &collection.holders };
        collection.book.put_currencies(currencies, around);
        collection.book.evaluate_all(around);
        collection
    }
}

impl Collection {
    /// Takes over what changed.
    pub fn apply(&mut self, update: Update) {
        self.version = update.version;
        if let Some(info) = update.contract {
            self.contract = Some(info);
        }
        self.tokens.reserve(update.tokens.len());
        for (token, metadata) in &update.tokens {
            let ordinal = self.known_or_new(*token);
            self.set_metadata(ordinal, metadata);
        }
        let balances_were_known = self.holders.are_known();
        for (token, account, balance) in &update.balances {
            let ordinal = self.known_or_new(*token);
            let account = self.holders.put(*account, ordinal, *balance);
            let around = Around { tokens: &self.tokens, holders: &self.holders };
            self.book.balance_changed(ordinal, account, around);
        }
        for order in &update.orders {
            self.put_order(order, Self::place);
        }
        let around = Around { tokens: &self.tokens, holders: &self.holders };
        if balances_were_known != self.holders.are_known() {
            self.book.evaluate_all(around);
        }
        self.book.settle(around);
        self.tokens.settle();
        if !update.tokens.is_empty() {
            self.cache.clear();
        }
    }

    /// Takes over currencies and their rates.
    pub fn put_currencies(&mut self, currencies: &[Currency]) {
        let around = Around { tokens: &self.tokens, holders: &self.holders };
        self.book.put_currencies(currencies, around);
    }

    /// Whether it can answer as of a time, in an order.
    pub fn is_ready(&self, now: Timestamp, column: Option<Column>) -> bool {
        self.book.next_change().is_none_or(|at| at > now)
            && (column != Some(Column::Name) || self.by_name.is_some())
    }

    /// Lets time pass, and puts the tokens in the order asked for.
    pub fn make_ready(&mut self, now: Timestamp, column: Option<Column>) {
        let around = Around { tokens: &self.tokens, holders: &self.holders };
        self.book.advance(now, around);
        self.book.settle(around);
        if column == Some(Column::Name) && self.by_name.is_none() {
            let mut ordinals: Vec<u32> = (0..).take(self.tokens.len()).collect();
            ordinals.sort_unstable_by(|a, b| self.compare_names(*a, *b));
            let entries: Vec<(u32, f64)> = ordinals.into_iter().map(|ordinal| (ordinal, NO_HINT)).collect();
            self.by_name = Some(Ranked::from_sorted(&entries));
        }
    }

    /// Which of two tokens comes first by name, then by id.
    pub(crate) fn compare_names(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let names = self.names.get(a).cmp(self.names.get(b));
        names.then_with(|| self.tokens.id(a).cmp(&self.tokens.id(b)))
    }

    fn known_or_new(&mut self, token: TokenId) -> u32 {
        let (ordinal, is_new) = self.tokens.find_or_add(token);
        if is_new {
            self.place(ordinal);
        }
        ordinal
    }

    /// Gives a new token its places in the orders that are kept.
    fn place(&mut self, ordinal: u32) {
        self.tokens.place(ordinal);
        self.list_name(ordinal);
        // Filters without conditions let it through.
        self.cache.clear();
    }

    fn list_name(&mut self, ordinal: u32) {
        if let Some(mut by_name) = self.by_name.take() {
            by_name.insert((ordinal, NO_HINT), |a, b| self.compare_names(a, b));
            self.by_name = Some(by_name);
        }
    }

    fn unlist_name(&mut self, ordinal: u32) {
        if let Some(mut by_name) = self.by_name.take() {
            by_name.remove((ordinal, NO_HINT), |a, b| self.compare_names(a, b));
            self.by_name = Some(by_name);
        }
    }

    fn set_metadata(&mut self, ordinal: u32, metadata: &str) {
        if let Some(known) = self.tokens.metadata(ordinal) {
            // Only whole texts are put in.
            let known = extract(std::str::from_utf8(known).unwrap_or_default());
            self.properties.remove(ordinal, &known);
        }
        let token = extract(metadata);
        self.properties.add(ordinal, &token);
        if self.by_name.is_some() {
            self.unlist_name(ordinal);
            self.names.put(ordinal, &token.name);
            self.list_name(ordinal);
        } else {
            self.names.put(ordinal, &token.name);
        }
        self.tokens.set_metadata(ordinal, metadata);
    }

    fn put_order(&mut self, order: &PreparedOrder, place: impl Fn(&mut Self, u32)) {
        let token = match order.token {
            Some(token) => {
                let (ordinal, is_new) = self.tokens.find_or_add(token);
                if is_new {
                    place(self, ordinal);
                }
                ordinal
            }
            None => NO_TOKEN,
        };
        let maker = self.holders.number(order.maker);
        let around = Around { tokens: &self.tokens, holders: &self.holders };
        self.book.put(order, token, maker, around);
    }

    /// The version whose state this is.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The contract information, as JSON text.
    pub fn contract(&self) -> Option<&str> {
        self.contract.as_deref()
    }

    /// How many tokens it has.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.tokens.len() == 0
    }

    /// The metadata of a token, as JSON text.
    pub fn token(&self, token: TokenId) -> Option<&[u8]> {
        self.tokens.metadata(self.tokens.find(token)?)
    }

    /// The metadata of those of the tokens that there are, in the order asked for, on its way into the cache: the
    /// texts lie far apart, and waiting for all of them at once takes a fraction of waiting for each as it is copied.
    pub fn tokens(&self, tokens: &[TokenId]) -> Vec<&[u8]> {
        let found: Vec<&[u8]> = tokens.iter().filter_map(|token| self.token(*token)).collect();
        touch_all(found.iter().copied());
        found
    }

    /// What an order that is not in the book is by now, and what of it could be filled.
    pub(crate) fn world_of(&self, facts: &OrderFacts, now: Timestamp) -> World {
        let number = self.book.currencies().find(&facts.currency);
        let currency_known = number.is_some_and(|number| self.book.currencies().is_known(number));
        let token = facts.token_id.and_then(|token| self.tokens.find(token));
        let held = (self.holders.are_known() && facts.token_id.is_some()).then(|| {
            match (self.holders.find(&facts.maker), token) {
                (Some(account), Some(token)) => self.holders.balance(account, token),
                _ => Amount::ZERO,
            }
        });
        World { now, currency_known, held }
    }

    /// Memory it takes up, about.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.tokens.bytes()
            + self.names.bytes()
            + self.by_name.as_ref().map_or(0, Ranked::bytes)
            + self.properties.bytes()
            + self.holders.bytes()
            + self.book.bytes()
            + self.cache.bytes()
            + self.contract.as_ref().map_or(0, String::len)
    }
}

/// Brings texts into the cache together: their cache lines are waited for at once.
pub(crate) fn touch_all<'a>(texts: impl Iterator<Item = &'a [u8]>) {
    const CACHE_LINE_BYTES: usize = 64;
    let touch = |text: &[u8]| text.iter().step_by(CACHE_LINE_BYTES).fold(0, |sum, byte| sum ^ byte);
    let touched = texts.fold(0, |sum, text| sum ^ touch(text));
    std::hint::black_box(touched);
}

/// So little is done by one thread.
const PARALLEL_MIN: usize = 256;

/// Maps items, many of them on two threads: loading is the one thing that somebody waits for.
fn in_halves<T: Sync, U: Send>(items: &[T], map: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let (first, second) = items.split_at(items.len() / 2);
    let (mut mapped, mut rest) = (Vec::with_capacity(items.len()), Vec::with_capacity(second.len()));
    together(items.len(), || rest.extend(second.iter().map(&map)), || mapped.extend(first.iter().map(&map)));
    mapped.append(&mut rest);
    mapped
}

/// Does two things, at the same time when they are about many items.
fn together(items: usize, one: impl FnOnce() + Send, other: impl FnOnce()) {
    if items < PARALLEL_MIN {
        one();
        other();
        return;
    }
    std::thread::scope(|scope| {
        scope.spawn(one);
        other();
    });
}
