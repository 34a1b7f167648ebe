//! Which of very many collections changed, without asking for the version of each.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::StoreError;
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::collections::CollectionId;
use crate::columns::selection;
use crate::versions::IDS_PER_READ;

/// Collections whose numbers lie together are a part, whose versions are added up.
const IDS_PER_PART: u64 = 256;
/// The statement says it as well. Of stamps the lowest digits are left out by the same number, so that their sum is none too large.
const _: () = assert!(IDS_PER_PART == 256);

/// Whoever adds up goes through every collection between the first and the last: so many for each that is asked about cost less
/// than to ask for it.
const SPREAD_MAX: u64 = 16;

selection! {
    /// What the versions of a part add up to. A commit raises one of them, so that it is another sum whatever else is
    /// committed before or after it, by whomever; a database that was set back has other stamps, which are drawn at random.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct PartSum {
        part: u64 = "collection_id / 256",
        collections: u64 = "COUNT(*)",
        versions: u64 = "CAST(SUM(version) AS BIGINT)",
        stamps: u64 = "CAST(SUM(stamp / 256) AS BIGINT)",
    }
}

/// Remembers what the versions of collections added up to when all that changed was taken over.
#[derive(Default)]
pub struct Lookout(Mutex<Settled>);

#[derive(Default)]
struct Settled {
    sums: HashMap<u64, PartSum>,
    /// Parts in which something came since the last look began, which that knows nothing of.
    forgotten: HashSet<u64>,
}

/// What a look found.
pub struct Look {
    /// The parts in which nothing changed.
    unchanged: HashSet<u64>,
    /// What the others add up to.
    changed: Vec<PartSum>,
}

impl Look {
    /// Whether a collection may have another version than it had, or be gone.
    pub fn may_have_changed(&self, id: CollectionId) -> bool {
        !self.unchanged.contains(&part_of(id))
    }
}

impl Lookout {
    /// Looks whether anything changed of these collections. Those that are there once it is done may be asked about; one that
    /// came meanwhile is [forgotten](Self::forget) by whoever let it come. Looks follow each other. Where versions cannot be
    /// added up, any of them may have changed.
    pub async fn look(&self, store: &Store, ids: &[CollectionId]) -> Result<Look, StoreError> {
        self.settled().forgotten.clear();
        let sums = match range(ids) {
            Some((first, last)) => match store.patiently(store.version_sums(first, last)).await {
                Err(error @ (StoreError::Away | StoreError::Closed)) => return Err(error),
                sums => sums.unwrap_or_default(),
            },
            None => Vec::new(),
        };
        let mut settled = self.settled();
        let is_settled = |sum: &PartSum| settled.sums.get(&sum.part) == Some(sum);
        let (unchanged, changed): (Vec<PartSum>, Vec<PartSum>) = sums.into_iter().partition(is_settled);
        settled.sums = unchanged.iter().map(|sum| (sum.part, *sum)).collect();
        Ok(Look { unchanged: settled.sums.keys().copied().collect(), changed })
    }

    /// Remembers that what a look found is taken over, but for these collections.
    pub fn settle(&self, look: Look, behind: impl IntoIterator<Item = CollectionId>) {
        let behind: HashSet<u64> = behind.into_iter().map(part_of).collect();
        let Settled { sums, forgotten } = &mut *self.settled();
        let is_settled = |sum: &PartSum| !behind.contains(&sum.part) && !forgotten.contains(&sum.part);
        sums.extend(look.changed.into_iter().filter(is_settled).map(|sum| (sum.part, sum)));
    }

    /// Has a collection asked about at the next look, whether it changes or not.
    pub fn forget(&self, id: CollectionId) {
        let part = part_of(id);
        let mut settled = self.settled();
        settled.sums.remove(&part);
        settled.forgotten.insert(part);
    }

    fn settled(&self) -> MutexGuard<'_, Settled> {
        // A part is remembered whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn part_of(id: CollectionId) -> u64 {
    id.0 / IDS_PER_PART
}

/// From which to which number versions are added up; nothing where to ask for each costs less.
fn range(ids: &[CollectionId]) -> Option<(u64, u64)> {
    let first = ids.iter().map(|id| id.0).min()?;
    let last = ids.iter().map(|id| id.0).max()?;
    let is_dense = last - first < SPREAD_MAX * ids.len() as u64;
    // Whole parts: what lies beyond the first and the last is added up each time.
    let whole = (first / IDS_PER_PART * IDS_PER_PART, last / IDS_PER_PART * IDS_PER_PART + IDS_PER_PART - 1);
    (ids.len() > IDS_PER_READ && is_dense).then_some(whole)
}

impl Store {
    fn version_sums(&self, first: u64, last: u64) -> Pending<'_, Vec<PartSum>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM collection_versions WHERE collection_id BETWEEN $1 AND $2
                    GROUP BY collection_id / 256";
                session.select(sql, args![first, last]).await
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_collections_and_those_that_lie_far_apart_are_asked_for_one_by_one() {
        let ids = |step: usize, count: usize| -> Vec<CollectionId> {
            (300..).step_by(step).take(count).map(CollectionId).collect()
        };
        assert_eq!(range(&ids(1, 1_000)), None);
        assert_eq!(range(&ids(1, 1_100)), Some((256, 1_535)));
        assert!(range(&ids(16, 1_100)).is_some());
        assert_eq!(range(&ids(17, 1_100)), None);
        assert_eq!(range(&[]), None);
    }
}
