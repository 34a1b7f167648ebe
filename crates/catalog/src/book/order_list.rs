//! Orders of a side in the order of their prices, with what filters ask of them side by side: going through all of them
//! under a filter looks at no order itself, and what comes first of a token is its best one.

use std::cmp::Ordering;

use bourse_wire::{Marketplace, Timestamp};

use super::Order;
use super::order_sets::Said;

/// Orders of a full block, which is then cut in half.
const BLOCK_MAX: usize = 512;
/// Orders of a block that is new.
const BLOCK_AT_FIRST: usize = 384;
/// Orders that are tested together: one bit of a word for each.
const RUN_MAX: usize = 64;
/// So few of a run are tested alone.
const FEW_MARKS: u32 = 16;
/// How far apart two hints must be, relatively, to decide which order comes first.
const CLEARLY_APART: f64 = 1e-9;

/// An order as filters see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedOrder {
    pub(crate) slot: u32,
    pub(crate) token: u32,
    pub(crate) maker: u32,
    /// The number of its currency.
    pub(crate) currency: u32,
    pub(crate) marketplace: Marketplace,
}

/// What else is asked of an order, though not of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rank {
    /// Ranks its price roughly, so that few orders have to be looked at to find a place.
    pub(crate) hint: f64,
    pub(crate) created_at: Timestamp,
}

/// The orders, in blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderList {
    blocks: Vec<Block>,
    len: usize,
}

#[derive(Clone, Debug, Default)]
struct Block {
    orders: Vec<ListedOrder>,
    ranks: Vec<Rank>,
}

/// Where something is in a list: its block, and where it is within that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    block: usize,
    index: usize,
}

/// Orders in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderRun<'a> {
    /// Where the first of them is.
    place: Place,
    orders: &'a [ListedOrder],
}

impl<'a> OrderRun<'a> {
    /// Those of some that a test is 1 for, one bit each. Where many are asked, all are, without a branch for each.
    pub(super) fn marks_of(self, marks: u64, test: impl Fn(&ListedOrder) -> usize) -> u64 {
        let mark = |marks: u64, index: usize| marks | (test(&self.orders[index]) as u64) << index;
        if marks.count_ones() < FEW_MARKS {
            return numbers_of(marks).fold(0, mark);
        }
        let mark = |marks: u64, (index, order): (usize, &ListedOrder)| marks | (test(order) as u64) << index;
        marks & self.orders.iter().enumerate().fold(0, mark)
    }

    pub(super) fn len(self) -> usize {
        self.orders.len()
    }

    /// The slot of the last of them, going from the end where that is asked for.
    pub(super) fn last(self, reverse: bool) -> Option<u32> {
        let last = if reverse { self.orders.first() } else { self.orders.last() };
        last.map(|order| order.slot)
    }

    /// A bit for each of them.
    pub(super) fn all(self) -> u64 {
        // A run is never empty.
        u64::MAX >> (RUN_MAX - self.orders.len())
    }

    /// Those whose bits are set, with their places.
    pub(super) fn marked(self, marks: u64) -> impl Iterator<Item = (Place, &'a ListedOrder)> {
        numbers_of(marks).map(move |index| {
            let place = Place { index: self.place.index + index, ..self.place };
            (place, &self.orders[index])
        })
    }
}

/// The bits that are set, lowest first.
fn numbers_of(mut marks: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (marks != 0).then(|| {
            let index = marks.trailing_zeros() as usize;
            marks &= marks - 1;
            index
        })
    })
}

impl ListedOrder {
    pub(super) fn new(slot: u32, order: &Order) -> Self {
        let Order { token, maker, marketplace, .. } = *order;
        Self { slot, token, maker, currency: order.price.currency, marketplace }
    }

    /// What its token is found by.
    pub(super) fn said(&self) -> Said {
        let Self { token, maker, currency, marketplace, .. } = *self;
        Said { token, currency, marketplace, maker }
    }
}

impl OrderList {
    /// Takes orders that are in their order already.
    pub(super) fn from_sorted(orders: impl IntoIterator<Item = (ListedOrder, Rank)>) -> Self {
        let mut list = Self::default();
        for (order, rank) in orders {
            list.push(order, rank);
        }
        list
    }

