//! What is put can be read back at once.

use bourse_wire::{Amount, ChainId, OrderSide, OrderStatus, TokenId};
use serde_json::{Value, json};

use super::{LATER, order, put, served_token, stored, stored_order, taken, token};
use crate::support::seed::{ACCOUNT, RELICS, UNKNOWN};
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
    });
    assert_eq!(served_token(&app, 1).await, expected);
    // A token is replaced whole, and the copy in memory follows without any background work.
    let answer = put(&app, "PutTokens", json!({ "tokens": [token(1, "Sextant")] })).await;
    assert_eq!(answer, taken(1, 1));
    let now = served_token(&app, 1).await;
    assert_eq!((&now["name"], &now["attributes"]), (&json!("Sextant"), &Value::Null));
    assert_eq!(served_token(&app, 2).await["name"], "Whistle");
}

#[tokio::test]
async fn contracts_are_served_as_soon_as_they_are_put() {
    let app = TestApp::start().await;
    let contract = json!({ "chainId": 137, "address": RELICS, "contractType": "ERC721", "name": "Relics",
        "extensions": { "verified": true } });
    let other = json!({ "chainId": 137, "address": UNKNOWN, "contractType": "ERC20", "decimals": 6,
        "updatedAt": "2024-01-01T00:00:00Z" });
    let answer = put(&app, "PutContracts", json!({ "contracts": [contract, other] })).await;
    assert_eq!(answer, taken(2, 2));
    let body = json!({ "chainID": "137", "contractAddresses": [RELICS, UNKNOWN] });
    let infos = app.project_a.call("Metadata/GetContractInfoBatch", body).await.ok();
    let info = &infos["contractInfoMap"][RELICS];
    assert_eq!(
        (&info["type"], &info["name"], &info["updatedAt"]),
        (&json!("ERC721"), &json!("Relics"), &json!(START))
    );
    assert_eq!(info["extensions"]["originAddress"], RELICS);
    let info = &infos["contractInfoMap"][UNKNOWN];
    assert_eq!((&info["decimals"], &info["updatedAt"]), (&json!(6), &json!("2024-01-01T00:00:00Z")));
}

#[tokio::test]
async fn balances_are_stored() {
    let app = TestApp::start().await;
    let balance = |token: u64, held: &str| json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token, "account": ACCOUNT, "balance": held });
    let largest = Amount::MAX.to_string();
    let body = json!({ "balances": [balance(1, "1"), balance(2, &largest), balance(1, "0")] });
    // Three records, two things: of two records of one thing the later counts.
    assert_eq!(put(&app, "PutBalances", body).await, taken(3, 2));
    let held: Vec<_> = stored(&app).await.balances.iter().map(|held| (held.token_id, held.balance)).collect();
    assert_eq!(held, [(TokenId::from(1), Amount::ZERO), (TokenId::from(2), Amount::MAX)]);
}

#[tokio::test]
async fn currencies_are_stored() {
    let app = TestApp::start().await;
    let coin = |name: &str, rate: Value| json!({ "contractAddress": UNKNOWN, "name": name, "symbol": "C", "decimals": 18, "exchangeRate": rate });
    let body = json!({ "chainId": "polygon", "currencies": [coin("Coin", json!("0.25"))] });
    assert_eq!(put(&app, "PutCurrencies", body.clone()).await, taken(1, 1));
    assert_eq!(put(&app, "PutCurrencies", body).await, taken(1, 0));
    let body = json!({ "chainId": 137, "currencies": [coin("Coin", json!(null))] });
    assert_eq!(put(&app, "PutCurrencies", body).await, taken(1, 1));
    let [currency] = &app.store.currencies().await.unwrap()[..] else { panic!("not one currency") };
    assert_eq!((currency.chain_id, currency.name.as_str()), (ChainId(137), "Coin"));
    assert_eq!((currency.decimals, &currency.rate), (18, &None));
}

#[tokio::test]
async fn orders_are_stored_with_what_follows_from_them() {
    let app = TestApp::start().await;
    let fees = json!([{ "kind": "royalty", "recipientAddress": ACCOUNT, "bps": 500 }]);
    let listing = order("a", json!({ "feeBps": 1, "feeBreakdown": fees, "priceAmountFormatted": "9.99" }));
    let offer = order(
        "b",
        json!({ "side": "offer", "tokenId": null, "status": "filled", "validUntil": START,
        "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2024-02-01T00:00:00Z" }),
    );
    assert_eq!(put(&app, "PutOrders", json!({ "orders": [listing, offer] })).await, taken(2, 2));
    let listing = stored_order(&app, "a").await.unwrap();
    assert_eq!(
        (listing.side, listing.status, listing.fee_bps),
        (OrderSide::Listing, OrderStatus::Active, 500)
    );
    assert_eq!((listing.price_amount, listing.quantity_remaining), (Amount::from(250), Amount::from(5)));
    assert_eq!(listing.valid_until.to_string(), LATER);
    assert_eq!((listing.created_at, listing.updated_at), (app.now(), app.now()));
    let offer = stored_order(&app, "b").await.unwrap();
    assert_eq!((offer.side, offer.status, offer.token_id), (OrderSide::Offer, OrderStatus::Filled, None));
    assert_eq!(offer.created_at.to_string(), "2024-01-01T00:00:00Z");
    assert_eq!(offer.updated_at.to_string(), "2024-02-01T00:00:00Z");
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
