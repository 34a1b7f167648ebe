//! A resident collection: what it consists of, and how it changes.

use bourse_market::{Terms, World};
use bourse_wire::{
    Address, Amount, ChainId, Currency, OrderFacts, OrderKey, OrderStatus, ServiceName, Timestamp, TokenId,
};

use crate::book::{Book, BookContext, NO_TOKEN, PreparedOrder, Shared};
use crate::common::Common;
use crate::holders::Holders;
use crate::names::Names;
use crate::properties::{Properties, extract, extract_stored};
use crate::query::Column;
use crate::sorted_list::SortedList;
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

/// A resident collection. Copies of it share what neither of them changed.
#[derive(Clone, Debug)]
pub struct Collection {
    pub(crate) shared: Shared,
    pub(crate) tokens: Common<Tokens>,
    pub(crate) names: Common<Names>,
    /// Tokens by name, once somebody asked for that order.
    pub(crate) by_name: Option<Common<SortedList>>,
    pub(crate) properties: Common<Properties>,
    pub(crate) holders: Common<Holders>,
    pub(crate) book: Book,
    pub(crate) version: u64,
    pub(crate) revision: u64,
    pub(crate) contract: Option<String>,
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
    /// Orders that are gone.
    pub gone_orders: Vec<OrderKey>,
}

impl Collection {
    /// Takes over what changed.
    pub fn apply(&mut self, update: &Update) {
        self.version = update.version;
        self.revision += 1;
        if let Some(info) = &update.contract {
            self.contract = Some(info.clone());
        }
        let new = update.tokens.iter().filter(|(token, _)| self.tokens.find(*token).is_none()).count();
        if new > 0 {
            self.tokens.own().reserve(new);
        }
        for (token, metadata) in &update.tokens {
            let ordinal = self.known_or_new(*token);
            self.set_metadata(ordinal, metadata);
        }
        let balances_were_known = self.holders.are_known();
        for (token, account, balance) in &update.balances {
            let ordinal = self.known_or_new(*token);
            let account = self.holders.own().put(*account, ordinal, *balance);
            let (book, context) = self.book_and_around();
            book.balance_changed(ordinal, account, context);
        }
        for order in &update.orders {
            self.put_order(order, Self::place);
        }
        let (book, context) = self.book_and_around();
        for OrderKey { marketplace, order_id } in &update.gone_orders {
            book.remove(*marketplace, order_id, context);
        }
        if balances_were_known != context.holders.are_known() {
            book.evaluate_all(context);
        }
        book.settle(context);
        if self.tokens.are_wasteful() {
            self.tokens.own().compact();
        }
    }

    /// Takes over currencies and their rates.
    pub fn put_currencies(&mut self, currencies: &[Currency]) {
        self.revision += 1;
        let (book, context) = self.book_and_around();
        book.put_currencies(currencies, context);
    }

    /// Whether it can answer as of a time, in an order.
    pub fn is_ready(&self, now: Timestamp, column: Option<Column>) -> bool {
        self.book.next_change().is_none_or(|at| at > now)
            && (column != Some(Column::Name) || self.by_name.is_some())
            && (column != Some(Column::CreatedAt) || self.book.is_sorted_by_creation())
    }

    /// Lets time pass, and puts the tokens in the order asked for.
    pub fn make_ready(&mut self, now: Timestamp, column: Option<Column>) {
        self.pass_time(now);
        if column == Some(Column::Name) && self.by_name.is_none() {
            self.by_name = Some(self.sorted_by_name());
        }
        if column == Some(Column::CreatedAt) {
            self.sort_by_creation();
        }
    }

    /// Lets time pass.
    pub(crate) fn pass_time(&mut self, now: Timestamp) {
        self.revision += 1;
        let (book, context) = self.book_and_around();
        book.advance(now, context);
        book.settle(context);
    }

    /// Puts orders in the order in which they were made.
    pub(crate) fn sort_by_creation(&mut self) {
        let (book, context) = self.book_and_around();
        if !book.is_sorted_by_creation() {
            book.sort_by_creation(context);
        }
    }

    /// Its tokens by name.
    pub(crate) fn sorted_by_name(&self) -> Common<SortedList> {
        let mut ordinals: Vec<u32> = (0..).take(self.tokens.len()).collect();
        ordinals.sort_unstable_by(|a, b| self.compare_names(*a, *b));
        listed_names(ordinals)
    }

    /// The time up to which it has passed.
    pub fn now(&self) -> Timestamp {
        self.book.now()
    }

    /// Whether it has what is good again once the time is set back.
    pub fn can_go_back(&self, now: Timestamp) -> bool {
        self.book.can_go_back(now)
    }

    /// A collection of the same name that nothing is in yet.
    pub(crate) fn emptied(&self) -> Self {
        Self::empty(self.shared.clone(), self.now())
    }

    /// An empty collection at a time.
    pub(crate) fn empty(shared: Shared, now: Timestamp) -> Self {
        let mut book = Book::default();
        book.begin_loading(now);
        Self {
            shared,
            tokens: Common::default(),
            names: Common::default(),
            by_name: None,
            properties: Common::default(),
            holders: Common::default(),
            book,
            version: 0,
            revision: 0,
            contract: None,
        }
    }

    /// Sets the time back, as a clock that was wrong is set right; `false` when orders that are good again by then are not in
    /// memory any more, and everything must be loaded.
    pub fn go_back(&mut self, now: Timestamp) -> bool {
        let (book, context) = self.book_and_around();
        book.go_back(now, context)
    }

    /// Which of two tokens comes first by name, then by id.
    pub(crate) fn compare_names(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let names = self.names.get(a).cmp(self.names.get(b));
        names.then_with(|| self.tokens.id(a).cmp(&self.tokens.id(b)))
    }

