//! Who follows a chain: no clock is asked, whoever saw another stand still takes its place, and newer programs go before older ones.

use bourse_store::testing::{TestDatabase, change_unnoticed, collection_id};
use bourse_store::{LeaseHeld, LeaseHolder, LeaseSeen, Migration, Store};
use bourse_wire::{ChainId, Timestamp};

use crate::database::open;
use crate::stage::CHAIN;

fn server(name: &str) -> LeaseHolder {
    LeaseHolder { name: name.to_owned(), schema: Migration::newest() }
}

async fn ask(store: &Store, holder: &LeaseHolder, ended: Option<LeaseSeen>) -> LeaseHeld {
    store.hold_lease(CHAIN, holder, Timestamp::ZERO, ended).await.unwrap()
}

/// Whose it is, as one sees it who does not have it.
async fn seen(store: &Store, by: &LeaseHolder) -> LeaseSeen {
    match ask(store, by, None).await {
        LeaseHeld::Elsewhere(Some(seen)) => seen,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_process_at_a_time_follows_a_chain() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let [a, b] = ["a", "b"].map(server);
    assert_eq!(ask(&store, &a, None).await, LeaseHeld::Here);
    let first = seen(&elsewhere, &b).await;
    assert_eq!(seen(&elsewhere, &b).await, first, "looking moves nothing");
    assert_eq!(ask(&store, &a, None).await, LeaseHeld::Here, "it can be renewed");
    let renewed = seen(&elsewhere, &b).await;
    assert_eq!((&renewed.holder, renewed.beat), (&first.holder, first.beat + 1));
    // Who took it for dead is told that it was not.
    assert_eq!(ask(&elsewhere, &b, Some(first)).await, LeaseHeld::Elsewhere(Some(renewed.clone())));
    assert_eq!(ask(&elsewhere, &b, Some(renewed.clone())).await, LeaseHeld::Here);
    let taken = seen(&store, &a).await;
    assert!(taken.beat > renewed.beat && taken.holder != renewed.holder, "{taken:?} after {renewed:?}");
    store.release_lease(CHAIN, &a).await.unwrap();
    assert_eq!(seen(&store, &a).await, taken, "what one does not have cannot be given back");
    elsewhere.release_lease(CHAIN, &b).await.unwrap();
    assert_eq!(ask(&store, &a, None).await, LeaseHeld::Here, "what was given back is there at once");
    let other = store.hold_lease(ChainId(1), &b, Timestamp::ZERO, None).await.unwrap();
    assert_eq!(other, LeaseHeld::Here, "another chain has its own");
}

#[tokio::test]
async fn of_two_who_saw_it_end_one_takes_it() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let [dead, a, b] = ["dead", "a", "b"].map(server);
    for round in 0..20 {
        assert_eq!(ask(&store, &dead, None).await, LeaseHeld::Here);
        let ended = seen(&store, &a).await;
        let (one, other) =
            tokio::join!(ask(&store, &a, Some(ended.clone())), ask(&elsewhere, &b, Some(ended.clone())));
        let has = [&one, &other].map(|held| *held == LeaseHeld::Here);
        assert!(has[0] != has[1], "round {round}: {one:?} and {other:?}");
        let (winner, loser) = if has[0] { (&a, &b) } else { (&b, &a) };
        assert_eq!(seen(&store, loser).await.holder, winner.to_string());
        store.release_lease(CHAIN, winner).await.unwrap();
    }
}

#[tokio::test]
async fn a_newer_program_goes_before_an_older_one() {
    let (_database, store) = open().await;
    let newer = server("newer");
    let older = LeaseHolder { name: "older".to_owned(), schema: newer.schema - 1 };
    assert_eq!(ask(&store, &older, None).await, LeaseHeld::Here);
    assert_eq!(ask(&store, &newer, None).await, LeaseHeld::Here, "while the older one is alive");
    let by_newer = seen(&store, &older).await;
    assert_eq!(by_newer.holder, newer.to_string());
    assert_eq!(ask(&store, &server("equal"), None).await, LeaseHeld::Elsewhere(Some(by_newer.clone())));
    // A chain is not left alone because whoever is left is older.
    assert_eq!(ask(&store, &older, Some(by_newer)).await, LeaseHeld::Here);
}

/// Programs before schema 33 write who they are and until when, and nothing else.
#[tokio::test]
async fn a_program_that_knows_no_counter_counts_as_older() {
    let until = "UPDATE chain_leases SET expires_at = '2999-01-01T00:00:00Z';\n".to_owned();
    let database = TestDatabase::of_schema_and(Migration::newest(), until).await.unwrap();
    let store = database.open().await.unwrap();
    let newer = server("newer");
    assert_eq!(ask(&store, &newer, None).await, LeaseHeld::Here, "in the place of one that wrote its row");
    let taken =
        "UPDATE chain_leases SET holder = 'old', expires_at = '2999-01-01T00:00:00Z' WHERE chain_id <> $1";
    change_unnoticed(&store, collection_id(1), taken).await.unwrap();
    assert_eq!(ask(&store, &newer, None).await, LeaseHeld::Here, "and of one that took it over");
    store.close().await;
}

/// They compare it with their own clocks.
#[tokio::test]
async fn a_program_that_knows_no_counter_finds_until_when_it_is_to_leave_a_chain_alone() {
    let (_database, store) = open().await;
    let until = "2026-05-05T05:05:05Z";
    for _ in 0..2 {
        let held = store.hold_lease(CHAIN, &server("newer"), until.parse().unwrap(), None).await.unwrap();
        assert_eq!(held, LeaseHeld::Here);
        let honoured = "UPDATE chain_leases SET expires_at = '2000-01-01T00:00:00Z'
            WHERE chain_id <> $1 AND expires_at = '2026-05-05T05:05:05Z'";
        assert_eq!(change_unnoticed(&store, collection_id(1), honoured).await.unwrap(), 1);
    }
}
