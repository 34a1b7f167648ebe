//! Getting data in.

use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::{ACCOUNT, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn records() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let contract = json!({ "address": RELICS, "contractType": "ERC721" });
    said.call(a, "Ingest/PutContracts", json!({ "chainId": "polygon", "contracts": [contract] })).await;
    let tokens = json!([{ "contractAddress": RELICS, "tokenId": 1 }, { "tokenId": 2 }, 3]);
    let body = json!({ "chainId": 137, "tokens": tokens, "idempotencyKey": "tokens of today" });
    said.call(a, "Ingest/PutTokens", body.clone()).await;
    said.call(a, "Ingest/PutTokens", body).await;
    let balance = json!({ "contractAddress": RELICS, "tokenId": "1", "account": ACCOUNT, "balance": "1" });
    said.call(a, "Ingest/PutBalances", json!({ "chainId": 137, "balances": [balance] })).await;
    let currency = json!({ "contractAddress": UNKNOWN, "name": "Coin", "symbol": "C", "decimals": 78 });
    said.call(a, "Ingest/PutCurrencies", json!({ "chainId": 137, "currencies": [currency] })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn orders() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let order = |id: &str, price: &str, until: &str| {
        json!({ "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": id, "side": "listing",
            "tokenId": "1", "createdBy": ACCOUNT, "priceAmount": price, "priceCurrencyAddress": UNKNOWN,
            "validUntil": until })
    };
    for order in [
        order("1", "5", "2030-01-01T00:00:00Z"),
        order("2", "0", "2030-01-01T00:00:00Z"),
        order("3", "5", "2020-01-01T00:00:00Z"),
    ] {
        said.call(a, "Ingest/PutOrders", json!({ "chainId": 137, "orders": [order] })).await;
    }
    let key =
        |id: &str| json!({ "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": id });
    said.call(a, "Ingest/InvalidateOrders", json!({ "chainId": 137, "orders": [key("1"), key("2")] })).await;
    said.call(
        a,
        "Ingest/CancelOrders",
        json!({ "chainId": 137, "orders": [key("1")], "reason": "asked to" }),
    )
    .await;
    insta::assert_snapshot!(said.text());
}
