//! Orders from several lists, each in its order, as one list in that order. Stretches that a page skips are counted, and only what
//! comes on the page is merged order by order.

use std::cmp::Ordering;

use bourse_wire::{Amount, OrderSide, Timestamp, TokenId};

use super::position::{Key, Position};
use crate::book::{NO_TOKEN, Order};
use crate::collection::Collection;
use crate::currencies::Price;

/// How the orders of a collection are sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// The side; both as one list when it is unknown.
    pub(super) side: OrderSide,
    /// Whether by when they were first seen rather than by price.
    pub(super) by_creation: bool,
    pub(super) descending: bool,
}

/// What an order is sorted by.
pub(super) struct Rank<'a> {
    side: OrderSide,
    price: Price,
    created_at: Timestamp,
    /// Nothing where it is for any token, which comes after all.
    token: Option<TokenId>,
    marketplace: u8,
    order_id: &'a [u8],
}

/// The order of an offer, and of one for any token, in positions.
const OFFER: u8 = 1;
const OFFER_FOR_ANY: u8 = 2;

impl Sequence {
    /// Whether the lists of a side are gone through from their ends.
    pub(super) fn is_against(self, side: OrderSide) -> bool {
        self.descending != (side == OrderSide::Offer && !self.by_creation)
    }

    /// Orders come in stages. What nobody knows the worth of comes last, whichever way prices go, and each side by itself.
    fn stage(self, collection: &Collection, rank: &Rank<'_>) -> u8 {
        if self.by_creation || !collection.is_unpriced(&rank.price) {
            return 0;
        }
        1 + u8::from(self.side == OrderSide::Unknown && rank.side == OrderSide::Offer)
    }

    /// Which of two orders comes first.
    pub(super) fn compare(self, collection: &Collection, a: &Rank<'_>, b: &Rank<'_>) -> Ordering {
        let stages = self.stage(collection, a).cmp(&self.stage(collection, b));
        if stages.is_ne() {
            return stages;
        }
        let keys = || (a.marketplace, a.order_id).cmp(&(b.marketplace, b.order_id));
        let tokens = || (a.token.is_none(), a.token).cmp(&(b.token.is_none(), b.token));
        let book = &collection.book;
        let natural = if self.by_creation {
            a.created_at.cmp(&b.created_at).then_with(keys)
        } else if a.side == b.side {
            book.compare_prices(a.side, &a.price, &b.price).then_with(tokens).then_with(keys)
        } else {
            let prices = book.compare_prices(OrderSide::Listing, &a.price, &b.price);
            let sides = (a.side == OrderSide::Offer).cmp(&(b.side == OrderSide::Offer));
            return if self.descending { prices.reverse() } else { prices }.then(sides);
        };
        if self.is_against(a.side) { natural.reverse() } else { natural }
    }
}

impl Collection {
    pub(super) fn rank_of_listed(&self, slot: u32) -> Option<Rank<'_>> {
        let order = self.book.order(slot)?;
        Some(Rank {
            side: order.terms.side,
            price: order.price,
            created_at: order.created_at,
            token: (order.token != NO_TOKEN).then(|| self.tokens.id(order.token)),
            marketplace: order.marketplace.number(),
            order_id: self.book.text(order).order_id(),
        })
    }

    /// What a position is sorted by; `None` where its currency is not known any more.
    pub(super) fn rank_of_position<'p>(&self, position: &'p Position) -> Option<Rank<'p>> {
        let currencies = self.book.currencies();
        let (price, created_at, order) = match &position.key {
            Key::Price { currency, amount, order } => {
                (currencies.price(currencies.find(currency)?, *amount), Timestamp::ZERO, order)
            }
            Key::CreatedAt { at, order } => (currencies.price(0, Amount::ZERO), *at, order),
            Key::Token | Key::Name(_) => return None,
        };
        let (marketplace, order_id) = order.as_ref()?;
        Some(Rank {
            side: if position.group == 0 { OrderSide::Listing } else { OrderSide::Offer },
            price,
            created_at,
            token: (position.group != OFFER_FOR_ANY).then_some(position.token),
            marketplace: *marketplace,
            order_id: order_id.as_bytes(),
        })
    }

    /// The position of an order in such a list.
    pub(super) fn position_of_listed(&self, sequence: Sequence, order: &Order) -> Position {
        let order_id = String::from_utf8_lossy(self.book.text(order).order_id()).into_owned();
        let name = Some((order.marketplace.number(), order_id));
        let key = if sequence.by_creation {
            Key::CreatedAt { at: order.created_at, order: name }
        } else {
            let currency = *self.book.currencies().address(order.price.currency);
            Key::Price { currency, amount: order.price.amount, order: name }
        };
        let (group, token) = match (order.terms.side, order.token) {
            (_, NO_TOKEN) => (OFFER_FOR_ANY, TokenId::default()),
            (OrderSide::Offer, token) => (OFFER, self.tokens.id(token)),
            (_, token) => (0, self.tokens.id(token)),
        };
        Position { group, token, key }
    }

    /// Which of two orders in the book comes first.
    pub(super) fn compare_listed(&self, sequence: Sequence, a: u32, b: u32) -> Ordering {
        let both = self.rank_of_listed(a).zip(self.rank_of_listed(b));
        both.map_or(Ordering::Equal, |(a, b)| sequence.compare(self, &a, &b))
    }
}

