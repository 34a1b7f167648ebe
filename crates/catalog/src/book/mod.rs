//! The order book of a collection: every order that may still be filled, the best of each token, and the tokens in the
//! order of their best prices.

mod collection_offers;
mod creation;
mod digest;
mod further;
mod kept;
mod order;
mod order_list;
mod order_sets;
mod order_test;
mod price_list;
mod relist;
mod said_slots;
mod side;
mod stacks;
mod text;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::BuildHasher as _;

use bourse_market::{Terms, World};
use bourse_wire::{Amount, Currency, Marketplace, OrderSide, OrderStatus, Timestamp};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::arena::Arena;
use crate::chains::Chains;
use crate::currencies::{Currencies, Price};
use crate::holders::Holders;
use crate::properties::{IndexedMetadata, Properties, extract_stored};
use crate::tokens::Tokens;

pub(crate) use kept::KeptBook;
pub use order::PreparedOrder;
pub(crate) use order::{NO_TOKEN, Order};
pub(crate) use order_list::{ListedOrder, OrderList, Place};
pub(crate) use order_sets::OrderSets;
pub(crate) use order_test::{ListedChunk, OrderTest, Span};
pub(crate) use price_list::PriceList;
use relist::{StaleToken, Turn};
pub(crate) use said_slots::AskedSaid;
pub(crate) use side::SideBook;
use stacks::{OrderLists, Stacks};
pub(crate) use text::{Derived, ORDER_BYTES, OrderText, Shared, currency_members};

/// Alarms beyond twice those needed that may wait to be forgotten.
const ALARMS_SPARE: usize = 1_024;

/// The book. Orders that are over are not in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    currencies: Currencies,
    slots: Vec<Option<Order>>,
    free: Vec<u32>,
    /// Marketplace and order id to slot.
    by_key: HashTable<u32>,
    hasher: DefaultHashBuilder,
    texts: Arena,
    by_token: Chains,
    listings: SideBook,
    offers: SideBook,
    /// The orders of tokens that have several on a side, but for the best of each, in the order of price.
    ranked: OrderLists,
    /// Those of each token that has very many.
    stacks: Stacks,
    /// Those that buy any token, of which no token has an entry.
    collection_offers: OrderList,
    /// The same in the order in which they were first seen.
    offers_by_creation: OrderList,
    /// How many of them are in each currency that any is in, by its number.
    offers_in_currencies: BTreeMap<u32, usize>,
    /// All by when they were first seen, once somebody asked for that order.
    by_creation: Option<OrderLists>,
    /// When the passing of time next changes an order. What is no longer so is passed over.
    alarms: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// The time up to which it has passed.
    now: Timestamp,
    /// The latest end of an order that is not here because its time is over. Before that instant the book lacks something.
    whole_from: Timestamp,
    /// Whether many orders are coming at once, to be put in order at the end.
    loading: bool,
    /// Tokens whose best orders are to be found anew. Their metadata must not change meanwhile.
    touched: Vec<StaleToken>,
}

/// What of the collection the book depends on.
#[derive(Clone, Copy)]
pub(crate) struct BookContext<'a> {
    pub(crate) tokens: &'a Tokens,
    pub(crate) holders: &'a Holders,
    pub(crate) properties: &'a Properties,
}

impl<'a> BookContext<'a> {
    /// What the metadata of a token says.
    fn extracted(self, token: u32) -> IndexedMetadata<'a> {
        self.tokens.metadata(token).map(extract_stored).unwrap_or_default()
    }
}

impl Book {
    pub(crate) fn currencies(&self) -> &Currencies {
        &self.currencies
    }

    /// Begins to take many orders at once. [`Book::finish_loading`] puts them in order.
    pub(crate) fn begin_loading(&mut self, now: Timestamp) {
        self.loading = true;
        self.now = now;
    }

    pub(crate) fn finish_loading(&mut self, context: BookContext<'_>) {
        self.loading = false;
        self.touched.clear();
        self.rebuild(context);
    }

    pub(crate) fn side(&self, side: OrderSide) -> &SideBook {
        if side == OrderSide::Offer { &self.offers } else { &self.listings }
    }

