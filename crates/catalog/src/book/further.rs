//! The orders of tokens that have several, but for the best of each: by price, with an index of their tokens' properties. With
//! the lists of best orders they are all orders of tokens, so that a filter on properties goes through all of these and counts them
//! without a set of tokens.

use std::cmp::Ordering;

use bourse_wire::OrderSide;

use super::order_sets::Said;
use super::price_list::PriceList;
use super::{Book, BookContext, Order};
use crate::kept::kept;
use crate::properties::IndexedMetadata;
use crate::tokens::Tokens;

/// The further orders of a side: slots in the book, by price.
#[derive(Clone, Debug, Default)]
pub(crate) struct FurtherOrders {
    /// Those whose currency has a rate.
    priced: PriceList,
    /// The others.
    unpriced: PriceList,
}

kept!(FurtherOrders { priced, unpriced });

/// Where a further order was that left.
#[derive(Clone, Copy, Debug)]
pub(super) struct FurtherPlace {
    /// Whether its currency had a rate.
    priced: bool,
    /// Its slot among those.
    slot: u32,
    /// What it said.
    said: Said,
}

impl FurtherOrders {
    /// Those whose currency has a rate, and the others after them.
    pub(crate) fn price_lists(&self) -> impl Iterator<Item = &PriceList> {
        [&self.priced, &self.unpriced].into_iter()
    }

    fn price_list_mut(&mut self, priced: bool) -> &mut PriceList {
        if priced { &mut self.priced } else { &mut self.unpriced }
    }

    /// Forgets which properties the token of an order has that left.
    pub(super) fn forget(&mut self, place: FurtherPlace, token: &IndexedMetadata<'_>) {
        self.price_list_mut(place.priced).forget(place.slot, token, place.said);
    }

    pub(super) fn bytes(&self) -> usize {
        self.priced.bytes() + self.unpriced.bytes()
    }
}

impl Book {
    /// What the order of a slot says.
    pub(super) fn said_of(&self, slot: u32) -> Option<Said> {
        self.order(slot).map(Order::said)
    }

    /// Whether a list finds a slot by what the order there says.
    pub(crate) fn is_found_in(&self, list: &PriceList, slot: u32, order: Option<u32>) -> bool {
        order.and_then(|order| self.said_of(order)).is_some_and(|said| list.finds(slot, said))
    }

    /// How the orders of two slots compare in lists.
    fn compare_slots(&self, a: u32, b: u32, tokens: &Tokens) -> Ordering {
        let both: Option<(&Order, &Order)> = self.order(a).zip(self.order(b));
        both.map_or(Ordering::Equal, |(a, b)| self.compare_listed(a, b, tokens))
    }

    /// Puts an order in.
    pub(super) fn put_further(
        &mut self,
        (side, slot): (OrderSide, u32),
        token: &IndexedMetadata<'_>,
        context: BookContext<'_>,
    ) {
        let (priced, hint) = (self.is_priced(slot), self.hint(side, slot));
        let mut list = std::mem::take(self.side_mut(side).further.price_list_mut(priced));
        if let Some(said) = self.said_of(slot) {
            list.insert((slot, hint), (token, said), |a, b| self.compare_slots(a, b, context.tokens));
            list.settle((context.properties, context.tokens.len()), |slot| self.said_of(slot));
        }
        *self.side_mut(side).further.price_list_mut(priced) = list;
    }

    /// Takes an order out that is there, while its rank is still what it was.
    pub(super) fn take_further(
        &mut self,
        (side, slot): (OrderSide, u32),
        tokens: &Tokens,
    ) -> Option<FurtherPlace> {
        let (priced, hint) = (self.is_priced(slot), self.hint(side, slot));
        let mut list = std::mem::take(self.side_mut(side).further.price_list_mut(priced));
        let left = list.remove((slot, hint), |a, b| self.compare_slots(a, b, tokens));
        *self.side_mut(side).further.price_list_mut(priced) = list;
        let (left, said) = left.zip(self.said_of(slot))?;
        Some(FurtherPlace { priced, slot: left, said })
    }

    /// Gives the token of all further orders that it has on a side other properties.
    pub(super) fn retag_further(
        &mut self,
        (side, token): (OrderSide, u32),
        (known, new): (&IndexedMetadata<'_>, &IndexedMetadata<'_>),
        context: BookContext<'_>,
    ) {
        if !self.side(side).several().contains(token) {
            return;
        }
        let best = self.side(side).best(token);
        let slots: Vec<u32> = self.of_side(token, side).filter(|slot| Some(*slot) != best).collect();
        let mut further = std::mem::take(&mut self.side_mut(side).further);
        for priced in [true, false] {
            let of_list = slots.iter().filter(|slot| self.is_priced(**slot) == priced);
            let entries: Vec<(u32, f64)> = of_list.map(|slot| (*slot, self.hint(side, *slot))).collect();
            let compare = |a, b| self.compare_slots(a, b, context.tokens);
            further.price_list_mut(priced).retag(&entries, known, new, compare);
        }
        self.side_mut(side).further = further;
    }

    /// The further orders of a side, of which these are all, in the order of their prices.
    pub(super) fn list_all_further(
        &self,
        side: OrderSide,
        slots: &[u32],
        context: BookContext<'_>,
    ) -> FurtherOrders {
        let entry = |slot: &u32| (*slot, self.hint(side, *slot));
        let of = |priced: bool| -> PriceList {
            let slots = slots.iter().filter(|slot| self.is_priced(**slot) == priced);
            let entries: Vec<(u32, f64)> = slots.map(entry).collect();
            let around = (context.properties, context.tokens.len());
            PriceList::new(&entries, around, |slot| self.said_of(slot))
        };
        FurtherOrders { priced: of(true), unpriced: of(false) }
    }

    /// Has the first of a side's further orders found by nothing, for tests.
    #[cfg(test)]
    pub(crate) fn forget_further(&mut self, side: OrderSide, token: &IndexedMetadata<'_>) {
        for priced in [true, false] {
            let first = self
                .side_mut(side)
                .further
                .price_list_mut(priced)
                .list()
                .block(0)
                .and_then(|run| run.slots().next());
            if let Some((order, slot)) = first
                && let Some(said) = self.said_of(order)
            {
                self.side_mut(side).further.price_list_mut(priced).forget(slot, token, said);
            }
        }
    }
}
