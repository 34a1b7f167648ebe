//! Offers for any token of the collection, in the order of their prices, and in the order in which they were first seen. Such
//! an offer is one entry however many tokens there are: it stands beside the offers of each of them, and who reads those looks
//! into these lists as well.

use bourse_wire::OrderSide;

use super::creation::created;
use super::order_list::{ListedOrder, OrderList, Rank};
use super::relist::Turn;
use super::{Book, NO_TOKEN, Order, OrderTest};
use crate::tokens::Tokens;

impl Order {
    /// Whether it buys any token of the collection.
    pub(super) fn is_collection_offer(&self) -> bool {
        self.token == NO_TOKEN && self.terms.side == OrderSide::Offer
    }
}

impl Book {
    /// The active offers for any token, the best first.
    pub(crate) fn collection_offers(&self) -> &OrderList {
        &self.collection_offers
    }

    /// The same offers, those that were seen first coming first.
    pub(crate) fn offers_by_creation(&self) -> &OrderList {
        &self.offers_by_creation
    }

    /// The numbers of the currencies that they are in.
    pub(crate) fn currencies_of_collection_offers(&self) -> impl Iterator<Item = u32> {
        self.offers_in_currencies.keys().copied()
    }

    /// The best of them that a filter, if there is one, lets through: no token has a worse one.
    pub(crate) fn best_collection_offer(&self, test: Option<&OrderTest<'_>>) -> Option<u32> {
        let list = &self.collection_offers;
        let best = match test {
            None => list.first(),
            Some(test) => test.of_list(self, OrderSide::Offer, list).next().map(|(_, order)| order),
        };
        best.map(|order| order.slot)
    }

    /// Which of two offers, if there are two, ranks first.
    pub(crate) fn better(&self, a: Option<u32>, b: Option<u32>) -> Option<u32> {
        let is_better = |a: u32, b: u32| {
            let both = self.order(a).zip(self.order(b));
            both.is_some_and(|(a, b)| self.compare(a, b).is_lt())
        };
        match (a, b) {
            (Some(a), Some(b)) => Some(if is_better(b, a) { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// Takes an offer for any token into the lists when it came, and out when it is gone, for which its rank must still be
    /// what it was.
    pub(super) fn turn_collection_offer(&mut self, slot: u32, turn: Turn, tokens: &Tokens) {
        if !self.order(slot).is_some_and(Order::is_collection_offer) {
            return;
        }
        let mut list = std::mem::take(&mut self.collection_offers);
        self.change_list(slot, tokens, &mut list, |list, (listed, rank), compare| match turn {
            Turn::Come => list.insert(listed, rank, compare),
            Turn::Gone => list.remove(listed.slot, rank.hint, compare),
        });
        self.collection_offers = list;
        let mut list = std::mem::take(&mut self.offers_by_creation);
        if let Some(order) = self.order(slot) {
            let (listed, rank) = created(slot, order);
            let compare = |other| self.compare_created_with(other, order);
            match turn {
                Turn::Come => list.insert(listed, rank, compare),
                Turn::Gone => list.remove(slot, rank.hint, compare),
            };
        }
        self.offers_by_creation = list;
        if let Some(currency) = self.order(slot).map(|order| order.price.currency) {
            self.count_in_currency(currency, turn);
        }
    }

    fn count_in_currency(&mut self, currency: u32, turn: Turn) {
        let counted = self.offers_in_currencies.entry(currency).or_default();
        match turn {
            Turn::Come => *counted += 1,
            Turn::Gone => *counted = counted.saturating_sub(1),
        }
        if *counted == 0 {
            self.offers_in_currencies.remove(&currency);
        }
    }

    /// Whether an offer for any token is in the list by creation exactly where it has to be.
    pub(super) fn is_listed_by_creation(&self, slot: u32, order: &Order) -> bool {
        self.is_in_list_by_creation(&self.offers_by_creation, slot, order)
    }

    /// Puts all of them in order.
    pub(super) fn rank_collection_offers(&mut self) {
        let mut offers: Vec<(u32, &Order)> =
            self.all().filter(|(_, order)| order.is_collection_offer()).collect();
        offers.sort_unstable_by(|(_, a), (_, b)| self.compare(a, b));
        let listed: Vec<(ListedOrder, Rank)> =
            offers.into_iter().filter_map(|(slot, _)| self.listed(slot)).collect();
        self.collection_offers = OrderList::from_sorted(listed);
        self.sort_offers_by_creation();
    }

    /// Puts those that are in the order of their prices in the order in which they were first seen as well, and counts those in each
    /// currency.
    pub(super) fn sort_offers_by_creation(&mut self) {
        self.offers_in_currencies.clear();
        for order in self.collection_offers.orders() {
            *self.offers_in_currencies.entry(order.currency).or_default() += 1;
        }
        self.offers_by_creation = self.sorted_by_creation(self.collection_offers.slots());
    }

    /// Loses the best of them, for tests.
    #[cfg(test)]
    pub(crate) fn forget_collection_offer(&mut self) {
        let slots: Vec<u32> = self.collection_offers.slots().skip(1).collect();
        self.collection_offers = self.list_of(&slots);
    }

    /// Loses the one that was seen last, for tests.
    #[cfg(test)]
    pub(crate) fn forget_created_offer(&mut self) {
        let slots: Vec<u32> = self.offers_by_creation.slots().collect();
        let kept = slots.iter().take(slots.len() - 1);
        let listed = kept.filter_map(|slot| Some(created(*slot, self.order(*slot)?)));
        self.offers_by_creation = OrderList::from_sorted(listed);
    }
}