    fn side_mut(&mut self, side: OrderSide) -> &mut SideBook {
        if side == OrderSide::Offer { &mut self.offers } else { &mut self.listings }
    }

    /// An order that is in the book.
    pub(crate) fn order(&self, slot: u32) -> Option<&Order> {
        self.slots.get(slot as usize).and_then(Option::as_ref)
    }

    /// The text of an order.
    pub(crate) fn text(&self, order: &Order) -> OrderText<'_> {
        OrderText::new(self.texts.get(order.text))
    }

    /// The active orders of a token on a side, in no order.
    pub(crate) fn of_token(&self, token: u32, side: OrderSide) -> impl Iterator<Item = (u32, &Order)> {
        self.active(self.by_token.iter(token)).filter(move |(_, order)| order.terms.side == side)
    }

    /// All active orders.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, &Order)> {
        let slots = (0..).zip(&self.slots).filter_map(|(slot, order)| Some((slot, order.as_ref()?)));
        slots.filter(|(_, order)| order.is_active())
    }

    fn active(&self, slots: impl Iterator<Item = u32>) -> impl Iterator<Item = (u32, &Order)> {
        slots.filter_map(|slot| Some((slot, self.order(slot)?))).filter(|(_, order)| order.is_active())
    }

    /// Which of two orders of a side ranks first: the better price, then the order's own key.
    pub(crate) fn compare(&self, a: &Order, b: &Order) -> Ordering {
        self.compare_prices(a.terms.side, &a.price, &b.price)
            .then_with(|| a.marketplace.cmp(&b.marketplace))
            .then_with(|| self.text(a).order_id().cmp(self.text(b).order_id()))
    }

    /// Which of two prices of a side ranks first.
    pub(crate) fn compare_prices(&self, side: OrderSide, a: &Price, b: &Price) -> Ordering {
        self.currencies.compare(a, b, side::direction(side))
    }

    /// Takes an order over as it is now.
    pub(crate) fn put(&mut self, prepared: &PreparedOrder, token: u32, maker: u32, context: BookContext<'_>) {
        let hash = self.hash(prepared.marketplace, prepared.order_id());
        let known = self.find(hash, prepared.marketplace, prepared.order_id());
        let is_over = prepared.terms.is_over(self.now);
        // Most that come again differ in their price: those stay in their slot, and where they are found.
        let is_same = |slot: &u32| self.order(*slot).is_some_and(|order| order.token == token);
        let staying = known.filter(|slot| !is_over && is_same(slot));
        if let (Some(slot), None) = (known, staying) {
            self.take_out(slot, hash, context);
        }
        if is_over {
            self.note_end(&prepared.terms);
            return;
        }
        let currency = self.currencies.number(prepared.currency);
        let price = self.currencies.price(currency, prepared.amount);
        let alarm = staying.and_then(|slot| self.order(slot)?.terms.next_change(self.now));
        let slot = staying.unwrap_or_else(|| self.new_slot());
        // Nothing is in a slot that is new.
        self.retire(slot, context);
        let text = self.texts.push(&prepared.text);
        let order = Order::new(prepared, price, token, maker, text);
        if let Some(at) = order.terms.next_change(self.now).filter(|at| alarm != Some(*at)) {
            self.alarms.push(Reverse((at, slot)));
        }
        self.slots[slot as usize] = Some(order);
        if staying.is_none() {
            self.make_found(slot, hash, token);
        }
        // What is loaded is looked at in the end, when everything around it is there.
        if !self.loading {
            self.evaluate(slot, context);
        }
    }

    /// A slot that no order is in.
    fn new_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Makes an order that has just come found by its key and by its token.
    fn make_found(&mut self, slot: u32, hash: u64, token: u32) {
        if token != NO_TOKEN {
            self.by_token.link(token, slot);
            self.stacks.note_one_more(token);
        }
        let (slots, texts, hasher) = (&self.slots, &self.texts, &self.hasher);
        self.by_key.insert_unique(hash, slot, |slot| rehash(slots, texts, hasher, *slot));
    }

    /// Forgets an order, if it is in the book.
    pub(crate) fn remove(&mut self, marketplace: Marketplace, order_id: &str, context: BookContext<'_>) {
        let order_id = text::name(order_id);
        let hash = self.hash(marketplace, &order_id);
        if let Some(slot) = self.find(hash, marketplace, &order_id) {
            self.take_out(slot, hash, context);
        }
    }

    fn hash(&self, marketplace: Marketplace, order_id: &[u8]) -> u64 {
        self.hasher.hash_one((marketplace, order_id))
    }

    fn find(&self, hash: u64, marketplace: Marketplace, order_id: &[u8]) -> Option<u32> {
        let same = |slot: &u32| {
            self.order(*slot).is_some_and(|order| {
                order.marketplace == marketplace && self.text(order).order_id() == order_id
            })
        };
        self.by_key.find(hash, same).copied()
    }

    /// Removes an order.
    fn take_out(&mut self, slot: u32, hash: u64, context: BookContext<'_>) {
        let Some(token) = self.retire(slot, context) else { return };
        if token != NO_TOKEN {
            self.by_token.unlink(token, slot);
            self.stacks.note_one_less(token);
        }
        if let Ok(entry) = self.by_key.find_entry(hash, |other| *other == slot) {
            entry.remove();
        }
        self.slots[slot as usize] = None;
        self.free.push(slot);
    }

    /// Takes an order out of the order of prices, before its slot is given to what comes in its place; its token.
    fn retire(&mut self, slot: u32, context: BookContext<'_>) -> Option<u32> {
        let order = self.order(slot)?;
        let (token, text) = (order.token, order.text);
        if order.is_active() {
            self.touch(slot, Turn::Gone, context);
        }
        self.texts.discard(text);
        Some(token)
    }

    /// Finds out anew whether an order is active.
    fn evaluate(&mut self, slot: u32, context: BookContext<'_>) {
        let Some(order) = self.order(slot) else { return };
        let world = self.world(order, context.holders);
        let (was, status) = (order.status, order.terms.status(world));
        let is_covered = order.terms.available(world.held) == order.terms.remaining;
        if was == OrderStatus::Active && status != OrderStatus::Active {
            self.touch(slot, Turn::Gone, context);
        }
        if let Some(order) = &mut self.slots[slot as usize] {
            (order.is_covered, order.status) = (is_covered, status);
        }
        if was != OrderStatus::Active && status == OrderStatus::Active {
            self.touch(slot, Turn::Come, context);
        }
    }

    /// The world around an order.
    pub(crate) fn world(&self, order: &Order, holders: &Holders) -> World {
        let is_listing = order.terms.side == OrderSide::Listing && order.token != NO_TOKEN;
        let held = (is_listing && holders.are_known()).then(|| holders.balance(order.maker, order.token));
        World { now: self.now, currency_known: self.currencies.is_known(order.price.currency), held }
    }

    /// Looks again at the listings of an account for a token, whose balance changed.
    pub(crate) fn balance_changed(&mut self, token: u32, account: u32, context: BookContext<'_>) {
        let slots: Vec<u32> = self.by_token.iter(token).collect();
        for slot in slots {
            if self.order(slot).is_some_and(|order| order.maker == account) {
                self.evaluate(slot, context);
            }
        }
    }

    /// Looks again at every order, after something that all depend on changed.
    pub(crate) fn evaluate_all(&mut self, context: BookContext<'_>) {
        self.begin_loading(self.now);
        for slot in (0..).take(self.slots.len()) {
            self.evaluate(slot, context);
        }
        self.finish_loading(context);
    }

    /// Takes over currencies and their rates.
    pub(crate) fn put_currencies(&mut self, currencies: &[Currency], context: BookContext<'_>) {
        let changes: Vec<bool> = currencies.iter().map(|currency| self.currencies.put(currency)).collect();
        if !changes.contains(&true) {
            return;
        }
        for order in self.slots.iter_mut().flatten() {
            order.price = self.currencies.price(order.price.currency, order.price.amount);
        }
        if !self.loading {
            self.evaluate_all(context);
        }
    }

    /// When the passing of time next changes anything, if it does.
    pub(crate) fn next_change(&self) -> Option<Timestamp> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// Notes that an order is left out. When only its time is over, a clock that goes back would make it good again.
    fn note_end(&mut self, terms: &Terms) {
        if terms.status == OrderStatus::Active && terms.remaining != Amount::ZERO {
            self.whole_from = self.whole_from.max(terms.valid_until);
        }
    }

    /// The time up to which it has passed.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether no order is missing that is good again once the time is set back.
    pub(crate) fn can_go_back(&self, now: Timestamp) -> bool {
        now >= self.whole_from
    }

    /// Sets the time back, as a clock that was wrong is set right; `false`, and nothing is done, when orders that would be
    /// good again are not here any more.
    pub(crate) fn go_back(&mut self, now: Timestamp, context: BookContext<'_>) -> bool {
        if !self.can_go_back(now) {
            return false;
        }
        self.now = now;
        self.set_alarms_anew();
        self.evaluate_all(context);
        true
    }

    /// Lets time pass. A moment that is over already changes nothing: see [`Book::go_back`].
    pub(crate) fn advance(&mut self, now: Timestamp, context: BookContext<'_>) {
        self.now = self.now.max(now);
        while let Some(Reverse((at, slot))) = self.alarms.peek().copied()
            && at <= self.now
        {
            self.alarms.pop();
            let Some(order) = self.order(slot) else { continue };
            if order.terms.is_over(self.now) {
                let (terms, hash) = (order.terms, self.hash(order.marketplace, self.text(order).order_id()));
                self.note_end(&terms);
                self.take_out(slot, hash, context);
            } else {
                if let Some(next) = order.terms.next_change(self.now) {
                    self.alarms.push(Reverse((next, slot)));
                }
                self.evaluate(slot, context);
            }
        }
    }

    /// Finds the best orders of the tokens that were touched, and their places.
    pub(crate) fn settle(&mut self, context: BookContext<'_>) {
        let touched = std::mem::take(&mut self.touched);
        self.relist(touched, context);
        if self.texts.is_wasteful() {
            self.compact();
        }
        if self.alarms.len() > 2 * self.slots.len() + ALARMS_SPARE {
            self.set_alarms_anew();
        }
    }

    /// Forgets the alarms of orders that were replaced or taken out, each of which left one.
    fn set_alarms_anew(&mut self) {
        let slots = (0..).zip(&self.slots).filter_map(|(slot, order)| Some((slot, order.as_ref()?)));
        let alarm = |(slot, order): (u32, &Order)| Some(Reverse((order.terms.next_change(self.now)?, slot)));
        self.alarms = slots.filter_map(alarm).collect();
    }

    fn compact(&mut self) {
        let spans: Vec<_> = self.slots.iter().flatten().map(|order| order.text).collect();
        let moved = self.texts.compact(&spans);
        for (order, text) in self.slots.iter_mut().flatten().zip(moved) {
            order.text = text;
        }
    }

    /// Memory that no copy shares.
    pub(crate) fn bytes_alone(&self) -> usize {
        self.bytes() - self.texts.bytes() + self.texts.bytes_alone()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.currencies.bytes()
            + self.slots.capacity() * size_of::<Option<Order>>()
            + self.by_key.capacity() * size_of::<u64>()
            + self.texts.bytes()
            + self.by_token.bytes()
            + self.listings.bytes()
            + self.offers.bytes()
            + self.ranked.bytes()
            + self.stacks.bytes()
            + self.collection_offers.bytes()
            + self.offers_by_creation.bytes()
            + self.by_creation.as_ref().map_or(0, OrderLists::bytes)
            + self.alarms.capacity() * size_of::<(Timestamp, u32)>()
    }
}

fn rehash(slots: &[Option<Order>], texts: &Arena, hasher: &DefaultHashBuilder, slot: u32) -> u64 {
    let order = slots.get(slot as usize).and_then(Option::as_ref);
    order.map_or(0, |order| {
        hasher.hash_one((order.marketplace, OrderText::new(texts.get(order.text)).order_id()))
    })
}
