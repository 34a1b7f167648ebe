//! Numbers that were counted before, until what they were counted from changes.

use std::collections::BTreeSet;
use std::hash::Hash;

use hashbrown::HashMap;

use crate::column::Window;
use crate::presence::DaySet;

/// Numbers of one kind that are remembered; with more it starts anew, so that no sequence of questions fills the memory.
const ENTRIES_MAX: usize = 1 << 18;

/// What changed.
#[derive(Debug, Default)]
pub(crate) struct Staleness {
    /// Sets of days.
    pub(crate) sets: BTreeSet<(DaySet, i32)>,
    /// Days with others whose first day it was.
    pub(crate) new_days: BTreeSet<i32>,
    /// Whether that may be any day.
    pub(crate) all_new: bool,
}

impl Staleness {
    /// Whether a set changed within a window.
    fn touches(&self, set: DaySet, window: Window) -> bool {
        window.first <= window.last
            && self.sets.range((set, window.first)..=(set, window.last)).next().is_some()
    }
}

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Wallets in a set on any day of a window.
    pub(crate) distinct: HashMap<(DaySet, Window), u64>,
    /// Wallets whose first day was one that were active on another.
    pub(crate) returned: HashMap<(i32, i32), u64>,
    /// Wallets in a set on any day of a window, by segment.
    pub(crate) segments: HashMap<(DaySet, Window), [u64; 3]>,
}

impl Memo {
    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.distinct.allocation_size() + self.returned.allocation_size() + self.segments.allocation_size()
    }

    /// Forgets what may not be so any more.
    pub(crate) fn forget(&mut self, stale: &Staleness) {
        self.distinct.retain(|(set, window), _| !stale.touches(*set, *window));
        self.returned.retain(|(first, day), _| {
            let same_new = !stale.all_new && !stale.new_days.contains(first);
            same_new && !stale.sets.contains(&(DaySet::Active, *day))
        });
        // Segments look back at all days before.
        self.segments.retain(|(set, window), _| {
            let before = Window { first: i32::MIN, last: window.last };
            !stale.all_new && !stale.touches(DaySet::Active, before) && !stale.touches(*set, *window)
        });
    }
}

/// Remembers more numbers.
pub(crate) fn remember<K: Eq + Hash, V>(known: &mut HashMap<K, V>, more: impl Iterator<Item = (K, V)>) {
    if known.len() >= ENTRIES_MAX {
        known.clear();
    }
    known.extend(more.take(ENTRIES_MAX));
}
