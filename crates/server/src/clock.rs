//! The time, as an argument.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bourse_wire::Timestamp;

/// Tells the time. Tests bring their own.
#[derive(Clone)]
pub struct Clock {
    tell: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    passed: Arc<dyn Fn() -> Duration + Send + Sync>,
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
        Self { tell: Arc::new(tell), passed: Arc::new(passed) }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        (self.tell)()
    }

    /// How much time has passed since some moment, however the time of day was set meanwhile.
    pub fn passed(&self) -> Duration {
        (self.passed)()
    }
}