    /// The book, and what it depends on.
    pub(crate) fn book_and_around(&mut self) -> (&mut Book, BookContext<'_>) {
        let Self { tokens, holders, properties, book, .. } = self;
        (book, BookContext { tokens, holders, properties })
    }

    fn known_or_new(&mut self, token: TokenId) -> u32 {
        let (ordinal, is_new) = self.find_or_add(token);
        if is_new {
            self.place(ordinal);
        }
        ordinal
    }

    /// The ordinal of a token, and whether it is new.
    fn find_or_add(&mut self, token: TokenId) -> (u32, bool) {
        match self.tokens.find(token) {
            Some(ordinal) => (ordinal, false),
            None => self.tokens.own().find_or_add(token),
        }
    }

    /// Gives a new token its places in the orders that are kept.
    fn place(&mut self, ordinal: u32) {
        self.tokens.own().place(ordinal);
        self.list_name(ordinal);
    }

    fn list_name(&mut self, ordinal: u32) {
        if let Some(mut by_name) = self.by_name.take() {
            by_name.own().insert((ordinal, NO_HINT), |a, b| self.compare_names(a, b));
            self.by_name = Some(by_name);
        }
    }

    fn unlist_name(&mut self, ordinal: u32) {
        if let Some(mut by_name) = self.by_name.take() {
            by_name.own().remove((ordinal, NO_HINT), |a, b| self.compare_names(a, b));
            self.by_name = Some(by_name);
        }
    }

    fn set_metadata(&mut self, ordinal: u32, metadata: &str) {
        let known = self.tokens.metadata(ordinal).map(extract_stored).unwrap_or_default();
        let token = extract(metadata);
        if known.properties != token.properties {
            // What stays as it is stays where it is found, which of a token with many orders is in many places.
            let (gone, new) = (known.differing_from(&token), token.differing_from(&known));
            let properties = self.properties.own();
            properties.remove(ordinal, &gone.properties);
            properties.add(ordinal, &new.properties);
            let context =
                BookContext { tokens: &self.tokens, holders: &self.holders, properties: &self.properties };
            self.book.retag(ordinal, &gone, &new, context);
        }
        if !self.names.has_name(ordinal, &token.name) {
            self.unlist_name(ordinal);
            self.names.own().put(ordinal, &token.name);
            self.list_name(ordinal);
        }
        self.tokens.own().set_metadata(ordinal, metadata);
    }

    pub(crate) fn put_order(&mut self, order: &PreparedOrder, place: impl Fn(&mut Self, u32)) {
        let token = match order.token {
            Some(token) => {
                let (ordinal, is_new) = self.find_or_add(token);
                if is_new {
                    place(self, ordinal);
                }
                ordinal
            }
            None => NO_TOKEN,
        };
        let known = self.holders.find(&order.maker);
        let maker = known.unwrap_or_else(|| self.holders.own().number(order.maker));
        let (book, context) = self.book_and_around();
        book.put(order, token, maker, context);
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
        let held = facts.token_id.and_then(|token| self.held(&facts.maker, token));
        World { now, currency_known, held }
    }

    /// What an account holds of a token; `None` when nothing was ever said of balances.
    pub fn held(&self, account: &Address, token: TokenId) -> Option<Amount> {
        self.holders.are_known().then(|| match (self.holders.find(account), self.tokens.find(token)) {
            (Some(account), Some(token)) => self.holders.balance(account, token),
            _ => Amount::ZERO,
        })
    }

    /// What an order of the collection is at a time, from its facts, and how much of it can be filled.
    pub fn state_of(&self, facts: &OrderFacts, now: Timestamp) -> (OrderStatus, Amount) {
        let terms = Terms::from(facts);
        let world = self.world_of(facts, now);
        // Nothing can be filled of what is over.
        let available = if terms.is_over(now) { Amount::ZERO } else { terms.available(world.held) };
        (terms.status(world), available)
    }

    /// Memory it takes up, about.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.tokens.bytes()
            + self.names.bytes()
            + self.by_name.as_ref().map_or(0, |by_name| by_name.bytes())
            + self.properties.bytes()
            + self.holders.bytes()
            + self.book.bytes()
            + self.contract.as_ref().map_or(0, String::len)
    }
}

impl Collection {
    /// Memory that no copy of it shares.
    pub(crate) fn bytes_alone(&self) -> usize {
        fn alone<T>(common: &Common<T>, bytes: impl FnOnce(&T) -> usize) -> usize {
            if common.is_shared() { 0 } else { bytes(common) }
        }
        size_of::<Self>()
            + alone(&self.tokens, Tokens::bytes_alone)
            + alone(&self.names, Names::bytes_alone)
            + self.by_name.as_ref().map_or(0, |by_name| alone(by_name, SortedList::bytes))
            + alone(&self.properties, Properties::bytes)
            + alone(&self.holders, Holders::bytes)
            + self.book.bytes_alone()
    }
}

/// The list of tokens that are in the order of their names already.
pub(crate) fn listed_names(ordinals: Vec<u32>) -> Common<SortedList> {
    let entries: Vec<(u32, f64)> = ordinals.into_iter().map(|ordinal| (ordinal, NO_HINT)).collect();
    Common::new(SortedList::from_sorted(&entries))
}

/// Brings texts into the cache together: their cache lines are waited for at once.
pub(crate) fn touch_all<'a>(texts: impl Iterator<Item = &'a [u8]>) {
    const CACHE_LINE_BYTES: usize = 64;
    let touch = |text: &[u8]| text.iter().step_by(CACHE_LINE_BYTES).fold(0, |sum, byte| sum ^ byte);
    let touched = texts.fold(0, |sum, text| sum ^ touch(text));
    std::hint::black_box(touched);
}
