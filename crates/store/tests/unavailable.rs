//! What PostgreSQL says of itself and its disk is told apart by what to do about it, and the store goes on afterwards.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use bourse_store::testing::{TestDatabase, batch};
use bourse_store::{Change, CollectionKey, DatabaseUrl, Store, StoreError};
use bourse_wire::{Address, ChainId};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

async fn commit(store: &Store, metadata: &str) -> Result<(), StoreError> {
    let change = Change::Token { token_id: 1.into(), metadata: metadata.to_owned() };
    store.commit(batch(COLLECTION, vec![change])).await.map(|_| ())
}

async fn run(server: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(server).await.unwrap();
}

#[tokio::test]
async fn states_of_the_server_and_of_its_disk_have_names() {
    let database = TestDatabase::fresh().await.unwrap();
    let DatabaseUrl::Postgres(url) = &database.url else { return };
    let store = database.open().await.unwrap();
    commit(&store, "{}").await.unwrap();
    let mut server = PgConnection::connect(url).await.unwrap();
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
        let raise = format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'for the test' USING ERRCODE = '{state}'; END $$;
            CREATE OR REPLACE TRIGGER fail BEFORE INSERT OR UPDATE ON tokens FOR EACH ROW EXECUTE FUNCTION fail()"
        );
        run(&mut server, raise).await;
        let told = match commit(&store, "1").await.unwrap_err() {
            StoreError::Full(_) => "full",
            StoreError::Unavailable(_) => "unavailable",
            StoreError::Database(_) => "failed",
            other => panic!("{state}: {other}"),
        };
        assert_eq!(told, expected, "{state}");
    }
    run(&mut server, "DROP TRIGGER fail ON tokens".to_owned()).await;
    commit(&store, "2").await.unwrap();
}

#[tokio::test]
async fn a_server_that_only_reads_or_is_gone_is_not_available() {
    let database = TestDatabase::fresh().await.unwrap();
    let DatabaseUrl::Postgres(url) = &database.url else { return };
    let store = database.open().await.unwrap();
    commit(&store, "{}").await.unwrap();
    let mut server = PgConnection::connect(url).await.unwrap();
    let name = url.rsplit('/').next().unwrap();
    // Those who are connected keep what they had, so they are sent away: the next ones find it as it is now.
    let send_away = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    run(&mut server, format!("ALTER DATABASE {name} SET default_transaction_read_only = on; {send_away}"))
        .await;
    let refused = commit(&store, "1").await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert!(store.collection(COLLECTION).await.unwrap().is_some(), "reading goes on");
    let reset = format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; ALTER DATABASE {name} RESET default_transaction_read_only"
    );
    run(&mut server, reset).await;
    run(&mut server, send_away.to_owned()).await;
    while let Err(error) = commit(&store, "2").await {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    }
}