/// A part of a list: where it ends, and which of its orders are asked for, in order.
pub(super) struct Chunk {
    pub(super) last: u32,
    pub(super) orders: Vec<u32>,
}

/// A list of which parts are taken one after another.
pub(super) type Source<'a> = Box<dyn Iterator<Item = Chunk> + 'a>;

struct Head<'a> {
    source: Source<'a>,
    /// Where the part that is at hand ends; nothing when all of it was taken.
    last: Option<u32>,
    /// The orders of it that are left.
    orders: std::vec::IntoIter<u32>,
}

impl<'a> Head<'a> {
    fn new(source: Source<'a>) -> Self {
        Self { source, last: None, orders: Vec::new().into_iter() }
    }

    /// Has a part at hand; `false` when there are no more.
    fn load(&mut self) -> bool {
        if self.last.is_none()
            && let Some(Chunk { last, orders }) = self.source.next()
        {
            (self.last, self.orders) = (Some(last), orders.into_iter());
        }
        self.last.is_some()
    }
}

/// Takes orders in order until there are enough.
pub(super) struct Merge<'a> {
    pub(super) collection: &'a Collection,
    pub(super) sequence: Sequence,
    pub(super) skip: usize,
    pub(super) limit: usize,
    pub(super) found: Vec<u32>,
}

impl Merge<'_> {
    /// Takes orders of lists, all of which come after those that were taken before. Whether there is room for more.
    pub(super) fn fill(&mut self, sources: Vec<Source<'_>>) -> bool {
        let mut heads: Vec<Head<'_>> = sources.into_iter().map(Head::new).collect();
        loop {
            heads.retain_mut(Head::load);
            let ends = heads.iter().filter_map(|head| head.last);
            let Some(end) = ends.min_by(|a, b| self.collection.compare_listed(self.sequence, *a, *b)) else {
                return true;
            };
            if !self.take_up_to(end, &mut heads) {
                return false;
            }
            for head in heads.iter_mut().filter(|head| head.last == Some(end)) {
                head.last = None;
            }
        }
    }

    /// Takes what comes up to the end of a part, which is not later than that of any other.
    fn take_up_to(&mut self, end: u32, heads: &mut [Head<'_>]) -> bool {
        let within: Vec<usize> = heads.iter().map(|head| self.count_up_to(end, head)).collect();
        let count = within.iter().sum::<usize>();
        if count <= self.skip {
            self.skip -= count;
            for (head, count) in heads.iter_mut().zip(within) {
                head.orders.by_ref().take(count).for_each(drop);
            }
            return true;
        }
        (0..count).all(|_| {
            self.take_first(heads);
            self.found.len() < self.limit
        })
    }

    fn count_up_to(&self, end: u32, head: &Head<'_>) -> usize {
        if head.last == Some(end) {
            return head.orders.len();
        }
        head.orders
            .as_slice()
            .partition_point(|order| self.collection.compare_listed(self.sequence, *order, end).is_le())
    }

    /// Takes the first of all that are at hand.
    fn take_first(&mut self, heads: &mut [Head<'_>]) {
        let mut first: Option<(usize, u32)> = None;
        for (index, head) in heads.iter().enumerate() {
            let Some(order) = head.orders.as_slice().first().copied() else { continue };
            let is_before = |other: u32| self.collection.compare_listed(self.sequence, order, other).is_lt();
            if first.is_none_or(|(_, other)| is_before(other)) {
                first = Some((index, order));
            }
        }
        let Some((index, order)) = first else { return };
        heads[index].orders.next();
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.found.push(order);
        }
    }
}
