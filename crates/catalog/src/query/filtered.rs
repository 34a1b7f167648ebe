//! The best price order under a filter on orders, found from the order without it.
//!
//! A token's best order under a filter is its best order, or a worse one. So the tokens are gone through by their best
//! price; those whose best order the filter does not let through wait with their next one until its turn comes.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bourse_wire::{OrderSide, TokenId};

use super::Start;
use super::candidates::Candidates;
use super::matches::SideMatches;
use super::rows::Query;
use crate::book::Book;
use crate::collection::Collection;
use crate::currencies::Price;
use crate::sorted_list::Cursor;

/// A token with the price that ranks it.
struct Ranking<'a> {
    book: &'a Book,
    side: OrderSide,
    price: Price,
    id: TokenId,
    token: u32,
}

impl Ord for Ranking<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.book.compare_prices(self.side, &self.price, &other.price).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Ranking<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranking<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranking<'_> {}

/// Takes rows in order until there are enough.
struct Page {
    skip: usize,
    limit: usize,
    passed: usize,
    found: Vec<(u32, u8)>,
}

impl Page {
    /// Whether there is room for more.
    fn take(&mut self, row: &Ranking<'_>) -> bool {
        self.passed += 1;
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.found.push((row.token, 0));
        }
        self.found.len() < self.limit
    }
}

impl Collection {
    /// The rows by best price, and how many rows were passed: all there are when the page is not full.
    pub(super) fn walk_filtered(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        matches: &SideMatches<'_>,
        limit: usize,
    ) -> (Vec<(u32, u8)>, usize) {
        let (side, test) = (matches.side, self.order_test(query));
        let skip = match &query.start {
            Start::Skip(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Start::After(_) => 0,
        };
        let mut page = Page { skip, limit, passed: 0, found: Vec::new() };
        let mut waiting: BinaryHeap<Reverse<Ranking<'_>>> = BinaryHeap::new();
        let book = self.book.side(side);
        let runs = book.price_lists().flat_map(|price_list| price_list.list().blocks_from(Cursor::START));
        for token in runs.flat_map(|run| run.ordinals) {
            let is_best = matches.best.contains(*token);
            if !(is_best || matches.others.contains(*token)) || !candidates.has(self, *token) {
                continue;
            }
            let Some(best) = book.best(*token).and_then(|slot| self.book.order(slot)) else { continue };
            let rank = self.ranking(side, best.price, *token);
            while let Some(Reverse(first)) = waiting.peek()
                && *first < rank
            {
                if !page.take(first) {
                    return (page.found, page.passed);
                }
                waiting.pop();
            }
            if is_best {
                if !page.take(&rank) {
                    return (page.found, page.passed);
                }
            } else if let Some(next) = self.book.best(*token, side, test.as_ref())
                && let Some(next) = self.book.order(next)
            {
                waiting.push(Reverse(self.ranking(side, next.price, *token)));
            }
        }
        while let Some(Reverse(first)) = waiting.pop() {
            if !page.take(&first) {
                break;
            }
        }
        (page.found, page.passed)
    }

    fn ranking(&self, side: OrderSide, price: Price, token: u32) -> Ranking<'_> {
        Ranking { book: &self.book, side, price, id: self.tokens.id(token), token }
    }
}
