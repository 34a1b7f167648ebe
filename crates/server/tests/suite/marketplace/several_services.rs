//! Two services on one database, and one that reads its own writes.

use serde_json::{Value, json};

use super::{DOLLAR, ask, ask_as, commit, listed, listing, market, orders, tokens, with};
use crate::support::actor::Actor;
use crate::support::{TestApp, wait_until};

const ROUNDS: u64 = 10;

async fn put_listing(app: &TestApp, listing: Value) {
    let answer = app.project_a.call("Ingest/PutOrders", json!({ "orders": [listing] })).await.ok();
    assert_eq!(answer["accepted"], 1, "{answer}");
}

async fn floor(actor: &Actor) -> Value {
    ask_as(actor, "Marketplace/GetFloorOrder", json!({})).await.json["collectible"]["order"]["priceAmount"]
        .clone()
}

#[tokio::test]
async fn what_one_service_writes_the_other_sees() {
    let app = market(orders([listing("a", 1, 1_000)])).await;
    let other = app.another().await;
    let (background, others) = (app.background(), other.background());
    assert_eq!((floor(&app.project_a.key).await, floor(&other.key).await), (json!("1000"), json!("1000")));
    for price in (1_000 - ROUNDS..1_000).rev() {
        put_listing(&app, listing("a", 1, price)).await;
        let price = price.to_string();
        // The one that wrote knows at once, whatever goes on beside.
        assert_eq!(floor(&app.project_a.key).await, price.as_str());
        wait_until("a price", async || floor(&other.key).await == price.as_str()).await;
    }
    background.stop().await;
    others.stop().await;
}

#[tokio::test]
async fn a_new_rate_reorders_answers_of_both() {
    let dollars = json!({ "priceCurrencyAddress": DOLLAR });
    let coin = 1_000_000_000_000_000_000;
    let app =
        market(orders([with(listing("dollar", 1, 1_000_000), dollars), listing("coin", 2, coin)])).await;
    let other = app.another().await;
    let others = other.background();
    let listed_there = async || {
        tokens(&ask_as(&other.key, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok())
    };
    assert_eq!(
        (listed(&app, json!({})).await, listed_there().await),
        (vec!["1".into(), "2".into()], vec!["1".into(), "2".into()])
    );
    let currency = json!({ "contractAddress": DOLLAR, "name": "Dollar", "symbol": "D", "decimals": 6, "exchangeRate": "3" });
    let body = json!({ "chainId": 137, "currencies": [currency] });
    app.project_a.call("Ingest/PutCurrencies", body).await.ok();
    assert_eq!(listed(&app, json!({})).await, ["2", "1"]);
    wait_until("a rate", async || listed_there().await == ["2", "1"]).await;
    let answer = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok();
    assert_eq!(answer["collectibles"][1]["order"]["priceUSD"].as_f64(), Some(3.0));
    others.stop().await;
}

/// A write that is acknowledged while the collection is being loaded for the first time is in the next answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_beside_the_first_load_is_in_the_next_answer() {
    for _ in 0..10 {
        let app = market(orders((1..=300).map(|id| listing(&id.to_string(), id, 500 + id)))).await;
        let reader = app.project_a.key.clone();
        let reading = tokio::spawn(async move { floor(&reader).await });
        put_listing(&app, listing("cheapest", 7, 1)).await;
        assert_eq!(floor(&app.project_a.key).await, "1");
        reading.await.unwrap();
    }
}

/// A commit by another process while the collection is being loaded is seen as well, although nobody could be told.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_by_another_beside_the_first_load_is_seen() {
    for _ in 0..10 {
        let app = market(orders((1..=300).map(|id| listing(&id.to_string(), id, 500 + id)))).await;
        let background = app.background();
        let reader = app.project_a.key.clone();
        let reading = tokio::spawn(async move { floor(&reader).await });
        commit(&app.store, orders([listing("cheapest", 7, 1)])).await;
        reading.await.unwrap();
        wait_until("a commit beside a load", async || floor(&app.project_a.key).await == "1").await;
        background.stop().await;
    }
}
