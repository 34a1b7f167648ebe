//! Orders that end.

use bourse_store::Change;
use bourse_store::testing::{HeldWrite, batch};
use bourse_wire::{Amount, OrderStatus};
use serde_json::{Value, json};

use super::{key, order, order_key, put, reasons, stored_order, taken};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::{TestApp, wait_until};

async fn status(app: &TestApp, id: &str) -> OrderStatus {
    stored_order(app, id).await.unwrap().status
}

#[tokio::test]
async fn cancelled_and_invalidated_orders_keep_everything_else() {
    let app = TestApp::start().await;
    put(&app, "PutOrders", json!({ "orders": [order("a", json!({})), order("b", json!({}))] })).await;
    let before = stored_order(&app, "a").await.unwrap();
    app.clock.advance(60);
    assert_eq!(put(&app, "CancelOrders", json!({ "orders": [order_key("a")] })).await, taken(1, 1));
    let body = json!({ "orders": [order_key("b")], "reason": "the maker moved the token" });
    assert_eq!(put(&app, "InvalidateOrders", body).await, taken(1, 1));
    let after = stored_order(&app, "a").await.unwrap();
    assert_eq!((after.status, after.updated_at), (OrderStatus::Cancelled, app.now()));
    assert_eq!(
        bourse_wire::OrderFacts { status: before.status, updated_at: before.updated_at, ..after },
        before
    );
    assert_eq!(status(&app, "b").await, OrderStatus::Inactive);
    // Again, and the one after the other: an inactive order can still be cancelled, a cancelled one is over.
    app.clock.advance(60);
    assert_eq!(
        put(&app, "InvalidateOrders", json!({ "orders": [order_key("a"), order_key("b")] })).await,
        taken(2, 0)
    );
    assert_eq!(
        put(&app, "CancelOrders", json!({ "orders": [order_key("a"), order_key("b")] })).await,
        taken(2, 1)
    );
    assert_eq!(status(&app, "b").await, OrderStatus::Cancelled);
}

#[tokio::test]
async fn orders_that_are_over_stay_as_they_are() {
    let app = TestApp::start().await;
    let statuses = ["filled", "cancelled", "expired"];
    let mut orders: Vec<Value> = statuses.iter().map(|word| order(word, json!({ "status": word }))).collect();
    orders.push(order("sold out", json!({ "quantityRemaining": "0" })));
    put(&app, "PutOrders", json!({ "orders": orders })).await;
    let keys: Vec<Value> = ["filled", "cancelled", "expired", "sold out"].map(order_key).to_vec();
    for operation in ["CancelOrders", "InvalidateOrders"] {
        assert_eq!(put(&app, operation, json!({ "orders": keys })).await, taken(4, 0), "{operation}");
    }
    for word in statuses {
        assert_eq!(status(&app, word).await.word(), word);
    }
    assert_eq!(status(&app, "sold out").await, OrderStatus::Active);
}

#[tokio::test]
async fn unknown_orders_are_rejected_and_the_others_end() {
    let app = TestApp::start().await;
    put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await;
    let changed = |member: &str, value: &str| {
        let mut key = order_key("a");
        key[member] = json!(value);
        key
    };
    let keys = json!([
        order_key("unknown"),
        changed("marketplace", "blur"),
        changed("collectionContractAddress", UNKNOWN),
        changed("chainId", "1"),
        changed("marketplace", "nowhere"),
        changed("orderId", "A"),
        order_key("a"),
        {},
    ]);
    let answer = put(&app, "CancelOrders", json!({ "orders": keys })).await;
    let missing = "not-found";
    let expected = [
        (0, missing),
        (1, missing),
        (2, missing),
        (3, missing),
        (4, "unknown-marketplace"),
        (5, missing),
        (7, "invalid-format"),
    ];
    assert_eq!(reasons(&answer), expected);
    let message =
        "order unknown of opensea for 0xfdb42a198a932c8d3b506ffa5e855bc4b348a712 on chain 137 not found";
    assert_eq!(answer["rejected"][0]["message"], message);
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(1), &json!(1)));
    assert_eq!(status(&app, "a").await, OrderStatus::Cancelled);
}

/// An ending writes the whole order back; it must not write back what somebody changed meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_ending_never_undoes_a_fill() {
    let app = TestApp::start().await;
    for round in 0..20 {
        let id = format!("order {round}");
        put(&app, "PutOrders", json!({ "orders": [order(&id, json!({}))] })).await;
        let filled = json!({ "orders": [order(&id, json!({ "quantityRemaining": "1" }))] });
        let ended = json!({ "orders": [order_key(&id)] });
        let (fill, end) = (app.project_a.token.clone(), app.project_a.token.clone());
        let fill = tokio::spawn(async move { fill.call("Ingest/PutOrders", filled).await.ok() });
        let end = tokio::spawn(async move { end.call("Ingest/InvalidateOrders", ended).await.ok() });
        let (fill, end) = (fill.await.unwrap(), end.await.unwrap());
        assert_eq!((&fill["changed"], &end["changed"]), (&json!(1), &json!(1)));
        assert_eq!(
            stored_order(&app, &id).await.unwrap().quantity_remaining,
            Amount::from(1),
            "round {round}"
        );
    }
}

/// Another process fills an order while it is being cancelled here: what was filled stays filled, and keeps what only the
/// fill told. The fill is held until the cancellation, which could read what was before, waits for it to write.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_order_that_another_process_fills_meanwhile_is_not_cancelled() {
    for operation in ["Ingest/CancelOrders", "Ingest/InvalidateOrders"] {
        let app = TestApp::start().await;
        put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await;
        let filled = bourse_wire::OrderFacts {
            status: OrderStatus::Filled,
            quantity_remaining: Amount::ZERO,
            ..stored_order(&app, "a").await.unwrap()
        };
        let fill = batch(key(RELICS), vec![Change::Order(Box::new(filled.clone()))]);
        let store = app.app.store();
        let fill = HeldWrite::begin(store, fill).await;
        let token = app.project_a.token.clone();
        let ending =
            tokio::spawn(
                async move { token.call(operation, json!({ "orders": [order_key("a")] })).await.ok() },
            );
        wait_until("it is at the writing", async || fill.is_waited_for(store).await.unwrap()).await;
        fill.release().await.unwrap();
        assert_eq!(ending.await.unwrap(), taken(1, 0), "{operation}");
        assert_eq!(stored_order(&app, "a").await.unwrap(), filled, "{operation}");
    }
}
