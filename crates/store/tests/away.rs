//! A server that goes away, by closing every connection or by saying nothing any more, and comes back: whoever is there when
//! it goes waits for a moment, everybody after that not at all, and nobody is needed for it to be used again. On PostgreSQL
//! only: a file is there or fails at once.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod failing;
}

use std::future::Future;
use std::time::Duration;

use bourse_store::testing::{Cut, HeldWrite, Outage, Relay, TestDatabase, announced, batch, given_up_after};
use bourse_store::{Batch, Change, CollectionId, CollectionKey, OpenOptions, Store, StoreError};
use bourse_wire::{Address, ChainId, Timestamp};
use support::failing::fail_tokens;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };
/// Ends a test that would wait forever.
const BOUND: Duration = Duration::from_mins(1);

/// A store behind a relay, and one beside it.
struct Stage {
    relay: Relay,
    store: Store,
    direct: Store,
    id: CollectionId,
    database: TestDatabase,
}

/// `None` where there is no way to PostgreSQL to stand in.
async fn stage(connections_max: u32, patience: Duration) -> Option<Stage> {
    let database = TestDatabase::fresh().await.unwrap();
    let relay = Relay::before(&database.url).await.unwrap()?;
    let direct = database.open().await.unwrap();
    let options = OpenOptions { connections_max, patience, ..OpenOptions::default() };
    let store = Store::open(&relay.url, options, Timestamp::ZERO).await.unwrap();
    store.commit(token(0)).await.unwrap();
    let id = store.collection(COLLECTION).await.unwrap().unwrap();
    Some(Stage { relay, store, direct, id, database })
}

fn token(metadata: u32) -> Batch {
    let change = Change::Token { token_id: 1.into(), metadata: metadata.to_string() };
    batch(COLLECTION, vec![change])
}

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(BOUND, work).await.unwrap_or_else(|_| panic!("not within {BOUND:?}: {what}"))
}

async fn wait_until(what: &str, holds: impl AsyncFn() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(what, waiting).await;
}

/// Everything that asks the server is refused before it waits for anything.
async fn refuses_at_once(Stage { store, id, .. }: &Stage) {
    for _ in 0..100 {
        assert!(given_up_after(1, store.ping()).await, "a read waits");
    }
    assert!(given_up_after(1, store.commit(token(1))).await, "a write waits");
    assert!(given_up_after(1, store.holders(*id, 1.into(), 1)).await, "a snapshot waits");
    let (parts, _received) = tokio::sync::mpsc::channel(1);
    assert!(given_up_after(1, store.load(*id, parts)).await, "a load waits");
    assert!(given_up_after(1, store.watch()).await, "a watcher waits");
    let refused = store.commit(token(1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Away), "{refused}");
}

#[tokio::test]
async fn a_server_that_is_away_is_waited_for_once() {
    for outage in Outage::ALL {
        let Some(stage) = stage(2, Duration::from_millis(300)).await else { return };
        for round in 1..=2 {
            outage.begin(&stage.relay);
            let first = within("the first is told", stage.store.commit(token(99))).await.unwrap_err();
            assert!(matches!(first, StoreError::Away), "{outage:?}: {first}");
            assert!(stage.store.away_for().is_some() && stage.store.memory_age().is_some());
            refuses_at_once(&stage).await;
            outage.end(&stage.relay);
            within("it is found", stage.store.until_reached()).await;
            assert_eq!((stage.store.away_for(), stage.store.memory_age()), (None, None));
            stage.store.commit(token(round)).await.unwrap();
            let stored = stage.direct.tokens(stage.id, vec![1.into()]).await.unwrap();
            assert_eq!(stored[0].metadata, round.to_string(), "{outage:?}");
        }
        within("it is closed", stage.store.close()).await;
    }
}

