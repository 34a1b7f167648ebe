//! Tokens with their best orders, page by page.

use bourse_sets::Bits;
use bourse_wire::OrderSide;

use super::candidates::Candidates;
use super::position::{EMPTY, Key, Position};
use super::walk::{Order, Segment, Selection};
use super::{Column, Sort, Start};
use crate::collection::Collection;
use crate::filter::{OrderFilter, TokenFilter};

/// So few tokens may be gathered and sorted rather than looked for in a list.
const SPARSE_MAX: usize = 8_192;
/// How many tokens of a list are looked at in the time that it takes to gather one.
const GATHERED_COST: usize = 48;

/// Which tokens with which orders, in which order, from where.
#[derive(Clone, Debug)]
pub struct Query<'q> {
    /// The side that the row's order is of; either when it is unknown.
    pub side: OrderSide,
    /// Which tokens.
    pub tokens: &'q TokenFilter,
    /// Which orders.
    pub orders: &'q OrderFilter,
    /// Whether tokens without an order come too, after the others.
    pub include_empty: bool,
    /// How to sort; when nothing is said the best price comes first, and of either side all listings before offers. Where prices or
    /// creation were asked for, rows of either side are one list.
    pub sort: Option<Sort>,
    /// Where the page begins.
    pub start: Start,
    /// Rows of the page.
    pub limit: usize,
}

/// Which tokens, in the order of their ids, from where.
#[derive(Clone, Debug)]
pub struct TokensQuery<'q> {
    /// Which tokens.
    pub tokens: &'q TokenFilter,
    /// Where the page begins.
    pub start: Start,
    /// Tokens of the page.
    pub limit: usize,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Its rows.
    pub rows: Vec<Row>,
    /// The position of the last row, when there are more.
    pub next: Option<Position>,
}

/// A token with its best orders. Good as long as the collection does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub(crate) token: u32,
    pub(crate) order: Option<u32>,
    pub(crate) listing: Option<u32>,
    pub(crate) offer: Option<u32>,
}

/// The best orders of a token that a filter lets through.
struct BestOrders {
    listing: Option<u32>,
    offer: Option<u32>,
}

impl BestOrders {
    /// The token with them, and with the one of a side.
    fn into_row(self, token: u32, side: OrderSide) -> Row {
        let Self { listing, offer } = self;
        let order = match side {
            OrderSide::Listing => listing,
            OrderSide::Offer => offer,
            OrderSide::Unknown => listing.or(offer),
        };
        Row { token, order, listing, offer }
    }
}

/// Whether it is less work to gather and sort so many tokens than to find those of a page in a list of others, too.
pub(super) fn is_sparse(count: usize, wanted: usize, listed: usize) -> bool {
    let looked_at = wanted.saturating_mul(listed) / count.max(1);
    count <= SPARSE_MAX && count * GATHERED_COST <= looked_at.min(listed)
}

impl Query<'_> {
    pub(super) fn column(&self) -> Column {
        self.sort.map_or(Column::Price, |sort| sort.column)
    }

    /// Whether to go against the order that a side's prices are kept in.
    pub(super) fn is_against(&self, side: OrderSide) -> bool {
        match self.sort {
            None => false,
            Some(sort) => sort.descending != (self.column() == Column::Price && side == OrderSide::Offer),
        }
    }

    /// The sides that rows may have their order from, in the order of their groups.
    pub(super) fn sides(&self) -> &'static [OrderSide] {
        match self.side {
            OrderSide::Listing => &[OrderSide::Listing],
            OrderSide::Offer => &[OrderSide::Offer],
            OrderSide::Unknown => &[OrderSide::Listing, OrderSide::Offer],
        }
    }

    /// Whether lists with an index of properties have its rows in its order.
    fn is_in_price_lists(&self) -> bool {
        self.column() == Column::Price && self.orders.is_empty() && self.tokens.is_of_properties()
    }

    /// Whether its rows are in the order of orders that a filter lets through.
    fn is_by_order(&self) -> bool {
        match self.column() {
            Column::Price => self.order_filter().is_some(),
            Column::CreatedAt => true,
            Column::TokenId | Column::Name => false,
        }
    }

    pub(super) fn order_filter(&self) -> Option<&OrderFilter> {
        (!self.orders.is_empty()).then_some(self.orders)
    }
}

