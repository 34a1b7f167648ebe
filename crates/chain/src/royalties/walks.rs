//! Which orders are asked about next for their royalties. Pure: nothing here asks anybody.
//!
//! The orders of a collection are gone through in rounds. Usually a round has those that can be filled, and goes on a piece
//! at each turn. When a royalty turns out to be another, or its marketplace says so, the orders that are over follow in a
//! round without pause: what is shown of an order does not depend on when it was read. Orders that are held to the royalty
//! they were made with do not show that it is another by now, so that it is noted beside them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use bourse_wire::{Address, OrderKey, Timestamp};

use crate::pace::{between, later};

/// How many orders of a collection are asked about at each turn, at least.
const ORDERS_OF_TURN: u64 = 1_000;
/// In how many turns the orders of a collection are gone through, however many there are.
const TURNS_OF_ROUND: u64 = 12;

/// The collections that move on with their chain, and how far each was gone through.
#[derive(Debug)]
pub(super) struct Walks {
    interval: Duration,
    walks: BTreeMap<Address, Walk>,
    /// The collection that was looked at last: the next ones come before it comes again.
    last: Address,
    /// Collections that are not kept yet and whose royalties changed meanwhile.
    changed_before: BTreeSet<Address>,
}

/// Which orders are gone through, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// Those that can be filled, a piece at each turn.
    Usual,
    /// The same without pause.
    Quick,
    /// All, without pause.
    Whole,
}

/// How far the orders of a collection were gone through.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Walk {
    /// The last order that was asked about in this round.
    after: Option<OrderKey>,
    round: Round,
    /// Whether a whole round is to follow on this one.
    is_changed: bool,
    /// Whether an order was written since blocks were last taken back, which may have been for one of these.
    has_written: bool,
    /// When it goes on; never for a collection without orders.
    due: Option<Timestamp>,
    /// How many orders were asked about at this turn, in this round, and in the one before.
    in_turn: u64,
    in_round: u64,
    in_last_round: u64,
    /// A mark of the orders of this round that are held to less than what holds for their tokens, and of the last one.
    held: u64,
    held_last: u64,
}

impl Walk {
    /// A round of the orders that can be filled, at once.
    fn new(now: Timestamp) -> Self {
        Self {
            after: None,
            round: Round::Quick,
            is_changed: false,
            has_written: false,
            due: Some(now),
            in_turn: 0,
            in_round: 0,
            in_last_round: 0,
            held: 0,
            held_last: 0,
        }
    }

    /// Begins a round at once.
    fn begin(&mut self, round: Round, now: Timestamp) {
        (self.after, self.round, self.due) = (None, round, Some(now));
        (self.is_changed, self.in_turn, self.in_round, self.held) = (false, 0, 0, 0);
    }

    /// Takes that the royalties of any of its orders may be others.
    fn change(&mut self, now: Timestamp) {
        // What was asked about in this round may be others as well, but one round is never begun anew for ever.
        if self.round == Round::Whole && self.after.is_some() {
            self.is_changed = true;
        } else {
            self.begin(Round::Whole, now);
        }
    }

    fn is_due(&self, now: Timestamp, interval: Duration) -> bool {
        // By a clock that was set back it would be a long time.
        self.due.is_some_and(|due| due <= now || between(now, due) > interval)
    }
}

/// What to ask about next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) collection: Address,
    /// The last order before it.
    pub(super) after: Option<OrderKey>,
    /// Whether it has the orders too that are over.
    pub(super) is_whole: bool,
}

/// What became of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// The last of its orders, unless the round ends with it.
    pub(super) last: Option<OrderKey>,
    /// How many orders it had.
    pub(super) orders: u64,
    /// Whether any of them had another royalty than before.
    pub(super) has_changed: bool,
    /// A mark of those that are held to less than what holds for their tokens, and of what that is.
    pub(super) held: u64,
}

