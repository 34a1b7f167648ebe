//! Collections that cannot be brought up to date, or not be read at all: each fails alone, and is tried again after a while.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{CollectionKey, StoreError};

/// How long a collection is left alone after its first failure. Each further one doubles it.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest that a collection is left alone.
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// The same where it is the database, or the node of a cluster that it is on, that fails: it may be back at any moment.
const PAUSE_UNAVAILABLE_MAX: Duration = Duration::from_secs(4);
/// Failures in a row after which what is in memory is not served any longer, although the database answers others.
const FAILURES_MAX: u32 = 3;

/// The collections that are in trouble.
#[derive(Default)]
pub struct Troubles(Mutex<HashMap<CollectionKey, Trouble>>);

struct Trouble {
    failures: u32,
    /// When it may be tried again.
    again_at: Instant,
    /// Whether nothing of it is served meanwhile.
    is_stale: bool,
}

impl Troubles {
    fn all(&self) -> MutexGuard<'_, HashMap<CollectionKey, Trouble>> {
        // A collection is noted whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a collection could not be read; tells whether what is in memory of it is not to be served any more. A row
    /// that makes no sense will make none the next time, while nobody knows more than memory as long as the database is away.
    pub fn note(&self, key: CollectionKey, error: &StoreError) -> bool {
        let mut troubles = self.all();
        let again_at = Instant::now();
        let trouble = troubles.entry(key).or_insert(Trouble { failures: 0, again_at, is_stale: false });
        let longest = if error.is_unavailable() { PAUSE_UNAVAILABLE_MAX } else { PAUSE_MAX };
        let pause = PAUSE_MIN.saturating_mul(2_u32.saturating_pow(trouble.failures)).min(longest);
        trouble.failures = trouble.failures.saturating_add(1);
        trouble.again_at = again_at + pause;
        trouble.is_stale |= match error {
            StoreError::Corrupt { .. } => true,
            StoreError::Unavailable(_) | StoreError::Away => false,
            _ => trouble.failures >= FAILURES_MAX,
        };
        trouble.is_stale
    }

    /// Notes that a collection is as it is stored.
    pub fn end(&self, key: CollectionKey) {
        self.all().remove(&key);
    }

    /// Whether a collection is left alone for now.
    pub fn is_resting(&self, key: CollectionKey) -> bool {
        self.all().get(&key).is_some_and(|trouble| trouble.again_at > Instant::now())
    }

    /// How long a collection of which nothing is served is still left alone.
    pub fn stale_for(&self, key: CollectionKey) -> Option<Duration> {
        let troubles = self.all();
        let trouble = troubles.get(&key).filter(|trouble| trouble.is_stale)?;
        Some(trouble.again_at.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }

    /// How many collections there are of which nothing is served.
    pub fn stale_count(&self) -> usize {
        self.all().values().filter(|trouble| trouble.is_stale).count()
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Address, ChainId};

    use super::*;

    const KEY: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };
    const OTHER: CollectionKey = CollectionKey { chain: ChainId(2), address: Address::ZERO };

    #[test]
    fn a_store_that_does_not_answer_is_given_a_few_chances() {
        let troubles = Troubles::default();
        let stale: Vec<bool> = (0..3).map(|_| troubles.note(KEY, &StoreError::Closed)).collect();
        assert_eq!(stale, [false, false, true]);
        assert!(troubles.is_resting(KEY) && !troubles.is_resting(OTHER));
        assert!(troubles.stale_for(KEY).is_some_and(|left| left <= PAUSE_MIN * 4));
        troubles.end(KEY);
        assert_eq!((troubles.is_resting(KEY), troubles.stale_count()), (false, 0));
    }

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let troubles = Troubles::default();
        for _ in 0..100 {
            troubles.note(KEY, &StoreError::Closed);
        }
        let left = troubles.stale_for(KEY).unwrap();
        assert!(left > PAUSE_MAX / 2 && left <= PAUSE_MAX, "{left:?}");
        assert_eq!((troubles.stale_for(OTHER), troubles.stale_count()), (None, 1));
    }
}
