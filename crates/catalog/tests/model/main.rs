//! The catalog against a naive model that filters and sorts vectors: random collections, random sequences of changes,
//! random questions.
//!
//! Runs for about ten seconds, or for `BOURSE_MODEL_SECONDS`. A failure prints its seed and what led to it;
//! `BOURSE_MODEL_SEED` runs that trial alone.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the seed comes from the environment or from the clock")]

mod answer;
mod balances;
mod book_orders;
mod check;
mod exact_price;
mod generate;
mod model;
mod questions;
mod read;
mod row_rank;
mod token;
mod trial;

use std::time::{Duration, Instant, SystemTime};

use generate::Scale;
use trial::Trial;

const SECONDS: u64 = 9;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Runs a trial, and when it fails once more, aloud.
fn run_case(seed: u64, scale: Scale) {
    if std::panic::catch_unwind(|| Trial::run(seed, scale, false)).is_err() {
        eprintln!("BOURSE_MODEL_SEED={seed} shows this again, which is a collection of {scale:?}:");
        Trial::run(seed, scale, true);
        unreachable!("the same trial failed before");
    }
}

/// Runs cases until the time is over, so many at least.
fn run(cases_min: u64, scale_of: impl Fn(u64) -> Scale) {
    if let Some(seed) = setting("BOURSE_MODEL_SEED") {
        return run_case(seed, scale_of(seed));
    }
    let begun = Instant::now();
    let time = Duration::from_secs(setting("BOURSE_MODEL_SECONDS").unwrap_or(SECONDS));
    let first = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() << 20;
    let (mut cases, mut longest) = (0, Duration::ZERO);
    // A trial that would end too late is not begun.
    while cases < cases_min || begun.elapsed() + longest < time {
        let case_begun = Instant::now();
        run_case(first + cases, scale_of(first + cases));
        longest = longest.max(case_begun.elapsed());
        cases += 1;
    }
    println!("{cases} cases from seed {first}");
}

#[test]
fn small_collections_answer_like_the_model() {
    run(20, |seed| Scale { tokens: 2 + seed % 13, orders: 3 + seed % 17, accounts: 4, steps: 12 });
}

/// Enough tokens for bitmaps, for lists in several blocks, and for filters that leave more than a few.
#[test]
fn large_collections_answer_like_the_model() {
    run(1, |seed| Scale { tokens: 2_100 + seed % 900, orders: 1_500, accounts: 12, steps: 8 });
}

/// Most tokens have several orders, so that filters on orders leave many, of which some are not the best of their token.
#[test]
fn filters_on_many_orders_answer_like_the_model() {
    run(2, |seed| Scale { tokens: 1_100 + seed % 400, orders: 2_500, accounts: 12, steps: 10 });
}

/// Few tokens with very many orders each, which have lists of their own, and lose them again.
#[test]
fn tokens_with_very_many_orders_answer_like_the_model() {
    run(2, |seed| Scale { tokens: 3 + seed % 60, orders: 900, accounts: 12, steps: 10 });
}

/// Enough whole numbers for a ladder, always the same.
#[test]
fn ranges_of_many_numbers_answer_like_the_model() {
    let seed = setting("BOURSE_MODEL_SEED").unwrap_or(5);
    run_case(seed, Scale { tokens: 5_000, orders: 400, accounts: 12, steps: 8 });
}
