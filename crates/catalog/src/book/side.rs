//! One side of the book: each token's best order, and the tokens in the order of those.

use std::cmp::Ordering;

use bourse_sets::Bits;
use bourse_wire::{OrderSide, Timestamp};
use hashbrown::HashMap;

use super::further::FurtherOrders;
use super::order_sets::OrderSets;
use super::price_list::PriceList;
use super::{Book, BookContext, NO_TOKEN, Order};
use crate::currencies::{Direction, Price};
use crate::kept::kept;
use crate::properties::IndexedMetadata;
use crate::sorted_list::SortedList;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// One side.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideBook {
    /// Token to the slot of its best order.
    pub(super) best: Vec<u32>,
    /// The tokens that have an order.
    pub(super) members: Bits,
    /// Tokens by the price of their best order, where its currency has a rate.
    priced: PriceList,
    /// The others.
    unpriced: PriceList,
    /// Tokens by when their best order was first seen, once somebody asked for that order.
    by_creation: Option<SortedList>,
    /// Tokens by what any of their orders says.
    pub(super) any: OrderSets,
    /// Tokens by what their best order says.
    pub(super) best_ones: OrderSets,
    /// The tokens that have more than one order.
    pub(super) several: Bits,
    /// How many orders each of those has.
    pub(super) counts: HashMap<u32, u32>,
    /// Their orders but for the best of each.
    pub(super) further: FurtherOrders,
}

kept!(SideBook { best, members, priced, unpriced, by_creation, any, best_ones, several, counts, further });

/// Sellers ask for little, buyers for much.
pub(super) fn direction(side: OrderSide) -> Direction {
    if side == OrderSide::Offer { Direction::Down } else { Direction::Up }
}

/// An instant, about.
pub(super) fn rough(at: Timestamp) -> f64 {
    let seconds = at.unix_seconds().clamp(i32::MIN.into(), i32::MAX.into());
    f64::from(i32::try_from(seconds).unwrap_or_default())
}

impl SideBook {
    pub(crate) fn best(&self, token: u32) -> Option<u32> {
        self.best.get(token as usize).copied().filter(|slot| *slot != NONE)
    }

    pub(crate) fn members(&self) -> &Bits {
        &self.members
    }

    /// How many tokens have an order.
    pub(crate) fn len(&self) -> usize {
        self.price_lists().map(|price_list| price_list.list().len()).sum()
    }

    /// The tokens in the order of their best orders: those whose currency has a rate, and the others after them.
    pub(crate) fn price_lists(&self) -> impl Iterator<Item = &PriceList> {
        [&self.priced, &self.unpriced].into_iter()
    }

    /// The tokens by when their best order was first seen.
    pub(crate) fn by_creation(&self) -> Option<&SortedList> {
        self.by_creation.as_ref()
    }

    /// Tokens by what any of their orders says.
    pub(crate) fn any(&self) -> &OrderSets {
        &self.any
    }

    /// Tokens by what their best order says.
    pub(crate) fn best_ones(&self) -> &OrderSets {
        &self.best_ones
    }

    /// The tokens that have more than one order.
    pub(crate) fn several(&self) -> &Bits {
        &self.several
    }

    /// How many orders a token has, of those that have one.
    pub(crate) fn count(&self, token: u32) -> usize {
        self.counts.get(&token).map_or(1, |count| *count as usize)
    }

    /// The orders of tokens that have several, but for the best of each.
    pub(crate) fn further(&self) -> &FurtherOrders {
        &self.further
    }

    pub(super) fn price_list_mut(&mut self, priced: bool) -> &mut PriceList {
        if priced { &mut self.priced } else { &mut self.unpriced }
    }

    pub(super) fn bytes(&self) -> usize {
        self.best.capacity() * size_of::<u32>()
            + self.members.bytes()
            + self.priced.bytes()
            + self.unpriced.bytes()
            + self.by_creation.as_ref().map_or(0, SortedList::bytes)
            + self.any.bytes()
            + self.best_ones.bytes()
            + self.several.bytes()
            + self.counts.capacity() * size_of::<(u32, u32)>()
            + self.further.bytes()
    }
}

