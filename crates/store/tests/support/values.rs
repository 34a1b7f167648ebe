//! Any value that can be stored.

use std::fmt::Debug;
use std::ops::AsyncFn;

use bourse_store::Store;
use bourse_wire::{Address, ChainId, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::database::open;
use crate::support::random::{explain, runner, seed};

/// Runs a test with many values on one database; a failure names the seed and the smallest failing value.
pub(crate) fn check<S>(cases: u32, strategy: &S, test: &impl AsyncFn(&Store, S::Value))
where
    S: Strategy<Value: Debug>,
{
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_database, store) = runtime.block_on(open());
    let seed = seed();
    let result = runner(seed, cases).run(strategy, |value| {
        runtime.block_on(test(&store, value));
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{}", explain(seed, failure));
    }
}

/// Texts that have broken something somewhere.
const HARD_TEXTS: [&str; 14] = [
    "",
    " ",
    "مرحبا بالعالم",
    "\u{202e}שלום\u{202c}",
    "👨‍👩‍👧‍👦🏳️‍🌈",
    "e\u{301}\u{323}",
    "\u{e9}",
    "漢字かな交じり文",
    "\u{feff}\u{200b}\u{10ffff}",
    "'; DROP TABLE tokens; --",
    "\\u0000 \\ \" $1 ?1 %s {}",
    "\r\n\t\u{1}\u{7f}\u{85}",
    "ﬀ İ ı ß",
    "null",
];

/// Any text that has no NUL, of at most 40 characters.
pub(crate) fn text() -> impl Strategy<Value = String> + Clone {
    let letters = vec(any::<char>().prop_filter("NUL", |letter| *letter != '\0'), 0..40);
    prop_oneof![
        proptest::sample::select(&HARD_TEXTS[..]).prop_map(str::to_owned),
        letters.prop_map(String::from_iter)
    ]
}

/// Any time: none, whole seconds, nanoseconds, the ends of the calendar.
pub(crate) fn time() -> impl Strategy<Value = Timestamp> + Clone {
    let nanos = -62_135_596_800_000_000_000_i128..253_402_207_200_000_000_000;
    prop_oneof![
        Just(Timestamp::ZERO),
        Just("9999-12-30T22:00:00.999999999Z".parse().unwrap()),
        (0..4_000_000_000_i128).prop_map(|seconds| Timestamp::from_unix_nanos(seconds * 1_000_000_000)),
        nanos.prop_map(Timestamp::from_unix_nanos),
    ]
}

pub(crate) fn address() -> impl Strategy<Value = Address> + Clone {
    prop_oneof![1 => Just(Address::ZERO), 4 => any::<[u8; 20]>().prop_map(Address::from_bytes)]
}

pub(crate) fn chain() -> impl Strategy<Value = ChainId> + Clone {
    prop_oneof![1..100_000_u64, Just(i64::MAX as u64)].prop_map(ChainId)
}
