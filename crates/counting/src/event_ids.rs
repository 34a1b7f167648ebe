//! Ids of events that were counted lately.

use std::collections::BTreeMap;

use bourse_wire::Day;
use hashbrown::HashSet;
use sha2::{Digest as _, Sha256};

/// A number for the id of an event. Of ten million ids two have the same with a chance of three in a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct IdHash(u64);

const BYTES: usize = size_of::<u64>();

impl IdHash {
    pub(super) fn of(id: &str) -> Self {
        let digest = Sha256::digest(id.as_bytes());
        let first = digest.first_chunk::<BYTES>().copied().unwrap_or_default();
        Self(u64::from_le_bytes(first))
    }
}

/// The ids that were counted lately, by the day on which they were.
#[derive(Debug, Default)]
pub(super) struct CountedIds(BTreeMap<Day, HashSet<IdHash>>);

impl CountedIds {
    pub(super) fn has(&self, id: IdHash) -> bool {
        self.0.values().any(|day| day.contains(&id))
    }

    pub(super) fn add(&mut self, day: Day, ids: impl IntoIterator<Item = IdHash>) {
        self.0.entry(day).or_default().extend(ids);
    }

    /// Takes over ids as they are stored.
    pub(super) fn load(&mut self, day: Day, stored: &[u8]) {
        let (ids, _) = stored.as_chunks::<BYTES>();
        self.add(day, ids.iter().map(|id| IdHash(u64::from_le_bytes(*id))));
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.values().map(HashSet::allocation_size).sum()
    }

    /// Forgets those of days before one.
    pub(super) fn forget_before(&mut self, first: Day) {
        self.0 = self.0.split_off(&first);
    }
}

/// Ids as they are stored.
pub(super) fn to_bytes(ids: &[IdHash]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.0.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_and_go_with_their_day() {
        let (first, second) = (Day::from_number(1), Day::from_number(2));
        let ids = ["a", "b"].map(IdHash::of);
        let mut seen = CountedIds::default();
        seen.load(first, &to_bytes(&ids[..1]));
        seen.load(second, &to_bytes(&ids[1..]));
        assert!(ids.iter().all(|id| seen.has(*id)) && !seen.has(IdHash::of("c")));
        seen.forget_before(second);
        assert_eq!(ids.map(|id| seen.has(id)), [false, true]);
    }
}
