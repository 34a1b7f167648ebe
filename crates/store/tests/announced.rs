//! Whatever servers hold in memory is announced when it is changed, so that others need not look for it. On
//! PostgreSQL only: whoever watches a file sees every change of it.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod orders;
    pub(crate) mod projects;
    pub(crate) mod writings;
}

use std::time::Duration;

use bourse_store::testing::{TestDatabase, administer, announced};
use bourse_store::{DatabaseUrl, Store};
use sqlx::postgres::PgListener;
use support::projects::project;
use support::writings::{Batches, CountsOf, Mints, Writing};

async fn is_announced<W: Writing>(prepare: impl AsyncFnOnce(&Store) -> W) {
    let database = TestDatabase::fresh().await.unwrap();
    let DatabaseUrl::Postgres(url) = &database.url else { return };
    let store = database.open().await.unwrap();
    let mut writing = prepare(&store).await;
    let mut listener = PgListener::connect(url).await.unwrap();
    listener.listen("bourse").await.unwrap();
    for number in 1..4 {
        writing.write(&store, number).await.unwrap();
        let told = tokio::time::timeout(Duration::from_mins(1), listener.recv()).await;
        assert_eq!(told.unwrap().unwrap().channel(), "bourse");
        assert!(writing.is_there(&store, number).await);
    }
}

#[tokio::test]
async fn a_batch_is_announced() {
    is_announced(async |_| Batches).await;
}

#[tokio::test]
async fn a_block_is_announced() {
    is_announced(async |store| Mints::begin(store).await).await;
}

#[tokio::test]
async fn events_are_announced() {
    is_announced(async |store| CountsOf(project(store).await)).await;
}

/// What is committed while somebody announces what was before is announced together.
#[tokio::test]
async fn many_batches_are_announced_together() {
    const WRITES: u64 = 200;
    let database = TestDatabase::fresh().await.unwrap();
    let DatabaseUrl::Postgres(url) = &database.url else { return };
    let store = database.open().await.unwrap();
    let mut listener = PgListener::connect(url).await.unwrap();
    listener.listen("bourse").await.unwrap();
    let writes = (1..=WRITES).map(|number| {
        let store = store.clone();
        tokio::spawn(async move { Batches.write(&store, number).await.unwrap() })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap();
    }
    announced(&store).await;
    // Announcements come in the order in which they were committed.
    assert!(administer(&database, "SELECT pg_notify('bourse', 'that is all')").await.unwrap());
    let mut told = 0;
    let counting = async {
        while listener.recv().await.unwrap().payload() != "that is all" {
            told += 1;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), counting).await.unwrap();
    assert!((1..=WRITES).contains(&told), "{told} announcements of {WRITES} writes");
}
