//! Whether a store has fallen silent, so that not everybody waits for it in turn who wants something of it.
//!
//! A request that nobody answers in time makes it silent. From then on one request at a time tries it, with a pause between,
//! and others are refused at once. Any answer ends that, even that the store fails: whoever hears it does not wait.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nobody asks a store that was silent.
const PAUSE: Duration = Duration::from_secs(1);

/// Why a request was not sent.
#[derive(Debug, thiserror::Error)]
#[error("it did not answer in time just now, and is asked again in a second")]
pub(super) struct Silent;

#[derive(Debug, Default)]
pub(super) struct Silence {
    /// When somebody may ask again, while nothing is heard.
    next: Mutex<Option<Instant>>,
}

impl Silence {
    /// Whether somebody may ask, who waits for so long.
    pub(super) fn may_ask(&self, now: Instant, patience: Duration) -> Result<(), Silent> {
        match &mut *self.next() {
            None => Ok(()),
            Some(next) if now < *next => Err(Silent),
            Some(next) => {
                // Others, once this one has waited in vain; or was given up, and tells nobody.
                *next = now + patience + PAUSE;
                Ok(())
            }
        }
    }

    /// Notes that nobody answered in time; whether that is news.
    pub(super) fn begin(&self, now: Instant) -> bool {
        self.next().replace(now + PAUSE).is_none()
    }

    /// Notes an answer; whether that is news.
    pub(super) fn end(&self) -> bool {
        self.next().take().is_some()
    }

    fn next(&self) -> MutexGuard<'_, Option<Instant>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn one_at_a_time_tries_a_silent_store_and_any_answer_lets_all_ask() {
        let (silence, start) = (Silence::default(), Instant::now());
        let asks = |ms| silence.may_ask(start + Duration::from_millis(ms), PATIENCE).is_ok();
        assert!(asks(0) && asks(0), "all may ask what answers");
        assert!(silence.begin(start) && !silence.begin(start), "one of them tells people");
        assert_eq!(
            [asks(0), asks(999), asks(1_000), asks(1_001), asks(6_999)],
            [false, false, true, false, false]
        );
        assert!(asks(7_000), "nothing was heard of whoever tried, who was given up");
        assert!(silence.end() && !silence.end());
        assert!(asks(7_001) && asks(7_001));
    }
}
