//! What a project's charts are made of.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::changes::Changes;
use crate::column::{Column, Window};
use crate::corrupt::Corrupt;
use crate::counters::Counters;
use crate::key::Key;
use crate::memo::{Memo, Staleness, remember};
use crate::presence::{DaySet, Presence};
use crate::wallets::Wallets;

/// The days of a project: who was there, and how many events there were. There is one way to change it, which is to take
/// in what is stored, chunk by chunk: at the start, after a batch of its own, and after somebody else's.
#[derive(Debug, Default)]
pub struct Project {
    /// By part of the wallets.
    columns: Vec<Column>,
    counters: BTreeMap<i32, Counters>,
    memo: Mutex<Memo>,
}

/// What is stored on its own, decoded: which can be done on several threads, while taking it in is one after the other.
#[derive(Debug)]
pub struct Chunk(Content);

#[derive(Debug)]
enum Content {
    /// Which no chart needs.
    Wallets,
    Presence(i32, u16, Presence),
    Counters(i32, Option<Counters>),
}

impl Chunk {
    /// Decodes what is stored under a key. No bytes at all, or none stored, are an empty chunk; one of wallets is checked
    /// by [`Wallets::load`].
    pub fn decode(key: Key, bytes: &[u8]) -> Result<Self, Corrupt> {
        Ok(Self(match key {
            Key::Wallets { .. } => Content::Wallets,
            Key::Presence { day, part } => Content::Presence(day.number(), part, Presence::decode(bytes)?),
            Key::Counters { day } if bytes.is_empty() => Content::Counters(day.number(), None),
            Key::Counters { day } => Content::Counters(day.number(), Some(Counters::decode(bytes)?)),
        }))
    }
}

impl Chunk {
    /// Bytes of memory, about.
    pub fn bytes(&self) -> usize {
        let content = match &self.0 {
            Content::Wallets | Content::Counters(_, None) => 0,
            Content::Presence(_, _, presence) => presence.bytes(),
            Content::Counters(_, Some(counters)) => counters.bytes(),
        };
        size_of::<Self>() + content
    }
}

