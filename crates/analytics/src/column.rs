//! All days of one part of the wallets.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bourse_sets::{Part, PartBits};

use crate::memo::Staleness;
use crate::presence::{DaySet, NOBODY, Presence};

/// Days from one to another, both included, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    pub(crate) first: i32,
    pub(crate) last: i32,
}

/// What a map takes for each of its days beside what is of the day, about.
const KEY_BYTES: usize = 16;

/// Who of one part was there, day by day.
#[derive(Debug, Default)]
pub(crate) struct Column {
    days: BTreeMap<i32, Presence>,
    /// Whose first day it was; derived when first asked for, and kept up since.
    new: OnceLock<BTreeMap<i32, Part>>,
}

impl Column {
    pub(crate) fn day(&self, day: i32) -> &Presence {
        self.days.get(&day).unwrap_or(&NOBODY)
    }

    /// Days on which anybody was there, ascending.
    pub(crate) fn days(&self) -> impl Iterator<Item = (i32, &Presence)> {
        self.days.iter().map(|(day, presence)| (*day, presence))
    }

    /// Bytes of memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let days: usize = self.days.values().map(|presence| KEY_BYTES + presence.bytes()).sum();
        let new = self.new.get().into_iter().flat_map(BTreeMap::values);
        days + new.map(|part| KEY_BYTES + size_of::<Part>() + part.part_bytes()).sum::<usize>()
    }

    /// Puts in who was there on a day, in place of who was known to be.
    pub(crate) fn put(&mut self, day: i32, presence: Presence, stale: &mut Staleness) {
        let old = self.days.remove(&day).unwrap_or_default();
        for set in presence.changed(&old) {
            stale.sets.insert((set, day));
            if set == DaySet::Active {
                self.follow_new(day, old.set(set), presence.set(set), stale);
            }
        }
        if !presence.is_empty() {
            self.days.insert(day, presence);
        }
    }

    /// Whose first day it was follows from a day with other active wallets.
    fn follow_new(&mut self, day: i32, old: &Part, active: &Part, stale: &mut Staleness) {
        let Some(new) = self.new.get_mut().filter(|_| old.common(active) == old.len()) else {
            // Somebody is gone, which is rare: where else they were is looked up for all at once, when asked.
            self.new.take();
            stale.all_new = true;
            return;
        };
        let mut earliest = active.minus(old);
        for known in new.range(..day).map(|(_, known)| known) {
            if earliest.is_empty() {
                return;
            }
            earliest = earliest.minus(known);
        }
        if earliest.is_empty() {
            return;
        }
        for (later, known) in new.range_mut(day + 1..) {
            if known.common(&earliest) > 0 {
                *known = known.minus(&earliest);
                stale.new_days.insert(*later);
            }
        }
        stale.new_days.insert(day);
        let known = new.entry(day).or_default();
        *known = known.plus(&earliest);
    }

    /// Whose first day was when.
    fn first_days(&self) -> &BTreeMap<i32, Part> {
        self.new.get_or_init(|| {
            let mut seen = PartBits::default();
            let unseen = |(day, presence): (&i32, &Presence)| {
                let unseen = presence.set(DaySet::Active).take_unseen(&mut seen);
                (!unseen.is_empty()).then_some((*day, unseen))
            };
            self.days.iter().filter_map(unseen).collect()
        })
    }

    /// How many whose first day was one were active on another.
    pub(crate) fn returned(&self, first: i32, day: i32) -> usize {
        let Some(new) = self.first_days().get(&first) else { return 0 };
        // Whoever was new was there.
        if first == day { new.len() } else { self.day(day).set(DaySet::Active).common(new) }
    }

    /// Adds to each count how many were in the set on any day of a window. Windows ascend, their ends too.
    ///
    /// A day is united with others a few times, however long the windows that it is in: days enter `back`, which is one
    /// union; when the oldest must leave, `front` is made of all that are in, for each the union of it and those after.
    pub(crate) fn count(&self, set: DaySet, windows: &[Window], counts: &mut [u64]) {
        let Some(begin) = windows.first() else { return };
        let mut ahead = self.days.range(begin.first..).peekable();
        let mut front: Vec<(i32, PartBits)> = Vec::new();
        let (mut back, mut back_days) = (PartBits::default(), None::<Window>);
        for (window, count) in windows.iter().zip(counts) {
            if window.first == window.last {
                *count += self.day(window.first).set(set).len() as u64;
                continue;
            }
            while front.last().is_some_and(|(day, _)| *day < window.first) {
                front.pop();
            }
            if front.is_empty()
                && let Some(days) = back_days.filter(|days| days.first < window.first)
            {
                self.suffixes(set, Window { first: window.first, last: days.last }, &mut front);
                back.clear();
                back_days = None;
            }
            while let Some((day, presence)) = ahead.next_if(|(day, _)| **day <= window.last) {
                if *day >= window.first {
                    presence.set(set).add_to(&mut back);
                    back_days = Some(Window { first: back_days.map_or(*day, |days| days.first), last: *day });
                }
            }
            let found = match (front.last(), back_days) {
                (Some((_, front)), Some(_)) => front.union_count(&back),
                (Some((_, front)), None) => front.count(),
                (None, Some(_)) => back.count(),
                (None, None) => 0,
            };
            *count += found as u64;
        }
    }

    /// For each day of a window the union of it and those after it in the window, the latest day first.
    fn suffixes(&self, set: DaySet, Window { first, last }: Window, suffixes: &mut Vec<(i32, PartBits)>) {
        if first > last {
            return;
        }
        let mut union = PartBits::default();
        for (day, presence) in self.days.range(first..=last).rev() {
            presence.set(set).add_to(&mut union);
            suffixes.push((*day, union.clone()));
        }
    }

    fn union(&self, set: DaySet, window: Window) -> Option<PartBits> {
        unite(self.days.range(window.first..=window.last).map(|(_, presence)| presence.set(set)))
    }

    /// Who was in the set on any day of a window, told apart: those whose first day was from `month` on, those of the
    /// others who were active from `previous` on and before `month`, and the rest.
    pub(crate) fn segments(&self, set: DaySet, window: Window, previous: i32, month: i32) -> [u64; 3] {
        let Some(mut rest) = self.union(set, window) else { return [0; 3] };
        let (mut new_len, mut previous_len) = (0, 0);
        if let Some(new) = unite(self.first_days().range(month..=window.last).map(|(_, new)| new)) {
            new_len = rest.common(&new);
            rest.subtract(&new);
        }
        if let Some(before) = self.union(DaySet::Active, Window { first: previous, last: month - 1 }) {
            previous_len = rest.common(&before);
        }
        [new_len, previous_len, rest.count() - previous_len].map(|count| count as u64)
    }
}

/// The union of some parts; nothing when they are all empty.
fn unite<'a>(parts: impl Iterator<Item = &'a Part>) -> Option<PartBits> {
    let mut union = None;
    for part in parts.filter(|part| !part.is_empty()) {
        part.add_to(union.get_or_insert_default());
    }
    union
}
