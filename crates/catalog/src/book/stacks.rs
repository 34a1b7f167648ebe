//! Orders of tokens that have several, in the order of their prices: of all such tokens together but for the best of each, which
//! is among the best of all tokens, and by itself of each that has very many. A filter then goes through what these lists say of
//! orders, and not from order to order.

use std::cmp::Ordering;

use bourse_wire::OrderSide;
use hashbrown::HashMap;

use super::further::FurtherPlace;
use super::order_list::{ListedOrder, OrderList, Rank};
use super::relist::Turn;
use super::side::direction;
use super::{Book, BookContext, NO_TOKEN, Order, OrderTest};
use crate::chains::grow;
use crate::currencies::Price;
use crate::properties::IndexedMetadata;
use crate::tokens::Tokens;

/// Orders of a token, open ones that are not active included, from which on they have lists of their own.
pub(super) const STACK_MIN: usize = 8;
/// Orders below which they have none any more.
const STACK_END: usize = STACK_MIN / 2;
/// Orders of a token from which on they have lists by when they were first seen too, and below which they have none any more.
/// Fewer are sorted as soon as somebody asks.
const CREATED_MIN: usize = 64;
const CREATED_END: usize = CREATED_MIN / 2;

/// Orders of both sides in order.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderLists {
    pub(super) listings: OrderList,
    pub(super) offers: OrderList,
}

/// The active orders of a token that has very many.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    lists: OrderLists,
    /// The same by when they were first seen, where they are too many to be sorted each time.
    by_creation: Option<OrderLists>,
    /// How many orders the token has, those that are not active included.
    count: usize,
}

/// The tokens with very many orders.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks(HashMap<u32, Stack>);

impl OrderLists {
    pub(super) fn side(&self, side: OrderSide) -> &OrderList {
        if side == OrderSide::Offer { &self.offers } else { &self.listings }
    }

    pub(super) fn side_mut(&mut self, side: OrderSide) -> &mut OrderList {
        if side == OrderSide::Offer { &mut self.offers } else { &mut self.listings }
    }

    /// Gives back memory that nothing is in.
    fn shrink(&mut self) {
        self.listings.shrink();
        self.offers.shrink();
    }

    pub(super) fn bytes(&self) -> usize {
        self.listings.bytes() + self.offers.bytes()
    }
}

impl Stack {
    fn bytes(&self) -> usize {
        self.lists.bytes() + self.by_creation.as_ref().map_or(0, OrderLists::bytes)
    }
}

impl Stacks {
    /// The orders of a token on a side, if it has very many.
    pub(super) fn get(&self, token: u32, side: OrderSide) -> Option<&OrderList> {
        self.0.get(&token).map(|stack| stack.lists.side(side))
    }

    fn get_mut(&mut self, token: u32, side: OrderSide) -> Option<&mut OrderList> {
        self.0.get_mut(&token).map(|stack| stack.lists.side_mut(side))
    }

    fn by_creation_mut(&mut self, token: u32) -> Option<&mut OrderLists> {
        self.0.get_mut(&token).and_then(|stack| stack.by_creation.as_mut())
    }

    /// Notes that a token has one more order, active or not.
    pub(super) fn note_one_more(&mut self, token: u32) {
        if let Some(stack) = self.0.get_mut(&token) {
            stack.count += 1;
        }
    }