impl Project {
    /// Bytes of memory, about. To count them takes a moment for each day and 65,536 wallets.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::bytes).sum();
        let counters: usize = self.counters.values().map(Counters::bytes).sum();
        columns + counters + self.memo().bytes()
    }

    /// Takes in chunks as they are stored, in place of those it had.
    pub fn load(&mut self, chunks: impl IntoIterator<Item = Chunk>) {
        let mut stale = Staleness::default();
        for chunk in chunks {
            match chunk {
                Chunk(Content::Wallets) => {}
                Chunk(Content::Presence(day, part, presence)) => {
                    self.put_presence(day, part, presence, &mut stale);
                }
                Chunk(Content::Counters(day, Some(counters))) => drop(self.counters.insert(day, counters)),
                Chunk(Content::Counters(day, None)) => drop(self.counters.remove(&day)),
            }
        }
        self.memo().forget(&stale);
    }

    /// Takes in what was stored of a batch. It must have been prepared with these two as they are.
    pub fn publish(&mut self, wallets: &mut Wallets, changes: Changes) -> Result<(), Corrupt> {
        for (key, bytes) in &changes.wallets {
            wallets.load(*key, bytes)?;
        }
        let presences = changes.presences.into_iter();
        let presences = presences.map(|((day, part), presence)| Content::Presence(day, part, presence));
        let counters = changes.counters.into_iter();
        let counters = counters.map(|(day, counters)| Content::Counters(day, Some(counters)));
        self.load(presences.chain(counters).map(Chunk));
        Ok(())
    }

    fn put_presence(&mut self, day: i32, part: u16, presence: Presence, stale: &mut Staleness) {
        let part = usize::from(part);
        if self.columns.len() <= part {
            self.columns.resize_with(part + 1, Column::default);
        }
        self.columns[part].put(day, presence, stale);
    }

    pub(crate) fn column(&self, part: u16) -> Option<&Column> {
        self.columns.get(usize::from(part))
    }

    /// The counters of a day.
    pub(crate) fn counters(&self, day: i32) -> Option<&Counters> {
        self.counters.get(&day)
    }

    /// The counters of the days of a window that have any.
    pub(crate) fn counters_in(&self, window: Window) -> impl Iterator<Item = &Counters> {
        self.counters.range(window.first..=window.last).map(|(_, counters)| counters)
    }

    fn memo(&self) -> MutexGuard<'_, Memo> {
        // A number is put in whole or not at all, so a panic elsewhere leaves nothing half done.
        self.memo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wallets were in a set on any day of each window. Windows ascend, their ends too.
    pub(crate) fn distinct(&self, set: DaySet, windows: &[Window]) -> Vec<u64> {
        let keys: Vec<(DaySet, Window)> = windows.iter().map(|window| (set, *window)).collect();
        self.recall(
            &keys,
            |memo| &mut memo.distinct,
            |missing| {
                let windows: Vec<Window> = missing.iter().map(|(_, window)| *window).collect();
                let mut counts = vec![0; windows.len()];
                self.columns.iter().for_each(|column| column.count(set, &windows, &mut counts));
                counts
            },
        )
    }

    /// How many wallets whose first day was the one were active on the other, for each pair.
    pub(crate) fn returned(&self, pairs: &[(i32, i32)]) -> Vec<u64> {
        self.recall(
            pairs,
            |memo| &mut memo.returned,
            |missing| {
                let mut counts = vec![0; missing.len()];
                for column in &self.columns {
                    for ((first, day), count) in missing.iter().zip(&mut counts) {
                        *count += column.returned(*first, *day) as u64;
                    }
                }
                counts
            },
        )
    }

    /// Who was in the set on any day of each window, told apart by when they came: see [`Column::segments`]. A window is
    /// given with the first days of the month before and of its own month.
    pub(crate) fn segments(&self, set: DaySet, windows: &[(Window, i32, i32)]) -> Vec<[u64; 3]> {
        let keys: Vec<(DaySet, Window)> = windows.iter().map(|(window, ..)| (set, *window)).collect();
        let months: HashMap<Window, (i32, i32)> =
            windows.iter().map(|(window, previous, month)| (*window, (*previous, *month))).collect();
        self.recall(
            &keys,
            |memo| &mut memo.segments,
            |missing| {
                let sum = |window: &Window| {
                    let (previous, month) = months[window];
                    let parts = self.columns.iter();
                    let parts = parts.map(|column| column.segments(set, *window, previous, month));
                    parts.fold([0; 3], |[a, b, c], [x, y, z]| [a + x, b + y, c + z])
                };
                missing.iter().map(|(_, window)| sum(window)).collect()
            },
        )
    }

    /// Numbers from memory, those that are not there counted first. Others may ask meanwhile.
    fn recall<K: Copy + Eq + Hash, V: Copy + Default>(
        &self,
        keys: &[K],
        table: impl Fn(&mut Memo) -> &mut HashMap<K, V>,
        count: impl FnOnce(&[K]) -> Vec<V>,
    ) -> Vec<V> {
        let known: Vec<Option<V>> = {
            let mut memo = self.memo();
            let table = table(&mut memo);
            keys.iter().map(|key| table.get(key).copied()).collect()
        };
        let missing: Vec<K> =
            keys.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(key, _)| *key).collect();
        if missing.is_empty() {
            return known.into_iter().flatten().collect();
        }
        let counted = count(&missing);
        remember(table(&mut self.memo()), missing.iter().copied().zip(counted.iter().copied()));
        let mut counted = counted.into_iter();
        known.into_iter().map(|known| known.or_else(|| counted.next()).unwrap_or_default()).collect()
    }
}
