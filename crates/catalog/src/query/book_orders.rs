//! The orders of a whole collection, page by page: each by itself, however many its token has.
//!
//! No list has all of them in the order of their prices, but a few together do: the tokens by their best order, the further orders
//! of tokens that have several, and those for any token. They are merged as far as the page goes.

use std::collections::BTreeSet;

use bourse_sets::{Bits, numbers};
use bourse_wire::{Address, OrderSide};

use super::candidates::Candidates;
use super::matches::SideMatches;
use super::merged_orders::{Chunk, ChunkOrders, Listed, Merge, Rank, Sequence, Source};
use super::rows::{Row, Rows, is_sparse};
use super::walk::{BlockMatches, Order, Segment, Selection};
use super::{Column, Sort, Start};
use crate::book::{AskedSaid, ListedChunk, NO_TOKEN, OrderList, OrderTest, Place, PriceList, Span};
use crate::collection::Collection;
use crate::filter::{OrderFilter, PropertyFilter, TokenFilter};
use crate::sorted_list::{Cursor, Run};

/// Orders that may be gathered and sorted rather than looked for in lists.
const GATHERED_MAX: usize = 8_192;
/// So few tokens are always asked one by one.
const GATHERED_TOKENS_MAX: usize = 64;
/// So few tokens are asked one by one rather than put into sets first.
const SAID_TOKENS_MAX: usize = 512;
/// Orders of a list that are looked at together near the front, and where many are skipped.
const STEP_MIN: usize = 64;
const STEP_MAX: usize = 1_024;
/// One in how many orders must be of a token that is asked about for going through all of them to be less work than asking each
/// token.
const COUNTED_SHARE: usize = 64;

/// Which orders of a collection, in which order, from where.
#[derive(Clone, Debug)]
pub struct BookQuery<'q> {
    /// The side; both, as one list, when it is unknown.
    pub side: OrderSide,
    /// Which tokens. Offers for any token are among the orders when there is one of these.
    pub tokens: &'q TokenFilter,
    /// Which orders.
    pub orders: &'q OrderFilter,
    /// How to sort, by price or by when they were first seen. When nothing is said the best price comes first, and of both sides
    /// the lowest.
    pub sort: Option<Sort>,
    /// Where the page begins.
    pub start: Start,
    /// Orders of the page.
    pub limit: usize,
}

impl BookQuery<'_> {
    fn sequence(&self) -> Sequence {
        let by_creation = self.sort.is_some_and(|sort| sort.column == Column::CreatedAt);
        let usual = self.side == OrderSide::Offer && !by_creation;
        let descending = self.sort.map_or(usual, |sort| sort.descending);
        Sequence { side: self.side, by_creation, descending }
    }

    /// How many orders there must be to fill the page and to know whether there are more.
    fn wanted(&self) -> usize {
        self.start.skipped().saturating_add(self.limit).saturating_add(1)
    }

    /// How many orders to look at together.
    fn step(&self) -> usize {
        (self.start.skipped() / 4).clamp(STEP_MIN, STEP_MAX)
    }
}

fn sides(side: OrderSide) -> &'static [OrderSide] {
    match side {
        OrderSide::Listing => &[OrderSide::Listing],
        OrderSide::Offer => &[OrderSide::Offer],
        OrderSide::Unknown => &[OrderSide::Listing, OrderSide::Offer],
    }
}

/// Which orders are asked for, as it is asked of many of them.
struct Asked<'a> {
    collection: &'a Collection,
    tokens: &'a TokenFilter,
    orders: &'a OrderFilter,
    test: OrderTest<'a>,
    candidates: Candidates<'a>,
    /// What is asked of orders, where lists of prices know that and all that is asked of tokens.
    indexed: Option<AskedSaid>,
    /// Whether offers for any token are among them.
    is_any_wanted: bool,
}

impl<'a> Asked<'a> {
    /// So many orders are wanted of those that are asked for.
    fn new(
        collection: &'a Collection,
        tokens: &'a TokenFilter,
        orders: &'a OrderFilter,
        wanted: usize,
    ) -> Self {
        // Beside sets of orders it is always worth having one set of tokens.
        let wanted = if orders.is_empty() { wanted } else { usize::MAX };
        let candidates = collection.candidates(tokens).for_list(collection, wanted);
        let is_any_wanted = match &candidates {
            Candidates::All => true,
            _ => collection.book.collection_offers().len() > 0 && candidates.len(collection) > 0,
        };
        Self::of(collection, (tokens, orders), candidates, is_any_wanted)
    }

