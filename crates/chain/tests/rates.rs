//! When rates are asked for.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::Mutex;
use std::time::Duration;

use bourse_chain::{Pace, RateSource, RateTeller, follow_rates};
use bourse_store::testing::TestDatabase;
use bourse_wire::{Address, ChainId, Timestamp};

const INTERVAL: Duration = Duration::from_mins(10);
const YEAR: i64 = 365 * 24 * 3_600;

/// A clock that is set by so many seconds whenever somebody waits, in turn, and never again after that.
struct SetClock {
    seconds: Mutex<i64>,
    set_by: Mutex<Vec<i64>>,
    slept: Mutex<Vec<Duration>>,
}

impl Pace for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_nanos(i128::from(*self.seconds.lock().unwrap()) * 1_000_000_000)
    }

    fn passed(&self) -> Duration {
        self.slept.lock().unwrap().iter().sum()
    }

    async fn sleep(&self, duration: Duration) {
        self.slept.lock().unwrap().push(duration);
        let passed = i64::try_from(duration.as_secs()).unwrap();
        let set_by = self.set_by.lock().unwrap().pop();
        match set_by {
            Some(set_by) => *self.seconds.lock().unwrap() += passed + set_by,
            None => std::future::pending().await,
        }
    }
}

/// However the clock is set meanwhile, a source is asked again after its interval.
#[tokio::test]
async fn a_clock_that_is_set_keeps_no_rate_waiting() {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    let source = RateSource {
        chain: ChainId(137),
        currency: Address::ZERO,
        teller: RateTeller::Operator("2".parse().unwrap()),
        interval: INTERVAL,
    };
    let set_by = Mutex::new(vec![-YEAR, 0, YEAR, -YEAR, YEAR]);
    let pace = SetClock { seconds: Mutex::new(YEAR), set_by, slept: Mutex::default() };
    let followed = tokio::time::timeout(Duration::from_secs(2), follow_rates(&[source], &store, &pace)).await;
    assert!(followed.is_err(), "it ended");
    assert_eq!(*pace.slept.lock().unwrap(), [INTERVAL; 6]);
}
