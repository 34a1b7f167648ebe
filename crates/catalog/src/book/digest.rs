//! What the book says of each order, for comparing it with another.

use bourse_wire::{OrderSide, Timestamp};

use super::{Book, NO_TOKEN, Order};
use crate::collection::Collection;
use crate::digest::hash;

impl Book {
    /// What is said of the order of a slot; 0 when there is none by then, `None` past the last slot.
    pub(crate) fn digest_of_order(&self, slot: u32, around: &Collection, now: Timestamp) -> Option<u64> {
        let place = self.slots.get(slot as usize)?;
        let Some(order) = place.as_ref().filter(|order| !order.terms.is_over(now)) else { return Some(0) };
        let Order { price, token, maker, marketplace, status, is_covered, quantity_decimals, terms, .. } =
            order;
        let text = self.text(order);
        let is_found = self.find(self.hash(*marketplace, text.order_id()), *marketplace, text.order_id());
        // The first alarm of all must not be later than the next change of any.
        let next_change = terms.next_change(self.now);
        let is_awake = next_change.is_none_or(|at| self.next_change().is_some_and(|first| first <= at));
        let token = (*token != NO_TOKEN).then(|| around.tokens.id(*token));
        let maker = around.holders.address(*maker);
        let price = (price.amount, self.currencies.address(price.currency), price.usd_bits());
        let state = (status, is_covered, quantity_decimals, order.created_at);
        let said = (text.bytes(), token, maker, price, terms, state);
        Some(hash(&(said, is_found == Some(slot), is_awake, self.is_found(slot, order, around))))
    }

    /// Whether sets of tokens and lists of orders agree with an order: sets of all orders, and those of the best ones where it
    /// is one.
    fn is_found(&self, slot: u32, order: &Order, around: &Collection) -> bool {
        if !order.is_active() {
            return true;
        }
        if !self.is_in_creation(slot, order) {
            return order.token == NO_TOKEN && !order.is_collection_offer();
        }
        if order.token == NO_TOKEN {
            return !order.is_collection_offer() || self.is_listed(slot, order, true, &around.tokens);
        }
        let side = self.side(order.terms.side);
        let count = self.count_of_token(order.token, order.terms.side);
        let is_best = side.best(order.token) == Some(slot);
        side.any().find(order.said())
            && side.several().contains(order.token) == (count > 1)
            && side.count(order.token) == count
            && (!is_best || side.best_ones().find(order.said()))
            && self.is_listed(slot, order, is_best, &around.tokens)
    }

    /// The key of an order that something refers to.
    pub(crate) fn digest_of_key(&self, slot: u32) -> u64 {
        let key = self.order(slot).map(|order| (order.marketplace, self.text(order).order_id()));
        hash(&key)
    }

    /// The keys of the orders that are found by their token, and whether it has a list that is wrong.
    pub(crate) fn digests_of_token(&self, token: u32, now: Timestamp) -> impl Iterator<Item = u64> {
        let is_wrong = (!self.is_stacked_right(token)).then_some(0);
        self.digests(self.by_token.iter(token), now).chain(is_wrong)
    }

    /// How many tokens are found by what their orders say, and how many orders are in lists.
    pub(crate) fn digest_of_sets(&self) -> u64 {
        let of_side = |side: OrderSide| {
            let ranked = self.ranked(side).len();
            let side = self.side(side);
            let further = side.further().price_lists().map(|list| list.list().len()).sum::<usize>();
            let lists = side.price_lists().chain(side.further().price_lists());
            let said = lists.map(super::PriceList::said_len).sum::<usize>();
            (side.any().len(), side.best_ones().len(), side.several().count(), (ranked, further, said))
        };
        let collection_offers = (self.collection_offers().len(), self.offers_by_creation().len());
        let are_whole = self.is_creation_whole();
        hash(&(of_side(OrderSide::Listing), of_side(OrderSide::Offer), collection_offers, are_whole))
    }

    fn digests(&self, slots: impl Iterator<Item = u32>, now: Timestamp) -> impl Iterator<Item = u64> {
        // A list that were a circle would otherwise never end.
        let slots = slots.take(self.slots.len());
        let is_open = move |slot: &u32| self.order(*slot).is_none_or(|order| !order.terms.is_over(now));
        slots.filter(is_open).map(|slot| self.digest_of_key(slot))
    }
}