    /// The same where lists of prices know all that is asked for, so that no set of tokens is needed.
    fn of_price_lists(collection: &'a Collection, query: &BookQuery<'a>, indexed: AskedSaid) -> Self {
        let BookQuery { tokens, orders, .. } = *query;
        let is_any_wanted = query.side != OrderSide::Listing && collection.has_any_with(&tokens.properties);
        let asked = Self::of(collection, (tokens, orders), Candidates::All, is_any_wanted);
        Self { indexed: Some(indexed), ..asked }
    }

    fn of(
        collection: &'a Collection,
        (tokens, orders): (&'a TokenFilter, &'a OrderFilter),
        candidates: Candidates<'a>,
        is_any_wanted: bool,
    ) -> Self {
        let test = OrderTest::new(orders, &collection.book, &collection.holders);
        Self { collection, tokens, orders, test, candidates, indexed: None, is_any_wanted }
    }

    /// Whether lists tell of each of their orders whether it is asked for.
    fn are_in_lists(&self) -> bool {
        self.indexed.is_some() || matches!(self.candidates, Candidates::All) && self.orders.is_empty()
    }

    /// Whether orders of a token are asked for, as far as tokens tell.
    fn wants(&self, token: u32) -> bool {
        if token == NO_TOKEN { self.is_any_wanted } else { self.candidates.has(self.collection, token) }
    }

    /// The tokens with an order on a side that is asked for, as far as sets tell.
    fn matches(&self, side: OrderSide) -> SideMatches<'a> {
        let filter = (!self.orders.is_empty()).then_some(self.orders);
        self.collection.side_matches(side, filter).among(self.candidates.superset())
    }

    /// The offers for any token that are asked for, the best first.
    fn any(&self, side: OrderSide) -> impl Iterator<Item = u32> {
        let list = self.collection.book.collection_offers();
        let wanted = (side == OrderSide::Offer && self.is_any_wanted).then_some(list);
        let of_list = move |list| self.test.of_list(&self.collection.book, side, list);
        wanted.into_iter().flat_map(of_list).map(|(_, order)| order.slot)
    }

    /// The orders of a token on a side that are asked for.
    fn of_token(&self, token: u32, side: OrderSide) -> Vec<u32> {
        let book = &self.collection.book;
        if let Some(stack) = book.stack(token, side) {
            self.test.of_list(book, side, stack).map(|(_, order)| order.slot).collect()
        } else {
            let orders = book.of_token(token, side);
            orders.filter(|(_, order)| self.test.allows(book, order)).map(|(slot, _)| slot).collect()
        }
    }
}

/// The lists of a side that are gone through by blocks: those that have a rate, and the others.
struct SideLists<'s> {
    side: OrderSide,
    /// The tokens by the price of their best order.
    best: Vec<Segment<'s>>,
    /// Their further orders, where these lists know all that is asked for.
    further: Vec<Segment<'s>>,
}

/// A page as it is looked for in lists.
struct Walk<'a> {
    asked: &'a Asked<'a>,
    sequence: Sequence,
    /// Where the page begins.
    at: Option<Rank<'a>>,
    step: usize,
}

impl Collection {
    /// Finds a page of the collection's active orders: rows of a token with one order, or of no token.
    pub fn query_orders(&self, query: &BookQuery<'_>) -> Rows {
        let sequence = query.sequence();
        let asked = match self.asked_of_price_lists(query).filter(|_| !sequence.by_creation) {
            Some(indexed) => Asked::of_price_lists(self, query, indexed),
            None => Asked::new(self, query.tokens, query.orders, query.wanted()),
        };
        let at = match &query.start {
            Start::After(position) => self.rank_of_position(position),
            Start::Skip(_) => None,
        };
        let walk = Walk { asked: &asked, sequence, at, step: query.step() };
        let mut found = match self.gathered_orders(query, &walk) {
            Some(found) => found,
            None => walk.orders(query),
        };
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        let last = found.last().filter(|_| more).and_then(|slot| self.book.order(*slot));
        let next = last.map(|order| self.position_of_listed(sequence, order));
        Rows { rows: found.into_iter().filter_map(|slot| self.row_of_order(slot)).collect(), next }
    }

