//! One collectible, one collection, and how many there are.

use serde_json::json;

use crate::support::TestApp;
use crate::support::market::put_order;
use crate::support::seed::{self, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn one_and_how_many() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    // A token that only an order tells of.
    put_order(&app, "1", json!({ "tokenId": "7" })).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    for token in ["1", "7", "404"] {
        let body = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token });
        said.call(a, "Marketplace/GetCollectible", body).await;
    }
    for contract in [RELICS, UNKNOWN] {
        let body = json!({ "chainId": "polygon", "contractAddress": contract });
        said.call(a, "Marketplace/GetCountOfAllCollectibles", body).await;
    }
    let body = json!({ "chainId": 137, "contractAddress": UNKNOWN, "tokenId": "1" });
    said.call(a, "Marketplace/GetCollectible", body).await;
    let body = json!({ "chainId": "nowhere", "contractAddress": RELICS });
    said.call(a, "Marketplace/GetCountOfAllCollectibles", body).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn collection() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    seed::tokens(&app.store, UNKNOWN, 1..2, "of a contract without information").await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    for contract in [RELICS, UNKNOWN, seed::ACCOUNT] {
        let body = json!({ "chainId": 137, "contractAddress": contract });
        said.call(a, "Marketplace/GetCollectionDetail", body).await;
    }
    let body = json!({ "chainId": 1, "contractAddress": RELICS });
    said.call(a, "Marketplace/GetCollectionDetail", body).await;
    said.call(a, "Marketplace/GetCollectionDetail", json!({ "contractAddress": RELICS })).await;
    insta::assert_snapshot!(said.text());
}
