//! One side of the book: each token's best order, and the tokens in the order of those.

use std::cmp::Ordering;

use bourse_wire::OrderSide;

use super::{Around, Book, NO_TOKEN};
use crate::chains::grow;
use crate::currencies::{Direction, Price};
use crate::ranked::Ranked;
use crate::set::Bits;

/// No slot.
const NONE: u32 = u32::MAX;

/// One side.
#[derive(Debug, Default)]
pub(crate) struct SideBook {
    /// Token to the slot of its best order.
    best: Vec<u32>,
    /// The tokens that have an order.
    members: Bits,
    /// Tokens by the price of their best order, where its currency has a rate.
    pub(crate) priced: Ranked,
    /// The others.
    pub(crate) unpriced: Ranked,
}

/// Sellers ask for little, buyers for much.
pub(super) fn direction(side: OrderSide) -> Direction {
    if side == OrderSide::Offer { Direction::Down } else { Direction::Up }
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
        self.priced.len() + self.unpriced.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.best.capacity() * size_of::<u32>()
            + self.members.bytes()
            + self.priced.bytes()
            + self.unpriced.bytes()
    }
}

impl Book {
    /// Which of two tokens comes first on a side: the one with the better best price, then the lower id.
    pub(crate) fn compare_tokens(&self, side: OrderSide, around: Around<'_>, a: u32, b: u32) -> Ordering {
        let best = |token| self.side(side).best(token).and_then(|slot| self.order(slot));
        let prices = match (best(a), best(b)) {
            (Some(a), Some(b)) => self.compare_prices(side, &a.price, &b.price),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        prices.then_with(|| around.tokens.id(a).cmp(&around.tokens.id(b)))
    }

    /// Takes a token out of the order of prices, for which its best order must still be what it was.
    pub(super) fn unlist(&mut self, side: OrderSide, token: u32, around: Around<'_>) {
        let Some(slot) = self.side(side).best(token) else { return };
        let mut ranked = self.take_list(side, slot);
        ranked.remove((token, self.hint(side, slot)), |a, b| self.compare_tokens(side, around, a, b));
        self.put_list(side, slot, ranked);
        let book = self.side_mut(side);
        book.best[token as usize] = NONE;
        book.members.remove(token);
    }

    /// Gives a token the place that its best order now has.
    pub(super) fn list(&mut self, side: OrderSide, token: u32, around: Around<'_>) {
        let best = self.of_token(token, side).min_by(|(_, a), (_, b)| self.compare(a, b));
        let Some((slot, _)) = best else { return };
        let book = self.side_mut(side);
        grow(&mut book.best, token, NONE);
        book.best[token as usize] = slot;
        book.members.insert(token);
        let mut ranked = self.take_list(side, slot);
        ranked.insert((token, self.hint(side, slot)), |a, b| self.compare_tokens(side, around, a, b));
        self.put_list(side, slot, ranked);
    }

    /// Finds every token's best orders, and puts the tokens in order.
    pub(super) fn rebuild(&mut self, around: Around<'_>) {
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let best = self.find_best(side, around.tokens.len());
            let members: Bits =
                (0..).zip(&best).filter(|(_, slot)| **slot != NONE).map(|(token, _)| token).collect();
            let (priced, unpriced): (Vec<u32>, Vec<u32>) =
                members.iter().partition(|token| self.is_priced(best[*token as usize]));
            let priced = self.sorted(side, &best, &priced, around);
            let unpriced = self.sorted(side, &best, &unpriced, around);
            *self.side_mut(side) = SideBook { best, members, priced, unpriced };
        }
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
    fn sorted(&self, side: OrderSide, best: &[u32], tokens: &[u32], around: Around<'_>) -> Ranked {
        let price = |token: u32| self.order(best[token as usize]).map(|order| order.price);
        let mut keyed: Vec<(Price, u32)> =
            tokens.iter().filter_map(|token| Some((price(*token)?, *token))).collect();
        keyed.sort_unstable_by(|(a, token), (b, other)| {
            let prices = self.compare_prices(side, a, b);
            prices.then_with(|| around.tokens.id(*token).cmp(&around.tokens.id(*other)))
        });
        let direction = direction(side);
        let entries: Vec<(u32, f64)> =
            keyed.into_iter().map(|(price, token)| (token, price.hint(direction))).collect();
        Ranked::from_sorted(&entries)
    }

    /// Ranks an order roughly.
    fn hint(&self, side: OrderSide, slot: u32) -> f64 {
        self.order(slot).map_or(0.0, |order| order.price.hint(direction(side)))
    }

    fn is_priced(&self, slot: u32) -> bool {
        self.order(slot).is_some_and(|order| self.currencies.rate(order.price.currency).is_some())
    }

    fn take_list(&mut self, side: OrderSide, slot: u32) -> Ranked {
        let priced = self.is_priced(slot);
        let book = self.side_mut(side);
        std::mem::take(if priced { &mut book.priced } else { &mut book.unpriced })
    }

    fn put_list(&mut self, side: OrderSide, slot: u32, ranked: Ranked) {
        let priced = self.is_priced(slot);
        let book = self.side_mut(side);
        *(if priced { &mut book.priced } else { &mut book.unpriced }) = ranked;
    }
}
