//! What this process itself committed lately, so that it need not read back what it wrote.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bourse_wire::OrderFacts;

use crate::backend::Store;
use crate::changes::Changes;
use crate::collections::{CollectionId, Mark};

/// Orders that are remembered, of all collections. Whoever follows a collection takes them at once.
const ORDERS_MAX: usize = 8_192;
/// Versions that are remembered, of all collections.
const VERSIONS_MAX: usize = 256;

/// The latest versions that changed orders and nothing else that is followed.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Log>);

#[derive(Default)]
struct Log {
    versions: VecDeque<OwnVersion>,
    /// Orders of all versions.
    orders: usize,
}

/// A version that this process committed.
pub(crate) struct OwnVersion {
    pub(crate) id: CollectionId,
    /// The version before it.
    pub(crate) before: Mark,
    pub(crate) mark: Mark,
    /// What it changed, as it is stored.
    pub(crate) orders: Vec<OrderFacts>,
}

impl Recent {
    /// Remembers a version that is on disk.
    pub(crate) fn put(&self, own: OwnVersion) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.orders += own.orders.len();
        log.versions.push_back(own);
        while log.orders > ORDERS_MAX || log.versions.len() > VERSIONS_MAX {
            let Some(oldest) = log.versions.pop_front() else { return };
            log.orders -= oldest.orders.len();
        }
    }

    /// Forgets the versions of a collection, and returns those after one, sorted.
    fn take(&self, id: CollectionId, since: u64) -> Vec<OwnVersion> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut log.versions).into_iter().partition(|version| version.id == id);
        log.versions = others;
        log.orders -= taken.iter().map(|version| version.orders.len()).sum::<usize>();
        taken.retain(|version| version.mark.version > since);
        let mut taken = Vec::from(taken);
        taken.sort_unstable_by_key(|version| version.mark.version);
        taken
    }
}

impl Store {
    /// Everything from a version to another at least, one version after the other, as long as this process committed it,
    /// lately, and nobody took it yet. `None` says that [`Store::changes`] must be asked.
    pub fn take_own_changes(&self, id: CollectionId, since: Mark, until: Mark) -> Option<Vec<Changes>> {
        let versions = self.recent.take(id, since.version);
        let before = std::iter::once(since).chain(versions.iter().map(|version| version.mark));
        let whole = before.zip(&versions).all(|(before, version)| before == version.before);
        let reached = versions.iter().any(|version| version.mark == until);
        let changes = |OwnVersion { mark: Mark { version, stamp }, orders, .. }| Changes {
            version,
            stamp,
            orders,
            ..Changes::default()
        };
        (whole && reached).then(|| versions.into_iter().map(changes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(recent: &Recent, id: u64, since: u64) -> Vec<u64> {
        recent.take(CollectionId(id), since).iter().map(|version| version.mark.version).collect()
    }

    fn own(id: u64, version: u64) -> OwnVersion {
        let [before, mark] = [version - 1, version].map(|version| Mark { version, stamp: 7 });
        OwnVersion { id: CollectionId(id), before, mark, orders: Vec::new() }
    }

    #[test]
    fn versions_are_taken_once_and_by_collection() {
        let recent = Recent::default();
        for (id, number) in [(1, 7), (2, 3), (1, 9), (1, 8)] {
            recent.put(own(id, number));
        }
        assert_eq!(numbers(&recent, 1, 7), [8, 9]);
        assert_eq!(numbers(&recent, 1, 0), [] as [u64; 0]);
        assert_eq!(numbers(&recent, 2, 0), [3]);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let recent = Recent::default();
        let last = VERSIONS_MAX as u64 + 10;
        for number in 1..=last {
            recent.put(own(1, number));
        }
        assert_eq!(numbers(&recent, 1, 0), (11..=last).collect::<Vec<_>>());
    }
}