#[tokio::test]
async fn whoever_is_at_it_when_the_server_goes_is_let_go() {
    for outage in Outage::ALL {
        let Some(stage) = stage(4, Duration::from_millis(300)).await else { return };
        let held = HeldWrite::begin(&stage.direct, token(1)).await;
        // Three that wait for what is held, one that listens, and some that find no connection.
        let mut watcher = stage.store.watch().await.unwrap();
        let mut watching = tokio::spawn(async move {
            loop {
                if let Err(error) = watcher.changed().await {
                    return error;
                }
            }
        });
        let writes: Vec<_> = (2..8)
            .map(|number| {
                let store = stage.store.clone();
                tokio::spawn(async move { store.commit(token(number)).await.map(drop) })
            })
            .collect();
        wait_until("somebody waits", async || held.is_waited_for(&stage.direct).await.unwrap()).await;
        outage.begin(&stage.relay);
        for write in writes {
            let told = within("they are told", write).await.unwrap().unwrap_err();
            assert!(matches!(told, StoreError::Away), "{outage:?}: {told}");
        }
        let told = within("the watcher is told", &mut watching).await.unwrap();
        assert!(matches!(told, StoreError::Away), "{outage:?}: {told}");
        outage.end(&stage.relay);
        within("it is found", stage.store.until_reached()).await;
        held.release().await.unwrap();
        // Of a connection that only fell silent the server knows nothing, and holds what was held there.
        let elsewhere = CollectionKey { chain: ChainId(2), ..COLLECTION };
        let change = Change::Token { token_id: 1.into(), metadata: "{}".to_owned() };
        within("it is written", stage.store.commit(batch(elsewhere, vec![change]))).await.unwrap();
        within("it is closed", stage.store.close()).await;
    }
}

#[tokio::test]
async fn a_statement_that_takes_long_opens_nothing() {
    let Some(stage) = stage(2, Duration::from_secs(1)).await else { return };
    let held = HeldWrite::begin(&stage.direct, token(1)).await;
    let store = stage.store.clone();
    let slow = tokio::spawn(async move { store.commit(token(2)).await });
    wait_until("it waits", async || held.is_waited_for(&stage.direct).await.unwrap()).await;
    // While it waits, the server is asked again and again.
    let before = stage.relay.connections();
    wait_until("it is asked", async || stage.relay.connections() >= before + 5).await;
    assert!(!slow.is_finished() && stage.store.away_for().is_none());
    held.release().await.unwrap();
    within("it is through", slow).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_refused_opens_nothing_and_is_no_reason_to_ask() {
    let Some(stage) = stage(1, Duration::from_mins(1)).await else { return };
    let before = stage.relay.connections();
    for state in ["23505", "23503", "23514", "40001", "40P01", "42P01", "57014", "XX000"] {
        fail_tokens(&stage.database, state).await;
        let refused = stage.store.commit(token(7)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Database(_)), "{state}: {refused}");
    }
    assert_eq!((stage.store.away_for(), stage.relay.connections()), (None, before));
}

#[tokio::test]
async fn a_connection_that_is_cut_is_not_a_server_that_is_away() {
    let Some(stage) = stage(1, Duration::from_mins(1)).await else { return };
    for _ in 0..3 {
        announced(&stage.store).await;
        stage.relay.cut(Cut::Before(2));
        let cut = stage.store.commit(token(1)).await.unwrap_err();
        assert!(matches!(cut, StoreError::Unavailable(_)), "{cut}");
        assert!(stage.store.away_for().is_none());
        stage.store.commit(token(2)).await.unwrap();
    }
}

/// Nobody asks for anything, and yet it is noticed, by whoever listens.
#[tokio::test]
async fn a_listener_notices_that_the_server_is_gone() {
    let Some(stage) = stage(2, Duration::from_mins(1)).await else { return };
    let mut watcher = stage.store.watch().await.unwrap();
    stage.relay.go_down();
    let told = within("it is noticed", watcher.changed()).await;
    // What is swept for may come first.
    let told = if told.is_ok() { within("it is noticed", watcher.changed()).await } else { told };
    assert!(matches!(told, Err(StoreError::Away)), "{told:?}");
    assert!(given_up_after(1, stage.store.ping()).await);
}
