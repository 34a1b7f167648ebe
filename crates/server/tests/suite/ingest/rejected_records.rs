//! A record that is not taken says why and spoils no other.

use serde_json::{Value, json};

use super::{order, put, reasons, served_token, stored_order, token};
use crate::support::seed::{ACCOUNT, RELICS};
use crate::support::{START, TestApp};

#[tokio::test]
async fn bad_records_leave_the_others_alone() {
    let app = TestApp::start().await;
    let mut without_id = token(9, "x");
    without_id.as_object_mut().unwrap().remove("tokenId");
    let large = "x".repeat(200_000);
    let too_large = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "9", "image": large,
        "video": large, "audio": large });
    let tokens = json!([
        token(1, "first"), 7, null, [token(9, "x")], without_id, token(2, "second"),
        { "chainId": "nowhere", "contractAddress": RELICS, "tokenId": "9" },
        { "contractAddress": RELICS, "tokenId": "9" },
        { "chainId": 137, "contractAddress": "0x12", "tokenId": "9" },
        { "chainId": 137, "contractAddress": RELICS, "tokenId": "-1" },
        { "chainId": 137, "contractAddress": RELICS, "tokenId": "9", "name": ["a"] },
        too_large, token(3, "third"),
    ]);
    let answer = put(&app, "PutTokens", json!({ "tokens": tokens })).await;
    let (bad, large, chain) = ("invalid-format", "too-large", "unknown-chain");
    let expected = [
        (1, bad),
        (2, bad),
        (3, bad),
        (4, bad),
        (6, chain),
        (7, bad),
        (8, bad),
        (9, bad),
        (10, bad),
        (11, large),
    ];
    assert_eq!(reasons(&answer), expected);
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(3), &json!(3)));
    let message = |index: usize| answer["rejected"][index]["message"].as_str().unwrap();
    assert_eq!(message(0), "the record is not a JSON object");
    assert_eq!(message(3), "tokenId: is required");
    assert_eq!(message(5), "chainId: is required");
    assert!(message(7).starts_with("tokenId: `-1` is not a whole number"), "{answer}");
    assert_eq!(message(8), "name: expected a string, found an array");
    for (id, name) in [(1, "first"), (2, "second"), (3, "third")] {
        assert_eq!(served_token(&app, id).await["name"], name);
    }
    assert_eq!(served_token(&app, 9).await, Value::Null);
}

#[tokio::test]
async fn every_reason_to_refuse_an_order() {
    let app = TestApp::start().await;
    let fee = json!([{ "kind": "royalty", "recipientAddress": ACCOUNT, "bps": 10_001 }]);
    let cases = [
        ("unknown-marketplace", json!({ "marketplace": "nowhere" })),
        ("zero-price", json!({ "priceAmount": "0" })),
        ("invalid-start-time", json!({ "validFrom": "2025-03-18T00:00:00Z" })),
        ("expired", json!({ "validUntil": START })),
        ("fees-too-high", json!({ "feeBps": 10_001 })),
        ("fees-too-high", json!({ "feeBreakdown": fee })),
        ("invalid-format", json!({ "side": "unknown" })),
        ("invalid-format", json!({ "tokenId": null })),
        ("invalid-format", json!({ "quantityRemaining": "6" })),
        ("invalid-format", json!({ "priceAmount": "1.5" })),
        ("invalid-format", json!({ "orderId": "x".repeat(257) })),
        ("invalid-format", json!({ "orderId": "a\u{0}b" })),
        ("unknown-chain", json!({ "chainId": "nowhere" })),
    ];
    let mut orders: Vec<Value> = cases.iter().map(|(_, change)| order("bad", change.clone())).collect();
    orders.push(order("good", json!({})));
    let answer = put(&app, "PutOrders", json!({ "orders": orders })).await;
    let expected: Vec<(u64, &str)> = (0..).zip(cases.iter().map(|(reason, _)| *reason)).collect();
    assert_eq!(reasons(&answer), expected, "{answer}");
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(1), &json!(1)));
    assert!(stored_order(&app, "bad").await.is_none());
    assert!(stored_order(&app, "good").await.is_some());
}