    fn row_of_order(&self, slot: u32) -> Option<Row> {
        let order = self.book.order(slot)?;
        let of_side = |side: OrderSide| (order.terms.side == side).then_some(slot);
        let (listing, offer) = (of_side(OrderSide::Listing), of_side(OrderSide::Offer));
        Some(Row { token: order.token, order: Some(slot), listing, offer })
    }

    /// How many active orders a filter lets through on all pages.
    pub fn count_orders_of_all(&self, side: OrderSide, tokens: &TokenFilter, orders: &OrderFilter) -> usize {
        if tokens.is_of_properties()
            && let Some(said) = self.asked_said(orders)
        {
            return self.count_in_price_lists(side, (&tokens.properties, orders), &said);
        }
        if orders.is_empty() {
            return self.count_orders_of_tokens(side, tokens);
        }
        let asked = Asked::new(self, tokens, orders, usize::MAX);
        sides(side).iter().map(|side| self.count_of_side(&asked, *side)).sum()
    }

    /// The same where whatever orders tokens have are counted: one of each token, and what some have beyond that.
    fn count_orders_of_tokens(&self, side: OrderSide, tokens: &TokenFilter) -> usize {
        let candidates = self.candidates_in_order(tokens);
        let mut count = 0;
        for side in sides(side) {
            let (book, several) = (self.book.side(*side), self.book.side(*side).several());
            candidates.for_words_in(self, book.members(), |index, word| {
                count += word.count_ones() as usize;
                let of_several = word & several.word(index);
                if of_several != 0 {
                    let beyond = |token: u32| book.count(token) - 1;
                    count += numbers(index, &[of_several]).map(beyond).sum::<usize>();
                }
            });
        }
        let any = self.book.collection_offers().len();
        let is_any_counted = any > 0 && sides(side).contains(&OrderSide::Offer) && candidates.len(self) > 0;
        count + if is_any_counted { any } else { 0 }
    }

    /// The same where lists of prices know all that is asked for.
    fn count_in_price_lists(
        &self,
        side: OrderSide,
        (properties, orders): (&[PropertyFilter], &OrderFilter),
        said: &AskedSaid,
    ) -> usize {
        let lists = |side: &OrderSide| {
            let book = self.book.side(*side);
            book.price_lists().chain(book.further().price_lists())
        };
        let own = sides(side).iter().flat_map(lists).map(|list| list.count_of_orders(properties, said));
        let own = own.sum::<usize>();
        let offers = self.book.collection_offers();
        let are_counted = sides(side).contains(&OrderSide::Offer)
            && offers.len() > 0
            && (own > 0 || properties.is_empty() || self.has_any_with(properties));
        own + match (are_counted, orders.is_empty()) {
            (false, _) => 0,
            (true, true) => offers.len(),
            (true, false) => {
                let test = OrderTest::new(orders, &self.book, &self.holders);
                test.of_list(&self.book, OrderSide::Offer, offers).count()
            }
        }
    }

    /// Whether there is a token with all of some properties, as far as it matters to offers for any token.
    fn has_any_with(&self, properties: &[PropertyFilter]) -> bool {
        let mut lists = sides(OrderSide::Unknown).iter().flat_map(|side| self.book.side(*side).price_lists());
        self.book.collection_offers().len() > 0
            && (properties.is_empty()
                || lists.any(|list| list.has_any(properties))
                || self.properties.count(properties, self.len()) > 0)
    }

    /// What a filter asks of orders, where that is nothing but currencies and marketplaces.
    fn asked_said(&self, orders: &OrderFilter) -> Option<AskedSaid> {
        if !(orders.makers.is_empty() && orders.not_makers.is_empty() && orders.prices.is_empty()) {
            return None;
        }
        let numbers = (0..).zip(self.book.currencies().addresses());
        let allowed = numbers.filter(|(_, address)| orders.allows_currency(address));
        let currencies = orders.restricts_currencies().then(|| allowed.map(|(number, _)| number).collect());
        let mut marketplaces = orders.marketplaces.clone();
        marketplaces.sort_unstable();
        marketplaces.dedup();
        Some(AskedSaid { currencies, marketplaces })
    }

