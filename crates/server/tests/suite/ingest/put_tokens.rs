//! Tokens that are put can be read back at once.

use serde_json::{Value, json};

use super::{put, served_token, taken, token};
use crate::support::seed::RELICS;
use crate::support::{START, TestApp};

#[tokio::test]
async fn tokens_are_served_as_soon_as_they_are_put() {
    let app = TestApp::start().await;
    // Asked for before, so that it is in memory when it changes.
    assert_eq!(served_token(&app, 1).await, Value::Null);
    let full = json!({
        "chainId": "Polygon", "contract_address": RELICS, "tokenID": 1, "name": "Compass", "image_data": "<svg/>",
        "properties": { "weight": 1.50 }, "attributes": [{ "metal": "brass" }], "decimals": 2, "other": "ignored",
    });
    let answer = put(&app, "PutTokens", json!({ "tokens": [full, token(2, "Whistle")] })).await;
    assert_eq!(answer, taken(2, 2));
    let expected = json!({
        "tokenId": "1", "name": "Compass", "description": "", "image": "", "imageData": "<svg/>", "image_data": "<svg/>",
        "properties": { "weight": 1.50 }, "attributes": [{ "metal": "brass" }], "decimals": 2, "updatedAt": START,
        "source": "import", "status": "AVAILABLE",
    });
    assert_eq!(served_token(&app, 1).await, expected);
    // A token is replaced whole, and the copy in memory follows without any background work.
    let answer = put(&app, "PutTokens", json!({ "tokens": [token(1, "Sextant")] })).await;
    assert_eq!(answer, taken(1, 1));
    let now = served_token(&app, 1).await;
    assert_eq!((&now["name"], &now["attributes"]), (&json!("Sextant"), &json!([])));
    assert_eq!(served_token(&app, 2).await["name"], "Whistle");
}

#[tokio::test]
async fn one_request_may_be_about_many_collections() {
    let app = TestApp::start().await;
    let tokens: Vec<Value> = (1..=100)
        .map(
            |number| json!({ "chainId": 137, "contractAddress": format!("0x{number:040x}"), "tokenId": "1" }),
        )
        .collect();
    assert_eq!(put(&app, "PutTokens", json!({ "tokens": tokens })).await, taken(100, 100));
    let contracts: Vec<String> = (1..=50).map(|number| format!("0x{number:040x}")).collect();
    let asked: serde_json::Map<_, _> =
        contracts.into_iter().map(|contract| (contract, json!(["1"]))).collect();
    let body = json!({ "chainID": 137, "contractTokenMap": asked });
    let answer = app.project_a.call("Metadata/GetTokenMetadataBatch", body).await.ok();
    let found = answer["contractTokenMetadata"].as_object().unwrap();
    assert!(found.values().all(|tokens| tokens.as_array().unwrap().len() == 1));
}