#[tokio::test]
async fn what_is_over_by_its_sources_word_is_history_and_taken() {
    let app = TestApp::start().await;
    let over = |id: &str, status: &str| order(id, json!({ "validUntil": START, "status": status }));
    let orders =
        json!([over("a", "filled"), over("b", "cancelled"), over("c", "expired"), over("d", "active")]);
    let answer = put(&app, "PutOrders", json!({ "orders": orders })).await;
    assert_eq!(reasons(&answer), [(3, "expired")]);
    // The zero time is no end, and a currency that is not known yet may come later.
    let endless =
        order("e", json!({ "validUntil": "0001-01-01T00:00:00Z", "priceCurrencyAddress": ACCOUNT }));
    assert_eq!(put(&app, "PutOrders", json!({ "orders": [endless] })).await, super::taken(1, 1));
}

#[tokio::test]
async fn nothing_is_made_by_records_that_are_all_rejected() {
    let app = TestApp::start().await;
    let body = json!({ "orders": [order("a", json!({ "validUntil": START }))], "idempotencyKey": "k" });
    let answer = put(&app, "PutOrders", body).await;
    assert_eq!((&answer["accepted"], &answer["replayed"]), (&json!(0), &json!(false)));
    assert!(app.store.collection(crate::support::seed::key(RELICS)).await.unwrap().is_none());
    for (operation, member) in
        [("PutTokens", "tokens"), ("PutCurrencies", "currencies"), ("CancelOrders", "orders")]
    {
        assert_eq!(put(&app, operation, json!({ member: [] })).await, super::taken(0, 0));
    }
}

#[tokio::test]
async fn a_record_may_leave_its_chain_to_the_request() {
    let app = TestApp::start().await;
    let bare = |id: u64| json!({ "contractAddress": RELICS, "tokenId": id.to_string() });
    let on = |chain: &str, id: u64| json!({ "contractAddress": RELICS, "tokenId": id.to_string(), "chainId": chain });
    let body = json!({ "chainID": "polygon", "tokens": [bare(1), on("mainnet", 2)] });
    assert_eq!(put(&app, "PutTokens", body).await, super::taken(2, 2));
    assert_ne!(served_token(&app, 1).await, Value::Null);
    assert_eq!(served_token(&app, 2).await, Value::Null, "the record's own chain wins");
    let at = async |path: &str, body: Value| app.project_a.token.post(path, body.to_string()).await;
    let path = "/polygon/rpc/Ingest/PutTokens";
    let answer = at(path, json!({ "tokens": [bare(3), on("137", 4), on("mainnet", 5)] })).await.ok();
    assert_eq!(reasons(&answer), [(2, "wrong-chain")]);
    assert_eq!(answer["rejected"][0]["message"], "chainId: the record names chain 1, the path chain 137");
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(2), &json!(2)));
    let answer = at(path, json!({ "chainId": "mainnet", "tokens": [] })).await;
    assert_eq!(answer.refusal(), (400, 2001));
    let answer = app.project_a.call("Ingest/PutTokens", json!({ "chainId": "nowhere", "tokens": [] })).await;
    assert_eq!(answer.refusal(), (400, 3003));
}

#[tokio::test]
async fn the_only_configured_network_is_the_chain_of_records_that_name_none() {
    let app = TestApp::with(&[("networks.polygon.id", "137")]).await;
    let tokens = json!([{ "contractAddress": RELICS, "tokenId": "1" },
        { "contractAddress": RELICS, "tokenId": "2", "chainId": 1 }]);
    assert_eq!(put(&app, "PutTokens", json!({ "tokens": tokens })).await, super::taken(2, 2));
    assert_ne!(served_token(&app, 1).await, Value::Null);
    assert_eq!(served_token(&app, 2).await, Value::Null);
}
