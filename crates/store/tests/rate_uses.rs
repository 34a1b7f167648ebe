//! What servers tell each other of what was used of limits.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::testing::{TestDatabase, tables_of};
use bourse_store::{Migration, RateUse, Store};
use support::database::open;

fn uses(used: &[(&str, u64)]) -> Vec<RateUse> {
    used.iter().map(|(bucket, used)| RateUse { bucket: (*bucket).to_owned(), used: *used }).collect()
}

/// What a server learns; nothing where what it told was not taken.
async fn exchange(
    store: &Store,
    server: &str,
    minute: i64,
    used: &[(&str, u64)],
) -> Option<Vec<(String, u64)>> {
    let exchanged = store.exchange_rate_uses(server.to_owned(), minute, uses(used)).await.unwrap();
    let mut elsewhere: Vec<_> =
        exchanged.elsewhere?.into_iter().map(|used| (used.bucket, used.used)).collect();
    elsewhere.sort();
    Some(elsewhere)
}

/// The minute that it is for the database.
async fn minute(store: &Store) -> i64 {
    let asked = store.exchange_rate_uses("asks".to_owned(), i64::MIN, Vec::new()).await.unwrap();
    assert_eq!(asked.elsewhere, None, "that minute was long ago");
    asked.now.unix_seconds().div_euclid(60)
}

#[tokio::test]
async fn a_server_learns_what_was_used_through_all_others_in_a_minute() {
    let (_database, store) = open().await;
    let of = |bucket: &str, used: u64| (bucket.to_owned(), used);
    let now = minute(&store).await;
    assert_eq!(exchange(&store, "a", now, &[("x", 5), ("y", 1)]).await.unwrap(), []);
    assert_eq!(exchange(&store, "b", now, &[("x", 7)]).await.unwrap(), [of("x", 5), of("y", 1)]);
    // What is told again stands in the place of what was told before.
    assert_eq!(exchange(&store, "a", now, &[("x", 6)]).await.unwrap(), [of("x", 7)]);
    assert_eq!(exchange(&store, "c", now, &[]).await.unwrap(), [of("x", 13), of("y", 1)]);
    // Every minute has its own.
    assert_eq!(exchange(&store, "b", now + 1, &[("x", 1)]).await.unwrap(), []);
    assert_eq!(exchange(&store, "c", now, &[]).await.unwrap(), [of("x", 13), of("y", 1)]);
}

#[tokio::test]
async fn a_server_whose_minute_is_not_that_of_the_database_is_told_so_and_changes_nothing() {
    let (database, store) = open().await;
    let now = minute(&store).await;
    exchange(&store, "a", now, &[("x", 5)]).await.unwrap();
    let before = tables_of(&database, None).await.unwrap();
    for hours in [-1_000, -7, 7, 1_000] {
        assert_eq!(exchange(&store, "b", now + hours * 60, &[("x", 7)]).await, None);
    }
    assert_eq!(tables_of(&database, None).await.unwrap(), before);
}

/// What is there of other minutes, older servers wrote, or this one before its clock was set back.
#[tokio::test]
async fn what_is_of_another_minute_is_forgotten() {
    let database = TestDatabase::of_schema(Migration::newest()).await.unwrap();
    let rows = async || tables_of(&database, None).await.unwrap().rows["rate_uses"].clone();
    assert_eq!(rows().await.len(), 1);
    let store = database.open().await.unwrap();
    let now = minute(&store).await;
    exchange(&store, "a", now, &[("x", 5)]).await.unwrap();
    let kept = rows().await;
    assert!(kept.len() == 1 && kept[0].contains(&now.to_string()), "{kept:?}");
    store.close().await;
}
