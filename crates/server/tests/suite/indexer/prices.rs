//! What tokens are worth.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::{COIN, put_coin, put_order};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

/// Two listings, of which the cheaper one is of another token.
async fn listed() -> TestApp {
    let app = TestApp::start().await;
    put_coin(&app).await;
    put_order(&app, "first", json!({})).await;
    put_order(&app, "second", json!({ "tokenId": "2", "priceAmount": "250000000000000000" })).await;
    app
}

#[tokio::test]
async fn of_a_currency_a_collection_and_a_token() {
    let app = listed().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    said.call(a, "Indexer/GetTokenPrice", json!({ "chainId": 137, "q": { "contractAddress": RELICS } }))
        .await;
    let token = |token: &str| json!({ "contractAddress": RELICS, "tokenID": token });
    let coin = json!({ "contractAddress": COIN });
    let unknown = json!({ "contractAddress": UNKNOWN });
    let all = json!([token("1"), token("2"), token("3"), coin, unknown]);
    said.call(a, "Indexer/GetTokenPrices", json!({ "chainId": 137, "q": all })).await;
    said.call(a, "Indexer/ListTokenPrices", json!({ "chainId": 137, "page": { "pageSize": 1 } })).await;
    said.call(a, "Indexer/GetTokenPrices", json!({ "chainId": 137, "q": vec![unknown; 51] })).await;
    let on_chain = |chain: u64, queries: Value| json!({ "chainID": chain, "queries": queries });
    let of_one = on_chain(137, json!([coin]));
    said.call(a, "IndexerGateway/GetTokenPrice", json!({ "q": of_one })).await;
    let of_two = json!([of_one, on_chain(80002, json!([coin]))]);
    said.call(a, "IndexerGateway/GetTokenPrices", json!({ "q": of_two })).await;
    let too_many = json!([on_chain(137, json!(vec![coin.clone(); 30])), on_chain(1, json!(vec![coin; 30]))]);
    said.call(a, "IndexerGateway/GetTokenPrices", json!({ "q": too_many })).await;
    insta::assert_snapshot!(said.text());
}