impl Book {
    /// Which of two tokens comes first on a side: the one with the better best price, then the lower id.
    pub(crate) fn compare_tokens(
        &self,
        side: OrderSide,
        context: BookContext<'_>,
        a: u32,
        b: u32,
    ) -> Ordering {
        let best = |token| self.side(side).best(token).and_then(|slot| self.order(slot));
        let prices = match (best(a), best(b)) {
            (Some(a), Some(b)) => self.compare_prices(side, &a.price, &b.price),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        prices.then_with(|| context.tokens.id(a).cmp(&context.tokens.id(b)))
    }

    /// Puts the tokens of each side in the order in which their best orders were first seen, and all orders in theirs.
    pub(crate) fn sort_by_creation(&mut self, context: BookContext<'_>) {
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let created_at = |token: u32| self.best_of(side, token).map(|order| order.created_at);
            let mut keyed: Vec<(Option<Timestamp>, u32)> =
                self.side(side).members.iter().map(|token| (created_at(token), token)).collect();
            keyed.sort_unstable_by(|(a, token), (b, other)| {
                a.cmp(b).then_with(|| context.tokens.id(*token).cmp(&context.tokens.id(*other)))
            });
            let entry = |(at, token): (Option<Timestamp>, u32)| (token, at.map_or(0.0, rough));
            let entries: Vec<(u32, f64)> = keyed.into_iter().map(entry).collect();
            self.side_mut(side).by_creation = Some(SortedList::from_sorted(&entries));
        }
        self.sort_orders_by_creation();
    }

    /// Whether somebody asked for the order in which orders were first seen.
    pub(crate) fn is_sorted_by_creation(&self) -> bool {
        self.listings.by_creation.is_some() && self.offers.by_creation.is_some() && self.by_creation.is_some()
    }

    /// The list by creation of a side, for tests that put it wrong.
    #[cfg(test)]
    pub(crate) fn by_creation_mut(&mut self, side: OrderSide) -> &mut Option<SortedList> {
        &mut self.side_mut(side).by_creation
    }

    fn best_of(&self, side: OrderSide, token: u32) -> Option<&Order> {
        self.side(side).best(token).and_then(|slot| self.order(slot))
    }

    /// Which of two tokens comes first by creation: the one whose best order was first seen earlier, then the lower id.
    pub(crate) fn compare_creation(
        &self,
        side: OrderSide,
        context: BookContext<'_>,
        a: u32,
        b: u32,
    ) -> Ordering {
        let created_at = |token: u32| self.best_of(side, token).map(|order| order.created_at);
        created_at(a).cmp(&created_at(b)).then_with(|| context.tokens.id(a).cmp(&context.tokens.id(b)))
    }

    pub(super) fn list_creation(&mut self, side: OrderSide, slot: u32, token: u32, context: BookContext<'_>) {
        if let Some(mut list) = self.side_mut(side).by_creation.take() {
            let entry = (token, self.order(slot).map_or(0.0, |order| rough(order.created_at)));
            list.insert(entry, |a, b| self.compare_creation(side, context, a, b));
            self.side_mut(side).by_creation = Some(list);
        }
    }

    pub(super) fn unlist_creation(
        &mut self,
        side: OrderSide,
        slot: u32,
        token: u32,
        context: BookContext<'_>,
    ) {
        if let Some(mut list) = self.side_mut(side).by_creation.take() {
            let entry = (token, self.order(slot).map_or(0.0, |order| rough(order.created_at)));
            list.remove(entry, |a, b| self.compare_creation(side, context, a, b));
            self.side_mut(side).by_creation = Some(list);
        }
    }

