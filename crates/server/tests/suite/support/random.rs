//! Random values from a seed that a failure names.

use std::fmt::Debug;
use std::time::SystemTime;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Runs a test with many values, the same ones for the same seed: `BOURSE_TEST_SEED`, or another each time.
pub(crate) fn check<S: Strategy<Value: Debug>>(cases: u32, strategy: &S, test: impl Fn(S::Value)) {
    check_from(chosen_seed().unwrap_or_else(another_seed), cases, strategy, test);
}

/// The same from this seed.
pub(crate) fn check_from<S: Strategy<Value: Debug>>(
    seed: u64,
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value),
) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 400,
        max_shrink_time: 300_000,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(strategy, |value| {
        test(value);
        Ok(())
    });
    if let Err(failure) = result {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let command = format!("BOURSE_TEST_SEED={seed} cargo test -p bourse-server --test suite {name}");
        panic!("{command} shows this again: {failure:#?}");
    }
}

/// The seed that somebody asks for.
pub(crate) fn chosen_seed() -> Option<u64> {
    std::env::var("BOURSE_TEST_SEED").ok().map(|text| text.parse().unwrap())
}

/// A seed that nobody asked for.
pub(crate) fn another_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs() << 30 | u64::from(now.subsec_nanos())
}
