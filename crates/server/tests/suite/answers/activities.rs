//! What happened in collections and to collectibles.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::{put, put_coin, put_order, whole};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const OF_COLLECTION: &str = "Marketplace/ListCollectionActivities";
const OF_COLLECTIBLE: &str = "Marketplace/ListCollectibleActivities";

fn actions(activities: &[Value]) -> Vec<&str> {
    activities.iter().map(|activity| activity["action"].as_str().unwrap()).collect()
}

/// A listing that is sold in part and taken back, an offer for anything, and a listing of another token in a currency
/// that is not known.
async fn happenings() -> TestApp {
    let app = TestApp::start().await;
    put_coin(&app).await;
    put_order(&app, "1", json!({ "quantityRemaining": "5" })).await;
    put_order(
        &app,
        "2",
        json!({ "side": "offer", "tokenId": null, "marketplace": "service_marketplace_v2" }),
    )
    .await;
    app.clock.advance(60);
    put_order(&app, "1", json!({ "quantityRemaining": "3" })).await;
    put_order(&app, "3", json!({ "tokenId": "2", "priceCurrencyAddress": UNKNOWN })).await;
    let key = json!({ "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": "1" });
    put(&app, "CancelOrders", json!({ "chainId": 137, "orders": [key] })).await;
    app
}

#[tokio::test]
async fn newest_first() {
    let app = happenings().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let body = json!({ "chainId": "polygon", "contractAddress": RELICS });
    said.call(a, OF_COLLECTION, body.clone()).await;
    let body = json!({ "chainId": "polygon", "contractAddress": RELICS, "tokenId": "2" });
    said.call(a, OF_COLLECTIBLE, body).await;
    insta::assert_snapshot!(said.text());
}

/// Whoever asks for a page that is far away has each row before it read.
#[tokio::test]
async fn a_page_that_is_too_far_away_is_refused() {
    let app = happenings().await;
    for operation in [OF_COLLECTION, OF_COLLECTIBLE] {
        let page = async |page: u64| {
            let page = json!({ "page": page, "pageSize": 200 });
            let body = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": 1, "page": page });
            app.project_a.call(operation, body).await
        };
        assert_eq!(page(51).await.ok()["activities"], json!([]));
        for far in [52, 100_000_000] {
            let refused = page(far).await;
            assert_eq!(refused.refusal(), (400, 2001));
            assert!(refused.json["msg"].as_str().unwrap().contains("go on with the `after`"));
        }
    }
}

#[tokio::test]
async fn page_by_page() {
    let app = happenings().await;
    let mut body = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": 1 });
    for size in 1..7 {
        let all = whole(&app, OF_COLLECTION, &body, "activities", size).await;
        assert_eq!(actions(&all), ["listingCancel", "listing", "sale", "offer", "listing"], "{size}");
        let of_one = whole(&app, OF_COLLECTIBLE, &body, "activities", size).await;
        assert_eq!(actions(&of_one), ["listingCancel", "sale", "listing"], "{size}");
    }
    // What happens in between moves nothing.
    body["page"] = json!({ "pageSize": 2 });
    let first = app.project_a.call(OF_COLLECTION, body.clone()).await.ok();
    put_order(&app, "4", json!({})).await;
    body["page"] = first["page"].clone();
    let second = app.project_a.call(OF_COLLECTION, body.clone()).await.ok();
    assert_eq!(actions(second["activities"].as_array().unwrap()), ["sale", "offer"]);
    // Pages that are counted move.
    body["page"] = json!({ "page": 2, "pageSize": 2 });
    let second = app.project_a.call(OF_COLLECTION, body).await.ok();
    assert_eq!(actions(second["activities"].as_array().unwrap()), ["listing", "sale"]);
}

#[tokio::test]
async fn nothing_there() {
    let app = happenings().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let body = json!({ "chainId": 137, "contractAddress": UNKNOWN, "page": { "page": 3 } });
    said.call(a, OF_COLLECTION, body).await;
    let body = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "404" });
    said.call(a, OF_COLLECTIBLE, body).await;
    let last = json!({ "page": u64::MAX, "pageSize": 1 });
    said.call(a, OF_COLLECTION, json!({ "chainId": 137, "contractAddress": RELICS, "page": last })).await;
    said.call(a, OF_COLLECTION, json!({ "chainId": "nowhere", "contractAddress": RELICS })).await;
    said.call(a, OF_COLLECTIBLE, json!({ "chainId": 137, "contractAddress": RELICS })).await;
    let page = json!({ "after": "not an after" });
    said.call(a, OF_COLLECTION, json!({ "chainId": 137, "contractAddress": RELICS, "page": page })).await;
    insta::assert_snapshot!(said.text());
}
