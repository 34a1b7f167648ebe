//! The tokens that have an order which a filter lets through, found from sets of tokens and hardly ever from orders.
//!
//! Of a token with one order, sets tell all: it is in the set of the order's currency, of its marketplace and of its
//! maker. Of a token with several, one order may have the currency and another one the maker; but its best order is one
//! order again. So the tokens whose best order passes are known, and of the others only those are looked at that have
//! several orders.

use std::borrow::Cow;
use std::cmp::Ordering;

use bourse_sets::{Bits, Set};
use bourse_wire::{Address, Amount, OrderSide, Timestamp};

use super::candidates::Candidates;
use super::rows::Query;
use crate::book::{ListedOrder, OrderSets, OrderTest, PriceList, SideBook};
use crate::collection::Collection;
use crate::currencies::Price;
use crate::filter::{OrderFilter, PriceRange};
use crate::sorted_list::Cursor;

/// One in how many tokens with an order must be in a currency for going through a list in price order to be less work than
/// looking at the price of each.
const LISTED_SHARE: usize = 64;
/// One in how many orders must be of another token than the others that are asked about for going through all orders to be
/// less work than looking at each token.
const RANKED_SHARE: usize = 512;

/// Sets that a token is looked for in one after the other, at most: where more are asked for, its orders are looked at.
const LIKELY_SETS_MAX: usize = 8;

/// The tokens with an order on a side that a filter lets through.
pub(super) struct SideMatches<'a> {
    pub(super) side: OrderSide,
    /// Those whose best order it lets through.
    pub(super) best: Cow<'a, Bits>,
    /// Others that may have such an order, which is not their best one.
    pub(super) others: Bits,
    /// Whether each of the others has one.
    is_sure: bool,
}

impl SideMatches<'_> {
    /// Those that are in a set.
    pub(super) fn among(mut self, set: Option<&Bits>) -> Self {
        if let Some(set) = set {
            self.best.to_mut().intersect(set);
            self.others.intersect(set);
        }
        self
    }
}

/// A row whose order is not the best one of its token, but the best that a filter lets through.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherRow {
    pub(super) token: u32,
    pub(super) slot: u32,
    pub(super) created_at: Timestamp,
}

/// Sets of tokens by one thing that orders say, united: of any order, and of the best.
struct Restriction<'a> {
    any: Cow<'a, Bits>,
    best: Cow<'a, Bits>,
}

/// Tokens that may have an order that a query asks for, as far as sets tell which are there.
pub(super) struct LikelyTokens<'a> {
    /// Of each side, for each thing that orders are asked for, the tokens with one like that; or the tokens that have an order.
    sides: Vec<AskedTokens<'a>>,
}

enum AskedTokens<'a> {
    OfSets(Vec<Vec<&'a Set>>),
    WithOrder(&'a Bits),
}

impl LikelyTokens<'_> {
    pub(super) fn has(&self, token: u32) -> bool {
        let has_any = |sets: &Vec<&Set>| sets.iter().any(|set| set.contains(token));
        self.sides.iter().any(|side| match side {
            AskedTokens::OfSets(asked) => asked.iter().all(has_any),
            AskedTokens::WithOrder(members) => members.contains(token),
        })
    }
}

/// What is in any of some sets. Mostly there is one, of which nothing has to be made.
fn union<'a>(sets: &[&'a Set], universe: usize) -> Cow<'a, Bits> {
    if let [set] = sets
        && let Some(bits) = set.bits()
    {
        return Cow::Borrowed(bits);
    }
    let mut bits = Bits::empty(universe);
    for set in sets {
        set.add_to(&mut bits);
    }
    Cow::Owned(bits)
}