    /// What a query asks of orders, where lists of prices know that and all that it asks of tokens, and going through them is less
    /// work than looking at each token that may have such an order.
    fn asked_of_price_lists(&self, query: &BookQuery<'_>) -> Option<AskedSaid> {
        let (max, properties) = (GATHERED_TOKENS_MAX, &query.tokens.properties);
        let is_of_few = |side: &OrderSide| self.few_said(*side, query.orders, max).is_some();
        if !query.tokens.is_of_properties()
            || properties.iter().any(|property| self.properties.are_few(property, max))
            || sides(query.side).iter().all(is_of_few)
        {
            return None;
        }
        self.asked_said(query.orders)
    }

    fn count_of_side(&self, asked: &Asked<'_>, side: OrderSide) -> usize {
        let any = asked.any(side).count();
        let of_tokens = |tokens: &mut dyn Iterator<Item = u32>| -> usize {
            tokens.map(|token| asked.of_token(token, side).len()).sum()
        };
        if let Candidates::Few(few) = &asked.candidates {
            return any + of_tokens(&mut few.iter().copied());
        }
        let (book, matches) = (self.book.side(side), asked.matches(side));
        let mut several = matches.best.clone().into_owned();
        several.union(&matches.others);
        several.intersect(book.several());
        let list = self.book.ranked(side);
        if several.count() * COUNTED_SHARE < list.len() {
            let mut only = matches.best.into_owned();
            only.subtract(book.several());
            let several = of_tokens(&mut several.iter().filter(|token| asked.wants(*token)));
            return any + asked.candidates.common(self, &only) + several;
        }
        let further = if asked.candidates.are_sure() {
            asked.test.count_of_list((&self.book, side), list, asked.candidates.superset())
        } else {
            asked.test.of_list(&self.book, side, list).filter(|(_, order)| asked.wants(order.token)).count()
        };
        any + asked.candidates.common(self, &matches.best) + further
    }

    /// The currencies that active orders of a side are in.
    pub fn currencies_of_orders(&self, side: OrderSide) -> BTreeSet<Address> {
        let of_any = (side == OrderSide::Offer).then(|| self.book.currencies_of_collection_offers());
        let of_any = of_any.into_iter().flatten();
        let numbers: BTreeSet<u32> = self.book.side(side).any().currencies().chain(of_any).collect();
        numbers.into_iter().map(|number| *self.book.currencies().address(number)).collect()
    }

    /// The orders of a page, and one more, where they are found by few tokens: all of those are found and sorted. `None` where it is
    /// less work to look for the page in lists.
    fn gathered_orders(&self, query: &BookQuery<'_>, walk: &Walk<'_>) -> Option<Vec<u32>> {
        let Walk { asked, sequence, at, .. } = walk;
        if asked.are_in_lists() {
            return None;
        }
        let mut found = self.few_orders(query, asked)?;
        if let Some(at) = at {
            found.retain(|slot| {
                let rank = self.rank_of_listed(*slot);
                rank.is_some_and(|rank| sequence.compare(self, &rank, at).is_gt())
            });
        }
        let compare = |a: &u32, b: &u32| self.compare_listed(*sequence, *a, *b);
        if query.wanted() < found.len() {
            found.select_nth_unstable_by(query.wanted(), compare);
            found.truncate(query.wanted());
        }
        found.sort_unstable_by(compare);
        found.drain(..query.start.skipped().min(found.len()));
        Some(found)
    }

    /// All orders that are asked for, where those are few.
    fn few_orders(&self, query: &BookQuery<'_>, asked: &Asked<'_>) -> Option<Vec<u32>> {
        let mut found = Vec::new();
        for side in sides(query.side) {
            let tokens = match &asked.candidates {
                Candidates::Few(few) => few.clone(),
                _ => self.few_tokens(query, asked, *side)?,
            };
            for token in tokens {
                found.extend(asked.of_token(token, *side));
                if found.len() > GATHERED_MAX {
                    return None;
                }
            }
            found.extend(asked.any(*side).take(GATHERED_MAX + 1));
        }
        (found.len() <= GATHERED_MAX).then_some(found)
    }

