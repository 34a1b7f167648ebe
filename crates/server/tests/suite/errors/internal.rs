//! What fails inside, and how little of it shows.

use serde_json::json;

use crate::support::seed::RELICS;
use crate::support::transcript::Transcript;
use crate::support::{TestApp, log};

#[tokio::test]
async fn an_internal_error_shows_its_id_only() {
    let app = TestApp::start().await;
    log::start();
    app.app.store().close().await;
    let body = json!({ "chainID": "137", "contractAddress": RELICS });
    let mut said = Transcript::default();
    let answer = app.project_a.call("Metadata/GetContractInfo", body).await;
    let id = answer.header("x-request-id").to_owned();
    said.note("POST /rpc/Metadata/GetContractInfo", &answer);
    insta::assert_snapshot!(said.text().replace(&id, "(id)"));
    let line = log::line_with(&id);
    assert!(line.contains("ERROR") && line.contains("closed"), "{line}");
    assert!(!answer.text().contains("closed"), "{}", answer.text());
}

#[tokio::test]
async fn without_a_database_every_read_is_an_internal_error() {
    let app = TestApp::start().await;
    app.app.store().close().await;
    for operation in ["Builder/ListAudiences", "Collections/ListCollections"] {
        assert_eq!(app.project_a.call(operation, json!({})).await.refusal(), (500, -7), "{operation}");
    }
    let answer = app.anonymous.get("/projects/1/collections/1").await;
    assert_eq!(answer.refusal(), (500, -7));
}

#[tokio::test]
async fn a_panic_is_one_requests_trouble() {
    let app = TestApp::start().await;
    app.clock.break_down();
    let mut said = Transcript::default();
    said.call(&app.project_a, "Builder/ListAudiences", json!({})).await;
    insta::assert_snapshot!(said.text());
    app.clock.set("2025-03-14T12:00:00Z");
    app.project_a.call("Builder/ListAudiences", json!({})).await.ok();
}
