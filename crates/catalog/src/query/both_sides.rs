//! Rows of both sides as one list by price or by creation, where that order was asked for: those of listings and those of offers
//! are two lists, each in that order, of which the second has the tokens without a listing. They are merged for the page alone.
//! How many rows of the other list come before it is found by halving, as each list knows its row at any place.

use std::cmp::Ordering;
use std::ops::Range;

use bourse_wire::OrderSide;

use super::gather::RowRank;
use super::position::{EMPTY, Position};
use super::rows::Query;
use super::{Column, Start};
use crate::book::OrderTest;
use crate::collection::Collection;

/// A row, and its group: 0 of a listing, 1 of an offer, or [`EMPTY`].
type GroupedRow = (u32, u8);

/// Two lists that are read as one.
struct BothSides<'q> {
    collection: &'q Collection,
    query: &'q Query<'q>,
    test: Option<OrderTest<'q>>,
    /// The best offer for any token, which every token has.
    for_any: Option<u32>,
    /// Rows of listings, and of both.
    listings: usize,
    all: usize,
}

impl Query<'_> {
    /// Whether rows of both sides are one list.
    pub(super) fn is_of_both_sides(&self) -> bool {
        let column = self.sort.map(|sort| sort.column);
        self.side == OrderSide::Unknown && matches!(column, Some(Column::Price | Column::CreatedAt))
    }
}

impl Collection {
    /// The rows of a page with their groups, beside the best offer for any token where there is one.
    pub(super) fn find_of_both_sides(
        &self,
        query: &Query<'_>,
        for_any: Option<u32>,
        limit: usize,
    ) -> Vec<GroupedRow> {
        if matches!(&query.start, Start::After(position) if position.group == EMPTY) {
            return self.find_side_by_side(query, for_any, limit);
        }
        let count = |side| self.count(side, query.tokens, query.orders, false);
        let (listings, all) = (count(OrderSide::Listing), count(OrderSide::Unknown));
        // Behind a row that was of the other side by then, there is something to be found all the same.
        if matches!(query.start, Start::Skip(_)) && (listings == 0 || listings == all) {
            return self.find_side_by_side(query, for_any, limit);
        }
        let test = self.order_test(query);
        let lists = BothSides { collection: self, query, test, for_any, listings, all };
        let mut found = lists.page(limit);
        if query.include_empty && found.len() < limit {
            let start = Start::Skip(query.start.skipped().max(all) as u64);
            let empty = Query { start, ..query.clone() };
            found.extend(self.find_side_by_side(&empty, for_any, limit - found.len()));
        }
        found
    }
}

impl BothSides<'_> {
    fn page(&self, limit: usize) -> Vec<GroupedRow> {
        let (listings, offers) = match &self.query.start {
            Start::Skip(_) => {
                let skipped = self.query.start.skipped();
                if skipped >= self.all {
                    return Vec::new();
                }
                let before = self.listings_among(skipped);
                (Start::Skip(before as u64), self.offers_after(skipped - before))
            }
            after @ Start::After(position) if position.group == 0 => {
                (after.clone(), self.offers_after(self.offers_before(position)))
            }
            after @ Start::After(position) => {
                (Start::Skip(self.listings_before(position) as u64), after.clone())
            }
        };
        self.merged(self.of_listings(listings, limit), self.of_offers(offers, limit), limit)
    }

    /// How many of the first rows are of listings.
    fn listings_among(&self, count: usize) -> usize {
        let offers = self.all - self.listings;
        first_where(count.saturating_sub(offers)..count.min(self.listings), |listings| {
            let next = self.listing_at(listings).zip(self.offer_at(count - listings - 1));
            next.is_none_or(|(listing, offer)| self.compare(&listing, &offer).is_gt())
        })
    }

    fn listings_before(&self, position: &Position) -> usize {
        let offer = self.collection.rank_at(position);
        first_where(0..self.listings, |index| {
            self.listing_at(index).is_none_or(|listing| self.compare(&listing, &offer).is_gt())
        })
    }

    fn offers_before(&self, position: &Position) -> usize {
        let listing = self.collection.rank_at(position);
        first_where(0..self.all - self.listings, |index| {
            self.offer_at(index).is_none_or(|offer| self.compare(&listing, &offer).is_lt())
        })
    }

    fn listing_at(&self, index: usize) -> Option<RowRank<'_>> {
        self.of_listings(Start::Skip(index as u64), 1).pop().and_then(|row| self.rank(row))
    }

    fn offer_at(&self, index: usize) -> Option<RowRank<'_>> {
        self.of_offers(self.offers_after(index), 1).pop().and_then(|row| self.rank(row))
    }

    /// Where rows of offers begin after so many of them, as they come after all of listings.
    fn offers_after(&self, count: usize) -> Start {
        Start::Skip((self.listings + count) as u64)
    }

    fn of_listings(&self, start: Start, limit: usize) -> Vec<GroupedRow> {
        let query = Query { side: OrderSide::Listing, include_empty: false, start, ..self.query.clone() };
        self.collection.find(&query, limit)
    }

    fn of_offers(&self, start: Start, limit: usize) -> Vec<GroupedRow> {
        let query = Query { include_empty: false, start, ..self.query.clone() };
        self.collection.find_side_by_side(&query, self.for_any, limit)
    }

    fn rank(&self, (token, group): GroupedRow) -> Option<RowRank<'_>> {
        let (book, test) = (&self.collection.book, self.test.as_ref());
        let slot = if group == 0 {
            book.best(token, OrderSide::Listing, test)
        } else {
            book.better(book.best(token, OrderSide::Offer, test), self.for_any)
        };
        self.collection.rank_of_order(self.query, group, token, slot?)
    }

    /// Whether a row of a listing comes before one of an offer. What nobody knows the worth of comes last, whichever way prices go,
    /// each side by itself.
    fn compare(&self, listing: &RowRank<'_>, offer: &RowRank<'_>) -> Ordering {
        let keys = if self.query.column() == Column::CreatedAt {
            listing.created_at.cmp(&offer.created_at)
        } else {
            let known = |rank: &RowRank<'_>| rank.price.filter(|price| !self.collection.is_unpriced(price));
            match (known(listing), known(offer)) {
                (Some(listing), Some(offer)) => {
                    self.collection.book.compare_prices(OrderSide::Listing, &listing, &offer)
                }
                (None, Some(_)) => return Ordering::Greater,
                (_, None) => return Ordering::Less,
            }
        };
        let descending = self.query.sort.is_some_and(|sort| sort.descending);
        if descending { keys.reverse() } else { keys }.then(Ordering::Less)
    }

    fn merged(&self, listings: Vec<GroupedRow>, offers: Vec<GroupedRow>, limit: usize) -> Vec<GroupedRow> {
        let (mut listings, mut offers) = (listings.into_iter().peekable(), offers.into_iter().peekable());
        let mut found = Vec::with_capacity(limit.min(256));
        while found.len() < limit {
            let ranks = listings.peek().and_then(|row| self.rank(*row));
            let ranks = ranks.zip(offers.peek().and_then(|row| self.rank(*row)));
            let is_offer = match ranks {
                Some((listing, offer)) => self.compare(&listing, &offer).is_gt(),
                None => listings.peek().is_none(),
            };
            let Some(row) = (if is_offer { offers.next() } else { listings.next() }) else { break };
            found.push(row);
        }
        found
    }
}

/// The first number of a range for which something holds that holds for all after it as well, or the end of the range.
fn first_where(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) { end = middle } else { start = middle + 1 }
    }
    start
}
