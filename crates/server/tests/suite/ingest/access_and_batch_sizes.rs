//! Who may put data in, and how much at once.

use bourse_server::{Service, router};
use serde_json::{Value, json};

use super::{order, put, served_token, stored_order, taken, token};
use crate::support::TestApp;

#[tokio::test]
async fn an_access_key_is_not_enough() {
    let app = TestApp::start().await;
    let operations = router::operations();
    let mut tried = 0;
    // Events are another matter: a key may be made for them.
    let others = ["Ping", "TrackEvents"];
    let ingest = operations.iter().filter(|route| route.service == Service::Ingest);
    for route in ingest.filter(|route| !others.contains(&route.name)) {
        let operation = format!("Ingest/{}", route.name);
        let body = json!({ "tokens": [token(1, "x")], "orders": [order("a", json!({}))], "contracts": [],
            "balances": [], "currencies": [] });
        assert_eq!(app.anonymous.call(&operation, body.clone()).await.refusal(), (401, 1000), "{operation}");
        assert_eq!(
            app.project_a.key.call(&operation, body.clone()).await.refusal(),
            (403, 1001),
            "{operation}"
        );
        let mut body = body;
        body["projectId"] = json!(2);
        assert_eq!(app.project_a.token.call(&operation, body).await.refusal(), (403, 1001), "{operation}");
        tried += 1;
    }
    assert_eq!(tried, 7);
    assert_eq!(served_token(&app, 1).await, Value::Null);
    assert!(stored_order(&app, "a").await.is_none());
}

/// Collections are the chain's, not a project's: whoever may write at all may write any.
#[tokio::test]
async fn every_project_may_write_every_collection() {
    let app = TestApp::start().await;
    put(&app, "PutTokens", json!({ "tokens": [token(1, "from A")] })).await;
    let answer = app.project_b.call("Ingest/PutTokens", json!({ "tokens": [token(1, "from B")] })).await.ok();
    assert_eq!(answer, taken(1, 1));
    assert_eq!(served_token(&app, 1).await["name"], "from B");
}

#[tokio::test]
async fn one_call_has_room_for_so_many_records() {
    let app = TestApp::with(&[("limits.ingest_records_max", "2")]).await;
    let tokens = |count: u64| json!({ "tokens": (1..=count).map(|id| token(id, "x")).collect::<Vec<_>>() });
    let answer = app.project_a.call("Ingest/PutTokens", tokens(3)).await;
    assert_eq!(answer.refusal(), (400, 2001));
    assert_eq!(answer.json["msg"], "tokens: 3 records where at most 2 are allowed in one call");
    assert_eq!(served_token(&app, 1).await, Value::Null);
    assert_eq!(put(&app, "PutTokens", tokens(2)).await, taken(2, 2));
    for (operation, member) in [
        ("PutContracts", "contracts"),
        ("PutBalances", "balances"),
        ("PutCurrencies", "currencies"),
        ("PutOrders", "orders"),
        ("CancelOrders", "orders"),
        ("InvalidateOrders", "orders"),
    ] {
        let answer = app.project_a.call(&format!("Ingest/{operation}"), json!({ member: [1, 2, 3] })).await;
        assert_eq!(answer.refusal(), (400, 2001), "{operation}");
        let answer = put(&app, operation, json!({ member: [1, 2] })).await;
        assert_eq!(answer["accepted"], 0, "{operation}");
    }
}

#[tokio::test]
async fn the_default_is_a_thousand_records() {
    let app = TestApp::start().await;
    let tokens: Vec<Value> = (0..1001).map(|id| token(id, "x")).collect();
    let answer = app.project_a.call("Ingest/PutTokens", json!({ "tokens": tokens })).await;
    assert_eq!(answer.refusal(), (400, 2001));
    assert_eq!(put(&app, "PutTokens", json!({ "tokens": tokens[..1000] })).await, taken(1000, 1000));
    assert_eq!(put(&app, "PutTokens", json!({ "tokens": tokens[..1000] })).await, taken(1000, 0));
}

#[tokio::test]
async fn what_is_wrong_with_the_request_itself_refuses_all_of_it() {
    let app = TestApp::start().await;
    let refused = async |body: Value| app.project_a.call("Ingest/PutTokens", body).await.refusal();
    assert_eq!(refused(json!({})).await, (400, 2001));
    assert_eq!(refused(json!({ "tokens": null })).await, (400, 2001));
    assert_eq!(refused(json!({ "tokens": token(1, "x") })).await, (400, -4));
    let keyed = |key: Value| json!({ "tokens": [token(1, "x")], "idempotencyKey": key });
    assert_eq!(refused(keyed(json!("x".repeat(129)))).await, (400, 2001));
    assert_eq!(refused(keyed(json!("a\u{0}b"))).await, (400, 2001));
    assert_eq!(refused(keyed(json!(7))).await, (400, -4));
    assert_eq!(served_token(&app, 1).await, Value::Null);
    app.project_a.call("Ingest/PutTokens", keyed(json!("%00'; DROP TABLE tokens; -- 👨‍👩‍👧"))).await.ok();
    assert_eq!(served_token(&app, 1).await["name"], "x");
    let reason = json!({ "orders": [], "reason": "x".repeat(257) });
    assert_eq!(app.project_a.call("Ingest/CancelOrders", reason).await.refusal(), (400, 2001));
}

#[tokio::test]
async fn the_service_has_its_own_quota() {
    let app = TestApp::with(&[("quotas.ingest", "1")]).await;
    put(&app, "PutTokens", json!({ "tokens": [token(1, "first")] })).await;
    let answer = app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token(1, "second")] })).await;
    assert_eq!(answer.refusal(), (429, 1200));
    assert_eq!(served_token(&app, 1).await["name"], "first");
}