    /// Puts an order after all others.
    pub(super) fn push(&mut self, order: ListedOrder, rank: Rank) {
        if self.blocks.last().is_none_or(|block| block.orders.len() >= BLOCK_AT_FIRST) {
            self.blocks.push(Block::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.orders.push(order);
            block.ranks.push(rank);
            self.len += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The best of all.
    pub(crate) fn first(&self) -> Option<&ListedOrder> {
        self.blocks.first()?.orders.first()
    }

    /// Puts an order in, unless it is there: whether it was not. `compare` tells how the order of another slot compares with it.
    pub(super) fn insert(
        &mut self,
        order: ListedOrder,
        rank: Rank,
        compare: impl Fn(u32) -> Ordering,
    ) -> bool {
        let Place { block, index } = self.place_of(rank.hint, compare);
        if self.at(Place { block, index }).is_some_and(|there| there.slot == order.slot) {
            return false;
        }
        if self.blocks.is_empty() {
            self.push(order, rank);
            return true;
        }
        // Past the end of all is the end of the last.
        let last = self.blocks.len() - 1;
        let (block, index) =
            if block > last { (last, self.blocks[last].orders.len()) } else { (block, index) };
        let found = &mut self.blocks[block];
        found.orders.insert(index, order);
        found.ranks.insert(index, rank);
        self.len += 1;
        if found.orders.len() >= BLOCK_MAX {
            let middle = found.orders.len() / 2;
            let rest = Block { orders: found.orders.split_off(middle), ranks: found.ranks.split_off(middle) };
            self.blocks.insert(block + 1, rest);
        }
        true
    }

    /// Takes the order of a slot out, if it is there: whether it was. Its rank must be what it was when it came.
    pub(super) fn remove(&mut self, slot: u32, hint: f64, compare: impl Fn(u32) -> Ordering) -> bool {
        let place = self.place_of(hint, compare);
        if self.at(place).is_none_or(|there| there.slot != slot) {
            return false;
        }
        let found = &mut self.blocks[place.block];
        found.orders.remove(place.index);
        found.ranks.remove(place.index);
        self.len -= 1;
        if found.orders.is_empty() {
            self.blocks.remove(place.block);
        }
        true
    }

    /// The order at the place that a rank has.
    pub(super) fn find(&self, hint: f64, compare: impl Fn(u32) -> Ordering) -> Option<(ListedOrder, Rank)> {
        let place = self.place_of(hint, compare);
        Some((*self.at(place)?, self.blocks[place.block].ranks[place.index]))
    }

    fn at(&self, place: Place) -> Option<&ListedOrder> {
        self.blocks.get(place.block)?.orders.get(place.index)
    }

    /// Where an order is or would be.
    fn place_of(&self, hint: f64, compare: impl Fn(u32) -> Ordering) -> Place {
        self.partition(|order, rank| {
            if (rank.hint - hint).abs() > rank.hint.abs().max(hint.abs()) * CLEARLY_APART {
                rank.hint < hint
            } else {
                compare(order.slot).is_lt()
            }
        })
    }

    /// The first order that does not come before: `before` tells of the order of each slot whether it does.
    pub(crate) fn place(&self, before: impl Fn(u32) -> bool) -> Place {
        self.partition(|order, _| before(order.slot))
    }

    fn partition(&self, before: impl Fn(&ListedOrder, &Rank) -> bool) -> Place {
        // Blocks are never empty.
        let is_before = |block: &Block| {
            block.orders.last().zip(block.ranks.last()).is_some_and(|(order, rank)| before(order, rank))
        };
        let block = self.blocks.partition_point(is_before);
        let Some(found) = self.blocks.get(block) else { return Place { block, index: 0 } };
        let (mut low, mut high) = (0, found.orders.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&found.orders[middle], &found.ranks[middle]) { low = middle + 1 } else { high = middle }
        }
        Place { block, index: low }
    }

    /// Before the first.
    pub(crate) const START: Place = Place { block: 0, index: 0 };

    /// Past the last.
    pub(crate) fn end(&self) -> Place {
        Place { block: self.blocks.len(), index: 0 }
    }

    /// The orders from one place up to another, some at a time.
    pub(super) fn runs(&self, from: Place, to: Place) -> impl DoubleEndedIterator<Item = OrderRun<'_>> {
        let blocks = self.blocks.iter().enumerate().take(to.block + 1).skip(from.block);
        blocks.flat_map(move |(block, found)| {
            let begin = if block == from.block { from.index } else { 0 };
            let end = if block == to.block { to.index } else { found.orders.len() };
            let runs = found.orders.get(begin..end).unwrap_or_default().chunks(RUN_MAX).enumerate();
            runs.map(move |(run, orders)| OrderRun {
                place: Place { block, index: begin + run * RUN_MAX },
                orders,
            })
        })
    }

    /// When the order at a place was first seen.
    pub(crate) fn created_at(&self, place: Place) -> Timestamp {
        let block = self.blocks.get(place.block);
        block.and_then(|block| block.ranks.get(place.index)).map_or(Timestamp::ZERO, |rank| rank.created_at)
    }

    /// All of them, in order.
    pub(crate) fn orders(&self) -> impl Iterator<Item = &ListedOrder> {
        self.blocks.iter().flat_map(|block| &block.orders)
    }

    /// The slots, in order.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        self.orders().map(|order| order.slot)
    }

