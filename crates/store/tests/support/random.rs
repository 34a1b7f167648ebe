//! Random values from a seed that a failure names.

use std::fmt::Debug;
use std::time::SystemTime;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// What `BOURSE_TEST_SEED` says, or another seed each time.
#[expect(clippy::disallowed_methods, reason = "the seed comes from the environment or from the clock")]
pub(crate) fn seed() -> u64 {
    if let Ok(text) = std::env::var("BOURSE_TEST_SEED") {
        return text.parse().unwrap();
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs() << 30 | u64::from(now.subsec_nanos())
}

/// Something that tries values, the same ones for the same seed.
pub(crate) fn runner(seed: u64, cases: u32) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Says how to see a failure again.
pub(crate) fn explain(seed: u64, failure: impl Debug) -> String {
    format!("BOURSE_TEST_SEED={seed} shows this again: {failure:#?}")
}
