//! What was found to be larger than all the memory there is.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;

/// How long something is believed to be too large after it was found to be. Each further time doubles it.
const PAUSE_MIN: Duration = Duration::from_mins(10);
/// The longest that something is believed to be too large: to look costs everything else its memory.
const PAUSE_MAX: Duration = Duration::from_hours(24);

/// What was found to be larger than all the memory there is. It may shrink, so that it is looked at again, but seldom.
pub struct Outgrown<K>(Mutex<HashMap<K, Pause>>);

struct Pause {
    until: Duration,
    length: Duration,
}

impl<K> Default for Outgrown<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Outgrown<K> {
    /// Notes that something is too large, at a time that has passed since whenever.
    pub fn note(&self, name: K, passed: Duration) {
        let mut pauses = self.pauses();
        let pause = pauses.entry(name).or_insert(Pause { until: Duration::ZERO, length: PAUSE_MIN / 2 });
        pause.length = (pause.length * 2).min(PAUSE_MAX);
        pause.until = passed + pause.length;
    }

    /// Notes that something fits.
    pub fn end(&self, name: &K) {
        self.pauses().remove(name);
    }

    /// Whether something is believed to be too large by then.
    pub fn has(&self, name: &K, passed: Duration) -> bool {
        self.pauses().get(name).is_some_and(|pause| passed < pause.until)
    }

    fn pauses(&self) -> MutexGuard<'_, HashMap<K, Pause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_at_again_less_and_less_often() {
        let outgrown = Outgrown::default();
        let mut now = Duration::from_secs(5);
        let mut pauses = Vec::new();
        for _ in 0..10 {
            outgrown.note(1, now);
            let begun = now;
            while outgrown.has(&1, now) {
                now += Duration::from_mins(1);
            }
            pauses.push(now.saturating_sub(begun).as_secs() / 60);
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440]);
        outgrown.note(1, now);
        outgrown.end(&1);
        assert!(!outgrown.has(&1, now) && !outgrown.has(&2, now));
        outgrown.note(1, now);
        assert!(!outgrown.has(&1, now + PAUSE_MIN), "it begins anew");
    }
}
