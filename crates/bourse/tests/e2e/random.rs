//! Random numbers from a seed that a failure names.

use std::time::SystemTime;

/// Numbers that follow from a seed.
pub(crate) struct Random(bourse_random::Random);

impl Random {
    /// From `BOURSE_TEST_SEED`, or from a seed that differs each time; printed, so that a failure can be repeated.
    pub(crate) fn new() -> Self {
        Self::or_else(from_clock)
    }

    /// From `BOURSE_TEST_SEED`, or from this seed.
    pub(crate) fn or(seed: u64) -> Self {
        Self::or_else(|| seed)
    }

    fn or_else(seed: impl FnOnce() -> u64) -> Self {
        let seed = std::env::var("BOURSE_TEST_SEED").map_or_else(|_| seed(), |text| text.parse().unwrap());
        println!("BOURSE_TEST_SEED={seed}");
        Self(bourse_random::Random::new(seed))
    }

    /// A number from a range.
    pub(crate) fn range(&mut self, range: std::ops::Range<u64>) -> u64 {
        self.0.between(range.start, range.end - 1)
    }

    /// One of some things, of which there must be one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        self.0.pick(items)
    }

    /// One of some things, if there is any.
    pub(crate) fn one_of<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        (!items.is_empty()).then(|| self.0.pick(items).clone())
    }

    /// The place of one of the weights; a weight of 2 is drawn twice as often as one of 1.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        self.0.weighted(weights)
    }
}

fn from_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs() << 30 | u64::from(now.subsec_nanos())
}
