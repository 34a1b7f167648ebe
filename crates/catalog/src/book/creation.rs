//! The orders of a side in the order in which they were first seen, each by itself however many its token has: made once
//! somebody asks for that order, and kept from then on.

use std::cmp::Ordering;

use bourse_wire::OrderSide;

use super::order_list::{ListedOrder, OrderList, Rank};
use super::relist::Turn;
use super::side::rough;
use super::stacks::OrderLists;
use super::{Book, NO_TOKEN, Order};

impl Book {
    /// The active orders of a side, the oldest first, once somebody asked for that order.
    pub(crate) fn orders_by_creation(&self, side: OrderSide) -> Option<&OrderList> {
        self.by_creation.as_ref().map(|lists| lists.side(side))
    }

    /// How many active orders a side has, each of its tokens' and those for any token.
    pub(crate) fn orders_len(&self, side: OrderSide) -> usize {
        let (book, ranked) = (self.side(side), self.ranked(side).len());
        let any = if side == OrderSide::Offer { self.collection_offers().len() } else { 0 };
        book.len() + ranked + any
    }

    /// Which of two orders comes first: the one first seen earlier, then by their own keys.
    pub(crate) fn compare_created(&self, a: &Order, b: &Order) -> Ordering {
        let times = a.created_at.cmp(&b.created_at);
        times
            .then_with(|| a.marketplace.cmp(&b.marketplace))
            .then_with(|| self.text(a).order_id().cmp(self.text(b).order_id()))
    }

    /// Puts all orders in the order in which they were first seen.
    pub(super) fn sort_orders_by_creation(&mut self) {
        let mut lists = OrderLists::default();
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let is_listed = |(_, order): &(u32, &Order)| order.terms.side == side && is_listed(order);
            let slots = self.all().filter(is_listed).map(|(slot, _)| slot);
            *lists.side_mut(side) = self.sorted_by_creation(slots);
        }
        self.by_creation = Some(lists);
    }

    /// Takes an order into its list when it came, and out when it is gone, for which it must still be what it was.
    pub(super) fn turn_in_creation(&mut self, slot: u32, turn: Turn) {
        let Some(mut lists) = self.by_creation.take() else { return };
        if self.order(slot).is_some_and(is_listed) {
            self.turn_created(&mut lists, slot, turn);
        }
        self.by_creation = Some(lists);
    }

    /// The same with any lists that are in this order.
    pub(super) fn turn_created(&self, lists: &mut OrderLists, slot: u32, turn: Turn) {
        let Some(order) = self.order(slot) else { return };
        let (listed, rank) = created(slot, order);
        let compare = |other: u32| self.compare_created_with(other, order);
        let list = lists.side_mut(order.terms.side);
        match turn {
            Turn::Come => list.insert(listed, rank, compare),
            Turn::Gone => list.remove(slot, rank.hint, compare),
        };
    }

    /// A list of orders by when they were first seen.
    pub(super) fn sorted_by_creation(&self, slots: impl Iterator<Item = u32>) -> OrderList {
        let mut orders: Vec<(u32, &Order)> =
            slots.filter_map(|slot| Some((slot, self.order(slot)?))).collect();
        orders.sort_unstable_by(|(_, a), (_, b)| self.compare_created(a, b));
        OrderList::from_sorted(orders.into_iter().map(|(slot, order)| created(slot, order)))
    }

    /// How the order of a slot compares with another by when they were first seen.
    pub(super) fn compare_created_with(&self, slot: u32, order: &Order) -> Ordering {
        self.order(slot).map_or(Ordering::Less, |other| self.compare_created(other, order))
    }

    /// Whether an active order is in its list, where there is one, and the list says of it what it says.
    pub(super) fn is_in_creation(&self, slot: u32, order: &Order) -> bool {
        let is_in = |list: &OrderList| self.is_in_list_by_creation(list, slot, order);
        self.orders_by_creation(order.terms.side).is_none_or(is_in)
    }

    /// Whether an order is in a list by creation exactly where it has to be.
    pub(super) fn is_in_list_by_creation(&self, list: &OrderList, slot: u32, order: &Order) -> bool {
        let (listed, rank) = created(slot, order);
        list.find(rank.hint, |other| self.compare_created_with(other, order)) == Some((listed, rank))
    }

    /// Whether the lists, where there are any, have as many orders as there are.
    pub(super) fn is_creation_whole(&self) -> bool {
        let is_whole =
            |side| self.orders_by_creation(side).is_none_or(|list| list.len() == self.orders_len(side));
        is_whole(OrderSide::Listing) && is_whole(OrderSide::Offer)
    }

    /// Loses the oldest order of a side, for tests.
    #[cfg(test)]
    pub(crate) fn forget_created(&mut self, side: OrderSide) {
        self.sort_orders_by_creation();
        let slot = self.orders_by_creation(side).and_then(|list| list.first()).map(|order| order.slot);
        if let Some(slot) = slot {
            self.turn_in_creation(slot, Turn::Gone);
        }
    }
}

/// Whether an order is of a token, or for any: nobody sells any token.
fn is_listed(order: &Order) -> bool {
    order.token != NO_TOKEN || order.is_collection_offer()
}

/// An order as these lists have it.
pub(super) fn created(slot: u32, order: &Order) -> (ListedOrder, Rank) {
    let rank = Rank { hint: rough(order.created_at), created_at: order.created_at };
    (ListedOrder::new(slot, order), rank)
}
