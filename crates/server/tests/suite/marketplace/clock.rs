//! A clock that is wrong for a while, and set right again.

use serde_json::{Value, json};

use super::{ask, listed, listing, market, order, token, with};
use crate::support::TestApp;
use crate::support::seed::RELICS;

const MONTH: i64 = 30 * 24 * 3_600;

/// A service that knows an order until tomorrow, and one that begins in ten days.
async fn with_orders() -> TestApp {
    let later = json!({ "validFrom": "2025-03-24T12:00:00Z", "validUntil": "2026-03-24T12:00:00Z" });
    let later = with(listing("later", 2, 2), later);
    market(vec![order(listing("now", 1, 1)), order(later), token(1, "one"), token(2, "two")]).await
}

#[tokio::test]
async fn orders_that_a_wrong_clock_ended_are_listed_again_when_it_is_set_right() {
    let app = with_orders().await;
    for _ in 0..2 {
        assert_eq!(listed(&app, json!({})).await, ["1"]);
        app.clock.step(MONTH);
        assert_eq!(listed(&app, json!({})).await, ["2"]);
        app.clock.step(-MONTH);
    }
    assert_eq!(listed(&app, json!({})).await, ["1"]);
}

#[tokio::test]
async fn orders_that_a_wrong_clock_kept_out_are_listed_when_it_is_set_right() {
    let app = with_orders().await;
    app.clock.step(MONTH);
    assert_eq!(listed(&app, json!({})).await, ["2"]);
    // It comes while its time seems to be over.
    let put = json!({ "orders": [listing("now", 1, 3)] });
    assert_eq!(app.project_a.call("Ingest/PutOrders", put).await.ok()["accepted"], 1);
    app.clock.step(-MONTH);
    assert_eq!(listed(&app, json!({})).await, ["1"]);
    app.clock.step(-MONTH);
    assert_eq!(listed(&app, json!({})).await, ["1"], "long before anything was known");
}

#[tokio::test]
async fn what_is_cancelled_while_a_wrong_clock_ended_it_stays_cancelled() {
    let app = with_orders().await;
    assert_eq!(listed(&app, json!({})).await, ["1"]);
    app.clock.step(MONTH);
    let key = json!({ "chainId": 137, "collectionContractAddress": RELICS, "orderId": "now",
        "marketplace": "opensea" });
    let answer = app.project_a.call("Ingest/CancelOrders", json!({ "orders": [key] })).await.ok();
    assert_eq!(answer["changed"], 1, "{answer}");
    app.clock.step(-MONTH);
    assert_eq!(listed(&app, json!({})).await, [""; 0]);
    let body =
        json!({ "input": [{ "contractAddress": RELICS, "orderId": "now", "marketplace": "opensea" }] });
    let found: Value = ask(&app, "Marketplace/GetOrders", body).await.ok();
    assert_eq!(found["orders"][0]["status"], "cancelled", "{found}");
}
