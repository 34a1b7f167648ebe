//! Which orders count.

use serde_json::{Value, json};

use super::{ANA, BEN, SHELL, TOMORROW, ask, balance, listed, listing, market, offer, order, orders, with};
use crate::support::TestApp;
use crate::support::seed::RELICS;

const NOBODYS_MONEY: &str = "0x00000000000000000000000000000000000000ee";
const NOTHING: &[&str] = &[];

#[tokio::test]
async fn only_active_orders_count() {
    let change = |id: &str, change: Value| with(listing(id, 1, 5), change);
    let mut all = orders([
        change("inactive", json!({ "status": "inactive" })),
        change("cancelled", json!({ "status": "cancelled" })),
        change("filled", json!({ "status": "filled" })),
        change("over", json!({ "status": "expired" })),
        change("empty", json!({ "quantityRemaining": "0" })),
        change("expired", json!({ "validUntil": "2025-03-14T12:00:00Z" })),
        change("early", json!({ "validFrom": "2025-03-14T12:00:01Z" })),
        change("unknown currency", json!({ "priceCurrencyAddress": NOBODYS_MONEY })),
        change("not held", json!({ "createdBy": BEN })),
    ]);
    all.push(balance(1, ANA, 1));
    let app = market(all).await;
    let one = json!({ "tokenId": "1" });
    assert_eq!(listed(&app, json!({})).await, NOTHING);
    let count = ask(&app, "Marketplace/GetCountOfFilteredCollectibles", json!({ "side": "listing" })).await;
    assert_eq!(count.ok(), json!({ "count": 0 }));
    assert_eq!(ask(&app, "Marketplace/GetFloorOrder", json!({})).await.refusal(), (400, 2000));
    let listings = ask(&app, "Marketplace/ListListingsForCollectible", one.clone()).await.ok();
    assert_eq!(listings["listings"], json!([]));
    let best = ask(&app, "Marketplace/GetHighestPriceListingForCollectible", one.clone()).await.ok();
    assert_eq!(best, json!({ "order": null }));
    let count = ask(&app, "Marketplace/GetCountOfListingsForCollectible", one).await.ok();
    assert_eq!(count, json!({ "count": 0 }));
    // The token itself is there.
    assert_eq!(listed(&app, json!({ "includeEmpty": true })).await, ["1"]);
}

/// How many listings and offers token 1 has, and what its collectible shows.
async fn seen(app: &TestApp) -> (Value, Value, Vec<String>) {
    let one = json!({ "tokenId": "1" });
    let listings = ask(app, "Marketplace/GetCountOfListingsForCollectible", one.clone()).await.ok();
    let offers = ask(app, "Marketplace/GetCountOfOffersForCollectible", one).await.ok();
    (listings["count"].clone(), offers["count"].clone(), listed(app, json!({})).await)
}

#[tokio::test]
async fn time_alone_begins_and_ends_orders() {
    let app = market(orders([
        with(listing("a", 1, 5), json!({ "validFrom": "2025-03-14T12:00:10Z" })),
        with(offer("b", 1, 3), json!({ "validUntil": "2025-03-14T12:00:20Z" })),
        with(listing("c", 2, 9), json!({ "validUntil": "0001-01-01T00:00:00Z" })),
    ]))
    .await;
    assert_eq!(seen(&app).await, (json!(0), json!(1), vec!["2".into()]));
    app.clock.advance(9);
    assert_eq!(seen(&app).await.0, json!(0));
    app.clock.advance(1);
    assert_eq!(seen(&app).await, (json!(1), json!(1), vec!["1".into(), "2".into()]));
    app.clock.advance(9);
    assert_eq!(seen(&app).await.1, json!(1));
    // The instant of the end is over.
    app.clock.advance(1);
    assert_eq!(seen(&app).await.1, json!(0));
    app.clock.set(TOMORROW);
    assert_eq!(seen(&app).await, (json!(0), json!(0), vec!["2".into()]));
    app.clock.set("2999-01-01T00:00:00Z");
    assert_eq!(seen(&app).await.2, ["2"]);
}

async fn put_balances(app: &TestApp, held: &[(&str, u64)]) {
    let record = |(account, balance): &(&str, u64)| json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "1", "account": account, "balance": balance });
    let balances: Vec<Value> = held.iter().map(record).collect();
    app.project_a.call("Ingest/PutBalances", json!({ "balances": balances })).await.ok();
}

#[tokio::test]
async fn a_listing_sleeps_while_its_maker_lacks_the_token() {
    let five = json!({ "quantityInitial": "5" });
    let app = market(vec![
        balance(1, ANA, 5),
        order(with(listing("a", 1, 5), five.clone())),
        order(with(offer("b", 1, 3), five)),
    ])
    .await;
    assert_eq!(seen(&app).await, (json!(1), json!(1), vec!["1".into()]));
    put_balances(&app, &[(ANA, 0), (BEN, 5)]).await;
    // Gone from every answer at once; an offer does not depend on what its maker holds.
    assert_eq!(seen(&app).await, (json!(0), json!(1), Vec::new()));
    assert_eq!(ask(&app, "Marketplace/GetFloorOrder", json!({})).await.refusal(), (400, 2000));
    put_balances(&app, &[(ANA, 2), (BEN, 3)]).await;
    let floor = ask(&app, "Marketplace/GetFloorOrder", json!({})).await.ok();
    let order = &floor["collectible"]["order"];
    // What can be filled is less now; what remains of the order is what it was.
    assert_eq!(
        (&order["status"], &order["quantityAvailable"], &order["quantityRemaining"]),
        (&json!("active"), &json!("2"), &json!("5"))
    );
}

#[tokio::test]
async fn balances_that_nobody_recorded_are_unknown_and_not_zero() {
    let app = market(orders([with(listing("a", 1, 5), json!({ "quantityInitial": "3" }))])).await;
    let answer = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok();
    assert_eq!(answer["collectibles"][0]["order"]["quantityAvailable"], "3");
    // From the first balance on, an account without one holds nothing.
    put_balances(&app, &[(BEN, 1)]).await;
    assert_eq!(listed(&app, json!({})).await, NOTHING);
    put_balances(&app, &[(ANA, 1)]).await;
    assert_eq!(listed(&app, json!({})).await, ["1"]);
}

#[tokio::test]
async fn a_currency_that_becomes_known_wakes_its_orders() {
    let app = market(orders([
        with(listing("a", 1, 5), json!({ "priceCurrencyAddress": NOBODYS_MONEY })),
        with(listing("b", 2, 5), json!({ "priceCurrencyAddress": SHELL })),
    ]))
    .await;
    assert_eq!(listed(&app, json!({})).await, ["2"]);
    let currency = json!({ "contractAddress": NOBODYS_MONEY, "name": "Money", "symbol": "M", "decimals": 1,
        "exchangeRate": "1" });
    let body = json!({ "chainId": 137, "currencies": [currency] });
    app.project_a.call("Ingest/PutCurrencies", body).await.ok();
    assert_eq!(listed(&app, json!({})).await, ["1", "2"]);
    let floor = ask(&app, "Marketplace/GetFloorOrder", json!({})).await.ok();
    assert_eq!(floor["collectible"]["order"]["priceAmountFormatted"], "0.5");
}
