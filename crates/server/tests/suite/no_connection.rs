//! The database has no connection left: what is in memory is answered all the same, writes are refused by name, and
//! everything works again once there are some, without a restart. On PostgreSQL only.

use std::time::Duration;

use bourse_store::testing::Relay;
use serde_json::{Value, json};

use crate::support::actor::Answer;
use crate::support::seed::{self, RELICS};
use crate::support::{TestApp, wait_until};

async fn put(app: &TestApp, name: &str) -> Answer {
    let token = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "1", "name": name });
    app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await
}

async fn served(app: &TestApp) -> Value {
    let body = json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": [1] });
    app.project_a.call("Metadata/GetTokenMetadata", body).await.ok()["tokenMetadata"][0]["name"].clone()
}

fn assert_unavailable(answer: &Answer) {
    assert_eq!(
        (answer.status, &answer.json["error"]),
        (503, &json!("StorageUnavailable")),
        "{}",
        answer.json
    );
    assert_ne!(answer.header("retry-after"), "");
}

/// A service behind a relay, with a collection in memory.
async fn start(settings: &[(&'static str, &str)]) -> Option<(TestApp, Relay)> {
    let (app, relay) = TestApp::relayed(settings).await?;
    seed::tokens(&app.store, RELICS, 1..2, "first").await;
    assert_eq!(served(&app).await, "first");
    Some((app, relay))
}

#[tokio::test]
async fn whoever_gets_no_connection_is_told_so() {
    let Some((app, relay)) = start(&[("storage.connections_max", "2")]).await else { return };
    // Whatever is asked of the database waits, so that the first two take all connections.
    relay.delay(Duration::from_hours(1));
    let puts = futures_util::future::join_all((0..4).map(|_| put(&app, "waits")));
    let answers = puts.await;
    let refused = answers.iter().filter(|answer| answer.json["error"] == "StorageUnavailable");
    let refused: Vec<&Answer> = refused.inspect(|answer| assert_unavailable(answer)).collect();
    assert!(refused.len() >= 2, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.status >= 500), "nothing is taken for done: {answers:?}");
    assert_eq!(served(&app).await, "first", "reads go on");
    relay.delay(Duration::ZERO);
    relay.go_down();
    relay.come_up();
    wait_until("writes are taken again", async || put(&app, "second").await.status == 200).await;
    assert_eq!(served(&app).await, "second");
}