    /// The tokens that may have orders on a side that are asked for, where those are few.
    fn few_tokens(&self, query: &BookQuery<'_>, asked: &Asked<'_>, side: OrderSide) -> Option<Vec<u32>> {
        if let Some(mut tokens) = self.few_said(side, asked.orders, SAID_TOKENS_MAX) {
            tokens.retain(|token| asked.wants(*token));
            return Some(tokens);
        }
        let SideMatches { best, others, .. } = asked.matches(side);
        let about = best.count() + others.count();
        let listed = self.book.orders_len(side);
        if about > GATHERED_TOKENS_MAX && !is_sparse(about, query.wanted(), listed) {
            return None;
        }
        let mut tokens: Bits = best.into_owned();
        tokens.union(&others);
        Some(tokens.iter().filter(|token| asked.wants(*token)).collect())
    }
}

impl<'a> Walk<'a> {
    /// The orders of a page, and one more.
    fn orders(&self, query: &BookQuery<'_>) -> Vec<u32> {
        let (collection, skip) = (self.asked.collection, query.start.skipped());
        let (limit, found) = (query.limit.saturating_add(1), Vec::new());
        let mut merge = Merge { collection, sequence: self.sequence, skip, limit, found };
        let sides = sides(query.side);
        if self.sequence.by_creation {
            merge.fill(sides.iter().filter_map(|side| self.by_creation(*side)).collect());
            return merge.found;
        }
        // Where lists of prices know all that is asked for, no sets of tokens are needed.
        let matches = |side: &OrderSide| {
            let is_filtered = !self.asked.are_in_lists() && !self.asked.orders.is_empty();
            (*side, is_filtered.then(|| self.asked.matches(*side)))
        };
        let matches: Vec<(OrderSide, Option<SideMatches<'_>>)> = sides.iter().map(matches).collect();
        let lists = matches.iter().map(|(side, matches)| self.lists(*side, matches.as_ref()));
        let lists: Vec<SideLists<'_>> = lists.collect();
        // What nobody knows the worth of comes last, each side by itself.
        let mut stages: Vec<Vec<(&SideLists<'_>, bool)>> =
            vec![lists.iter().map(|lists| (lists, true)).collect()];
        stages.extend(lists.iter().map(|lists| vec![(lists, false)]));
        for stage in stages {
            let sources = stage.iter().flat_map(|(lists, is_priced)| self.by_price(lists, *is_priced));
            if !merge.fill(sources.collect()) {
                break;
            }
        }
        merge.found
    }

    fn lists<'s>(&'s self, side: OrderSide, matches: Option<&'s SideMatches<'a>>) -> SideLists<'s> {
        let asked = self.asked;
        let book = asked.collection.book.side(side);
        let selection = Selection {
            candidates: &asked.candidates,
            // Without a filter on orders every token of the list matches.
            only: matches.map(|matches| &*matches.best),
            except: None,
        };
        let segment = |(unpriced, price_list)| Segment {
            list: PriceList::list(price_list),
            indexed: Some((price_list, asked.tokens.properties.as_slice())),
            order: Order::Price(side),
            reverse: self.is_against(side),
            group: (0, unpriced),
            selection,
        };
        let best = (0..).zip(book.price_lists()).map(segment).collect();
        let further = (0..).zip(book.further().price_lists()).filter(|_| asked.are_in_lists()).map(segment);
        SideLists { side, best, further: further.collect() }
    }

