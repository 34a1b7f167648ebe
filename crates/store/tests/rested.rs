//! A connection that nobody uses may end at any time. Nobody who uses the next one is told of that, and nobody asks each time
//! whether it is there. On PostgreSQL only: a file has no connections.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::time::Duration;

use bourse_store::testing::{Cut, Relay, TestDatabase, administer, announced, batch};
use bourse_store::{Batch, Change, CollectionId, CollectionKey, OpenOptions, Store, StoreError};
use bourse_wire::{Address, ChainId, Timestamp};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

/// A store with one connection behind a relay.
struct Stage {
    relay: Relay,
    store: Store,
    id: CollectionId,
    database: TestDatabase,
}

async fn stage() -> Option<Stage> {
    let database = TestDatabase::fresh().await.unwrap();
    let relay = Relay::before(&database.url).await.unwrap()?;
    let options =
        OpenOptions { connections_max: 1, patience: Duration::from_mins(1), ..OpenOptions::default() };
    let store = Store::open(&relay.url, options, Timestamp::ZERO).await.unwrap();
    store.commit(token(0)).await.unwrap();
    let id = store.collection(COLLECTION).await.unwrap().unwrap();
    Some(Stage { relay, store, id, database })
}

fn token(metadata: u64) -> Batch {
    let change = Change::Token { token_id: 1.into(), metadata: metadata.to_string() };
    batch(COLLECTION, vec![change])
}

impl Stage {
    /// Everything that is asked of the store, after its connection has ended each time.
    async fn is_none_the_worse(&self, mut end: impl AsyncFnMut()) {
        // Tests look at how a cluster runs a statement before it runs for the first time, which nobody asks again.
        self.is_asked_everything(1, &mut async || ()).await;
        for number in 2..5 {
            self.is_asked_everything(number, &mut end).await;
        }
        assert_eq!(self.store.away_for(), None);
    }

    async fn is_asked_everything(&self, number: u64, end: &mut impl AsyncFnMut()) {
        end().await;
        assert_eq!(self.store.collection(COLLECTION).await.unwrap(), Some(self.id), "a read");
        end().await;
        let many = (1..4_u64).map(Into::into).collect();
        assert_eq!(self.store.tokens(self.id, many).await.unwrap().len(), 1, "a read by arrays");
        end().await;
        assert_eq!(self.store.holders(self.id, 1.into(), 1).await.unwrap().count, 0, "a snapshot");
        end().await;
        self.store.commit(token(number)).await.unwrap();
        end().await;
        let stored = self.store.tokens(self.id, vec![1.into()]).await.unwrap();
        assert_eq!(stored[0].metadata, number.to_string());
    }
}

#[tokio::test]
async fn a_connection_that_was_cut_while_it_rested_is_replaced() {
    let Some(stage) = stage().await else { return };
    stage
        .is_none_the_worse(async || {
            stage.relay.go_down();
            stage.relay.come_up();
        })
        .await;
}

#[tokio::test]
async fn a_connection_that_the_server_ended_while_it_rested_is_replaced() {
    let Some(stage) = stage().await else { return };
    let end = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE datname = 'NAME' AND pid <> pg_backend_pid()";
    stage.is_none_the_worse(async || assert!(administer(&stage.database, end).await.unwrap())).await;
}

/// What was begun is not begun again: nobody knows how far it came.
#[tokio::test]
async fn a_write_that_loses_its_connection_is_not_made_again() {
    let Some(stage) = stage().await else { return };
    announced(&stage.store).await;
    stage.relay.cut(Cut::Before(2));
    let lost = stage.store.commit(token(1)).await.unwrap_err();
    assert!(matches!(lost, StoreError::Unavailable(_)), "{lost}");
    let stored = stage.store.tokens(stage.id, vec![1.into()]).await.unwrap();
    assert_eq!(stored[0].metadata, "0");
}

#[tokio::test]
async fn only_a_connection_that_has_rested_for_long_is_asked_whether_it_is_there() {
    let Some(stage) = stage().await else { return };
    let ways = async || {
        let before = stage.relay.ways();
        stage.store.collection(COLLECTION).await.unwrap();
        stage.relay.ways() - before
    };
    ways().await;
    // The machine may take its time, which is what is asked for below.
    let mut least = u64::MAX;
    for _ in 0..50 {
        least = least.min(ways().await);
    }
    assert_eq!(least, 1, "one used just now is asked nothing else");
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(ways().await, 2, "one that may be gone is asked");
}
