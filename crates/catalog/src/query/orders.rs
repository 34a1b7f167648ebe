//! The orders of one token, page by page.

use std::cmp::Ordering;

use bourse_wire::{OrderSide, Timestamp, TokenId};

use super::position::{Key, Position};
use super::{Column, Sort, Start};
use crate::book::{ListedOrder, Order, OrderList, OrderTest, Place, Span};
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

    /// Whether the page is in the order of lists by price, so that no more of them is wanted than what it needs.
    fn is_in_order_of_lists(&self) -> bool {
        !self.by_creation() && !self.is_against()
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
pub(super) struct OrderRank<'a> {
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
        let test = OrderTest::new(filter, &self.book, &self.holders);
        let of_list = |list: &OrderList| {
            if filter.is_empty() { list.len() } else { test.of_list(&self.book, side, list).count() }
        };
        // A token that nobody named yet has no orders of its own.
        let own = self.tokens.find(token).map_or(0, |token| match self.book.stack(token, side) {
            Some(stack) => of_list(stack),
            None => self.allowed(token, side, &test).count(),
        });
        own + self.lists_beside(side).map(of_list).sum::<usize>()
    }

    /// The orders of a side that stand beside those of every token, as they are for any.
    fn lists_beside(&self, side: OrderSide) -> impl Iterator<Item = &OrderList> {
        (side == OrderSide::Offer).then(|| self.book.collection_offers()).into_iter()
    }

    /// The orders of a token that has few, in no order.
    fn allowed<'a>(
        &'a self,
        token: u32,
        side: OrderSide,
        test: &'a OrderTest<'_>,
    ) -> impl Iterator<Item = (u32, &'a Order)> {
        self.book.of_token(token, side).filter(|(_, order)| test.allows(&self.book, order))
    }

    /// The orders of a query; of the lists in its order as many as the page needs, and one more.
    fn orders_of(&self, query: &OrdersQuery<'_>) -> Found {
        let test = OrderTest::new(query.filter, &self.book, &self.holders);
        let own = |token: u32| {
            if query.by_creation()
                && let Some(stack) = self.book.stack_by_creation(token, query.side)
            {
                return Found { orders: self.created_orders(query, &test, stack), is_ranked: false };
            }
            if !query.by_creation()
                && let Some(stack) = self.book.stack(token, query.side)
            {
                return Found { orders: self.listed_orders(query, &test, stack), is_ranked: true };
            }
            let found = |(slot, order): (u32, &Order)| FoundOrder { slot, created_at: order.created_at };
            let orders = self.allowed(token, query.side, &test).map(found).collect();
            Found { orders, is_ranked: false }
        };
        let own = self.tokens.find(query.token).map(own).unwrap_or_default();
        if query.by_creation() {
            let Found { mut orders, .. } = own;
            if query.side == OrderSide::Offer {
                orders.extend(self.created_orders(query, &test, self.book.offers_by_creation()));
            }
            return Found { orders, is_ranked: false };
        }
        self.lists_beside(query.side)
            .fold(own, |own, list| self.merged(own, &self.listed_orders(query, &test, list)))
    }

    /// The orders of a list that a query asks for, the best first.
    fn listed_orders(
        &self,
        query: &OrdersQuery<'_>,
        test: &OrderTest<'_>,
        list: &OrderList,
    ) -> Vec<FoundOrder> {
        let found = |(place, order): (Place, &ListedOrder)| FoundOrder {
            slot: order.slot,
            created_at: list.created_at(place),
        };
        let side = (&self.book, query.side);
        if !query.is_in_order_of_lists() {
            return test.of_list_from(OrderList::START, side, list).map(found).collect();
        }
        let at = match &query.start {
            Start::After(position) => self.position_of(position),
            Start::Skip(_) => None,
        };
        let from = at.map_or(OrderList::START, |at| {
            list.place(|slot| {
                let order = self.book.order(slot);
                order.is_some_and(|order| self.compare_ranks(query, &self.rank_of(order), &at).is_le())
            })
        });
        let wanted = query.start.skipped().saturating_add(query.limit).saturating_add(1);
        test.of_list_from(from, side, list).take(wanted).map(found).collect()
    }

    /// The orders of a list by creation that a query in that order asks for: as many as the page needs, and one more.
    fn created_orders(
        &self,
        query: &OrdersQuery<'_>,
        test: &OrderTest<'_>,
        list: &OrderList,
    ) -> Vec<FoundOrder> {
        let is_against = query.is_against();
        let at = match &query.start {
            Start::After(position) => self.position_of(position),
            Start::Skip(_) => None,
        };
        // Lists are in the order of time, whichever way the query goes.
        let compare = |slot: u32, at: &OrderRank<'_>| {
            let order = self.book.order(slot)?;
            let order = self.compare_ranks(query, &self.rank_of(order), at);
            Some(if is_against { order.reverse() } else { order })
        };
        let step = query.start.skipped().saturating_add(query.limit).saturating_add(1);
        let span = if is_against {
            let before = |at| list.place(|slot| compare(slot, &at).is_some_and(Ordering::is_lt));
            Span {
                from: OrderList::START,
                to: at.map_or(list.end(), before),
                awaited: None,
                reverse: true,
                step,
            }
        } else {
            let up_to = |at| list.place(|slot| compare(slot, &at).is_some_and(Ordering::is_le));
            Span {
                from: at.map_or(OrderList::START, up_to),
                to: list.end(),
                awaited: None,
                reverse: false,
                step,
            }
        };
        let chunks = test.chunks_by_creation(&self.book, list, span);
        let found = |listed: &ListedOrder| {
            let created_at = self.book.order(listed.slot)?.created_at;
            Some(FoundOrder { slot: listed.slot, created_at })
        };
        chunks.flat_map(|chunk| chunk.orders).filter_map(found).take(step).collect()
    }

    /// A token's own orders, and with them others that are in the order of their prices.
    fn merged(&self, own: Found, others: &[FoundOrder]) -> Found {
        if others.is_empty() {
            return own;
        }
        let Found { orders: mut own, is_ranked } = own;
        let compare = |a: &FoundOrder, b: &FoundOrder| {
            let both = self.book.order(a.slot).zip(self.book.order(b.slot));
            both.map_or(Ordering::Equal, |(a, b)| self.book.compare(a, b))
        };
        if !is_ranked {
            own.sort_unstable_by(compare);
        }
        let (mut orders, mut rest) = (Vec::with_capacity(own.len() + others.len()), others);
        for order in own {
            let before = rest.partition_point(|other| compare(other, &order).is_lt());
            orders.extend_from_slice(&rest[..before]);
            orders.push(order);
            rest = &rest[before..];
        }
        orders.extend_from_slice(rest);
        Found { orders, is_ranked: true }
    }

    pub(super) fn rank_of<'a>(&'a self, order: &Order) -> OrderRank<'a> {
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

    pub(super) fn compare_ranks(
        &self,
        query: &OrdersQuery<'_>,
        a: &OrderRank<'_>,
        b: &OrderRank<'_>,
    ) -> Ordering {
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