    /// Gives a token other properties.
    pub(crate) fn retag(
        &mut self,
        token: u32,
        known: &IndexedMetadata<'_>,
        new: &IndexedMetadata<'_>,
        context: BookContext<'_>,
    ) {
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let Some(slot) = self.side(side).best(token) else { continue };
            let mut price_list = self.take_price_list(side, slot);
            let entry = (token, self.hint(side, slot));
            price_list.retag(&[entry], known, new, |a, b| self.compare_tokens(side, context, a, b));
            self.put_price_list(side, slot, price_list);
            self.retag_further((side, token), (known, new), context);
        }
    }

    /// Finds every token's best orders, and puts the tokens in order.
    pub(super) fn rebuild(&mut self, context: BookContext<'_>) {
        let was_sorted_by_creation = self.is_sorted_by_creation();
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let best = self.find_best(side, context.tokens.len());
            let members: Bits =
                (0..).zip(&best).filter(|(_, slot)| **slot != NONE).map(|(token, _)| token).collect();
            let (priced, unpriced): (Vec<u32>, Vec<u32>) =
                members.iter().partition(|token| self.is_priced(best[*token as usize]));
            let priced = self.sorted(side, &best, &priced, context);
            let unpriced = self.sorted(side, &best, &unpriced, context);
            let (any, best_ones, counts) = self.order_sets(side, &best);
            let mut several = Bits::empty(best.len());
            for token in counts.keys() {
                several.insert(*token);
            }
            let (by_creation, further) = (None, FurtherOrders::default());
            *self.side_mut(side) = SideBook {
                best,
                members,
                priced,
                unpriced,
                by_creation,
                any,
                best_ones,
                several,
                counts,
                further,
            };
        }
        self.by_creation = None;
        self.rank_all(context);
        self.rank_collection_offers();
        if was_sorted_by_creation {
            self.sort_by_creation(context);
        }
    }

    /// Tokens by what any of their orders says and by what the best one says, and how many orders those have that have several.
    /// Tokens are gone through in their order, in which sets take them quickest.
    fn order_sets(&self, side: OrderSide, best: &[u32]) -> (OrderSets, OrderSets, HashMap<u32, u32>) {
        let (mut any, mut best_ones, mut counts) =
            (OrderSets::default(), OrderSets::default(), HashMap::new());
        for (token, best_slot) in (0..).zip(best).filter(|(_, slot)| **slot != NONE) {
            let mut count = 0;
            for (slot, order) in self.of_token(token, side) {
                any.insert(order.said(), best.len());
                if slot == *best_slot {
                    best_ones.insert(order.said(), best.len());
                }
                count += 1;
            }
            if count > 1 {
                counts.insert(token, count);
            }
        }
        any.settle(best.len());
        best_ones.settle(best.len());
        (any, best_ones, counts)
    }

    /// Token to the slot of its best order, of so many tokens.
    fn find_best(&self, side: OrderSide, tokens: usize) -> Vec<u32> {
        let mut best = vec![NONE; tokens];
        for (slot, order) in
            self.all().filter(|(_, order)| order.terms.side == side && order.token != NO_TOKEN)
        {
            let known = &mut best[order.token as usize];
            if self.order(*known).is_none_or(|other| self.compare(order, other).is_lt()) {
                *known = slot;
            }
        }
        best
    }

    /// Tokens by the price of their best order. The prices lie beside them while they are sorted: looking them up at
    /// every comparison takes several times as long.
    fn sorted(&self, side: OrderSide, best: &[u32], tokens: &[u32], context: BookContext<'_>) -> PriceList {
        let price = |token: u32| self.order(best[token as usize]).map(|order| order.price);
        let mut keyed: Vec<(Price, u32)> =
            tokens.iter().filter_map(|token| Some((price(*token)?, *token))).collect();
        keyed.sort_unstable_by(|(a, token), (b, other)| {
            let prices = self.compare_prices(side, a, b);
            prices.then_with(|| context.tokens.id(*token).cmp(&context.tokens.id(*other)))
        });
        let direction = direction(side);
        let entries: Vec<(u32, f64)> =
            keyed.into_iter().map(|(price, token)| (token, price.hint(direction))).collect();
        let around = (context.properties, context.tokens.len());
        PriceList::new(&entries, around, |token| self.said_of(best[token as usize]))
    }

    /// Ranks an order roughly.
    pub(crate) fn hint(&self, side: OrderSide, slot: u32) -> f64 {
        self.order(slot).map_or(0.0, |order| order.price.hint(direction(side)))
    }

    pub(super) fn is_priced(&self, slot: u32) -> bool {
        self.order(slot).is_some_and(|order| self.currencies.rate(order.price.currency).is_some())
    }

    pub(super) fn take_price_list(&mut self, side: OrderSide, slot: u32) -> PriceList {
        let priced = self.is_priced(slot);
        let book = self.side_mut(side);
        std::mem::take(book.price_list_mut(priced))
    }

    pub(super) fn put_price_list(&mut self, side: OrderSide, slot: u32, price_list: PriceList) {
        let priced = self.is_priced(slot);
        let book = self.side_mut(side);
        *book.price_list_mut(priced) = price_list;
    }
}
