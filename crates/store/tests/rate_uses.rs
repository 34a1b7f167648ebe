//! What servers tell each other of what was used of limits.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::{RateUse, Store};
use support::database::open;

async fn exchange(store: &Store, server: &str, minute: i64, used: &[(&str, u64)]) -> Vec<(String, u64)> {
    let used =
        used.iter().map(|(bucket, used)| RateUse { bucket: (*bucket).to_owned(), used: *used }).collect();
    let elsewhere = store.exchange_rate_uses(server.to_owned(), minute, used).await.unwrap();
    let mut elsewhere: Vec<_> = elsewhere.into_iter().map(|used| (used.bucket, used.used)).collect();
    elsewhere.sort();
    elsewhere
}

#[tokio::test]
async fn a_server_learns_what_was_used_through_all_others_in_a_minute() {
    let (_database, store) = open().await;
    let of = |bucket: &str, used: u64| (bucket.to_owned(), used);
    assert_eq!(exchange(&store, "a", 100, &[("x", 5), ("y", 1)]).await, []);
    assert_eq!(exchange(&store, "b", 100, &[("x", 7)]).await, [of("x", 5), of("y", 1)]);
    // What is told again stands in the place of what was told before.
    assert_eq!(exchange(&store, "a", 100, &[("x", 6)]).await, [of("x", 7)]);
    assert_eq!(exchange(&store, "c", 100, &[]).await, [of("x", 13), of("y", 1)]);
    // Every minute has its own, and those before are forgotten once no clock can be so far behind.
    assert_eq!(exchange(&store, "b", 101, &[("x", 1)]).await, []);
    assert_eq!(exchange(&store, "c", 100, &[]).await, [of("x", 13), of("y", 1)]);
    assert_eq!(exchange(&store, "b", 103, &[("x", 1)]).await, []);
    assert_eq!(exchange(&store, "c", 100, &[]).await, []);
}
