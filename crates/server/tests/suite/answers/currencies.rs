//! Currencies and marketplaces.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::{COIN, put, put_coin};
use crate::support::seed::UNKNOWN;
use crate::support::transcript::Transcript;

const OPERATION: &str = "Marketplace/ListCurrencies";

/// Two currencies on one chain, one on another.
async fn put_currencies(app: &TestApp) {
    put_coin(app).await;
    let exact = json!({ "contractAddress": UNKNOWN, "name": "Grain", "symbol": "G", "decimals": 6,
        "imageUrl": "https://a.example/g.png", "exchangeRate": "0.1234567890123456789012345678901234567891" });
    let worthless = json!({ "contractAddress": COIN, "name": "Other", "symbol": "O", "decimals": 18 });
    put(app, "PutCurrencies", json!({ "chainId": 137, "currencies": [exact] })).await;
    put(app, "PutCurrencies", json!({ "chainId": "mainnet", "currencies": [worthless] })).await;
}

fn symbols(answer: &Value) -> Vec<&str> {
    answer["currencies"].as_array().unwrap().iter().map(|known| known["symbol"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn of_one_chain_and_of_all() {
    let app = TestApp::start().await;
    put_currencies(&app).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    said.call(a, OPERATION, json!({ "chainId": "polygon" })).await;
    said.call(a, OPERATION, json!({ "chainId": 10 })).await;
    said.call(a, OPERATION, json!({ "chainId": "nowhere" })).await;
    insta::assert_snapshot!(said.text());
    // Some clients send nothing at all.
    let all = a.key.post(&format!("/rpc/{OPERATION}"), "").await.ok();
    assert_eq!(symbols(&all), ["O", "C", "G"]);
    let of_path = a.key.post(&format!("/mainnet/rpc/{OPERATION}"), "{}").await.ok();
    assert_eq!(symbols(&of_path), ["O"]);
    // Two currencies at one address are two.
    assert_ne!(all["currencies"][0]["id"], all["currencies"][1]["id"]);
}

#[tokio::test]
async fn the_only_chain_goes_without_saying() {
    let app = TestApp::with(&[("networks.polygon.id", "137")]).await;
    put_currencies(&app).await;
    let answer = app.project_a.call(OPERATION, json!({})).await.ok();
    assert_eq!(symbols(&answer), ["C", "G"]);
}

#[tokio::test]
async fn marketplaces() {
    let app = TestApp::with(&[("service.name", "harbour")]).await;
    let mut said = Transcript::default();
    said.call(&app.project_a, "Marketplace/SupportedMarketplaces", json!({})).await;
    insta::assert_snapshot!(said.text());
}