    /// Notes that a token has one order less, which is in no list any more.
    pub(super) fn note_one_less(&mut self, token: u32) {
        if let Some(stack) = self.0.get_mut(&token) {
            stack.count -= 1;
            if stack.count < CREATED_END {
                stack.by_creation = None;
            }
            if stack.count < STACK_END {
                self.0.remove(&token);
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<(u32, Stack)>() + self.0.values().map(Stack::bytes).sum::<usize>()
    }
}

impl Book {
    /// The orders of a side that are not the best of their token, the best of them first.
    pub(crate) fn ranked(&self, side: OrderSide) -> &OrderList {
        self.ranked.side(side)
    }

    /// The active orders of a token on a side, the best first, if it has very many orders.
    pub(crate) fn stack(&self, token: u32, side: OrderSide) -> Option<&OrderList> {
        self.stacks.get(token, side)
    }

    /// The same in the order in which they were first seen, if there are too many to be sorted each time.
    pub(crate) fn stack_by_creation(&self, token: u32, side: OrderSide) -> Option<&OrderList> {
        self.stacks.0.get(&token)?.by_creation.as_ref().map(|lists| lists.side(side))
    }

    /// How many active orders a token has on a side.
    pub(super) fn count_of_token(&self, token: u32, side: OrderSide) -> usize {
        self.stack(token, side).map_or_else(|| self.of_token(token, side).count(), OrderList::len)
    }

    /// Has the best orders of tokens brought from memory, where they lie scattered: asked for in a row, nobody waits for one
    /// before the next is on its way. Which orders these are is asked for in a row before, for the same reason.
    pub(crate) fn fetch_best(&self, side: OrderSide, tokens: impl Iterator<Item = u32> + Clone) {
        let slots = tokens.filter_map(|token| self.side(side).best(token));
        std::hint::black_box(slots.clone().fold(0, |all, slot| all ^ slot));
        let orders = slots.filter_map(|slot| self.order(slot));
        std::hint::black_box(orders.fold(0, |all, order| all ^ order.maker ^ order.price.currency));
    }

    /// The best of a token's orders on a side that a filter, if there is one, lets through.
    pub(crate) fn best(&self, token: u32, side: OrderSide, test: Option<&OrderTest<'_>>) -> Option<u32> {
        let best = self.side(side).best(token)?;
        let Some(test) = test else { return Some(best) };
        if self.order(best).is_some_and(|order| test.allows(self, order)) {
            return Some(best);
        }
        if !self.side(side).several().contains(token) {
            return None;
        }
        if let Some(stack) = self.stack(token, side) {
            return test.of_list(self, side, stack).next().map(|(_, order)| order.slot);
        }
        self.of_token(token, side)
            .filter(|(_, order)| test.allows(self, order))
            .min_by(|(_, a), (_, b)| self.compare(a, b))
            .map(|(slot, _)| slot)
    }

    /// Which of two orders of a side comes first in its list: the better price, then the lower id of the token, then the
    /// order's own key.
    pub(super) fn compare_listed(&self, a: &Order, b: &Order, tokens: &Tokens) -> Ordering {
        let prices = self.compare_prices(a.terms.side, &a.price, &b.price);
        let ids =
            || if a.token == b.token { Ordering::Equal } else { tokens.id(a.token).cmp(&tokens.id(b.token)) };
        prices.then_with(ids).then_with(|| self.compare(a, b))
    }

    /// An order as lists have it.
    pub(super) fn listed(&self, slot: u32) -> Option<(ListedOrder, Rank)> {
        let order = self.order(slot)?;
        let is_priced = self.currencies.rate(order.price.currency).is_some();
        // What nobody knows the worth of comes last.
        let hint = if is_priced { order.price.hint(direction(order.terms.side)) } else { f64::MAX };
        Some((ListedOrder::new(slot, order), Rank { hint, created_at: order.created_at }))
    }

    /// Takes an order out of the lists, while its rank is still what it was; the place among further orders that it left, if it
    /// was one.
    pub(super) fn unlist_order(&mut self, slot: u32, tokens: &Tokens) -> Option<FurtherPlace> {
        let order = self.order(slot)?;
        let (token, side) = (order.token, order.terms.side);
        // An only order is no further one, and most are.
        let is_one_of_several = self.side(side).several.contains(token);
        let left = if is_one_of_several { self.unrank((side, slot), tokens) } else { None };
        self.change_stack(slot, token, tokens, |list, (listed, rank), compare| {
            list.remove(listed.slot, rank.hint, compare);
        });
        self.turn_in_stack_by_creation(slot, token, Turn::Gone);
        left
    }

    /// Takes an order into the list by creation of its token, if that has one, or out of it.
    fn turn_in_stack_by_creation(&mut self, slot: u32, token: u32, turn: Turn) {
        let Some(mut lists) = self.stacks.by_creation_mut(token).map(std::mem::take) else { return };
        self.turn_created(&mut lists, slot, turn);
        self.stacks.by_creation_mut(token).into_iter().for_each(|place| *place = std::mem::take(&mut lists));
    }

    /// Puts the orders of a token in the order in which they were first seen too, if it has become so large.
    fn sort_stack_by_creation(&mut self, token: u32) {
        let large = self.stacks.0.get(&token).filter(|stack| stack.count >= CREATED_MIN);
        if let Some(stack) = large.filter(|stack| stack.by_creation.is_none()) {
            let of = |side| self.sorted_by_creation(stack.lists.side(side).slots());
            let lists = OrderLists { listings: of(OrderSide::Listing), offers: of(OrderSide::Offer) };
            self.stacks.0.entry(token).and_modify(|stack| stack.by_creation = Some(lists));
        }
    }

    /// Takes an order out of the further ones, if it is one; the place that it left.
    fn unrank(&mut self, (side, slot): (OrderSide, u32), tokens: &Tokens) -> Option<FurtherPlace> {
        let mut list = std::mem::take(self.ranked.side_mut(side));
        let was_there = self.change_list(slot, tokens, &mut list, |list, (listed, rank), compare| {
            list.remove(listed.slot, rank.hint, compare)
        });
        *self.ranked.side_mut(side) = list;
        if was_there == Some(true) { self.take_further((side, slot), tokens) } else { None }
    }

    /// Puts an order among the further ones, unless it is there.
    fn rank(
        &mut self,
        (side, slot): (OrderSide, u32),
        token: &IndexedMetadata<'_>,
        context: BookContext<'_>,
    ) {
        let mut list = std::mem::take(self.ranked.side_mut(side));
        let is_new = self.change_list(slot, context.tokens, &mut list, |list, (listed, rank), compare| {
            list.insert(listed, rank, compare)
        });
        *self.ranked.side_mut(side) = list;
        if is_new == Some(true) {
            self.put_further((side, slot), token, context);
        }
    }

    fn change_stack(
        &mut self,
        slot: u32,
        token: u32,
        tokens: &Tokens,
        change: impl FnOnce(&mut OrderList, (ListedOrder, Rank), &dyn Fn(u32) -> Ordering),
    ) {
        let Some(side) = self.order(slot).map(|order| order.terms.side) else { return };
        let Some(mut list) = self.stacks.get_mut(token, side).map(std::mem::take) else { return };
        self.change_list(slot, tokens, &mut list, change);
        self.stacks.get_mut(token, side).into_iter().for_each(|place| *place = std::mem::take(&mut list));
    }

    pub(super) fn change_list<R>(
        &self,
        slot: u32,
        tokens: &Tokens,
        list: &mut OrderList,
        change: impl FnOnce(&mut OrderList, (ListedOrder, Rank), &dyn Fn(u32) -> Ordering) -> R,
    ) -> Option<R> {
        let (listed, order) = self.listed(slot).zip(self.order(slot))?;
        Some(change(list, listed, &|other| self.compare_with(other, order, tokens)))
    }

    /// How the order of a slot compares with another.
    fn compare_with(&self, slot: u32, order: &Order, tokens: &Tokens) -> Ordering {
        self.order(slot).map_or(Ordering::Less, |other| self.compare_listed(other, order, tokens))
    }

    /// Puts orders that came into the stack of their token, which it gets now if it has become large.
    pub(super) fn stack_orders(&mut self, token: u32, came: &[u32], tokens: &Tokens) {
        if self.stacks.0.contains_key(&token) {
            for slot in came {
                self.change_stack(*slot, token, tokens, |list, (listed, rank), compare| {
                    list.insert(listed, rank, compare);
                });
                self.turn_in_stack_by_creation(*slot, token, Turn::Come);
            }
        } else if self.by_token.iter(token).nth(STACK_MIN - 1).is_some() {
            let list = |side| OrderList::from_sorted(self.sorted_orders(token, side));
            let lists = OrderLists { listings: list(OrderSide::Listing), offers: list(OrderSide::Offer) };
            let count = self.by_token.iter(token).count();
            self.stacks.0.insert(token, Stack { lists, by_creation: None, count });
        }
        self.sort_stack_by_creation(token);
    }

    fn sorted_orders(&self, token: u32, side: OrderSide) -> Vec<(ListedOrder, Rank)> {
        let mut orders: Vec<(u32, &Order)> = self.of_token(token, side).collect();
        orders.sort_unstable_by(|(_, a), (_, b)| self.compare(a, b));
        orders.into_iter().filter_map(|(slot, _)| self.listed(slot)).collect()
    }

    /// Gives the orders of a token on a side that came, and the one that was its best before, their places among further ones:
    /// all but its best one, which has none there any more.
    pub(super) fn rank_orders(
        &mut self,
        side: OrderSide,
        (came, best): (&[u32], Option<u32>),
        token: &IndexedMetadata<'_>,
        context: BookContext<'_>,
    ) {
        for slot in came.iter().copied().filter(|slot| Some(*slot) != best) {
            self.rank((side, slot), token, context);
        }
        // An order that was not the best one before was among the further ones, unless it came just now.
        let known = best.filter(|best| !came.contains(best));
        if let Some(place) = known.and_then(|best| self.unrank((side, best), context.tokens)) {
            self.side_mut(side).further.forget(place, token);
        }
    }

    /// Counts the orders of a token on a side anew.
    pub(super) fn note_count(&mut self, side: OrderSide, token: u32) {
        let count = self.count_of_token(token, side);
        let book = self.side_mut(side);
        if count > 1 {
            book.several.insert(token);
            book.counts.insert(token, u32::try_from(count).unwrap_or(u32::MAX));
        } else {
            book.several.remove(token);
            book.counts.remove(&token);
        }
    }

    /// The slots of a token's active orders on a side. Where there are very many, those of the other side are not looked at.
    pub(super) fn of_side(&self, token: u32, side: OrderSide) -> impl Iterator<Item = u32> {
        let stack = self.stack(token, side);
        let others = stack.is_none().then(|| self.of_token(token, side).map(|(slot, _)| slot));
        stack.into_iter().flat_map(OrderList::slots).chain(others.into_iter().flatten())
    }

    /// Puts the orders of all tokens that have several in order, but for the best of each.
    pub(super) fn rank_all(&mut self, context: BookContext<'_>) {
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let of_token = |token| {
                let best = self.side(side).best(token);
                self.of_token(token, side).filter(move |(slot, _)| Some(*slot) != best)
            };
            // The prices lie beside the orders while they are sorted.
            let mut orders: Vec<(Price, u32, &Order)> = self
                .side(side)
                .several
                .iter()
                .flat_map(of_token)
                .map(|(slot, order)| (order.price, slot, order))
                .collect();
            orders.sort_unstable_by(|(a, _, one), (b, _, other)| {
                self.compare_prices(side, a, b).then_with(|| self.compare_listed(one, other, context.tokens))
            });
            let slots: Vec<u32> = orders.into_iter().map(|(_, slot, _)| slot).collect();
            let (list, further) = (self.list_of(&slots), self.list_all_further(side, &slots, context));
            *self.ranked.side_mut(side) = list;
            self.side_mut(side).further = further;
        }
        self.stack_all();
    }

    /// Puts orders in order that were in this order before.
    pub(super) fn rank_known(&mut self, side: OrderSide, slots: &[u32]) {
        let list = self.list_of(slots);
        *self.ranked.side_mut(side) = list;
    }

    /// A list of orders that are in their order already.
    pub(super) fn list_of(&self, slots: &[u32]) -> OrderList {
        OrderList::from_sorted(slots.iter().filter_map(|slot| self.listed(*slot)))
    }

    /// Gives every token with very many orders lists of them, from the lists of best and of further ones.
    pub(super) fn stack_all(&mut self) {
        let mut counts: Vec<usize> = Vec::new();
        for order in self.slots.iter().flatten().filter(|order| order.token != NO_TOKEN) {
            grow(&mut counts, order.token, 0);
            counts[order.token as usize] += 1;
        }
        let large = (0..).zip(counts).filter(|(_, count)| *count >= STACK_MIN);
        let mut stacks: HashMap<u32, Stack> =
            large.map(|(token, count)| (token, Stack { count, ..Stack::default() })).collect();
        for side in [OrderSide::Listing, OrderSide::Offer] {
            for (token, stack) in &mut stacks {
                let best = self.side(side).best(*token);
                if let Some((order, rank)) = best.and_then(|slot| self.listed(slot)) {
                    stack.lists.side_mut(side).push(order, rank);
                }
            }
            for slot in self.ranked.side(side).slots() {
                let Some((order, rank)) = self.listed(slot) else { continue };
                if let Some(stack) = stacks.get_mut(&order.token) {
                    stack.lists.side_mut(side).push(order, rank);
                }
            }
        }
        stacks.values_mut().for_each(|stack| stack.lists.shrink());
        let large: Vec<u32> = stacks.keys().copied().collect();
        self.stacks = Stacks(stacks);
        for token in large {
            self.sort_stack_by_creation(token);
        }
    }

    /// Loses an order of the list of further ones, for tests.
    #[cfg(test)]
    pub(crate) fn forget_ranked(&mut self, side: OrderSide) {
        let slots: Vec<u32> = self.ranked(side).slots().skip(1).collect();
        self.rank_known(side, &slots);
    }

    /// Loses an order of every token that has very many, for tests.
    #[cfg(test)]
    pub(crate) fn forget_stacked(&mut self, side: OrderSide) {
        self.change_stacks(side, |slots| slots.truncate(slots.len() - 1));
    }

    /// Has one order of every token that has very many twice, for tests.
    #[cfg(test)]
    pub(crate) fn stack_too_much(&mut self, side: OrderSide) {
        self.change_stacks(side, |slots| slots.extend_from_within(slots.len() - 1..));
    }

    /// Loses, for tests, the oldest order of every token that has lists by creation.
    #[cfg(test)]
    pub(crate) fn forget_stacked_by_creation(&mut self, side: OrderSide) {
        let tokens: Vec<u32> = self.stacks.0.keys().copied().collect();
        for token in tokens {
            let first =
                self.stack_by_creation(token, side).and_then(OrderList::first).map(|order| order.slot);
            if let Some(slot) = first {
                self.turn_in_stack_by_creation(slot, token, Turn::Gone);
            }
        }
    }

    #[cfg(test)]
    fn change_stacks(&mut self, side: OrderSide, change: impl Fn(&mut Vec<u32>)) {
        let mut stacks = std::mem::take(&mut self.stacks);
        for stack in stacks.0.values_mut() {
            let mut slots = stack.lists.side(side).slots().collect();
            change(&mut slots);
            let listed = slots.into_iter().filter_map(|slot| self.listed(slot));
            *stack.lists.side_mut(side) = OrderList::from_sorted(listed);
        }
        self.stacks = stacks;
    }

    /// Whether an active order is in the lists exactly where it has to be, and they say of it what it says.
    pub(super) fn is_listed(&self, slot: u32, order: &Order, is_best: bool, tokens: &Tokens) -> bool {
        let Some((listed, rank)) = self.listed(slot) else { return false };
        let is_in = |list: &OrderList| {
            list.find(rank.hint, |other| self.compare_with(other, order, tokens)) == Some((listed, rank))
        };
        if order.is_collection_offer() {
            return is_in(self.collection_offers()) && self.is_listed_by_creation(slot, order);
        }
        is_in(self.ranked(order.terms.side)) != is_best
            && self.stack(order.token, order.terms.side).is_none_or(is_in)
            && self
                .stack_by_creation(order.token, order.terms.side)
                .is_none_or(|list| self.is_in_list_by_creation(list, slot, order))
    }

    /// Whether no list of a token with very many orders has one too many.
    pub(super) fn is_stacked_right(&self, token: u32) -> bool {
        let Some(stack) = self.stacks.0.get(&token) else { return true };
        let is_right = |side| {
            let count = self.of_token(token, side).count();
            let by_creation = stack.by_creation.as_ref().map(|lists| lists.side(side).len());
            stack.lists.side(side).len() == count && by_creation.is_none_or(|len| len == count)
        };
        stack.count == self.by_token.iter(token).count()
            && [OrderSide::Listing, OrderSide::Offer].into_iter().all(is_right)
    }
}
