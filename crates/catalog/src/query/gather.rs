//! Few rows, or rows in an order that no list is kept in: all of them are found, and the page's are sorted.

use std::cmp::Ordering;

use bourse_sets::Bits;
use bourse_wire::{OrderSide, Timestamp, TokenId};

use super::candidates::Candidates;
use super::matches::SideMatches;
use super::position::{EMPTY, Key, Position};
use super::rows::Query;
use super::{Column, Start};
use crate::book::OrderTest;
use crate::collection::Collection;
use crate::currencies::Price;

/// Tokens whose orders are fetched from memory at the same time.
const FETCHED_TOGETHER: usize = 64;

/// What a row is sorted by.
pub(super) struct RowRank<'a> {
    pub(super) group: u8,
    pub(super) token: u32,
    /// The id of a token that may not be there; that of one which is there is looked up when all else is equal.
    id: Option<TokenId>,
    pub(super) price: Option<Price>,
    pub(super) created_at: Timestamp,
    name: &'a str,
}

impl Collection {
    /// The rows of these tokens.
    pub(super) fn gather_few(&self, query: &Query<'_>, tokens: &[u32], limit: usize) -> Vec<(u32, u8)> {
        let (test, likely) = (self.order_test(query), self.likely_tokens(query));
        // An order is somewhere in memory, and those of a token are several; a set is asked at once.
        let tokens = tokens.iter().copied().filter(|token| query.include_empty || likely.has(*token));
        let tokens: Vec<u32> = tokens.collect();
        let mut rows = Vec::with_capacity(tokens.len());
        for tokens in tokens.chunks(FETCHED_TOGETHER) {
            query.sides().iter().for_each(|side| self.book.fetch_best(*side, tokens.iter().copied()));
            rows.extend(tokens.iter().filter_map(|token| self.row_rank(query, test.as_ref(), *token)));
        }
        self.page(query, rows, limit).0
    }

    /// The rows that have an order; and how many are still to be skipped when there are no more.
    pub(super) fn gather(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        matches: &[SideMatches<'_>],
        limit: usize,
    ) -> (Vec<(u32, u8)>, usize) {
        let mut tokens = Bits::empty(self.len());
        for side in matches {
            tokens.union(&side.best);
            tokens.union(&side.others);
        }
        let tokens = tokens.iter().filter(|token| candidates.has(self, *token));
        let test = self.order_test(query);
        let rows = tokens.filter_map(|token| self.row_rank(query, test.as_ref(), token));
        let (found, all) = self.page(query, rows.filter(|row| row.price.is_some()).collect(), limit);
        (found, query.start.skipped().saturating_sub(all))
    }

    /// A token as a row of a group, which has this order.
    pub(super) fn rank_of_order(
        &self,
        query: &Query<'_>,
        group: u8,
        token: u32,
        slot: u32,
    ) -> Option<RowRank<'_>> {
        let order = self.book.order(slot)?;
        let name = if query.column() == Column::Name { self.names.get(token) } else { "" };
        Some(RowRank { group, token, id: None, price: Some(order.price), created_at: order.created_at, name })
    }

    /// A token as a row of the query, when it is one.
    fn row_rank(&self, query: &Query<'_>, test: Option<&OrderTest<'_>>, token: u32) -> Option<RowRank<'_>> {
        let best = (0_u8..).zip(query.sides()).find_map(|(group, side)| {
            let slot = self.book.best(token, *side, test)?;
            Some((group, self.book.order(slot)?))
        });
        if best.is_none() && !query.include_empty {
            return None;
        }
        let is_mixed = matches!(query.column(), Column::TokenId | Column::Name);
        Some(RowRank {
            group: if is_mixed { 0 } else { best.map_or(EMPTY, |(group, _)| group) },
            token,
            id: None,
            price: best.map(|(_, order)| order.price),
            created_at: best.map_or(Timestamp::ZERO, |(_, order)| order.created_at),
            // Names lie elsewhere in memory: they are fetched for those who sort by them.
            name: if query.column() == Column::Name { self.names.get(token) } else { "" },
        })
    }

    /// The page's rows in order, and how many there are on all pages.
    fn page(&self, query: &Query<'_>, mut rows: Vec<RowRank<'_>>, limit: usize) -> (Vec<(u32, u8)>, usize) {
        let all = rows.len();
        let skip = query.start.skipped();
        if let Start::After(position) = &query.start {
            let position = self.rank_at(position);
            rows.retain(|row| self.compare_ranks_of_rows(query, row, &position).is_gt());
        }
        let end = skip.saturating_add(limit);
        if end < rows.len() {
            rows.select_nth_unstable_by(end, |a, b| self.compare_ranks_of_rows(query, a, b));
            rows.truncate(end);
        }
        rows.sort_unstable_by(|a, b| self.compare_ranks_of_rows(query, a, b));
        (rows.iter().skip(skip).map(|row| (row.token, row.group)).collect(), all)
    }

    /// What a position is sorted by.
    pub(super) fn rank_at<'p>(&self, position: &'p Position) -> RowRank<'p> {
        let (mut price, mut created_at, mut name) = (None, Timestamp::ZERO, "");
        match &position.key {
            Key::Token => {}
            Key::Price { currency, amount, .. } => {
                let number = self.book.currencies().find(currency);
                price = number.map(|number| self.book.currencies().price(number, *amount));
            }
            Key::CreatedAt { at, .. } => created_at = *at,
            Key::Name(text) => name = text,
        }
        RowRank { group: position.group, token: 0, id: Some(position.token), price, created_at, name }
    }

    /// Whether rows that all have this order come before a position, around it in the order of their ids, or after it.
    pub(super) fn compare_order_to(&self, query: &Query<'_>, slot: u32, position: &Position) -> Ordering {
        let at = self.rank_at(position);
        let row = self.rank_of_order(query, at.group, 0, slot).map(|row| RowRank { id: at.id, ..row });
        row.map_or(Ordering::Equal, |row| self.compare_ranks_of_rows(query, &row, &at))
    }

    pub(super) fn compare_ranks_of_rows(
        &self,
        query: &Query<'_>,
        a: &RowRank<'_>,
        b: &RowRank<'_>,
    ) -> Ordering {
        let groups = a.group.cmp(&b.group);
        let id = |row: &RowRank<'_>| row.id.unwrap_or_else(|| self.tokens.id(row.token));
        let ids = || id(a).cmp(&id(b));
        if groups.is_ne() || a.group == EMPTY {
            return groups.then_with(ids);
        }
        let side = query.sides().get(usize::from(a.group)).copied().unwrap_or(OrderSide::Listing);
        let keys = match query.column() {
            Column::TokenId => Ordering::Equal,
            Column::Name => a.name.cmp(b.name),
            Column::CreatedAt => a.created_at.cmp(&b.created_at),
            Column::Price => {
                let (Some(a_price), Some(b_price)) = (&a.price, &b.price) else { return ids() };
                let classes = self.is_unpriced(a_price).cmp(&self.is_unpriced(b_price));
                if classes.is_ne() {
                    return classes;
                }
                self.book.compare_prices(side, a_price, b_price)
            }
        };
        let natural = keys.then_with(ids);
        if query.is_against(side) { natural.reverse() } else { natural }
    }

    pub(super) fn is_unpriced(&self, price: &Price) -> bool {
        self.book.currencies().rate(price.currency).is_none()
    }
}
