//! Time: what it is, and letting it pass. Both are arguments, so that a simulation has its own.

use std::sync::Arc;
use std::time::Duration;

use bourse_wire::Timestamp;
use tokio::time::Instant;

/// A clock that can be waited on.
pub trait Pace: Send + Sync + 'static {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// How much time has passed since some moment, however the time of day was set meanwhile.
    fn passed(&self) -> Duration;

    /// Returns when so much time has passed.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}

impl<P: Pace> Pace for Arc<P> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn passed(&self) -> Duration {
        (**self).passed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        (**self).sleep(duration)
    }
}

/// Real time, as the caller's clock tells it.
#[derive(Clone)]
pub struct RealPace {
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    began: Instant,
}

impl RealPace {
    /// Time as this clock tells it.
    pub fn new(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), began: Instant::now() }
    }
}

impl Pace for RealPace {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    fn passed(&self) -> Duration {
        self.began.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The time so much later.
pub(crate) fn later(than: Timestamp, by: Duration) -> Timestamp {
    let nanos = i128::try_from(by.as_nanos()).unwrap_or(i128::MAX);
    Timestamp::from_unix_nanos(than.unix_nanos().saturating_add(nanos))
}

/// How much time lies between two instants; none when they are the other way round.
pub(crate) fn between(earlier: Timestamp, after: Timestamp) -> Duration {
    let nanos = after.unix_nanos().saturating_sub(earlier.unix_nanos());
    u64::try_from(nanos.max(0)).map_or(Duration::MAX, Duration::from_nanos)
}
