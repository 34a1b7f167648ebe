//! Rows by price or by creation where there is an offer for any token: every token then has an offer, its own best one or
//! that.
//!
//! The best of the offers for any token is the same for all of them. So the rows are those whose own offers come before
//! it, then in the order of their ids all that have it or one that ranks with it, then those whose own offers come after
//! it. The first and the last are found as if there were no such offer.

use std::cmp::Ordering;

use bourse_sets::Bits;
use bourse_wire::OrderSide;

use super::candidates::Candidates;
use super::position::{EMPTY, Position};
use super::rows::Query;
use super::walk::{Order, Segment, Selection};
use super::{Column, Start};
use crate::book::Order as BookOrder;
use crate::collection::Collection;

/// Rows that come one after another.
enum Stretch {
    /// Tokens whose own best offer ranks them.
    Own(Bits),
    /// All others, by id.
    Rest,
}

/// The tokens whose own best offers rank them, beside an offer for any token.
#[derive(Default)]
struct OwnRows {
    /// Before it, of those whose currency has a rate.
    before: Bits,
    /// Before it, of the others.
    unpriced_before: Bits,
    after: Bits,
}

impl OwnRows {
    fn all(&self) -> [&Bits; 3] {
        [&self.before, &self.unpriced_before, &self.after]
    }

    /// Takes in a token by when its offer was first seen beside that for any token, where that ranks them, or by its price, which
    /// is better.
    fn insert(&mut self, token: u32, created: Option<Ordering>, is_unpriced: bool) {
        match created {
            None if is_unpriced => self.unpriced_before.insert(token),
            None | Some(Ordering::Less) => self.before.insert(token),
            Some(Ordering::Greater) => self.after.insert(token),
            Some(Ordering::Equal) => false,
        };
    }

    /// All rows in their order, of which those with a currency without a rate come last, whichever way the others go.
    fn into_stretches(self, is_unpriced: bool, is_against: bool) -> Vec<Stretch> {
        let Self { before, unpriced_before, after } = self;
        let rest = (is_unpriced, Stretch::Rest);
        let mut stretches = vec![
            (false, Stretch::Own(before)),
            (true, Stretch::Own(unpriced_before)),
            rest,
            (is_unpriced, Stretch::Own(after)),
        ];
        if is_against {
            stretches.reverse();
            stretches.sort_by_key(|(is_unpriced, _)| *is_unpriced);
        }
        stretches.into_iter().map(|(_, stretch)| stretch).collect()
    }
}

/// A page of stretches one after another.
struct StretchPage {
    found: Vec<(u32, u8)>,
    /// Where it begins in the next of them.
    start: Start,
    limit: usize,
}

impl StretchPage {
    /// How many more rows there is room for.
    fn wanted(&self) -> usize {
        self.limit - self.found.len()
    }

    /// Whether it begins behind a stretch of so many rows.
    fn is_past(&mut self, count: usize) -> bool {
        let Start::Skip(skip) = &mut self.start else { return false };
        let rest = skip.checked_sub(count as u64);
        rest.inspect(|rest| *skip = *rest).is_some()
    }

    /// Takes the rows of a stretch. Whether there is room for more.
    fn take(&mut self, found: Vec<(u32, u8)>) -> bool {
        self.found.extend(found);
        if let Start::Skip(skip) = &mut self.start {
            *skip = 0;
        }
        self.found.len() < self.limit
    }
}

/// Where a page begins among rows of one group, of which so many come before these; `None` behind all of them.
fn start_in(group: u8, start: &Start, before: usize) -> Option<Start> {
    match start {
        Start::Skip(_) => Some(Start::Skip(start.skipped().saturating_sub(before) as u64)),
        Start::After(position) => match position.group.cmp(&group) {
            Ordering::Less => Some(Start::Skip(0)),
            Ordering::Equal => Some(Start::After(Position { group: 0, ..position.clone() })),
            Ordering::Greater => None,
        },
    }
}

impl Collection {
    /// The rows of a page with their groups, where this is the best offer for any token.
    pub(super) fn find_beside(&self, query: &Query<'_>, offer: u32, limit: usize) -> Vec<(u32, u8)> {
        if matches!(query.column(), Column::TokenId | Column::Name) {
            return self.find(&Query { include_empty: true, ..query.clone() }, limit);
        }
        // Nothing comes after what had no order.
        if matches!(&query.start, Start::After(position) if position.group == EMPTY) {
            return Vec::new();
        }
        let offers = Query { side: OrderSide::Offer, include_empty: false, ..query.clone() };
        if query.side == OrderSide::Offer {
            return self.find_offers_beside(&offers, offer, None, limit);
        }
        let listings = Query { side: OrderSide::Listing, ..offers.clone() };
        let mut found = match start_in(0, &query.start, 0) {
            Some(start) => self.find(&Query { start, ..listings.clone() }, limit),
            None => Vec::new(),
        };
        if found.len() == limit {
            return found;
        }
        let candidates = self.candidates(query.tokens);
        let listed = self.members(&listings, &candidates);
        let before = candidates.common(self, &listed);
        let others = candidates.but(self, [&*listed]);
        if let Some(start) = start_in(1, &query.start, before) {
            let offers = Query { start, ..offers };
            let rows = self.find_offers_beside(&offers, offer, Some(others), limit - found.len());
            found.extend(rows.into_iter().map(|(token, _)| (token, 1)));
        }
        found
    }

