//! The charts against a naive model that goes through all events for each of them: random batches in random order, late
//! events, wallets forgotten, writes that fail, restarts, and another process that follows.
//!
//! Runs for a few seconds, or for `BOURSE_MODEL_SECONDS`. A failure prints its seed and what led to it;
//! `BOURSE_MODEL_SEED` runs that trial alone.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the seed comes from the environment or from the clock")]

mod expected;
mod model;
mod trial;

use std::time::{Duration, Instant, SystemTime};

use trial::{Scale, Trial};

const SECONDS: u64 = 4;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Runs a trial, and when it fails once more, aloud.
fn run_case(seed: u64, scale: Scale) {
    if std::panic::catch_unwind(|| Trial::run(seed, scale, false)).is_err() {
        eprintln!("BOURSE_MODEL_SEED={seed} shows this again, which is a project of {scale:?}:");
        Trial::run(seed, scale, true);
        unreachable!("the same trial failed before");
    }
}

#[test]
fn small_projects_show_what_the_model_shows() {
    let scale = |seed: u64| Scale { wallets: 2 + seed % 40, days: 3 + seed % 90, batch: 25, steps: 25 };
    if let Some(seed) = setting("BOURSE_MODEL_SEED") {
        return run_case(seed, scale(seed));
    }
    let begun = Instant::now();
    let time = Duration::from_secs(setting("BOURSE_MODEL_SECONDS").unwrap_or(SECONDS));
    let first = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() << 20;
    let mut cases = 0;
    while cases < 20 || begun.elapsed() < time {
        run_case(first + cases, scale(first + cases));
        cases += 1;
    }
    println!("{cases} cases from seed {first}");
}

/// More wallets than one part has, and more on a day than a list has.
#[test]
fn a_large_project_shows_what_the_model_shows() {
    let seed = setting("BOURSE_MODEL_SEED").unwrap_or(5);
    run_case(seed, Scale { wallets: 70_000, days: 12, batch: 12_000, steps: 4 });
}
