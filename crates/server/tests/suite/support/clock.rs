//! A clock that stands still until it is told otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bourse_server::Clock;
use bourse_wire::Timestamp;

/// What a broken clock shows.
const BROKEN: i64 = i64::MIN;

/// A clock of the test's own, in seconds.
#[derive(Clone)]
pub(crate) struct FakeClock {
    shown: Arc<AtomicI64>,
    /// What it shows beyond what has passed: clocks are set.
    set_by: Arc<AtomicI64>,
}

impl FakeClock {
    pub(crate) fn at(text: &str) -> Self {
        Self { shown: Arc::new(AtomicI64::new(seconds(text))), set_by: Arc::default() }
    }

    pub(crate) fn set(&self, text: &str) {
        let before = self.shown.swap(seconds(text), Ordering::SeqCst);
        if before != BROKEN {
            // Time does not go back: what shows that was set.
            self.set_by.fetch_add((seconds(text) - before).min(0), Ordering::SeqCst);
        }
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.shown.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Sets it to another time, forward or back, while none passes.
    pub(crate) fn step(&self, seconds: i64) {
        self.set_by.fetch_add(seconds, Ordering::SeqCst);
        self.shown.fetch_add(seconds, Ordering::SeqCst);
    }

    /// From now on whoever asks for the time panics: the one way to a bug inside a request.
    pub(crate) fn break_down(&self) {
        self.shown.store(BROKEN, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        let seconds = self.shown.load(Ordering::SeqCst);
        assert_ne!(seconds, BROKEN, "the clock is broken");
        Timestamp::from_unix_nanos(i128::from(seconds) * 1_000_000_000)
    }

    fn passed(&self) -> Duration {
        let passed = self.now().unix_seconds() - self.set_by.load(Ordering::SeqCst);
        Duration::from_secs(passed.unsigned_abs())
    }

    /// The time as far as it passed, however the clock was set.
    pub(crate) fn steady(&self) -> Timestamp {
        Timestamp::from_unix_seconds(self.passed().as_secs())
    }

    /// The clock as the service takes it.
    pub(crate) fn clock(&self) -> Clock {
        let (clock, passing) = (self.clone(), self.clone());
        Clock::new(move || clock.now(), move || passing.passed())
    }
}

fn seconds(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().unix_seconds()
}
