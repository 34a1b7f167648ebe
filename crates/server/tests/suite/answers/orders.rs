//! Orders by their names.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::{put, put_coin, put_order, whole};
use crate::support::seed::{RELICS, RELICS_MIXED, UNKNOWN};
use crate::support::transcript::Transcript;

const OPERATION: &str = "Marketplace/GetOrders";

fn named(contract: &str, id: &str) -> Value {
    json!({ "contractAddress": contract, "orderId": id, "marketplace": "opensea" })
}

fn ids(orders: &[Value]) -> Vec<&str> {
    orders.iter().map(|order| order["orderId"].as_str().unwrap()).collect()
}

/// One order in each state, on two contracts.
async fn orders() -> TestApp {
    let app = TestApp::start().await;
    put_coin(&app).await;
    put_order(&app, "active", json!({ "quantityRemaining": "2" })).await;
    put_order(&app, "offer", json!({ "side": "offer", "tokenId": null })).await;
    put_order(&app, "filled", json!({ "quantityRemaining": "0" })).await;
    put_order(&app, "expired", json!({ "validUntil": "2025-03-14T12:00:30Z" })).await;
    put_order(&app, "cancelled", json!({})).await;
    put_order(&app, "elsewhere", json!({ "collectionContractAddress": UNKNOWN, "marketplace": "blur" }))
        .await;
    let key =
        json!({ "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": "cancelled" });
    put(&app, "CancelOrders", json!({ "chainId": 137, "orders": [key] })).await;
    app.clock.advance(60);
    app
}

#[tokio::test]
async fn in_any_state() {
    let app = orders().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let input = json!([
        { "contractAddress": UNKNOWN, "orderId": "elsewhere", "marketplace": "blur" },
        named(RELICS_MIXED, "active"),
        named(RELICS, "missing"),
        { "contractAddress": RELICS, "orderId": "offer", "marketplace": "no such place" },
        named(RELICS, "offer"),
    ]);
    said.call(a, OPERATION, json!({ "chainId": "polygon", "input": input })).await;
    said.call(a, OPERATION, json!({ "chainId": "polygon", "input": [] })).await;
    insta::assert_snapshot!(said.text());
    let input = ["expired", "cancelled", "filled", "active"].map(|id| named(RELICS, id));
    let answer = a.call(OPERATION, json!({ "chainId": 137, "input": input })).await.ok();
    let states: Vec<_> = answer["orders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|order| (order["status"].as_str().unwrap(), order["quantityAvailable"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("expired", "0"), ("cancelled", "0"), ("filled", "0"), ("active", "2")]);
}

#[tokio::test]
async fn page_by_page() {
    let app = orders().await;
    let input = ["missing", "active", "missing", "offer", "filled", "gone", "expired", "active"]
        .map(|id| named(RELICS, id));
    let body = json!({ "chainId": 137, "input": input });
    for size in 1..7 {
        let orders = whole(&app, OPERATION, &body, "orders", size).await;
        assert_eq!(ids(&orders), ["active", "offer", "filled", "expired", "active"], "{size}");
    }
    // An order that comes to be known in between moves nothing.
    let mut body = body;
    body["page"] = json!({ "pageSize": 2 });
    let first = app.project_a.call(OPERATION, body.clone()).await.ok();
    put_order(&app, "missing", json!({})).await;
    body["page"] = first["page"].clone();
    let second = app.project_a.call(OPERATION, body).await.ok();
    assert_eq!(ids(second["orders"].as_array().unwrap()), ["filled", "expired"]);
    assert_eq!((&second["page"]["page"], &second["page"]["more"]), (&json!(2), &json!(true)));
}

#[tokio::test]
async fn refused() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let many: Vec<Value> = (0..201).map(|id| named(RELICS, &id.to_string())).collect();
    said.call(a, OPERATION, json!({ "chainId": 137, "input": many })).await;
    said.call(a, OPERATION, json!({ "chainId": 137 })).await;
    said.call(a, OPERATION, json!({ "chainId": 137, "input": [{ "orderId": "1" }] })).await;
    said.call(a, OPERATION, json!({ "chainId": "nowhere", "input": [] })).await;
    let page = json!({ "after": "eyJwIjoyLCJhIjp7ImQiOjF9fQ" });
    said.call(a, OPERATION, json!({ "chainId": 137, "input": [], "page": page })).await;
    insta::assert_snapshot!(said.text());
}
