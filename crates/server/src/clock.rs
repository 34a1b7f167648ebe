//! The time, as an argument.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bourse_wire::Timestamp;

/// Tells the time. Tests bring their own.
#[derive(Clone)]
pub struct Clock {
    tell: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    passed: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// The time of day at the moment from which on it is told how much has passed.
    began: Timestamp,
}

impl Clock {
    /// The machine's clock.
    #[expect(clippy::disallowed_methods, reason = "everybody else asks here")]
    pub fn system() -> Self {
        let started = Instant::now();
        let tell = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap_or(i128::MAX))
        };
        Self::new(tell, move || started.elapsed())
    }

    /// A clock that asks `tell` for the time of day, and `passed` for how much time has passed.
    pub fn new(
        tell: impl Fn() -> Timestamp + Send + Sync + 'static,
        passed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let began = later(tell(), passed(), -1);
        Self { tell: Arc::new(tell), passed: Arc::new(passed), began }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        (self.tell)()
    }

    /// How much time has passed since some moment, however the time of day was set meanwhile.
    pub fn passed(&self) -> Duration {
        (self.passed)()
    }

    /// The time as it was when this clock was made, and what has passed since, however the time of day was set meanwhile.
    pub fn steady(&self) -> Timestamp {
        later(self.began, self.passed(), 1)
    }
}

/// The time so much later, so many times.
fn later(than: Timestamp, by: Duration, times: i128) -> Timestamp {
    let nanos = i128::try_from(by.as_nanos()).unwrap_or(i128::MAX).saturating_mul(times);
    Timestamp::from_unix_nanos(than.unix_nanos().saturating_add(nanos))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_clock_that_is_set_moves_the_time_of_day_and_not_the_steady_one() {
        let (set, gone) = (Arc::new(AtomicU64::new(1_000_000)), Arc::new(AtomicU64::new(70)));
        let (day, passing) = (Arc::clone(&set), Arc::clone(&gone));
        let tell = move || Timestamp::from_unix_seconds(day.load(Ordering::Relaxed));
        let clock = Clock::new(tell, move || Duration::from_secs(passing.load(Ordering::Relaxed)));
        assert_eq!(clock.steady(), clock.now());
        for shown in [5, 2_000_000] {
            set.store(shown, Ordering::Relaxed);
            assert_eq!(clock.now(), Timestamp::from_unix_seconds(shown));
            assert_eq!(clock.steady(), Timestamp::from_unix_seconds(1_000_000));
        }
        gone.store(79, Ordering::Relaxed);
        assert_eq!(clock.steady(), Timestamp::from_unix_seconds(1_000_009));
    }
}
