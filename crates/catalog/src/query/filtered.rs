//! The best price order under a filter on orders, found from the front: tokens whose best order the filter lets through are in
//! a list by that order, and the others come between by the best one that it does.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::iter::Peekable;

use bourse_wire::{OrderSide, TokenId};

use super::candidates::Candidates;
use super::matches::{OtherRow, SideMatches};
use super::rows::Query;
use crate::book::{Book, OrderTest};
use crate::collection::Collection;
use crate::currencies::Price;
use crate::sorted_list::Cursor;

/// One in how many orders of tokens that have several must be of another token than those asked about for going through the
/// orders to be less work than looking at each token on the way.
const MET_SHARE: usize = 128;

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

/// A token with what ranks it on a side.
#[derive(Clone, Copy)]
struct Ranked<'a> {
    book: &'a Book,
    side: OrderSide,
    price: &'a Price,
    id: TokenId,
    token: u32,
}

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.book.compare_prices(self.side, self.price, other.price).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked<'_> {}

/// The rows whose best order the filter does not let through, the best first.
enum Others<'a> {
    /// Many: from the list of all orders of such tokens.
    Listed(Peekable<Box<dyn Iterator<Item = OtherRow> + 'a>>),
    /// Few: each is found when its token is met on the way, which is before its place as the token's best order comes before
    /// every other one.
    Met(BinaryHeap<Reverse<Ranked<'a>>>),
}

/// The way through a side's tokens, in the order of their best orders.
struct FilteredWalk<'a> {
    collection: &'a Collection,
    side: OrderSide,
    test: Option<&'a OrderTest<'a>>,
    others: Others<'a>,
}