impl Collection {
    /// The tokens with an order on a side that a filter, if there is one, lets through.
    pub(super) fn side_matches(&self, side: OrderSide, filter: Option<&OrderFilter>) -> SideMatches<'_> {
        let book = self.book.side(side);
        let Some(filter) = filter else {
            let (best, others) = (Cow::Borrowed(book.members()), Bits::default());
            return SideMatches { side, best, others, is_sure: true };
        };
        let restrictions = self.restrictions(book, filter);
        let mut is_sure = restrictions.len() == 1 && filter.prices.is_empty();
        let both = restrictions.into_iter().reduce(|mut all, other| {
            all.any.to_mut().intersect(&other.any);
            all.best.to_mut().intersect(&other.best);
            all
        });
        let all = || Restriction { any: Cow::Borrowed(book.members()), best: Cow::Borrowed(book.members()) };
        let Restriction { mut any, mut best } = both.unwrap_or_else(all);
        if filter.makers.is_empty() && !filter.not_makers.is_empty() {
            let excluded = |sets| union(&self.of_makers(sets, filter.not_makers.iter()), self.len());
            best.to_mut().subtract(&excluded(book.best_ones()));
            let mut only = excluded(book.any()).into_owned();
            only.subtract(book.several());
            any.to_mut().subtract(&only);
            is_sure = false;
        }
        if !filter.prices.is_empty() {
            best.to_mut().intersect(&self.priced(side, filter));
        }
        let others = Bits::of_both_but(&any, book.several(), &best);
        SideMatches { side, best, others, is_sure }
    }

    fn restrictions<'a>(&'a self, book: &'a SideBook, filter: &OrderFilter) -> Vec<Restriction<'a>> {
        let any = self.asked_for(book, book.any(), filter);
        let best = self.asked_for(book, book.best_ones(), filter);
        let both = any.iter().zip(&best);
        both.map(|(any, best)| Restriction { any: union(any, self.len()), best: union(best, self.len()) })
            .collect()
    }

    /// For each thing that a filter asks for by what orders say, the sets that have it.
    fn asked_for<'a>(
        &'a self,
        book: &'a SideBook,
        sets: &'a OrderSets,
        filter: &OrderFilter,
    ) -> Vec<Vec<&'a Set>> {
        let mut asked = Vec::with_capacity(3);
        if filter.restricts_currencies() {
            let is_allowed = |number: &u32| filter.allows_currency(self.book.currencies().address(*number));
            let numbers = book.any().currencies().filter(is_allowed);
            asked.push(numbers.filter_map(|number| sets.of_currency(number)).collect());
        }
        if !filter.marketplaces.is_empty() {
            let marketplaces = filter.marketplaces.iter();
            asked.push(marketplaces.filter_map(|marketplace| sets.of_marketplace(*marketplace)).collect());
        }
        if !filter.makers.is_empty() {
            let is_allowed = |maker: &&Address| !filter.not_makers.contains(maker);
            asked.push(self.of_makers(sets, filter.makers.iter().filter(is_allowed)));
        }
        asked
    }

    /// Tokens of which some order says one thing that is asked for, where so few do; all that match are among them.
    pub(super) fn few_said(&self, side: OrderSide, filter: &OrderFilter, max: usize) -> Option<Vec<u32>> {
        let book = self.book.side(side);
        let asked = self.asked_for(book, book.any(), filter);
        let len = |sets: &[&Set]| sets.iter().map(|set| set.len()).sum::<usize>();
        let rarest = asked.iter().min_by_key(|sets| len(sets)).filter(|sets| len(sets) <= max)?;
        let mut tokens: Vec<u32> = rarest.iter().flat_map(|set| set.to_list()).collect();
        tokens.sort_unstable();
        tokens.dedup();
        Some(tokens)
    }

    fn of_makers<'a, 'm>(
        &'a self,
        sets: &'a OrderSets,
        makers: impl Iterator<Item = &'m Address>,
    ) -> Vec<&'a Set> {
        makers.filter_map(|maker| sets.of_maker(self.holders.find(maker)?)).collect()
    }

    /// The tokens of which it pays to ask for the order that a query wants.
    pub(super) fn likely_tokens<'a>(&'a self, query: &Query<'_>) -> LikelyTokens<'a> {
        let of_side = |side: &OrderSide| {
            let book = self.book.side(*side);
            let asked = query.order_filter().map(|filter| self.asked_for(book, book.any(), filter));
            let mut asked = asked.unwrap_or_default();
            asked.retain(|sets| sets.len() <= LIKELY_SETS_MAX);
            if asked.is_empty() { AskedTokens::WithOrder(book.members()) } else { AskedTokens::OfSets(asked) }
        };
        LikelyTokens { sides: query.sides().iter().map(of_side).collect() }
    }

    /// The tokens whose best order on a side has a price that a filter lets through.
    fn priced(&self, side: OrderSide, filter: &OrderFilter) -> Bits {
        let mut priced = Bits::empty(self.len());
        let listed = self.book.side(side).len();
        for range in &filter.prices {
            let currency = self.book.currencies().find(&range.currency);
            let Some(currency) = currency else { continue };
            let Some(tokens) = self.book.side(side).best_ones().of_currency(currency) else { continue };
            if range.min.is_none_or(|min| min == Amount::ZERO) && range.max.is_none() {
                tokens.add_to(&mut priced);
            } else if tokens.len() * LISTED_SHARE < listed {
                let is_within = |token: u32| {
                    let best = self.book.side(side).best(token).and_then(|slot| self.book.order(slot));
                    best.is_some_and(|order| filter.allows_price(&range.currency, order.price.amount))
                };
                tokens.to_list().into_iter().filter(|token| is_within(*token)).for_each(|token| {
                    priced.insert(token);
                });
            } else {
                self.add_between(side, (currency, range), &tokens.term().to_bits(), &mut priced);
            }
        }
        priced
    }

    /// Adds those of some tokens whose best order is in a currency, and its price within a range: the price lists have them
    /// one after another.
    fn add_between(
        &self,
        side: OrderSide,
        (currency, range): (u32, &PriceRange),
        tokens: &Bits,
        priced: &mut Bits,
    ) {
        let currencies = self.book.currencies();
        let price = |amount: Option<Amount>| amount.map(|amount| currencies.price(currency, amount));
        let (begin, end) = match side {
            OrderSide::Offer => (price(range.max), price(range.min)),
            _ => (price(range.min), price(range.max)),
        };
        let is_unpriced = currencies.rate(currency).is_none();
        let lists = self.book.side(side).price_lists().nth(usize::from(is_unpriced));
        let Some(list) = lists.map(PriceList::list) else { return };
        let compare = |token: u32, bound: &Price| {
            let best = self.book.side(side).best(token).and_then(|slot| self.book.order(slot));
            best.map_or(Ordering::Equal, |order| self.book.compare_prices(side, &order.price, bound))
        };
        let cursor = begin.map_or(Cursor::START, |begin| list.cursor(|token| compare(token, &begin).is_lt()));
        let is_within = |token: &u32| end.as_ref().is_none_or(|end| compare(*token, end).is_le());
        for run in list.blocks_from(cursor) {
            let is_whole = run.ordinals.last().is_none_or(is_within);
            let count = if is_whole { run.ordinals.len() } else { run.ordinals.partition_point(is_within) };
            for token in run.ordinals[..count].iter().filter(|token| tokens.contains(**token)) {
                priced.insert(*token);
            }
            if !is_whole {
                break;
            }
        }
    }

    /// The query's filter on orders, if it has one, as it is asked of many of them.
    pub(super) fn order_test<'q>(&self, query: &'q Query<'_>) -> Option<OrderTest<'q>> {
        query.order_filter().map(|filter| OrderTest::new(filter, &self.book, &self.holders))
    }

    /// All tokens that match on any side. Those that are no candidates may be among them.
    pub(super) fn all_of_sides(&self, query: &Query<'_>, matches: &[SideMatches<'_>]) -> Bits {
        let united = matches.iter().map(|side| self.all_of_side(query, side)).reduce(|mut all, other| {
            all.union(&other);
            all
        });
        united.unwrap_or_default()
    }

    /// All tokens of a side that match.
    fn all_of_side(&self, query: &Query<'_>, matches: &SideMatches<'_>) -> Bits {
        let mut all = matches.best.clone().into_owned();
        if matches.is_sure {
            all.union(&matches.others);
            return all;
        }
        let test = self.order_test(query);
        for row in self.others(matches, test.as_ref(), |_| true) {
            all.insert(row.token);
        }
        all
    }

    /// The rows of a side whose best order the filter does not let through, of tokens that are wanted, the best first.
    pub(super) fn others<'a>(
        &'a self,
        matches: &'a SideMatches<'_>,
        test: Option<&'a OrderTest<'_>>,
        is_wanted: impl Fn(u32) -> bool + 'a,
    ) -> Box<dyn Iterator<Item = OtherRow> + 'a> {
        let (side, list) = (matches.side, self.book.ranked(matches.side));
        let Some(test) = test else { return Box::new(std::iter::empty()) };
        if matches.others.count() * RANKED_SHARE < list.len() {
            return Box::new(self.few_others(matches, test, is_wanted).into_iter());
        }
        let rows = test.best_of_list(&self.book, side, list, matches.others.clone());
        Box::new(rows.filter(move |(_, order)| is_wanted(order.token)).map(|(place, order)| {
            let ListedOrder { token, slot, .. } = *order;
            OtherRow { token, slot, created_at: list.created_at(place) }
        }))
    }

    /// The same where there are few, each of which is looked at.
    fn few_others(
        &self,
        matches: &SideMatches<'_>,
        test: &OrderTest<'_>,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<OtherRow> {
        let side = matches.side;
        let found = matches.others.iter().filter(|token| is_wanted(*token)).filter_map(|token| {
            let slot = self.book.best(token, side, Some(test))?;
            let order = self.book.order(slot)?;
            Some((order.price, OtherRow { token, slot, created_at: order.created_at }))
        });
        let mut found: Vec<(Price, OtherRow)> = found.collect();
        let id = |row: &OtherRow| self.tokens.id(row.token);
        found.sort_unstable_by(|(a, row), (b, other)| {
            self.book.compare_prices(side, a, b).then_with(|| id(row).cmp(&id(other)))
        });
        found.into_iter().map(|(_, row)| row).collect()
    }

    /// The tokens that have an order of the query's side that its filter lets through. Those that are no candidates may
    /// be among them.
    pub(super) fn members(&self, query: &Query<'_>, candidates: &Candidates<'_>) -> Cow<'_, Bits> {
        let filter = query.order_filter();
        if let (Candidates::Few(few), Some(_)) = (candidates, filter) {
            let (test, likely) = (self.order_test(query), self.likely_tokens(query));
            let has = |token: &u32| {
                let best = |side: &OrderSide| self.book.best(*token, *side, test.as_ref());
                likely.has(*token) && query.sides().iter().any(|side| best(side).is_some())
            };
            return Cow::Owned(few.iter().copied().filter(has).collect());
        }
        if let (None, [side]) = (filter, query.sides()) {
            return Cow::Borrowed(self.book.side(*side).members());
        }
        let matches = |side: &OrderSide| self.side_matches(*side, filter).among(candidates.superset());
        let matches: Vec<SideMatches<'_>> = query.sides().iter().map(matches).collect();
        Cow::Owned(self.all_of_sides(query, &matches))
    }
}