    /// Gives back memory that nothing is in.
    pub(super) fn shrink(&mut self) {
        for block in &mut self.blocks {
            block.orders.shrink_to_fit();
            block.ranks.shrink_to_fit();
        }
        self.blocks.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<ListedOrder>() + size_of::<Rank>();
        self.blocks.capacity() * size_of::<Block>()
            + self.blocks.iter().map(|block| block.orders.capacity() * entry).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Many share a price, and with it the hint.
    fn price(slot: u32) -> u32 {
        slot.wrapping_mul(2_654_435_761) >> 24
    }

    fn listed(slot: u32) -> (ListedOrder, Rank) {
        let order = ListedOrder {
            slot,
            token: slot / 3,
            maker: slot % 7,
            currency: slot % 5,
            marketplace: Marketplace::Opensea,
        };
        (order, Rank { hint: f64::from(price(slot)), created_at: Timestamp::ZERO })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Against a sorted vector, through blocks that are cut in half and emptied.
        #[test]
        fn stays_sorted(
            start in prop::collection::btree_set(0_u32..3_000, 0..2_000),
            changes in prop::collection::vec((any::<bool>(), 0_u32..3_000), 0..3_000),
            (from, to) in (0_u32..256, 0_u32..256),
        ) {
            let compare = |a: u32, b: u32| (price(a), a).cmp(&(price(b), b));
            let mut model: Vec<u32> = start.into_iter().collect();
            model.sort_by(|a, b| compare(*a, *b));
            let mut list = OrderList::from_sorted(model.iter().map(|slot| listed(*slot)));
            for (add, slot) in changes {
                let ((order, rank), against) = (listed(slot), |other: u32| compare(other, slot));
                let known = model.binary_search_by(|other| compare(*other, slot));
                // What is there already comes once, and what is not there goes without a trace.
                if add {
                    list.insert(order, rank, against);
                    if let Err(position) = known {
                        model.insert(position, slot);
                    }
                } else {
                    list.remove(slot, rank.hint, against);
                    if let Ok(position) = known {
                        model.remove(position);
                    }
                }
                prop_assert_eq!(list.find(rank.hint, against).is_some_and(|(order, _)| order.slot == slot), add);
            }
            prop_assert_eq!(list.slots().collect::<Vec<_>>(), model.clone());
            prop_assert_eq!((list.len(), list.first().map(|order| order.slot)), (model.len(), model.first().copied()));
            let places = (list.place(|slot| price(slot) < from), list.place(|slot| price(slot) <= to));
            let odd = |run: OrderRun<'_>| run.marks_of(run.all(), |order| (order.slot % 2) as usize);
            let marked = list.runs(places.0, places.1).flat_map(|run| run.marked(odd(run)));
            let expected = model.iter().copied().filter(|slot| slot % 2 == 1 && (from..=to).contains(&price(*slot)));
            prop_assert_eq!(marked.map(|(_, order)| order.slot).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