impl Walks {
    /// Collections of which nobody is known yet; each is asked about after so long.
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, walks: BTreeMap::new(), last: Address::ZERO, changed_before: BTreeSet::new() }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.walks.clear();
    }

    /// Keeps to these collections. New ones are gone through at once.
    pub(super) fn keep(&mut self, live: &HashSet<Address>, now: Timestamp) {
        self.walks.retain(|collection, _| live.contains(collection));
        for collection in live {
            let walk = self.walks.entry(*collection).or_insert_with(|| Walk::new(now));
            if self.changed_before.remove(collection) {
                walk.change(now);
            }
        }
    }

    /// Takes that a collection has a new order.
    pub(super) fn wake(&mut self, collection: Address, now: Timestamp) {
        let bare = self.walks.get_mut(&collection).filter(|walk| walk.due.is_none());
        if let Some(walk) = bare {
            walk.due = Some(later(now, self.interval));
        }
    }

    /// Takes that the royalties of a collection may be others.
    pub(super) fn change(&mut self, collection: Address, now: Timestamp) {
        match self.walks.get_mut(&collection) {
            Some(walk) => walk.change(now),
            None => drop(self.changed_before.insert(collection)),
        }
    }

    /// Takes that blocks were taken back, and what they were asked for with them.
    pub(super) fn rewind(&mut self, now: Timestamp) {
        for walk in self.walks.values_mut().filter(|walk| walk.due.is_some() || walk.has_written) {
            let has_written = std::mem::take(&mut walk.has_written);
            let is_whole = has_written || walk.round == Round::Whole;
            walk.begin(if is_whole { Round::Whole } else { Round::Quick }, now);
        }
    }

    /// The next pieces, of so many collections at most.
    pub(super) fn next(&self, most: usize, now: Timestamp) -> Vec<Piece> {
        let behind = self.walks.range((std::ops::Bound::Excluded(self.last), std::ops::Bound::Unbounded));
        let before = self.walks.range(..=self.last);
        let due = behind.chain(before).filter(|(_, walk)| walk.is_due(now, self.interval));
        let piece = |(collection, walk): (&Address, &Walk)| Piece {
            collection: *collection,
            after: walk.after.clone(),
            is_whole: walk.round == Round::Whole,
        };
        due.map(piece).take(most).collect()
    }

    /// Takes what became of the next piece of a collection.
    pub(super) fn took(&mut self, collection: Address, taken: Taken, now: Timestamp) {
        self.last = collection;
        let Some(walk) = self.walks.get_mut(&collection) else { return };
        walk.in_turn += taken.orders;
        walk.in_round += taken.orders;
        walk.has_written |= taken.has_changed;
        walk.held ^= taken.held;
        let is_whole = walk.round == Round::Whole;
        if taken.has_changed && !is_whole {
            walk.begin(Round::Whole, now);
            return;
        }
        let is_over = taken.last.is_none();
        walk.after = taken.last;
        if is_over {
            (walk.in_last_round, walk.in_round) = (walk.in_round, 0);
            let is_other = !is_whole && walk.held != walk.held_last;
            if !is_whole {
                walk.held_last = walk.held;
            }
            (walk.round, walk.held) = (Round::Usual, 0);
            if walk.is_changed || is_other {
                walk.begin(Round::Whole, now);
                return;
            }
        }
        let enough = ORDERS_OF_TURN.max(walk.in_last_round / TURNS_OF_ROUND);
        if is_over || (walk.round == Round::Usual && walk.in_turn >= enough) {
            walk.in_turn = 0;
            let is_bare = is_over && walk.in_last_round == 0;
            walk.due = (!is_bare).then(|| later(now, self.interval));
        }
    }

    /// Whether there is something to ask about.
    pub(super) fn has_more(&self, now: Timestamp) -> bool {
        self.walks.values().any(|walk| walk.is_due(now, self.interval))
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::Marketplace;

    use super::*;

    const INTERVAL: Duration = Duration::from_mins(5);

    fn account(number: u8) -> Address {
        Address::from_bytes([number; 20])
    }

    fn minute(number: u64) -> Timestamp {
        Timestamp::from_unix_seconds(number * 60)
    }

    fn walks(collections: u8) -> Walks {
        let mut walks = Walks::new(INTERVAL);
        walks.keep(&(1..=collections).map(account).collect(), minute(0));
        walks
    }

    fn key(number: u64) -> OrderKey {
        OrderKey { marketplace: Marketplace::OwnV2, order_id: number.to_string() }
    }

    /// A piece with so many orders, after which there are more.
    fn more(orders: u64) -> Taken {
        Taken { last: Some(key(orders)), orders, has_changed: false, held: 0 }
    }

    /// A piece with so many orders, which are the last.
    fn end(orders: u64) -> Taken {
        Taken { last: None, orders, has_changed: false, held: 0 }
    }

    fn next(walks: &Walks, now: u64) -> Vec<(u8, bool)> {
        let pieces = walks.next(9, minute(now)).into_iter();
        pieces.map(|piece| (piece.collection.bytes()[0], piece.is_whole)).collect()
    }

    #[test]
    fn orders_that_can_be_filled_are_asked_about_again_after_a_while() {
        let mut walks = walks(2);
        assert_eq!(next(&walks, 0), [(1, false), (2, false)]);
        walks.took(account(1), end(3), minute(0));
        assert_eq!(next(&walks, 0), [(2, false)], "once");
        walks.took(account(2), end(0), minute(0));
        assert!(next(&walks, 4).is_empty() && !walks.has_more(minute(4)));
        assert_eq!(next(&walks, 5), [(1, false)], "a collection without orders is left alone");
        walks.wake(account(2), minute(6));
        assert_eq!(next(&walks, 11), [(1, false), (2, false)]);
    }

    #[test]
    fn many_orders_take_an_hour_and_never_all_at_once() {
        let mut walks = walks(1);
        for _ in 0..60 {
            walks.took(account(1), more(200), minute(0));
            assert!(walks.has_more(minute(0)), "the first round has no pause");
        }
        walks.took(account(1), end(0), minute(0));
        let mut pieces = 0;
        for turn in 1..=12 {
            while walks.has_more(minute(5 * turn)) {
                walks.took(account(1), more(200), minute(5 * turn));
                pieces += 1;
            }
        }
        assert_eq!(pieces, 60);
    }

    #[test]
    fn what_is_another_has_the_orders_follow_that_are_over() {
        let mut walks = walks(1);
        walks.took(account(1), more(200), minute(0));
        walks.took(account(1), Taken { has_changed: true, ..end(3) }, minute(0));
        let begun = walks.next(1, minute(0)).remove(0);
        assert_eq!((begun.is_whole, begun.after), (true, None));
        walks.took(account(1), Taken { has_changed: true, ..more(200) }, minute(0));
        assert_eq!(walks.next(1, minute(0))[0].after, Some(key(200)), "it goes on");
        // While that is gone through, once more afterwards.
        walks.change(account(1), minute(0));
        assert_eq!(walks.next(1, minute(0))[0].after, Some(key(200)));
        walks.took(account(1), end(9), minute(0));
        assert_eq!(next(&walks, 0), [(1, true)]);
        walks.took(account(1), end(209), minute(0));
        assert_eq!(next(&walks, 4), []);
        assert_eq!(next(&walks, 5), [(1, false)]);
    }

    /// What is shown of an order that is held to less stays the same, and that of one that is over does not.
    #[test]
    fn what_orders_are_held_below_has_the_others_follow_when_it_is_another() {
        let mut walks = walks(1);
        walks.took(account(1), Taken { held: 5, ..more(200) }, minute(0));
        walks.took(account(1), Taken { held: 9, ..end(1) }, minute(0));
        assert_eq!(next(&walks, 0), [(1, true)]);
        walks.took(account(1), Taken { held: 77, ..end(300) }, minute(0));
        for (turn, held, is_other) in [(5, 5 ^ 9, false), (10, 5, true)] {
            assert_eq!(next(&walks, turn), [(1, false)]);
            walks.took(account(1), Taken { held, ..end(201) }, minute(turn));
            assert_eq!(next(&walks, turn), if is_other { vec![(1, true)] } else { vec![] });
        }
    }

    #[test]
    fn a_change_of_before_a_collection_is_kept_counts_for_it() {
        let mut walks = walks(1);
        walks.took(account(1), end(3), minute(0));
        walks.change(account(2), minute(0));
        assert_eq!(next(&walks, 0), []);
        walks.keep(&[account(1), account(2)].into(), minute(1));
        assert_eq!(next(&walks, 1), [(2, true)]);
        walks.keep(&[account(1)].into(), minute(1));
        assert_eq!(next(&walks, 1), []);
    }

    #[test]
    fn blocks_that_are_taken_back_take_what_was_written_for_them() {
        let mut walks = walks(2);
        walks.took(account(1), Taken { has_changed: true, ..end(3) }, minute(0));
        walks.took(account(1), end(0), minute(0));
        walks.took(account(2), end(3), minute(0));
        walks.rewind(minute(1));
        assert_eq!(next(&walks, 1), [(1, true), (2, false)]);
    }

    #[test]
    fn a_clock_that_is_set_back_leaves_nothing_unasked() {
        let mut walks = walks(1);
        walks.took(account(1), end(3), minute(1_000));
        assert_eq!(next(&walks, 2), [(1, false)]);
    }

    #[test]
    fn collections_take_turns() {
        let mut walks = walks(3);
        let first = |walks: &Walks| walks.next(1, minute(0))[0].collection;
        assert_eq!(first(&walks), account(1));
        walks.took(account(1), more(200), minute(0));
        assert_eq!(first(&walks), account(2));
        walks.took(account(3), more(200), minute(0));
        assert_eq!(first(&walks), account(1));
    }
}