impl<'a> FilteredWalk<'a> {
    /// A token that has this order.
    fn ranked(&self, slot: u32, token: u32) -> Option<Ranked<'a>> {
        let Collection { book, tokens, .. } = self.collection;
        let price = &book.order(slot)?.price;
        Some(Ranked { book, side: self.side, price, id: tokens.id(token), token })
    }

    /// Notes a token whose best order the filter does not let through, though another one may be.
    fn meet(&mut self, token: u32) {
        let slot = self.collection.book.best(token, self.side, self.test);
        let ranked = slot.and_then(|slot| self.ranked(slot, token));
        if let (Others::Met(waiting), Some(ranked)) = (&mut self.others, ranked) {
            waiting.push(Reverse(ranked));
        }
    }

    /// The next of the others.
    fn peek(&mut self) -> Option<Ranked<'a>> {
        let row = match &mut self.others {
            Others::Met(waiting) => return waiting.peek().map(|Reverse(next)| *next),
            Others::Listed(rows) => *rows.peek()?,
        };
        self.ranked(row.slot, row.token)
    }

    /// Takes the next of the others, when it comes before something.
    fn next_before(&mut self, end: Option<&Ranked<'_>>) -> Option<u32> {
        let next = self.peek().filter(|next| end.is_none_or(|end| next < end))?;
        match &mut self.others {
            Others::Met(waiting) => drop(waiting.pop()),
            Others::Listed(rows) => drop(rows.next()),
        }
        Some(next.token)
    }

    /// Takes rows until the page is full or there are no more.
    fn fill(&mut self, matches: &SideMatches<'_>, is_wanted: impl Fn(u32) -> bool, page: &mut Page) {
        let book = self.collection.book.side(self.side);
        let are_met = matches!(self.others, Others::Met(_));
        let runs = book.price_lists().flat_map(|price_list| price_list.list().blocks_from(Cursor::START));
        for token in runs.flat_map(|run| run.ordinals).copied() {
            let is_row = matches.best.contains(token);
            if !(is_row || are_met && matches.others.contains(token)) || !is_wanted(token) {
                continue;
            }
            if !is_row {
                self.meet(token);
                continue;
            }
            if self.peek().is_some()
                && let Some(rank) = book.best(token).and_then(|slot| self.ranked(slot, token))
            {
                while let Some(other) = self.next_before(Some(&rank)) {
                    if !page.take(other) {
                        return;
                    }
                }
            }
            if !page.take(token) {
                return;
            }
        }
        while let Some(other) = self.next_before(None)
            && page.take(other)
        {}
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
        let others = if matches.others.count() * MET_SHARE < self.book.ranked(side).len() {
            Others::Met(BinaryHeap::new())
        } else {
            Others::Listed(self.others(matches, test.as_ref(), is_wanted).peekable())
        };
        let mut walk = FilteredWalk { collection: self, side, test: test.as_ref(), others };
        walk.fill(matches, is_wanted, &mut page);
        (page.found, page.passed)
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{
        Address, Amount, ChainId, CollectionNumbers, Currency, DatedRate, Marketplace, OrderFacts,
        ServiceName, Timestamp,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::book::PreparedOrder;
    use crate::collection::Identity;
    use crate::filter::{OrderFilter, TokenFilter};
    use crate::loader::Loader;
    use crate::query::Start;

    const MARKETPLACES: [Marketplace; 3] = [Marketplace::OwnV2, Marketplace::Opensea, Marketplace::Blur];

    fn address(number: u8) -> Address {
        Address::from_bytes([number; 20])
    }

    /// A currency of which a unit is worth so much, if anybody knows.
    fn currency(number: u8, rate: Option<&str>) -> Currency {
        let (name, symbol, image_url) = (String::new(), String::new(), String::new());
        let rate = rate.map(|rate| DatedRate { rate: rate.parse().unwrap(), at: Timestamp::ZERO });
        let (chain_id, contract_address) = (ChainId(1), address(number));
        Currency { chain_id, contract_address, name, symbol, decimals: 0, image_url, rate }
    }

    /// Listings of tokens at prices, in currencies and on marketplaces.
    fn collection(listings: &[(u64, u64, u8, usize)]) -> Collection {
        let (chain, at) = (ChainId(1), address(200));
        let identity = Identity { number: 1, chain, address: at, service: ServiceName::new("bourse") };
        let mut loader = Loader::new(&identity, Timestamp::ZERO);
        let prepared = |(number, (token, price, currency, marketplace)): (usize, &(u64, u64, u8, usize))| {
            let facts = OrderFacts {
                side: OrderSide::Listing,
                token_id: Some(TokenId::from(*token)),
                price_amount: Amount::from(*price),
                currency: address(*currency),
                marketplace: MARKETPLACES[*marketplace],
                ..OrderFacts::sample(&number.to_string())
            };
            PreparedOrder::new(CollectionNumbers::new(chain, at), &facts)
        };
        loader.orders(&listings.iter().enumerate().map(prepared).collect::<Vec<_>>());
        loader.finish(1, &[currency(1, Some("1")), currency(2, Some("2")), currency(3, None)])
    }

    proptest! {
        /// Rows that are met on the way come where the list of all orders and a sort of all rows have them.
        #[test]
        fn rows_are_in_one_order_however_they_are_found(
            listings in prop::collection::vec((0_u64..40, 0_u64..8, 1_u8..4, 0_usize..3), 1..150),
            (asked_currency, asked_marketplace) in (prop::option::of(1_u8..4), prop::option::of(0_usize..3)),
            (skip, limit) in (0_u64..20, 1_usize..20),
        ) {
            let collection = collection(&listings);
            let orders = OrderFilter {
                currencies: asked_currency.map(address).into_iter().collect(),
                marketplaces: asked_marketplace.map(|index| MARKETPLACES[index]).into_iter().collect(),
                ..OrderFilter::default()
            };
            let (side, tokens, start) = (OrderSide::Listing, &TokenFilter::default(), Start::Skip(skip));
            let query = Query { side, tokens, orders: &orders, include_empty: false, sort: None, start, limit };
            let (matches, test) = (collection.side_matches(side, query.order_filter()), collection.order_test(&query));
            let walked = |others| {
                let mut page = Page { skip: query.start.skipped(), limit, passed: 0, found: Vec::new() };
                let mut walk = FilteredWalk { collection: &collection, side, test: test.as_ref(), others };
                walk.fill(&matches, |_| true, &mut page);
                page.found
            };
            let listed = walked(Others::Listed(collection.others(&matches, test.as_ref(), |_| true).peekable()));
            prop_assert_eq!(&walked(Others::Met(BinaryHeap::new())), &listed);
            let gathered = collection.gather(&query, &Candidates::All, &[matches], limit).0;
            prop_assert_eq!(gathered, listed);
        }
    }
}
