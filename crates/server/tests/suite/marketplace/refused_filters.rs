//! Filters that make no sense are refused by name; none is ignored.

use serde_json::{Value, json};

use super::{ANA, COIN, ask, listing, market, orders};

#[tokio::test]
async fn filters_have_bounds() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let many = |entry: Value, count| vec![entry; count];
    let property = json!({ "name": "x", "type": "STRING" });
    let price = json!({ "contractAddress": COIN });
    for (member, entry) in [
        ("properties", property),
        ("marketplaces", json!("opensea")),
        ("inAccounts", json!(ANA)),
        ("notInAccounts", json!(ANA)),
        ("ordersCreatedBy", json!(ANA)),
        ("ordersNotCreatedBy", json!(ANA)),
        ("inCurrencyAddresses", json!(COIN)),
        ("notInCurrencyAddresses", json!(COIN)),
        ("prices", price),
    ] {
        let list = async |count| {
            let filter = json!({ member: many(entry.clone(), count) });
            ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing", "filter": filter })).await
        };
        list(200).await.ok();
        let refused = list(201).await;
        assert_eq!(refused.refusal(), (400, 2001), "{member}");
        let expected = format!("filter.{member}: 201 entries where at most 200 are allowed");
        assert_eq!(refused.json["msg"], expected.as_str());
    }
    let values = json!({ "name": "x", "type": "STRING", "values": many(json!("v"), 201) });
    let body = json!({ "filter": { "properties": [values] } });
    let refused = ask(&app, "Marketplace/GetFloorOrder", body).await;
    assert_eq!(refused.refusal(), (400, 2001));
    assert!(refused.json["msg"].as_str().unwrap().starts_with("filter.properties[0].values: 201 entries"));
}

#[tokio::test]
async fn values_that_cannot_be_are_refused() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let property = |members: Value| json!({ "properties": [super::with(json!({ "name": "x" }), members)] });
    for (filter, code) in [
        (property(json!({ "type": "COLOUR" })), 2001),
        (property(json!({})), 2001),
        (json!({ "properties": [{ "type": "INT" }] }), 2001),
        (property(json!({ "type": "INT", "min": 1.5 })), 2001),
        (property(json!({ "type": "INT", "max": 9_223_372_036_854_775_808_u64 })), 2001),
        (property(json!({ "type": "INT", "min": "many" })), 2001),
        (property(json!({ "type": "STRING", "values": [null] })), 2001),
        (property(json!({ "type": "GENERIC", "values": ["a", null] })), 2001),
        (json!({ "inAccounts": ["ana"] }), 2001),
        (json!({ "inAccounts": "0x00000000000000000000000000000000000000a1" }), -4),
        (json!({ "prices": [{ "min": "1" }] }), 2001),
        (json!({ "prices": [{ "contractAddress": COIN, "min": "1.5" }] }), 2001),
        (json!({ "prices": [{ "contractAddress": COIN, "min": -1 }] }), 2001),
        (json!({ "searchText": "x".repeat(257) }), 2001),
        (json!({ "includeEmpty": "maybe" }), -4),
    ] {
        for operation in ["ListCollectibles", "GetCountOfFilteredCollectibles", "GetFloorOrder"] {
            let body = json!({ "side": "listing", "filter": filter });
            let refused = ask(&app, &format!("Marketplace/{operation}"), body).await;
            assert_eq!(refused.refusal(), (400, code), "{operation} {filter} {}", refused.json);
        }
    }
    let side = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "both" })).await;
    assert_eq!(side.refusal(), (400, 2001));
    let token = ask(&app, "Marketplace/ListListingsForCollectible", json!({ "tokenId": "one" })).await;
    assert_eq!(token.refusal(), (400, 2001));
    let token = ask(&app, "Marketplace/ListListingsForCollectible", json!({})).await;
    assert_eq!(token.refusal(), (400, 2001));
}
