//! Asking for metadata to be fetched anew.

use bourse_store::{Due, Outcome};
use bourse_wire::{ChainId, Timestamp};
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::seed::{self, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const NODE: (&str, &str) = ("networks.polygon.rpc_url", "https://node.example");
const NODE_ID: (&str, &str) = ("networks.polygon.id", "137");

async fn app() -> TestApp {
    let app = TestApp::with(&[NODE, NODE_ID]).await;
    seed::relics(&app.store).await;
    app
}

fn of(contract: &str, more: Value) -> Value {
    let mut body = json!({ "chainID": "137", "contractAddress": contract });
    let Value::Object(more) = more else { panic!("{more} is no object") };
    body.as_object_mut().unwrap().extend(more);
    body
}

/// Says of everything in the queue that it could not be had.
async fn give_up(app: &TestApp) {
    let due = Due {
        chains: vec![ChainId(137)],
        busy_hosts: Vec::new(),
        limit: 100,
        now: app.now(),
        until: app.now(),
    };
    for item in app.store.take_due(due).await.unwrap() {
        let reason = "the host answers with status 404".to_owned();
        let again_at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let outcome = Outcome::Failed { reason, host: "a.example".to_owned(), again_at, given_up: true };
        app.store.finish_fetches(vec![(item, outcome)], app.now()).await.unwrap();
    }
}

#[tokio::test]
async fn tokens() {
    let app = app().await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    let some = of(RELICS, json!({ "tokenIDs": ["1", "404"] }));
    said.call(a, "Metadata/RefreshTokenMetadata", some.clone()).await;
    let read = of(RELICS, json!({ "tokenIDs": ["1"] }));
    let tokens = a.call("Metadata/GetTokenMetadata", read.clone()).await.ok();
    let token = &tokens["tokenMetadata"][0];
    assert_eq!(
        (&token["status"], &token["queuedAt"]),
        (&json!("REFRESHING"), &json!("2025-03-14T12:00:00Z"))
    );
    assert_eq!(token["name"], "Bronze relic");
    said.call(a, "Metadata/GetTask", json!({ "taskID": 1 })).await;
    give_up(&app).await;
    said.call(a, "Metadata/GetTask", json!({ "taskId": "1" })).await;
    said.call(a, "Metadata/EnqueueTokensForRefresh", of(RELICS, json!({ "refreshAll": true }))).await;
    said.call(a, "Metadata/RefreshContractTokens", some).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn contracts() {
    let app = app().await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    let relics = json!({ "chainHandle": "polygon", "contractAddress": RELICS });
    said.call(a, "Metadata/RefreshContractInfo", relics.clone()).await;
    let info = a.call("Metadata/GetContractInfo", of(RELICS, json!({}))).await.ok();
    assert_eq!(info["contractInfo"]["status"], "REFRESHING");
    said.call(a, "Metadata/RefreshAllContractTokens", relics.clone()).await;
    app.clock.advance(90);
    said.call(a, "Metadata/RefreshAllContractTokens", relics).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn several_contracts() {
    let app = app().await;
    seed::tokens(&app.store, UNKNOWN, 1..2, "of a contract without information").await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    let batch = "Metadata/RefreshContractInfoBatch";
    let missing = "0x00000000000000000000000000000000000000ff";
    let of = |contracts: Value| json!({ "chainID": "137", "contractAddresses": contracts });
    said.call(a, batch, of(json!([RELICS, UNKNOWN, missing, RELICS]))).await;
    said.call(a, "Metadata/GetTaskStatus", json!({ "taskId": 1 })).await;
    said.call(a, "Metadata/GetTask", json!({ "taskId": 1 })).await;
    let info =
        a.call("Metadata/GetContractInfo", json!({ "chainID": 137, "contractAddress": RELICS })).await.ok();
    assert_eq!(info["contractInfo"]["status"], "REFRESHING");
    give_up(&app).await;
    said.call(a, "Metadata/GetTaskStatus", json!({ "taskId": 1 })).await;
    said.call(a, "Metadata/GetTask", json!({ "taskId": 1 })).await;
    said.call(a, batch, of(json!([missing]))).await;
    said.call(a, batch, of(json!([]))).await;
    said.call(a, batch, of(json!(vec![RELICS; 51]))).await;
    said.call(a, batch, json!({ "chainID": 1, "contractAddresses": [RELICS] })).await;
    said.call(&app.project_b, "Metadata/GetTaskStatus", json!({ "taskId": 1 })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn refused() {
    let app = TestApp::with(&[NODE, NODE_ID, ("limits.batch_tokens_max", "2")]).await;
    seed::relics(&app.store).await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    for body in [
        of(RELICS, json!({})),
        of(RELICS, json!({ "tokenIDs": ["1", "2", "3"] })),
        of(RELICS, json!({ "tokenIDs": ["404"] })),
        of(UNKNOWN, json!({ "tokenIDs": ["1"] })),
        json!({ "chainID": "1", "contractAddress": RELICS, "tokenIDs": ["1"] }),
        json!({ "chainID": "424242", "contractAddress": RELICS, "refreshAll": true }),
        json!({ "chainID": "atlantis", "contractAddress": RELICS, "refreshAll": true }),
    ] {
        said.call(a, "Metadata/RefreshTokenMetadata", body).await;
    }
    said.call(a, "Metadata/GetTask", json!({ "taskId": 7 })).await;
    insta::assert_snapshot!(said.text());
}