impl Collection {
    /// Finds a page of tokens with their best orders.
    pub fn query(&self, query: &Query<'_>) -> Rows {
        let test = self.order_test(query);
        let collection_offer = self.book.best_collection_offer(test.as_ref());
        let mut found = if query.is_of_both_sides() {
            self.find_of_both_sides(query, collection_offer, query.limit + 1)
        } else {
            self.find_side_by_side(query, collection_offer, query.limit + 1)
        };
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        for side in [OrderSide::Listing, OrderSide::Offer] {
            self.book.fetch_best(side, found.iter().map(|(token, _)| *token));
        }
        let best = |token| BestOrders {
            listing: self.book.best(token, OrderSide::Listing, test.as_ref()),
            offer: self.book.better(self.book.best(token, OrderSide::Offer, test.as_ref()), collection_offer),
        };
        let rows: Vec<Row> =
            found.iter().map(|(token, _)| best(*token).into_row(*token, query.side)).collect();
        let last = found.last().zip(rows.last()).filter(|_| more);
        let next = last.map(|((_, group), row)| self.position(*row, *group, query.column()));
        Rows { rows, next }
    }

    /// The rows of a page with their groups, beside the best offer for any token where there is one: all rows of listings come
    /// before those of offers.
    pub(super) fn find_side_by_side(
        &self,
        query: &Query<'_>,
        for_any: Option<u32>,
        limit: usize,
    ) -> Vec<(u32, u8)> {
        match for_any.filter(|_| query.side != OrderSide::Listing) {
            Some(offer) => self.find_beside(query, offer, limit),
            None => self.find(query, limit),
        }
    }

    /// The rows of a page with their groups, by what orders of the tokens themselves say.
    pub(super) fn find(&self, query: &Query<'_>, limit: usize) -> Vec<(u32, u8)> {
        if query.is_in_price_lists() {
            return self.find_in_price_lists(query, limit);
        }
        let candidates = if self.is_walked_ascending(query) {
            self.candidates_in_order(query.tokens)
        } else {
            // Beside sets of orders it is always worth having one set.
            let wanted = query.start.skipped().saturating_add(query.limit);
            let wanted = if query.is_by_order() { usize::MAX } else { wanted };
            self.candidates(query.tokens).for_list(self, wanted)
        };
        self.find_rows(query, &candidates, limit)
    }

    /// How many rows a query has on all its pages.
    pub fn count(
        &self,
        side: OrderSide,
        tokens: &TokenFilter,
        orders: &OrderFilter,
        include_empty: bool,
    ) -> usize {
        let query =
            Query { side, tokens, orders, include_empty, sort: None, start: Start::Skip(0), limit: 0 };
        // Where there is an offer for any token, every token has one.
        let is_offered = || self.book.best_collection_offer(self.order_test(&query).as_ref()).is_some();
        let include_empty = include_empty || side != OrderSide::Listing && is_offered();
        if !include_empty && side != OrderSide::Unknown && query.is_in_price_lists() {
            return self
                .book
                .side(side)
                .price_lists()
                .map(|price_list| price_list.count(&tokens.properties))
                .sum();
        }
        let candidates = self.candidates(tokens);
        if include_empty {
            return candidates.len(self);
        }
        candidates.common(self, &self.members(&query, &candidates))
    }

    /// The token with the lowest listing. One whose currency has no rate is no floor, unless the filter leaves no other
    /// currency.
    pub fn listing_floor(&self, tokens: &TokenFilter, orders: &OrderFilter) -> Option<Row> {
        let (side, start) = (OrderSide::Listing, Start::Skip(0));
        let query = Query { side, tokens, orders, include_empty: false, sort: None, start, limit: 1 };
        let row = self.query(&query).rows.pop()?;
        let currency = self.book.order(row.listing?)?.price.currency;
        let currencies = self.book.currencies();
        let alone =
            || currencies.known_addresses().filter(|known| orders.allows_currency(known)).count() == 1;
        (currencies.rate(currency).is_some() || alone()).then_some(row)
    }

    /// Finds a page of tokens.
    pub fn search(&self, query: &TokensQuery<'_>) -> Rows {
        let (tokens, orders) = (query.tokens, OrderFilter::default());
        let sort = Some(Sort { column: Column::TokenId, descending: false });
        // Orders make no difference: of one side it is known already which tokens have one, of either it is not.
        let (side, start, limit) = (OrderSide::Listing, query.start.clone(), query.limit);
        self.query(&Query { side, tokens, orders: &orders, include_empty: true, sort, start, limit })
    }

    /// The rows by best price where nothing but properties is asked for, and after them those without an order.
    fn find_in_price_lists(&self, query: &Query<'_>, limit: usize) -> Vec<(u32, u8)> {
        let segments = self.price_segments(query, &Candidates::All, true);
        let (found, skip) = self.walk(&segments, &query.start, limit);
        if !query.include_empty || found.len() == limit {
            return found;
        }
        self.with_empty(query, &self.candidates(query.tokens), (found, skip), limit)
    }

    /// Rows, and after them those of tokens without an order, of which so many are to be skipped.
    fn with_empty(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        (mut found, skip): (Vec<(u32, u8)>, usize),
        limit: usize,
    ) -> Vec<(u32, u8)> {
        let members = self.members(query, candidates);
        let start = match &query.start {
            Start::Skip(_) => Start::Skip(skip as u64),
            after @ Start::After(_) => after.clone(),
        };
        let empty = [self.empty_segment(candidates, &members)];
        found.extend(self.walk(&empty, &start, limit - found.len()).0);
        found
    }

