//! How tokens get other places once orders of theirs changed: they leave the order of prices as soon as anything about
//! their orders changes, and are put back with all that they are found by in the end, each once.

use bourse_wire::OrderSide;

use super::further::FurtherPlace;
use super::order_sets::{Repeated, Said};
use super::side::NONE;
use super::{Book, BookContext, NO_TOKEN, Order};
use crate::chains::grow;
use crate::properties::IndexedMetadata;

/// A token whose best order is to be found anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct StaleToken {
    side: OrderSide,
    token: u32,
    /// The slot of the order that something became of.
    slot: u32,
    /// What the order says.
    said: Said,
    /// The place that it left, unless it had left already.
    left: Option<VacatedPlace>,
    /// The place that the order left among further ones, if it was one.
    further: Option<FurtherPlace>,
    turn: Turn,
}

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is active from now on.
    Come,
    /// It was active.
    Gone,
}

/// The place that a token left.
#[derive(Clone, Copy, Debug)]
struct VacatedPlace {
    /// The slot of its best order.
    best: u32,
    /// What that said.
    said: Said,
    /// Whether its currency had a rate.
    priced: bool,
    /// Its slot among those.
    slot: Option<u32>,
}

impl StaleToken {
    /// What is the same of all that happened to a token.
    fn key(&self) -> (OrderSide, u32) {
        (self.side, self.token)
    }
}

impl Book {
    /// Notes that a token's best order must be found anew, and takes it out of the order of prices while its rank is
    /// still what it was.
    pub(super) fn touch(&mut self, slot: u32, turn: Turn, context: BookContext<'_>) {
        let Some(order) = self.order(slot) else { return };
        let (side, token, said) = (order.terms.side, order.token, order.said());
        if self.loading {
            return;
        }
        self.turn_in_creation(slot, turn);
        if token == NO_TOKEN {
            return self.turn_collection_offer(slot, turn, context.tokens);
        }
        let left = self.unlist(side, token, context);
        let further = if turn == Turn::Gone { self.unlist_order(slot, context.tokens) } else { None };
        self.touched.push(StaleToken { side, token, slot, said, left, further, turn });
    }

    /// Takes a token out of the order of prices, for which its best order must still be what it was.
    fn unlist(&mut self, side: OrderSide, token: u32, context: BookContext<'_>) -> Option<VacatedPlace> {
        let slot = self.side(side).best(token)?;
        let mut price_list = self.take_price_list(side, slot);
        let entry = (token, self.hint(side, slot));
        let left = price_list.remove(entry, |a, b| self.compare_tokens(side, context, a, b));
        self.put_price_list(side, slot, price_list);
        self.unlist_creation(side, slot, token, context);
        let (priced, said) = (self.is_priced(slot), self.order(slot)?.said());
        let book = self.side_mut(side);
        book.best[token as usize] = NONE;
        book.members.remove(token);
        Some(VacatedPlace { best: slot, said, priced, slot: left })
    }

    /// Gives the tokens that were touched the places that their best orders now have.
    pub(super) fn relist(&mut self, mut touched: Vec<StaleToken>, context: BookContext<'_>) {
        // Of a token that was touched several times, the first time tells the place that it left.
        touched.sort_unstable_by_key(|touched| (touched.key(), touched.left.is_none()));
        let tokens: Vec<(&[StaleToken], IndexedMetadata<'_>)> = touched
            .chunk_by(|a, b| a.key() == b.key())
            .map(|touched| (touched, context.extracted(touched[0].token)))
            .collect();
        for (touched, token) in &tokens {
            if let Some(VacatedPlace { priced, slot: Some(slot), said, .. }) = touched[0].left {
                self.side_mut(touched[0].side).price_list_mut(priced).forget(slot, token, said);
            }
            for place in touched.iter().filter_map(|touched| touched.further) {
                self.side_mut(touched[0].side).further.forget(place, token);
            }
        }
        for (touched, token) in &tokens {
            self.list(touched, token, context);
        }
    }

    /// Gives a token, to which all of this happened, the place that its best order now has.
    fn list(&mut self, touched: &[StaleToken], metadata: &IndexedMetadata<'_>, context: BookContext<'_>) {
        let StaleToken { side, token, left, .. } = touched[0];
        let mut came = self.come(touched);
        self.stack_orders(token, &came, context.tokens);
        let best = self.best_anew(token, side);
        came.extend(left.map(|left| left.best).filter(|slot| self.is_of(*slot, (side, token))));
        self.rank_orders(side, (&came, best), metadata, context);
        self.note_count(side, token);
        let (said, tokens) = (best.and_then(|slot| self.order(slot)).map(Order::said), context.tokens.len());
        self.note_said(touched, tokens);
        let book = self.side_mut(side);
        book.best_ones.replace(left.map(|left| left.said), said, tokens);
        let Some((slot, said)) = best.zip(said) else { return };
        grow(&mut book.best, token, NONE);
        book.best[token as usize] = slot;
        book.members.insert(token);
        let mut price_list = self.take_price_list(side, slot);
        let entry = (token, self.hint(side, slot));
        price_list.insert(entry, (metadata, said), |a, b| self.compare_tokens(side, context, a, b));
        price_list.settle((context.properties, tokens), |token| self.said_of(self.side(side).best(token)?));
        self.put_price_list(side, slot, price_list);
        self.list_creation(side, slot, token, context);
    }

    /// Whether an active order of a token on a side is in a slot.
    fn is_of(&self, slot: u32, of: (OrderSide, u32)) -> bool {
        let is_of = |order: &Order| order.is_active() && (order.terms.side, order.token) == of;
        self.order(slot).is_some_and(is_of)
    }

    /// The slots of orders that came, of all that happened to a token, and did not go again.
    fn come(&self, touched: &[StaleToken]) -> Vec<u32> {
        let is_there = |stale: &&StaleToken| self.is_of(stale.slot, (stale.side, stale.token));
        let came = touched.iter().filter(|stale| stale.turn == Turn::Come);
        came.filter(is_there).map(|stale| stale.slot).collect()
    }

    /// The best of a token's orders on a side, which nothing knows any more.
    fn best_anew(&self, token: u32, side: OrderSide) -> Option<u32> {
        if let Some(stack) = self.stack(token, side) {
            return stack.first().map(|order| order.slot);
        }
        let best = self.of_token(token, side).min_by(|(_, a), (_, b)| self.compare(a, b));
        best.map(|(slot, _)| slot)
    }

    /// What of an order that is gone others of its token say too.
    fn repeated(&self, side: OrderSide, said: Said) -> Repeated {
        let mut repeated = Repeated::default();
        match self.stack(said.token, side) {
            Some(stack) => stack.orders().for_each(|order| repeated.note(said, order.said())),
            None => self.of_token(said.token, side).for_each(|(_, order)| repeated.note(said, order.said())),
        }
        repeated
    }

    /// Makes a token found by what its orders say by now. What the best one said it is found by already, so that another
    /// price changes nothing here.
    fn note_said(&mut self, touched: &[StaleToken], tokens: usize) {
        let StaleToken { side, left, .. } = touched[0];
        for stale in touched {
            if stale.turn == Turn::Come && left.is_none_or(|left| left.said != stale.said) {
                self.side_mut(side).any.insert(stale.said, tokens);
            }
        }
        // In the end, as what came may be gone again.
        for stale in touched.iter().filter(|stale| stale.turn == Turn::Gone) {
            let kept = self.repeated(side, stale.said);
            self.side_mut(side).any.remove(stale.said, kept);
        }
    }
}
