//! What PostgreSQL says of itself and its disk is told apart by what to do about it, and the store goes on afterwards.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod failing;
}

use bourse_store::testing::{TestDatabase, administer, batch};
use bourse_store::{Change, CollectionKey, DatabaseUrl, Store, StoreError};
use bourse_wire::{Address, ChainId};
use support::failing::fail_tokens;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

async fn commit(store: &Store, metadata: &str) -> Result<(), StoreError> {
    let change = Change::Token { token_id: 1.into(), metadata: metadata.to_owned() };
    store.commit(batch(COLLECTION, vec![change])).await.map(|_| ())
}

#[tokio::test]
async fn states_of_the_server_and_of_its_disk_have_names() {
    let database = TestDatabase::fresh().await.unwrap();
    let DatabaseUrl::Postgres(_) = &database.url else { return };
    let store = database.open().await.unwrap();
    commit(&store, "{}").await.unwrap();
    let states = [
        ("53100", "full"),
        ("25006", "unavailable"),
        ("53300", "unavailable"),
        ("57P01", "unavailable"),
        ("57P03", "unavailable"),
        ("58030", "unavailable"),
        ("08006", "unavailable"),
        ("28P01", "unavailable"),
        ("3D000", "unavailable"),
        ("23514", "failed"),
    ];
    for (state, expected) in states {
        fail_tokens(&database, state).await;
        let told = match commit(&store, "1").await.unwrap_err() {
            StoreError::Full(_) => "full",
            StoreError::Unavailable(_) => "unavailable",
            StoreError::Database(_) => "failed",
            other => panic!("{state}: {other}"),
        };
        assert_eq!(told, expected, "{state}");
    }
    administer(&database, "DROP TRIGGER fail ON tokens").await.unwrap();
    commit(&store, "2").await.unwrap();
}

#[tokio::test]
async fn a_server_that_only_reads_or_is_gone_is_not_available() {
    let database = TestDatabase::fresh().await.unwrap();
    let DatabaseUrl::Postgres(_) = &database.url else { return };
    let store = database.open().await.unwrap();
    commit(&store, "{}").await.unwrap();
    // Those who are connected keep what they had, so they are sent away: the next ones find it as it is now.
    let set_read_only = async |setting: &str| {
        let sql = format!("ALTER DATABASE NAME SET default_transaction_read_only = {setting}");
        administer(&database, &sql).await.unwrap();
        let send_away = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = 'NAME' AND pid <> pg_backend_pid()";
        administer(&database, send_away).await.unwrap();
    };
    set_read_only("on").await;
    let refused = commit(&store, "1").await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert!(store.collection(COLLECTION).await.unwrap().is_some(), "reading goes on");
    set_read_only("off").await;
    while let Err(error) = commit(&store, "2").await {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    }
}