    /// The rows of offers; of these candidates, or of all that the query lets through.
    fn find_offers_beside(
        &self,
        query: &Query<'_>,
        offer: u32,
        candidates: Option<Candidates<'_>>,
        limit: usize,
    ) -> Vec<(u32, u8)> {
        let is_against = query.is_against(OrderSide::Offer);
        if query.column() == Column::Price && !is_against {
            // Mostly the page is full of these, and how many there are does not matter.
            let mut found = match &candidates {
                Some(candidates) => self.find_rows(query, candidates, limit),
                None => self.find(query, limit),
            };
            found.truncate(self.better_rows(query, &found, offer));
            if found.len() == limit {
                return found;
            }
        }
        let candidates = candidates.unwrap_or_else(|| self.candidates(query.tokens));
        let is_unpriced = query.column() == Column::Price
            && self.book.order(offer).is_some_and(|order| self.is_unpriced(&order.price));
        let own = self.own_rows(query, offer);
        let rest = candidates.but(self, own.all());
        let mut page = StretchPage { found: Vec::new(), start: query.start.clone(), limit };
        for stretch in own.into_stretches(is_unpriced, is_against) {
            let own = match &stretch {
                Stretch::Own(own) => Some(candidates.within(self, own)),
                Stretch::Rest => None,
            };
            if page.is_past(own.as_ref().unwrap_or(&rest).len(self)) {
                continue;
            }
            let query = Query { start: page.start.clone(), ..query.clone() };
            let found = match &own {
                Some(own) => self.find_rows(&query, own, page.wanted()),
                None => self.rest_by_id(&query, offer, &rest, page.wanted()),
            };
            if !page.take(found) {
                break;
            }
        }
        page.found
    }

    /// How many of some rows, which are in the order of the best prices, have better ones than an offer.
    fn better_rows(&self, query: &Query<'_>, rows: &[(u32, u8)], offer: u32) -> usize {
        let (side, test) = (OrderSide::Offer, self.order_test(query));
        let price = |slot: u32| self.book.order(slot).map(|order| order.price);
        let is_better = |(token, _): &(u32, u8)| {
            let own = self.book.best(*token, side, test.as_ref()).and_then(price).zip(price(offer));
            own.is_some_and(|(own, offer)| self.book.compare_prices(side, &own, &offer).is_lt())
        };
        rows.partition_point(is_better)
    }

    /// The tokens whose own best offers, of those that a query lets through, rank them beside an offer for any token.
    fn own_rows(&self, query: &Query<'_>, offer: u32) -> OwnRows {
        let (side, mut own) = (OrderSide::Offer, OwnRows::default());
        let (test, matches) = (self.order_test(query), self.side_matches(side, query.order_filter()));
        let Some(offer) = self.book.order(offer) else { return own };
        let by_creation = query.column() == Column::CreatedAt;
        let created = |order: &BookOrder| by_creation.then(|| order.created_at.cmp(&offer.created_at));
        let compare = |order: &BookOrder| self.book.compare_prices(side, &order.price, &offer.price);
        let best = |token: &u32| self.book.side(side).best(*token).and_then(|slot| self.book.order(slot));
        // At the same price it only matters by creation whose the row is.
        let is_ahead = |order: &BookOrder| by_creation && self.book.compare(order, offer).is_lt();
        for (is_unpriced, list) in [false, true].into_iter().zip(self.book.side(side).price_lists()) {
            let list = list.list();
            let end = list.cursor(|token| best(&token).is_some_and(|order| compare(order).is_lt()));
            for token in list.blocks_before(end).flat_map(|run| run.ordinals) {
                if matches.best.contains(*token) {
                    let created = if by_creation { best(token).and_then(created) } else { None };
                    own.insert(*token, created, is_unpriced);
                }
            }
            let tied = list.blocks_from(end).flat_map(|run| run.ordinals);
            let tied = tied.filter_map(|token| Some((token, best(token)?)));
            let tied = tied.take_while(|(_, order)| by_creation && compare(order).is_eq());
            for (token, order) in
                tied.filter(|(token, order)| matches.best.contains(**token) && is_ahead(order))
            {
                own.insert(*token, created(order), is_unpriced);
            }
        }
        for row in self.others(&matches, test.as_ref(), |_| true) {
            let Some(order) = self.book.order(row.slot).filter(|order| compare(order).is_le()) else { break };
            if compare(order).is_lt() || is_ahead(order) {
                own.insert(row.token, created(order), self.is_unpriced(&order.price));
            }
        }
        own
    }

    /// Those whose best offer is the one for any token, or ranks with it.
    fn rest_by_id(
        &self,
        query: &Query<'_>,
        offer: u32,
        rest: &Candidates<'_>,
        wanted: usize,
    ) -> Vec<(u32, u8)> {
        let (mut group, mut start) = ((0, 0), query.start.clone());
        if let Start::After(position) = &query.start {
            match self.compare_order_to(query, offer, position) {
                Ordering::Less => return Vec::new(),
                Ordering::Equal => group = self.group_of(position),
                Ordering::Greater => start = Start::Skip(0),
            }
        }
        let selection = Selection { candidates: rest, only: None, except: None };
        let (list, reverse) = (self.tokens.by_id(), query.is_against(OrderSide::Offer));
        let segment = Segment { list, indexed: None, order: Order::Id, reverse, group, selection };
        self.walk(&[segment], &start, wanted).0
    }
}
