//! Orders from several lists, each in its order, as one list in that order. Blocks that a page skips are counted, where the page
//! begins is found by halves, and only what comes on the page is merged order by order.

use std::cmp::Ordering;
use std::ops::Range;

use bourse_wire::{Amount, OrderSide, Timestamp, TokenId};

use super::position::{Key, Position};
use super::walk::BlockMatches;
use crate::book::{NO_TOKEN, Order};
use crate::collection::Collection;
use crate::currencies::Price;
use crate::sorted_list::{are_apart, partition};

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
    tie: Tie<'a>,
}

/// What decides between orders of one price or time. Of an order in the book it is looked for only then, as it lies elsewhere.
enum Tie<'a> {
    Order(&'a Order),
    Position {
        /// Nothing where it is for any token, which comes after all.
        token: Option<TokenId>,
        marketplace: u8,
        order_id: &'a [u8],
    },
}

impl Tie<'_> {
    fn token(&self, collection: &Collection) -> Option<TokenId> {
        match self {
            Self::Order(order) => (order.token != NO_TOKEN).then(|| collection.tokens.id(order.token)),
            Self::Position { token, .. } => *token,
        }
    }

    fn compare_tokens(&self, collection: &Collection, other: &Self) -> Ordering {
        let (a, b) = (self.token(collection), other.token(collection));
        (a.is_none(), a).cmp(&(b.is_none(), b))
    }

    fn key<'s>(&'s self, collection: &'s Collection) -> (u8, &'s [u8]) {
        match self {
            Self::Order(order) => (order.marketplace.number(), collection.book.text(order).order_id()),
            Self::Position { marketplace, order_id, .. } => (*marketplace, order_id),
        }
    }
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
        let keys = || a.tie.key(collection).cmp(&b.tie.key(collection));
        let tokens = || a.tie.compare_tokens(collection, &b.tie);
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
        let (side, price, created_at) = (order.terms.side, order.price, order.created_at);
        Some(Rank { side, price, created_at, tie: Tie::Order(order) })
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
            tie: Tie::Position {
                token: (position.group != OFFER_FOR_ANY).then_some(position.token),
                marketplace: *marketplace,
                order_id: order_id.as_bytes(),
            },
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

/// A part of a list: where it ends, and the orders up to there.
pub(super) struct Chunk<'a> {
    pub(super) last: u32,
    pub(super) orders: ChunkOrders<'a>,
}

/// The orders of a part of a list, in order.
pub(super) enum ChunkOrders<'a> {
    /// All of these are asked for.
    Asked(Vec<u32>),
    /// Those of a block of a price list, of which some are asked for; from its end where a list is gone through from its end.
    OfBlock { listed: Listed, block: BlockMatches<'a, 'a>, reverse: bool },
}

/// What a price list has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Listed {
    /// The tokens of a side, each for its best order.
    Tokens(OrderSide),
    /// Orders of a side.
    Orders(OrderSide),
}

impl Listed {
    /// The order that an entry stands for.
    pub(super) fn order(self, collection: &Collection, entry: u32) -> Option<u32> {
        match self {
            Self::Tokens(side) => collection.book.side(side).best(entry),
            Self::Orders(_) => Some(entry),
        }
    }

    fn side(self) -> OrderSide {
        match self {
            Self::Tokens(side) | Self::Orders(side) => side,
        }
    }
}

impl ChunkOrders<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Asked(orders) => orders.len(),
            Self::OfBlock { block, .. } => block.run.ordinals.len(),
        }
    }

    /// The order at an index, asked for or not.
    fn order(&self, collection: &Collection, index: usize) -> Option<u32> {
        match self {
            Self::Asked(orders) => orders.get(index).copied(),
            Self::OfBlock { listed, block, .. } => {
                let entry = block.run.ordinals.get(self.index_in_block(index))?;
                listed.order(collection, *entry)
            }
        }
    }

    /// Whether the order at an index comes before another one or is it.
    fn is_up_to(&self, index: usize, end: u32, (collection, sequence): (&Collection, Sequence)) -> bool {
        if let Self::OfBlock { listed, block, reverse } = self {
            // Hints lie in a row, and orders somewhere in memory.
            let hint = block.run.hints[self.index_in_block(index)];
            let other = collection.book.hint(listed.side(), end);
            if are_apart(hint, other) {
                return (hint < other) != *reverse;
            }
        }
        let order = self.order(collection, index);
        order.is_some_and(|order| collection.compare_listed(sequence, order, end).is_le())
    }

    fn is_asked(&self, collection: &Collection, index: usize) -> bool {
        match self {
            Self::Asked(_) => true,
            Self::OfBlock { block, .. } => block.has(collection, self.index_in_block(index)),
        }
    }

    /// How many are asked for from one index up to another.
    fn count(&self, collection: &Collection, range: Range<usize>) -> usize {
        match self {
            Self::Asked(_) => range.len(),
            Self::OfBlock { block, .. } if range == (0..self.len()) => block.count(collection),
            Self::OfBlock { .. } => range.filter(|index| self.is_asked(collection, *index)).count(),
        }
    }

    fn index_in_block(&self, index: usize) -> usize {
        match self {
            Self::OfBlock { block, reverse: true, .. } => block.run.ordinals.len() - 1 - index,
            _ => index,
        }
    }
}

