//! Time that passes when somebody waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bourse_chain::Pace;
use bourse_wire::Timestamp;

/// Time by which nobody really waits.
#[derive(Default)]
pub struct SimPace(AtomicU64);

impl Pace for SimPace {
    fn now(&self) -> Timestamp {
        let millis = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_unix_nanos(i128::from(1_800_000_000_000 + millis) * 1_000_000)
    }

    fn passed(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        self.0.fetch_add(u64::try_from(duration.as_millis()).unwrap(), Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}
