//! PostgreSQL fails over to an older copy of itself: what was committed since is gone, and the numbers of its versions are given
//! out again for something else. Whatever is in memory then says what the database says. On PostgreSQL only.

use bourse_store::testing::{OlderCopy, Relay, announced, operator};
use bourse_wire::Currency;
use serde_json::{Value, json};

use crate::analytics::{self, points, session};
use crate::support::market::put_coin;
use crate::support::orders::{commit, listing, order, with};
use crate::support::project::create_key;
use crate::support::seed::{self, RELICS, UNKNOWN};
use crate::support::{TestApp, wait_until};

const RANGE: [&str; 2] = ["2025-03-14", "2025-03-14"];

/// The price of the cheapest listing of a collection.
async fn floor(app: &TestApp) -> Value {
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    let answer = app.project_a.call("Marketplace/GetFloorOrder", body).await.json;
    answer["collectible"]["order"]["priceAmount"].clone()
}

async fn name(app: &TestApp, contract: &str) -> Value {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [1] });
    app.project_a.call("Metadata/GetTokenMetadata", body).await.json["tokenMetadata"][0]["name"].clone()
}

/// The wallets of a day, of which there is at least one.
async fn wallets(app: &TestApp) -> f64 {
    points(&app.project_a.token, "WalletsTotal", RANGE, json!({})).await[0].1
}

async fn track(app: &TestApp, batch: &str, wallets: &[u64]) {
    let events: Vec<Value> = wallets.iter().map(|number| session(*number, "2025-03-14T00:00:00Z")).collect();
    analytics::track(&app.project_a.token, batch, events).await;
}

fn currency(decimals: u8) -> Currency {
    Currency {
        chain_id: seed::key(RELICS).chain,
        contract_address: UNKNOWN.parse().unwrap(),
        name: "Token".to_owned(),
        symbol: "T".to_owned(),
        decimals,
        image_url: String::new(),
        rate: None,
    }
}

async fn decimals(app: &TestApp) -> Value {
    let body = json!({ "chainId": 137 });
    let answer = app.project_a.call("Marketplace/ListCurrencies", body).await.ok();
    let found = answer["currencies"].as_array().unwrap().iter().find(|currency| currency["symbol"] == "T");
    found.map_or(Value::Null, |currency| currency["decimals"].clone())
}

/// A service behind a relay that follows its database, with an order, a currency and a wallet counted.
async fn start() -> Option<(TestApp, Relay)> {
    let (app, relay) = TestApp::relayed(&[]).await?;
    put_coin(&app).await;
    app.store.put_currencies(vec![currency(1)], operator()).await.unwrap();
    commit(&app.store, vec![order(listing("a", 1, 1))]).await;
    track(&app, "first", &[1]).await;
    Some((app, relay))
}

#[tokio::test]
async fn a_database_that_failed_over_is_answered_from_as_it_is() {
    let Some((app, relay)) = start().await else { return };
    let background = app.background();
    wait_until("the order", async || floor(&app).await == "1").await;
    assert_eq!(wallets(&app).await.to_bits(), 1_f64.to_bits());

    relay.go_down();
    let older = OlderCopy::of(&app.database.url).await.unwrap().unwrap();
    relay.come_up();
    commit(&app.store, vec![order(with(listing("a", 1, 1), json!({ "status": "cancelled" })))]).await;
    seed::tokens(&app.store, UNKNOWN, 1..2, "lost").await;
    app.store.put_currencies(vec![currency(2)], operator()).await.unwrap();
    let (_, lost_key) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    let with_lost_key = app.anonymous.with("x-access-key", &lost_key);
    let is_let_in = async || with_lost_key.call("Builder/ListAudiences", json!({})).await.status == 200;
    wait_until("the order is cancelled", async || floor(&app).await == Value::Null).await;
    wait_until("a collection that will be lost", async || name(&app, UNKNOWN).await == "lost").await;
    wait_until("the currency has two decimals", async || decimals(&app).await == 2).await;
    wait_until("a key that will be lost", async || is_let_in().await).await;
    track(&app, "second", &[2, 3]).await;
    wait_until("three wallets", async || wallets(&app).await > 2.5).await;

    relay.go_down();
    older.take_over().await.unwrap();
    relay.come_up();
    wait_until("the order is as it was", async || floor(&app).await == "1").await;
    wait_until("the currency is as it was", async || decimals(&app).await == 1).await;
    wait_until("the key is gone", async || !is_let_in().await).await;
    wait_until("the collection is gone", async || name(&app, UNKNOWN).await == Value::Null).await;
    wait_until("one wallet", async || wallets(&app).await < 1.5).await;
    background.stop().await;
}

/// The same, where as much was committed to the copy before this server looked at it, and then by this server itself.
#[tokio::test]
async fn versions_that_a_failed_over_database_gives_out_again_are_told_apart() {
    let Some((app, relay)) = start().await else { return };
    assert_eq!(floor(&app).await, "1");
    // Nobody is on the way when the server goes: otherwise it would be known to be away, and be tried again later.
    announced(app.app.store()).await;
    relay.go_down();
    let older = OlderCopy::of(&app.database.url).await.unwrap().unwrap();
    relay.come_up();
    let put_order = async |listing: Value| {
        app.project_a.call("Ingest/PutOrders", json!({ "orders": [listing] })).await.ok();
    };
    put_order(listing("a", 1, 2)).await;
    app.store.put_currencies(vec![currency(2)], operator()).await.unwrap();
    track(&app, "second", &[2, 3]).await;
    assert_eq!((floor(&app).await, wallets(&app).await.to_bits()), (json!("2"), 3_f64.to_bits()));

    announced(app.app.store()).await;
    relay.go_down();
    older.take_over().await.unwrap();
    relay.come_up();
    commit(&app.store, vec![order(listing("b", 2, 7))]).await;
    app.store.put_currencies(vec![currency(3)], operator()).await.unwrap();
    // This server commits and counts on what it finds, and not on what it remembers.
    put_order(listing("c", 3, 9)).await;
    assert_eq!(floor(&app).await, "1");
    track(&app, "third", &[2]).await;
    assert_eq!(wallets(&app).await.to_bits(), 2_f64.to_bits());
    let background = app.background();
    wait_until("the other currency", async || decimals(&app).await == 3).await;
    background.stop().await;
}
