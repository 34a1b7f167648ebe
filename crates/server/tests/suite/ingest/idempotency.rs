//! The same again changes nothing.

use bourse_store::Change;
use bourse_store::testing::batch;
use bourse_wire::{OrderStatus, Timestamp};
use serde_json::{Value, json};

use super::{order, order_key, put, served_token, stored, stored_order, taken, token};
use crate::support::seed::{ACCOUNT, RELICS, key};
use crate::support::{START, TestApp};

/// One record for each operation that puts something into collections.
fn bodies() -> [(&'static str, Value); 4] {
    let contract = json!({ "chainId": 137, "address": RELICS, "contractType": "ERC721", "name": "Relics" });
    let balance =
        json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": 1, "account": ACCOUNT, "balance": 1 });
    [
        ("PutContracts", json!({ "contracts": [contract] })),
        ("PutTokens", json!({ "tokens": [token(1, "Compass")] })),
        ("PutBalances", json!({ "balances": [balance] })),
        ("PutOrders", json!({ "orders": [order("a", json!({}))] })),
    ]
}

#[tokio::test]
async fn records_that_are_put_again_change_nothing() {
    let app = TestApp::start().await;
    for (operation, body) in bodies() {
        assert_eq!(put(&app, operation, body).await, taken(1, 1), "{operation}");
    }
    let before = stored(&app).await;
    for _ in 0..2 {
        app.clock.advance(60);
        for (operation, body) in bodies() {
            assert_eq!(put(&app, operation, body).await, taken(1, 0), "{operation}");
        }
    }
    assert_eq!(stored(&app).await, before);
}

#[tokio::test]
async fn times_that_are_not_given_tell_when_something_changed() {
    let app = TestApp::start().await;
    for (operation, body) in bodies() {
        put(&app, operation, body).await;
    }
    app.clock.advance(60);
    put(&app, "PutTokens", json!({ "tokens": [token(1, "Sextant")] })).await;
    assert_eq!(served_token(&app, 1).await["updatedAt"], "2025-03-14T12:01:00Z");
    put(&app, "PutOrders", json!({ "orders": [order("a", json!({ "priceAmount": "251" }))] })).await;
    let changed = stored_order(&app, "a").await.unwrap();
    assert_eq!((changed.created_at.to_string(), changed.updated_at), (START.to_owned(), app.now()));
    // A time that is given is taken as it is, unless it is all that is different.
    let given = "2024-01-01T00:00:00Z";
    for (price, count) in [("251", 0), ("252", 1)] {
        let body = json!({ "orders": [order("a", json!({ "priceAmount": price, "updatedAt": given }))] });
        assert_eq!(put(&app, "PutOrders", body).await, taken(1, count));
    }
    assert_eq!(stored_order(&app, "a").await.unwrap().updated_at.to_string(), given);
}

#[tokio::test]
async fn what_was_imported_without_a_time_is_first_seen_when_it_is_put() {
    let app = TestApp::start().await;
    put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await;
    let mut imported = stored_order(&app, "a").await.unwrap();
    imported.order_id = "b".to_owned();
    (imported.created_at, imported.updated_at) = (Timestamp::ZERO, Timestamp::ZERO);
    let changes = vec![Change::Order(Box::new(imported))];
    app.store.commit(batch(key(RELICS), changes)).await.unwrap();
    let first_seen = app.now();
    for count in [1, 0] {
        assert_eq!(
            put(&app, "PutOrders", json!({ "orders": [order("b", json!({}))] })).await,
            taken(1, count)
        );
        app.clock.advance(60);
    }
    put(&app, "PutOrders", json!({ "orders": [order("b", json!({ "priceAmount": "9" }))] })).await;
    let changed = stored_order(&app, "b").await.unwrap();
    assert_eq!((changed.created_at, changed.updated_at), (first_seen, app.now()));
}

#[tokio::test]
async fn an_order_was_first_seen_at_the_earliest_time_that_was_ever_said() {
    let app = TestApp::start().await;
    let at = |created: &str| json!({ "orders": [order("a", json!({ "createdAt": created }))] });
    let seen = async || stored_order(&app, "a").await.unwrap().created_at.to_string();
    put(&app, "PutOrders", at("2025-01-02T00:00:00Z")).await;
    app.clock.advance(60);
    assert_eq!(put(&app, "PutOrders", at("2025-01-03T00:00:00Z")).await, taken(1, 0));
    assert_eq!(seen().await, "2025-01-02T00:00:00Z");
    assert_eq!(put(&app, "PutOrders", at("2025-01-01T00:00:00Z")).await, taken(1, 1));
    assert_eq!(put(&app, "PutOrders", at("2025-01-01T00:00:00Z")).await, taken(1, 0));
    assert_eq!(seen().await, "2025-01-01T00:00:00Z");
}

#[tokio::test]
async fn a_known_order_may_be_repeated_after_its_time() {
    let app = TestApp::start().await;
    put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await;
    app.clock.set("2026-01-01T00:00:00Z");
    assert_eq!(put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await, taken(1, 0));
}

#[tokio::test]
async fn the_later_of_two_records_of_one_thing_counts_every_time() {
    let app = TestApp::start().await;
    let orders =
        json!([order("a", json!({ "priceAmount": "1" })), order("a", json!({ "priceAmount": "2" }))]);
    assert_eq!(put(&app, "PutOrders", json!({ "orders": orders })).await, taken(2, 1));
    let tokens = json!([token(1, "first"), token(1, "second")]);
    assert_eq!(put(&app, "PutTokens", json!({ "tokens": tokens })).await, taken(2, 1));
    app.clock.advance(60);
    assert_eq!(put(&app, "PutOrders", json!({ "orders": orders })).await, taken(2, 0));
    assert_eq!(put(&app, "PutTokens", json!({ "tokens": tokens })).await, taken(2, 0));
    assert_eq!(stored_order(&app, "a").await.unwrap().price_amount.to_string(), "2");
    assert_eq!(served_token(&app, 1).await["name"], "second");
}

fn keyed(name: &str, idempotency_key: &str) -> Value {
    json!({ "tokens": [token(1, name)], "idempotencyKey": idempotency_key })
}

#[tokio::test]
async fn a_request_under_a_known_key_is_a_replay_without_effect() {
    let app = TestApp::start().await;
    assert_eq!(put(&app, "PutTokens", keyed("first", "k")).await, taken(1, 1));
    put(&app, "PutTokens", keyed("second", "another")).await;
    let replay = json!({ "accepted": 1, "changed": 0, "rejected": [], "replayed": true });
    // Also a late one does not bring back what was.
    assert_eq!(put(&app, "PutTokens", keyed("first", "k")).await, replay);
    assert_eq!(served_token(&app, 1).await["name"], "second");
    // Empty is no key.
    assert_eq!(put(&app, "PutTokens", keyed("third", "")).await, taken(1, 1));
    assert_eq!(put(&app, "PutTokens", keyed("fourth", "")).await, taken(1, 1));
}

#[tokio::test]
async fn keys_of_other_operations_projects_and_collections_are_other_keys() {
    let app = TestApp::start().await;
    put(&app, "PutTokens", keyed("first", "k")).await;
    let contract = json!({ "chainId": 137, "address": RELICS, "contractType": "ERC721" });
    let body = json!({ "contracts": [contract], "idempotencyKey": "k" });
    assert_eq!(put(&app, "PutContracts", body).await, taken(1, 1));
    let answer = app.project_b.call("Ingest/PutTokens", keyed("of B", "k")).await.ok();
    assert_eq!(answer, taken(1, 1));
    let elsewhere = json!({ "chainId": 1, "contractAddress": RELICS, "tokenId": "1" });
    let body = json!({ "tokens": [token(1, "replayed"), elsewhere], "idempotencyKey": "k" });
    assert_eq!(put(&app, "PutTokens", body.clone()).await, taken(2, 1), "one collection of two is new");
    assert_eq!(put(&app, "PutTokens", body).await["replayed"], true);
    assert_eq!(served_token(&app, 1).await["name"], "of B");
}

#[tokio::test]
async fn a_replayed_ending_does_not_end_an_order_that_came_back() {
    let app = TestApp::start().await;
    put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await;
    let body = json!({ "orders": [order_key("a")], "idempotencyKey": "k" });
    assert_eq!(put(&app, "InvalidateOrders", body.clone()).await, taken(1, 1));
    assert_eq!(put(&app, "PutOrders", json!({ "orders": [order("a", json!({}))] })).await, taken(1, 1));
    assert_eq!(put(&app, "InvalidateOrders", body).await["replayed"], true);
    assert_eq!(stored_order(&app, "a").await.unwrap().status, OrderStatus::Active);
}

#[tokio::test]
async fn a_key_for_currencies_is_refused_rather_than_ignored() {
    let app = TestApp::start().await;
    let body = json!({ "currencies": [], "idempotencyKey": "k" });
    assert_eq!(app.project_a.call("Ingest/PutCurrencies", body).await.refusal(), (400, 2001));
    put(&app, "PutCurrencies", json!({ "currencies": [], "idempotencyKey": "" })).await;
}
