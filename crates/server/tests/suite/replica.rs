//! Collections that are loaded from a replica. An older copy of the database stands for one that stopped following it: what
//! is answered is always what the database itself has.

use bourse_store::testing::{OlderCopy, change_unnoticed};
use bourse_store::{DatabaseUrl, OpenOptions, Store};
use bourse_wire::Timestamp;
use serde_json::{Value, json};

use crate::support::orders::{listing, market};
use crate::support::seed::{self, RELICS, UNKNOWN, key};
use crate::support::{Beside, TestApp};

/// A market with one token, and a copy of it that nothing comes to any more. `None` where there are no replicas.
async fn start() -> Option<(TestApp, String)> {
    let app = market(vec![seed::token_of(json!({ "tokenId": "1", "name": "old" }))]).await;
    let DatabaseUrl::Postgres(url) = OlderCopy::of(&app.database.url).await.unwrap()?.url else {
        return None;
    };
    Some((app, url))
}

/// A server that loads from the replica.
async fn beside(app: &TestApp, replica: &str) -> Beside {
    app.another_asking(&[("storage.database_read", replica), ("storage.database_timeout_ms", "1000")], None)
        .await
}

async fn put_name(app: &TestApp, contract: &str, name: &str) {
    let token = json!({ "chainId": 137, "contractAddress": contract, "tokenId": "1", "name": name });
    app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await.ok();
}

async fn name(server: &Beside, contract: &str) -> Value {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [1] });
    server.key.call("Metadata/GetTokenMetadata", body).await.ok()["tokenMetadata"][0]["name"].clone()
}

/// How many collections were loaded from somewhere.
async fn loads(server: &Beside, from: &str) -> Option<u64> {
    let metrics = server.key.get("/metrics").await.text();
    let series = format!("bourse_resident_loads_total{{from=\"{from}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok())
}

#[tokio::test]
async fn what_a_replica_does_not_have_yet_comes_from_the_database() {
    let Some((app, replica)) = start().await else { return };
    put_name(&app, RELICS, "new").await;
    app.project_a.call("Ingest/PutOrders", json!({ "orders": [listing("a", 1, 7)] })).await.ok();
    let server = beside(&app, &replica).await;
    assert_eq!(name(&server, RELICS).await, "new");
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    let floor = server.key.call("Marketplace/GetFloorOrder", body).await.ok();
    assert_eq!(floor["collectible"]["order"]["priceAmount"], "7");
    assert_eq!((loads(&server, "replica").await, loads(&server, "database").await), (Some(1), None));
}

#[tokio::test]
async fn the_rest_comes_from_the_replica() {
    let Some((app, replica)) = start().await else { return };
    let copy = copy_at(&replica).await;
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let sql = "UPDATE tokens SET metadata = replace(metadata, 'old', 'there') WHERE collection_id = $1";
    assert_eq!(change_unnoticed(&copy, id, sql).await.unwrap(), 1);
    let server = beside(&app, &replica).await;
    assert_eq!(name(&server, RELICS).await, "there");
}

/// As after a fail-over: the replica has a version that the database never had, under a number that it gave out itself.
#[tokio::test]
async fn a_replica_of_another_history_is_not_believed() {
    let Some((app, replica)) = start().await else { return };
    put_name(&app, RELICS, "new").await;
    let copy = copy_at(&replica).await;
    let other = seed::token_of(json!({ "tokenId": "1", "name": "never" }));
    copy.commit(bourse_store::testing::batch(key(RELICS), vec![other])).await.unwrap();
    let server = beside(&app, &replica).await;
    assert_eq!(name(&server, RELICS).await, "new");
    assert_eq!(
        (loads(&server, "replica_behind").await, loads(&server, "database").await),
        (Some(1), Some(1))
    );
}

#[tokio::test]
async fn a_collection_that_a_replica_does_not_know_is_loaded_from_the_database() {
    let Some((app, replica)) = start().await else { return };
    put_name(&app, UNKNOWN, "first").await;
    let server = beside(&app, &replica).await;
    assert_eq!(name(&server, UNKNOWN).await, "first");
    assert_eq!(
        (loads(&server, "replica_failed").await, loads(&server, "database").await),
        (Some(1), Some(1))
    );
}

#[tokio::test]
async fn nothing_needs_a_replica_that_is_away() {
    let Some((app, _)) = start().await else { return };
    // Nobody listens there.
    let server = beside(&app, "postgres://postgres@127.0.0.1:1/postgres").await;
    put_name(&app, UNKNOWN, "first").await;
    assert_eq!((name(&server, RELICS).await, name(&server, UNKNOWN).await), (json!("old"), json!("first")));
    assert_eq!(loads(&server, "database").await, Some(2));
}

async fn copy_at(url: &str) -> Store {
    Store::open(&DatabaseUrl::Postgres(url.to_owned()), OpenOptions::default(), Timestamp::ZERO)
        .await
        .unwrap()
}
