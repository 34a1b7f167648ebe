//! Random numbers from a seed that a failure names.

use std::time::SystemTime;

/// Numbers that follow from a seed.
pub(crate) struct Random(bourse_random::Random);

impl Random {
    /// From `BOURSE_TEST_SEED`, or from a seed that differs each time; printed, so that a failure can be repeated.
    pub(crate) fn new() -> Self {
        let seed =
            std::env::var("BOURSE_TEST_SEED").map_or_else(|_| from_clock(), |text| text.parse().unwrap());
        println!("BOURSE_TEST_SEED={seed}");
        Self(bourse_random::Random::new(seed))
    }

    /// A number from a range.
    pub(crate) fn range(&mut self, range: std::ops::Range<u64>) -> u64 {
        self.0.between(range.start, range.end - 1)
    }
}

fn from_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs() << 30 | u64::from(now.subsec_nanos())
}
