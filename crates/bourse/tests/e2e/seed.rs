//! Random numbers from a seed that a failure names.

use std::time::SystemTime;

/// A stream of numbers, the same for the same seed (`SplitMix64`).
pub(crate) struct Random(u64);

impl Random {
    /// From `BOURSE_TEST_SEED`, or from a seed that differs each time; printed, so that a failure can be repeated.
    pub(crate) fn new() -> Self {
        let seed =
            std::env::var("BOURSE_TEST_SEED").map_or_else(|_| from_clock(), |text| text.parse().unwrap());
        println!("BOURSE_TEST_SEED={seed}");
        Self(seed)
    }

    /// A number from a range.
    pub(crate) fn range(&mut self, range: std::ops::Range<u64>) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        range.start + (mixed ^ (mixed >> 31)) % (range.end - range.start)
    }
}

fn from_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs() << 30 | u64::from(now.subsec_nanos())
}
