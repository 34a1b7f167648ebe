//! A clock that stands still until it is told otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bourse_server::Clock;
use bourse_wire::Timestamp;

/// What a broken clock shows.
const BROKEN: i64 = i64::MIN;

/// A clock of the test's own, in seconds.
#[derive(Clone)]
pub(crate) struct FakeClock(Arc<AtomicI64>);

impl FakeClock {
    pub(crate) fn at(text: &str) -> Self {
        Self(Arc::new(AtomicI64::new(seconds(text))))
    }

    pub(crate) fn set(&self, text: &str) {
        self.0.store(seconds(text), Ordering::SeqCst);
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    /// From now on whoever asks for the time panics: the one way to a bug inside a request.
    pub(crate) fn break_down(&self) {
        self.0.store(BROKEN, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        let seconds = self.0.load(Ordering::SeqCst);
        assert_ne!(seconds, BROKEN, "the clock is broken");
        Timestamp::from_unix_nanos(i128::from(seconds) * 1_000_000_000)
    }

    /// The clock as the service takes it.
    pub(crate) fn clock(&self) -> Clock {
        let clock = self.clone();
        Clock::new(move || clock.now())
    }
}

fn seconds(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().unix_seconds()
}
