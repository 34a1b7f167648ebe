//! The orders of one token, page by page.

use std::cmp::Ordering;

use bourse_wire::{OrderSide, Timestamp, TokenId};

use super::position::{Key, Position};
use super::{Column, Sort, Start};
use crate::book::{ListedOrder, Order, OrderTest, Place};
use crate::collection::Collection;
use crate::filter::OrderFilter;

/// Which orders of a token, in which order, from where.
#[derive(Clone, Debug)]
pub struct OrdersQuery<'q> {
    /// The token.
    pub token: TokenId,
    /// The side.
    pub side: OrderSide,
    /// Which orders.
    pub filter: &'q OrderFilter,
    /// How to sort, by price or by when they were first seen; the best price first when nothing is said.
    pub sort: Option<Sort>,
    /// Where the page begins.
    pub start: Start,
    /// Orders of the page.
    pub limit: usize,
}

impl OrdersQuery<'_> {
    fn by_creation(&self) -> bool {
        self.sort.is_some_and(|sort| sort.column == Column::CreatedAt)
    }

    /// Whether to go against the side's own order.
    fn is_against(&self) -> bool {
        match self.sort {
            Some(Sort { column: Column::CreatedAt, descending }) => descending,
            Some(Sort { column: Column::Price, descending }) => descending != (self.side == OrderSide::Offer),
            _ => false,
        }
    }
}

/// Orders that were found.
#[derive(Default)]
struct Found {
    orders: Vec<FoundOrder>,
    /// Whether the best comes first.
    is_ranked: bool,
}

#[derive(Clone, Copy)]
struct FoundOrder {
    slot: u32,
    created_at: Timestamp,
}

/// What an order is sorted by.
struct OrderRank<'a> {
    price: crate::currencies::Price,
    created_at: Timestamp,
    marketplace: u8,
    order_id: &'a [u8],
}

impl Collection {
    /// Finds a page of a token's active orders: their slots, and the position of the last when there are more.
    pub(crate) fn find_orders(&self, query: &OrdersQuery<'_>) -> (Vec<u32>, Option<Position>) {
        let Found { mut orders, is_ranked } = self.orders_of(query);
        let is_sorted = is_ranked && !query.by_creation();
        if is_sorted && query.is_against() {
            // What nobody knows the worth of comes last, whichever way prices go.
            let is_priced = |order: &FoundOrder| {
                self.book.order(order.slot).is_some_and(|order| !self.is_unpriced(&order.price))
            };
            let priced = orders.partition_point(is_priced);
            orders[..priced].reverse();
            orders[priced..].reverse();
        }
        if let Start::After(position) = &query.start
            && let Some(at) = self.position_of(position)
        {
            let follows = |order: &FoundOrder| self.follows(query, order, &at);
            if is_sorted {
                orders.drain(..orders.partition_point(|order| !follows(order)));
            } else {
                orders.retain(follows);
            }
        }
        let skip = query.start.skipped();
        let end = skip.saturating_add(query.limit);
        let more = orders.len() > end;
        if !is_sorted {
            let compare = |a: &FoundOrder, b: &FoundOrder| self.compare_found(query, a, b);
            // A token may have very many: only those up to the end of the page are sorted.
            if more {
                orders.select_nth_unstable_by(end, compare);
                orders.truncate(end);
            }
            orders.sort_unstable_by(compare);
        }
        let page = &orders[skip.min(orders.len())..end.min(orders.len())];
        let last = page.last().filter(|_| more).and_then(|last| self.book.order(last.slot));
        let next = last.map(|order| self.order_position(query, order));
        (page.iter().map(|order| order.slot).collect(), next)
    }

    fn follows(&self, query: &OrdersQuery<'_>, order: &FoundOrder, at: &OrderRank<'_>) -> bool {
        if query.by_creation() && order.created_at != at.created_at {
            return (order.created_at > at.created_at) != query.is_against();
        }
        let order = self.book.order(order.slot);
        order.is_some_and(|order| self.compare_ranks(query, &self.rank_of(order), at).is_gt())
    }