    /// The lists that together have the orders of a side in the order of their prices: those that have a rate, or the others.
    fn by_price<'s>(&'s self, lists: &'s SideLists<'s>, is_priced: bool) -> Vec<Source<'s>> {
        let (book, side) = (&self.asked.collection.book, lists.side);
        let class = usize::from(!is_priced);
        let best = lists.best.get(class).map(|segment| self.by_blocks(segment, Listed::Tokens(side)));
        let further = if let Some(segment) = lists.further.get(class) {
            self.by_blocks(segment, Listed::Orders(side))
        } else {
            let awaited = self.asked.candidates.superset();
            self.listed_orders((book.ranked(side), awaited), side, is_priced)
        };
        let is_any_wanted = side == OrderSide::Offer && self.asked.is_any_wanted;
        let any =
            is_any_wanted.then(|| self.listed_orders((book.collection_offers(), None), side, is_priced));
        best.into_iter().chain([further]).chain(any).collect()
    }

    /// The orders of a price list.
    fn by_blocks<'s>(&'s self, segment: &'s Segment<'s>, listed: Listed) -> Source<'s> {
        let Segment { list, reverse, .. } = *segment;
        let order = move |entry: u32| listed.order(self.asked.collection, entry);
        let end = if reverse { list.end() } else { Cursor::START };
        let cursor = match &self.at {
            None => end,
            Some(_) => list.cursor(|entry| order(entry).is_some_and(|slot| self.is_passed(slot))),
        };
        let runs: Box<dyn Iterator<Item = Run<'s>> + 's> =
            if reverse { Box::new(list.blocks_before(cursor)) } else { Box::new(list.blocks_from(cursor)) };
        let terms = segment.indexed.map(|(price_list, properties)| price_list.terms(properties));
        let mut terms = terms.unwrap_or_default();
        let of_orders = segment.indexed.zip(self.asked.indexed.as_ref());
        terms.extend(of_orders.into_iter().flat_map(|((list, _), asked)| list.terms_of_orders(asked)));
        Box::new(runs.filter_map(move |run| {
            let block = BlockMatches::new(segment, &terms, run);
            let last = if reverse { run.ordinals.first() } else { run.ordinals.last() };
            let last = last.and_then(|entry| order(*entry)).filter(|_| !block.are_none())?;
            Some(Chunk { last, orders: ChunkOrders::OfBlock { listed, block, reverse } })
        }))
    }

    /// Those of a list of orders that are in the order of their prices.
    fn listed_orders<'s>(
        &'s self,
        (list, awaited): (&'s OrderList, Option<&'s Bits>),
        side: OrderSide,
        is_priced: bool,
    ) -> Source<'s> {
        let collection = self.asked.collection;
        let has_rate = |slot: u32| {
            collection.book.order(slot).is_some_and(|order| !collection.is_unpriced(&order.price))
        };
        let middle = list.place(has_rate);
        let (from, to) = if is_priced { (OrderList::START, middle) } else { (middle, list.end()) };
        let passed = |slot: u32| {
            if is_priced {
                has_rate(slot) && self.is_passed(slot)
            } else {
                has_rate(slot) || self.is_passed(slot)
            }
        };
        let span = Span { awaited, ..self.span(list, (from, to), self.is_against(side), passed) };
        let chunks = self.asked.test.chunks_by_price((&collection.book, side), list, span);
        Box::new(chunks.map(|chunk| self.chunk(&chunk)))
    }

    /// The orders of a side by when they were first seen.
    fn by_creation(&self, side: OrderSide) -> Option<Source<'_>> {
        let book = &self.asked.collection.book;
        let list = book.orders_by_creation(side)?;
        let ends = (OrderList::START, list.end());
        let span = self.span(list, ends, self.is_against(side), |slot| self.is_passed(slot));
        // Among offers there are some for any token, which no set of tokens has.
        let awaited = self.asked.candidates.superset().filter(|_| side == OrderSide::Listing);
        let span = Span { awaited, ..span };
        let chunks = self.asked.test.chunks_by_creation(book, list, span);
        Some(Box::new(chunks.map(|chunk| self.chunk(&chunk))))
    }

    fn chunk(&self, chunk: &ListedChunk<'_>) -> Chunk<'static> {
        let wanted = chunk.orders.iter().filter(|order| self.asked.wants(order.token));
        Chunk { last: chunk.last, orders: ChunkOrders::Asked(wanted.map(|order| order.slot).collect()) }
    }

    /// What is to be gone through of a part of a list: all of it, or what comes after where the page begins.
    fn span(
        &self,
        list: &OrderList,
        (from, to): (Place, Place),
        reverse: bool,
        passed: impl Fn(u32) -> bool,
    ) -> Span<'a> {
        let (from, to) = match &self.at {
            None => (from, to),
            Some(_) if reverse => (from, list.place(passed)),
            Some(_) => (list.place(passed), to),
        };
        Span { from, to, awaited: None, reverse, step: self.step }
    }

    fn is_against(&self, side: OrderSide) -> bool {
        self.sequence.is_against(side)
    }

    /// Whether an order comes first in its list of all that are on the one side of where the page begins: before it, or, where the
    /// list is gone through from its end, after it.
    fn is_passed(&self, slot: u32) -> bool {
        let collection = self.asked.collection;
        let (Some(rank), Some(at)) = (collection.rank_of_listed(slot), &self.at) else { return false };
        let order = self.sequence.compare(collection, &rank, at);
        let side = collection.book.order(slot).map_or(OrderSide::Listing, |order| order.terms.side);
        if self.is_against(side) { order.is_gt() } else { order.is_le() }
    }
}
