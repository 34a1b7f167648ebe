//! The best price order under a filter on orders, found from the front: tokens whose best order the filter lets through are in
//! a list by that order, and the others come between by the best one that it does.

use bourse_wire::TokenId;

use super::candidates::Candidates;
use super::matches::SideMatches;
use super::rows::Query;
use crate::collection::Collection;
use crate::currencies::Price;
use crate::sorted_list::Cursor;

/// Takes rows in order until there are enough.
struct Page {
    skip: usize,
    limit: usize,
    passed: usize,
    found: Vec<(u32, u8)>,
}

impl Page {
    /// Whether there is room for more.
    fn take(&mut self, token: u32) -> bool {
        self.passed += 1;
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.found.push((token, 0));
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
        let mut page = Page { skip: query.start.skipped(), limit, passed: 0, found: Vec::new() };
        let is_wanted = |token: u32| candidates.has(self, token);
        let mut others = self.others(matches, test.as_ref(), is_wanted).peekable();
        let book = self.book.side(side);
        let runs = book.price_lists().flat_map(|price_list| price_list.list().blocks_from(Cursor::START));
        for token in runs.flat_map(|run| run.ordinals) {
            if !matches.best.contains(*token) || !is_wanted(*token) {
                continue;
            }
            if others.peek().is_some()
                && let Some(rank) = book.best(*token).and_then(|slot| self.ranking(slot, *token))
            {
                let is_before = |(price, id): (&Price, TokenId)| {
                    self.book.compare_prices(side, price, rank.0).then_with(|| id.cmp(&rank.1)).is_lt()
                };
                while let Some(other) =
                    others.next_if(|other| self.ranking(other.slot, other.token).is_some_and(is_before))
                {
                    if !page.take(other.token) {
                        return (page.found, page.passed);
                    }
                }
            }
            if !page.take(*token) {
                return (page.found, page.passed);
            }
        }
        let _ = others.all(|other| page.take(other.token));
        (page.found, page.passed)
    }

    /// What ranks a token that has this order.
    fn ranking(&self, slot: u32, token: u32) -> Option<(&Price, TokenId)> {
        Some((&self.book.order(slot)?.price, self.tokens.id(token)))
    }
}
