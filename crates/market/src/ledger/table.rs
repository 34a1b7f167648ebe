//! Records of one kind that a ledger holds, and what they were before.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Records by key: as they were read, as they are now, and as they were before the present block.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    cells: HashMap<K, Cell<V>>,
    before: BTreeMap<K, Option<V>>,
    remembers: bool,
}

#[derive(Debug)]
struct Cell<V> {
    read: Option<V>,
    /// What it is now, when that is not as it was read.
    written: Option<V>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { cells: HashMap::new(), before: BTreeMap::new(), remembers: true }
    }
}

impl<K: Clone + Ord + Hash, V: Clone + PartialEq> Table<K, V> {
    /// Takes over a record as it was read.
    pub(super) fn load(&mut self, key: K, value: V) {
        self.cells.entry(key).or_insert(Cell { read: Some(value), written: None });
    }

    /// A record as it is now.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.cells.get(key).and_then(|cell| cell.written.as_ref().or(cell.read.as_ref()))
    }

    /// Makes a record what it is from now on.
    pub(super) fn set(&mut self, key: K, value: V) {
        let cell = self.cells.entry(key.clone()).or_insert(Cell { read: None, written: None });
        if self.remembers {
            let before = || cell.written.as_ref().or(cell.read.as_ref()).cloned();
            self.before.entry(key).or_insert_with(before);
        }
        cell.written = Some(value);
    }

    /// Whether what records were is to be remembered when they change.
    pub(super) fn remember(&mut self, remembers: bool) {
        self.remembers = remembers;
    }

    /// What the records that changed were before they did, since this was last asked.
    pub(super) fn take_before(&mut self) -> BTreeMap<K, Option<V>> {
        std::mem::take(&mut self.before)
    }

    /// The records that are not as they were read, sorted.
    pub(super) fn into_changed(self) -> Vec<(K, V)> {
        let differs = |(key, cell): (K, Cell<V>)| {
            let written = cell.written?;
            (cell.read.as_ref() != Some(&written)).then_some((key, written))
        };
        let mut changed: Vec<(K, V)> = self.cells.into_iter().filter_map(differs).collect();
        changed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        changed
    }
}
