//! How many contacts audiences have, for a moment: who asks is anybody, and to count many takes time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bourse_wire::{ProjectId, RecordId, Timestamp};
use hashbrown::HashMap;

/// How long a count is told.
const SECONDS: i64 = 5;
/// Counts that are kept at once.
const COUNTS_MAX: usize = 10_000;

/// The counts of audiences that somebody asked for lately.
#[derive(Default)]
pub(crate) struct AudienceCounts(Mutex<HashMap<(ProjectId, RecordId), (Timestamp, u64)>>);

impl AudienceCounts {
    fn counts(&self) -> MutexGuard<'_, HashMap<(ProjectId, RecordId), (Timestamp, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The count of an audience, when it is fresh.
    pub(crate) fn get(&self, project: ProjectId, audience: RecordId, now: Timestamp) -> Option<u64> {
        let (counted_at, count) = *self.counts().get(&(project, audience))?;
        is_fresh(counted_at, now).then_some(count)
    }

    /// Keeps a count.
    pub(crate) fn keep(&self, project: ProjectId, audience: RecordId, count: u64, now: Timestamp) {
        let mut counts = self.counts();
        if counts.len() >= COUNTS_MAX {
            counts.retain(|_, (counted_at, _)| is_fresh(*counted_at, now));
        }
        if counts.len() < COUNTS_MAX {
            counts.insert((project, audience), (now, count));
        }
    }
}

/// Where the clock went back, a count is as old as can be.
fn is_fresh(counted_at: Timestamp, now: Timestamp) -> bool {
    (0..SECONDS).contains(&now.unix_seconds().saturating_sub(counted_at.unix_seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_told_for_some_seconds() {
        let at = |seconds: i128| Timestamp::from_unix_nanos(seconds * 1_000_000_000);
        let (counts, project) = (AudienceCounts::default(), 1.try_into().unwrap());
        let audience = |number: u64| number.try_into().unwrap();
        counts.keep(project, audience(1), 7, at(10));
        let told: Vec<_> = [9, 10, 14, 15].map(|now| counts.get(project, audience(1), at(now))).into();
        assert_eq!(told, [None, Some(7), Some(7), None]);
        assert_eq!(counts.get(project, audience(2), at(10)), None);
        // However many ask, no more are kept than fit.
        for number in 2..=COUNTS_MAX as u64 + 1 {
            counts.keep(project, audience(number), 1, at(11));
        }
        assert_eq!(counts.counts().len(), COUNTS_MAX);
        counts.keep(project, audience(1), 8, at(30));
        assert_eq!(counts.counts().len(), 1);
        assert_eq!(counts.get(project, audience(1), at(30)), Some(8));
    }
}
