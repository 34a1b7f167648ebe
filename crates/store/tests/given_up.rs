//! Whoever waits for the store may go away at any moment: the next one finds a store that is none the worse for it.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use bourse_store::testing::{TestDatabase, batch, given_up_after};
use bourse_store::{Batch, Change, CollectionKey, OpenOptions, Store};
use bourse_wire::{Address, ChainId, Timestamp};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

fn token(metadata: u32) -> Batch {
    let change = Change::Token { token_id: 1.into(), metadata: metadata.to_string() };
    batch(COLLECTION, vec![change])
}

/// With one connection, so that everybody gets the one that was given up.
async fn open() -> (TestDatabase, Store) {
    let database = TestDatabase::fresh().await.unwrap();
    let options = OpenOptions { connections_max: 1, ..OpenOptions::default() };
    let store = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
    store.commit(token(0)).await.unwrap();
    (database, store)
}

/// What the store says of the token, asked by somebody who never gave up anything.
async fn stored(database: &TestDatabase) -> String {
    let store = database.open().await.unwrap();
    let id = store.collection(COLLECTION).await.unwrap().unwrap();
    let tokens = store.tokens(id, vec![1.into()]).await.unwrap();
    store.close().await;
    tokens.into_iter().next().unwrap().metadata
}

#[tokio::test]
async fn reading_one_state_may_be_given_up_anywhere() {
    let (database, store) = open().await;
    let id = store.collection(COLLECTION).await.unwrap().unwrap();
    for polls in 1.. {
        let ended = given_up_after(polls, store.holders(id, 1.into(), 10)).await;
        store.commit(token(polls)).await.unwrap();
        assert_eq!(stored(&database).await, polls.to_string(), "given up after {polls}");
        if ended {
            break;
        }
    }
}

#[tokio::test]
async fn writing_may_be_given_up_anywhere() {
    let (database, store) = open().await;
    for polls in 1.. {
        let ended = given_up_after(polls, store.commit(token(polls * 1000))).await;
        store.commit(token(polls)).await.unwrap();
        assert_eq!(stored(&database).await, polls.to_string(), "given up after {polls}");
        if ended {
            break;
        }
    }
}