    /// Looks at orders only where the time tells nothing.
    fn compare_found(&self, query: &OrdersQuery<'_>, a: &FoundOrder, b: &FoundOrder) -> Ordering {
        let times = a.created_at.cmp(&b.created_at);
        if query.by_creation() && times.is_ne() {
            return if query.is_against() { times.reverse() } else { times };
        }
        match (self.book.order(a.slot), self.book.order(b.slot)) {
            (Some(a), Some(b)) => self.compare_ranks(query, &self.rank_of(a), &self.rank_of(b)),
            _ => Ordering::Equal,
        }
    }

    /// How many active orders of a side a token has under a filter.
    pub fn count_orders(&self, token: TokenId, side: OrderSide, filter: &OrderFilter) -> usize {
        let (sort, start) = (None, Start::Skip(0));
        self.orders_of(&OrdersQuery { token, side, filter, sort, start, limit: 0 }).orders.len()
    }

    fn orders_of(&self, query: &OrdersQuery<'_>) -> Found {
        let Some(token) = self.tokens.find(query.token) else { return Found::default() };
        let test = OrderTest::new(query.filter, &self.book, &self.holders);
        if let Some(stack) = self.book.stack(token, query.side) {
            let found = |(place, order): (Place, &ListedOrder)| FoundOrder {
                slot: order.slot,
                created_at: stack.created_at(place),
            };
            let orders = test.of_list(&self.book, query.side, stack).map(found).collect();
            return Found { orders, is_ranked: true };
        }
        let orders = self.book.of_token(token, query.side);
        let allowed = orders.filter(|(_, order)| test.allows(&self.book, order));
        let found = |(slot, order): (u32, &Order)| FoundOrder { slot, created_at: order.created_at };
        Found { orders: allowed.map(found).collect(), is_ranked: false }
    }

    fn rank_of<'a>(&'a self, order: &Order) -> OrderRank<'a> {
        let order_id = self.book.text(order).order_id();
        OrderRank {
            price: order.price,
            created_at: order.created_at,
            marketplace: order.marketplace.number(),
            order_id,
        }
    }

    fn position_of<'p>(&self, position: &'p Position) -> Option<OrderRank<'p>> {
        let currencies = self.book.currencies();
        let (price, created_at, order) = match &position.key {
            Key::Price { currency, amount, order } => {
                (currencies.price(currencies.find(currency)?, *amount), Timestamp::ZERO, order)
            }
            Key::CreatedAt { at, order } => (currencies.price(0, bourse_wire::Amount::ZERO), *at, order),
            Key::Token | Key::Name(_) => return None,
        };
        let (marketplace, order_id) = order.as_ref()?;
        Some(OrderRank { price, created_at, marketplace: *marketplace, order_id: order_id.as_bytes() })
    }

    fn compare_ranks(&self, query: &OrdersQuery<'_>, a: &OrderRank<'_>, b: &OrderRank<'_>) -> Ordering {
        let keys = if query.by_creation() {
            a.created_at.cmp(&b.created_at)
        } else {
            let classes = self.is_unpriced(&a.price).cmp(&self.is_unpriced(&b.price));
            if classes.is_ne() {
                return classes;
            }
            self.book.compare_prices(query.side, &a.price, &b.price)
        };
        let natural =
            keys.then_with(|| a.marketplace.cmp(&b.marketplace)).then_with(|| a.order_id.cmp(b.order_id));
        if query.is_against() { natural.reverse() } else { natural }
    }

    fn order_position(&self, query: &OrdersQuery<'_>, order: &Order) -> Position {
        let order_id = String::from_utf8_lossy(self.book.text(order).order_id()).into_owned();
        let name = Some((order.marketplace.number(), order_id));
        let key = if query.by_creation() {
            Key::CreatedAt { at: order.created_at, order: name }
        } else {
            let currency = *self.book.currencies().address(order.price.currency);
            Key::Price { currency, amount: order.price.amount, order: name }
        };
        Position { group: 0, token: query.token, key }
    }
}