    pub(super) fn find_rows(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        limit: usize,
    ) -> Vec<(u32, u8)> {
        if let Candidates::Few(tokens) = candidates {
            return self.gather_few(query, tokens, limit);
        }
        if !query.is_by_order() {
            let members = self.members(query, candidates);
            if let Some(few) = self.sparse(query, candidates, &members, limit) {
                return self.gather_few(query, &few, limit);
            }
            return self.walk(&self.segments(query, candidates, &members), &query.start, limit).0;
        }
        let (found, skip) = match &query.start {
            // All rows that have an order come before.
            Start::After(position) if position.group == EMPTY => (Vec::new(), 0),
            _ => self.find_matching(query, candidates, limit),
        };
        if !query.include_empty || found.len() == limit {
            return found;
        }
        self.with_empty(query, candidates, (found, skip), limit)
    }

    /// The tokens that may be rows, where they are so few that finding and sorting all of them is less work than looking for
    /// those of the page in a list.
    fn sparse(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        members: &Bits,
        limit: usize,
    ) -> Option<Vec<u32>> {
        let Candidates::Many(many) = candidates else { return None };
        if matches!(query.start, Start::After(_)) {
            return None;
        }
        let single = many.single().filter(|_| !self.is_walked_ascending(query))?;
        let count = if query.include_empty { single.count() } else { single.common(members) };
        if !is_sparse(count, query.start.skipped().saturating_add(limit), self.len()) {
            return None;
        }
        let is_row = |token: &u32| query.include_empty || members.contains(*token);
        Some(single.iter().filter(is_row).collect())
    }

    fn is_walked_ascending(&self, query: &Query<'_>) -> bool {
        query.column() == Column::TokenId && self.tokens.are_ascending()
    }

    /// The lists that a query goes through one after another.
    fn segments<'a>(
        &'a self,
        query: &Query<'a>,
        candidates: &'a Candidates<'a>,
        members: &'a Bits,
    ) -> Vec<Segment<'a>> {
        let by = |list, order| Segment {
            list,
            indexed: None,
            order,
            reverse: query.is_against(OrderSide::Listing),
            group: (0, 0),
            selection: Selection {
                candidates,
                only: (!query.include_empty).then_some(members),
                except: None,
            },
        };
        match (query.column(), &self.by_name) {
            (Column::TokenId, _) => return vec![by(self.tokens.by_id(), Order::Id)],
            (Column::Name, Some(by_name)) => return vec![by(by_name, Order::Name)],
            _ => {}
        }
        let mut segments = self.price_segments(query, candidates, false);
        if query.include_empty {
            segments.push(self.empty_segment(candidates, members));
        }
        segments
    }

    /// The lists of tokens that have an order, by price; with or without their index of properties.
    fn price_segments<'a>(
        &'a self,
        query: &Query<'a>,
        candidates: &'a Candidates<'a>,
        indexed: bool,
    ) -> Vec<Segment<'a>> {
        let mut segments = Vec::with_capacity(5);
        for (group, side) in (0..).zip(query.sides()) {
            // A token that has a listing is in its place already.
            let except = (group == 1).then(|| self.book.side(OrderSide::Listing).members());
            for (unpriced, price_list) in (0..).zip(self.book.side(*side).price_lists()) {
                segments.push(Segment {
                    list: price_list.list(),
                    indexed: indexed.then_some((price_list, query.tokens.properties.as_slice())),
                    order: Order::Price(*side),
                    reverse: query.is_against(*side),
                    group: (group, unpriced),
                    selection: Selection { candidates, only: None, except },
                });
            }
        }
        segments
    }

    fn empty_segment<'a>(&'a self, candidates: &'a Candidates<'a>, members: &'a Bits) -> Segment<'a> {
        let selection = Selection { candidates, only: None, except: Some(members) };
        let (list, group) = (self.tokens.by_id(), (EMPTY, 0));
        Segment { list, indexed: None, order: Order::Id, reverse: false, group, selection }
    }

    fn position(&self, row: Row, group: u8, column: Column) -> Position {
        let order = row.order.and_then(|slot| self.book.order(slot)).filter(|_| group != EMPTY);
        let key = match (column, order) {
            (Column::Price, Some(order)) => {
                let currency = *self.book.currencies().address(order.price.currency);
                Key::Price { currency, amount: order.price.amount, order: None }
            }
            (Column::CreatedAt, Some(order)) => Key::CreatedAt { at: order.created_at, order: None },
            (Column::Name, _) => Key::Name(self.names.get(row.token).to_owned()),
            _ => Key::Token,
        };
        Position { group, token: self.tokens.id(row.token), key }
    }
}