/// A list of which parts are taken one after another. Parts of which nothing is asked for may be left out.
pub(super) type Source<'a> = Box<dyn Iterator<Item = Chunk<'a>> + 'a>;

/// So many orders of a part are merged one by one where some are to be skipped; of more, it is first found out in which half the
/// page begins.
const MERGED_MAX: usize = 64;

/// The part of a list that is at hand, and how far it was taken.
struct Head<'a> {
    source: Source<'a>,
    chunk: Option<Chunk<'a>>,
    taken: usize,
}

impl<'a> Head<'a> {
    fn new(source: Source<'a>) -> Self {
        Self { source, chunk: None, taken: 0 }
    }

    /// Has a part at hand; `false` when there are no more.
    fn load(&mut self) -> bool {
        if self.chunk.is_none() {
            (self.chunk, self.taken) = (self.source.next(), 0);
        }
        self.chunk.is_some()
    }

    fn last(&self) -> Option<u32> {
        self.chunk.as_ref().map(|chunk| chunk.last)
    }

    /// The next order that is asked for, up to an index.
    fn first(&mut self, collection: &Collection, end: usize) -> Option<u32> {
        let orders = &self.chunk.as_ref()?.orders;
        self.taken += (self.taken..end).take_while(|index| !orders.is_asked(collection, *index)).count();
        (self.taken < end).then(|| orders.order(collection, self.taken)).flatten()
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
            let ends = heads.iter().filter_map(Head::last);
            let Some(end) = ends.min_by(|a, b| self.collection.compare_listed(self.sequence, *a, *b)) else {
                return true;
            };
            if !self.take_up_to(end, &mut heads) {
                return false;
            }
            for head in heads.iter_mut().filter(|head| head.last() == Some(end)) {
                head.chunk = None;
            }
        }
    }

    /// Takes what comes up to an order, which is not later than the end of any part. Whether there is room for more.
    fn take_up_to(&mut self, end: u32, heads: &mut [Head<'_>]) -> bool {
        let ends: Vec<usize> = heads.iter().map(|head| self.index_past(end, head)).collect();
        if self.skip > 0 {
            let count = |(head, end): (&Head<'_>, &usize)| {
                let orders = head.chunk.as_ref().map(|chunk| &chunk.orders);
                orders.map_or(0, |orders| orders.count(self.collection, head.taken..*end))
            };
            let count = heads.iter().zip(&ends).map(count).sum::<usize>();
            if count <= self.skip {
                self.skip -= count;
                heads.iter_mut().zip(ends).for_each(|(head, end)| head.taken = end);
                return true;
            }
            if let Some(middle) = self.middle(heads, &ends) {
                return self.take_up_to(middle, heads) && self.take_up_to(end, heads);
            }
        }
        self.merge(heads, &ends)
    }

    /// How far a part goes that comes up to an order.
    fn index_past(&self, end: u32, head: &Head<'_>) -> usize {
        let Some(Chunk { last, orders }) = &head.chunk else { return head.taken };
        if *last == end {
            return orders.len();
        }
        let around = (self.collection, self.sequence);
        let is_within = |index: usize| orders.is_up_to(head.taken + index, end, around);
        head.taken + partition(orders.len() - head.taken, is_within)
    }

    /// An order in the middle of what comes up to some ends, where that is much.
    fn middle(&self, heads: &[Head<'_>], ends: &[usize]) -> Option<u32> {
        let (head, end) = heads.iter().zip(ends).max_by_key(|(head, end)| **end - head.taken)?;
        let len = end - head.taken;
        if len <= MERGED_MAX {
            return None;
        }
        head.chunk.as_ref()?.orders.order(self.collection, head.taken + len / 2)
    }

    /// Takes what comes up to some ends, one by one. Whether there is room for more.
    fn merge(&mut self, heads: &mut [Head<'_>], ends: &[usize]) -> bool {
        let first = |(head, end): (&mut Head<'_>, &usize)| head.first(self.collection, *end);
        let mut firsts: Vec<Option<u32>> = heads.iter_mut().zip(ends).map(first).collect();
        while self.found.len() < self.limit {
            let waiting = firsts.iter().enumerate().filter_map(|(index, first)| Some((index, (*first)?)));
            let next = waiting.min_by(|(_, a), (_, b)| self.collection.compare_listed(self.sequence, *a, *b));
            let Some((index, order)) = next else { return true };
            heads[index].taken += 1;
            firsts[index] = heads[index].first(self.collection, ends[index]);
            if self.skip > 0 {
                self.skip -= 1;
            } else {
                self.found.push(order);
            }
        }
        false
    }
}
