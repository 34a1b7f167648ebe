//! Filters on orders.

use serde_json::{Value, json};

use super::{ANA, BEN, COIN, DOLLAR, ask, listed, listing, market, offer, order_ids, orders, with};
use crate::support::TestApp;

/// Five tokens, each with a listing that differs in one way.
async fn five() -> TestApp {
    market(orders([
        listing("1", 1, 10),
        with(listing("2", 2, 20), json!({ "marketplace": "blur" })),
        with(listing("3", 3, 30), json!({ "createdBy": BEN })),
        with(listing("4", 4, 40), json!({ "priceCurrencyAddress": DOLLAR })),
        with(listing("5", 5, 50), json!({ "marketplace": "service_marketplace_v1", "createdBy": BEN })),
    ]))
    .await
}

#[tokio::test]
async fn each_member_restricts_and_empty_ones_do_not() {
    let app = five().await;
    let every = ["1", "2", "3", "5", "4"];
    let upper = |address: &str| format!("0x{}", address[2..].to_uppercase());
    for (filter, expected) in [
        (json!({ "marketplaces": ["blur"] }), vec!["2"]),
        (json!({ "marketplaces": ["blur", "opensea"] }), vec!["1", "2", "3", "4"]),
        (json!({ "marketplaces": ["bourse_marketplace_v1"] }), vec!["5"]),
        (json!({ "marketplaces": ["service_marketplace_v1"] }), vec!["5"]),
        // A word that nobody knows names a marketplace without orders.
        (json!({ "marketplaces": ["nowhere"] }), vec![]),
        (json!({ "marketplaces": ["nowhere", "blur"] }), vec!["2"]),
        (json!({ "ordersCreatedBy": [BEN] }), vec!["3", "5"]),
        (json!({ "ordersCreatedBy": [upper(BEN), ANA] }), every.to_vec()),
        (json!({ "ordersNotCreatedBy": [upper(BEN)] }), vec!["1", "2", "4"]),
        (json!({ "ordersCreatedBy": [ANA], "ordersNotCreatedBy": [ANA] }), vec![]),
        (json!({ "inCurrencyAddresses": [upper(DOLLAR)] }), vec!["4"]),
        (json!({ "notInCurrencyAddresses": [upper(DOLLAR)] }), vec!["1", "2", "3", "5"]),
        (json!({ "notInCurrencyAddresses": [COIN], "ordersCreatedBy": [ANA] }), vec!["4"]),
        (
            json!({ "marketplaces": ["opensea"], "ordersCreatedBy": [BEN], "inCurrencyAddresses": [COIN] }),
            vec!["3"],
        ),
        (
            json!({ "marketplaces": [], "ordersCreatedBy": [], "ordersNotCreatedBy": [], "inCurrencyAddresses": [],
                "notInCurrencyAddresses": [], "prices": [], "properties": [], "inAccounts": [],
                "notInAccounts": [], "searchText": "" }),
            every.to_vec(),
        ),
    ] {
        check(&app, filter, &expected).await;
    }
}

#[tokio::test]
async fn prices_are_ranges_in_one_currency_each() {
    let app = five().await;
    let price = |currency: &str, min: Value, max: Value| json!({ "contractAddress": currency, "min": min, "max": max });
    for (prices, expected) in [
        (json!([price(COIN, json!("20"), json!("30"))]), vec!["2", "3"]),
        (json!([price(COIN, json!("20"), Value::Null)]), vec!["2", "3", "5"]),
        (json!([price(COIN, Value::Null, json!("20"))]), vec!["1", "2"]),
        (json!([price(COIN, json!(21), json!(29))]), vec![]),
        (json!([price(COIN, json!("30"), json!("20"))]), vec![]),
        (json!([price(DOLLAR, Value::Null, Value::Null)]), vec!["4"]),
        // One of them is enough.
        (
            json!([price(COIN, json!("50"), Value::Null), price(DOLLAR, json!("40"), json!("40"))]),
            vec!["5", "4"],
        ),
        (
            json!([price(COIN, json!("0"), json!("10")), price(COIN, json!("50"), json!("50"))]),
            vec!["1", "5"],
        ),
    ] {
        check(&app, json!({ "prices": prices }), &expected).await;
    }
}

/// Lists, counts and finds the floor under a filter: all three must agree.
async fn check(app: &TestApp, filter: Value, expected: &[&str]) {
    assert_eq!(listed(app, filter.clone()).await, expected, "{filter}");
    let body = json!({ "side": "listing", "filter": filter });
    let count = ask(app, "Marketplace/GetCountOfFilteredCollectibles", body.clone()).await.ok();
    assert_eq!(count, json!({ "count": expected.len() }), "{filter}");
    let floor = ask(app, "Marketplace/GetFloorOrder", body).await;
    match expected.first() {
        None => assert_eq!(floor.refusal(), (400, 2000), "{filter}"),
        Some(first) => assert_eq!(floor.ok()["collectible"]["order"]["orderId"], *first, "{filter}"),
    }
}

#[tokio::test]
async fn a_token_whose_best_order_is_filtered_out_shows_its_next() {
    let app = market(orders([
        listing("cheap", 1, 1),
        with(listing("dear", 1, 9), json!({ "createdBy": BEN })),
        listing("other", 2, 5),
    ]))
    .await;
    let body = json!({ "side": "listing", "filter": { "ordersNotCreatedBy": [ANA] } });
    let answer = ask(&app, "Marketplace/ListCollectibles", body).await.ok();
    assert_eq!(answer["collectibles"].as_array().unwrap().len(), 1);
    assert_eq!(answer["collectibles"][0]["listing"]["orderId"], "dear");
    let filter = json!({ "ordersNotCreatedBy": [ANA], "includeEmpty": true });
    assert_eq!(listed(&app, filter).await, ["1", "2"]);
}

#[tokio::test]
async fn the_filter_of_one_collectibles_orders() {
    let app = market(orders([
        listing("a", 1, 10),
        with(listing("b", 1, 20), json!({ "marketplace": "blur", "createdBy": BEN })),
        with(listing("c", 1, 30), json!({ "priceCurrencyAddress": DOLLAR })),
        offer("d", 1, 1),
    ]))
    .await;
    for (filter, expected) in [
        (json!({}), vec!["a", "b", "c"]),
        (json!({ "createdBy": [BEN] }), vec!["b"]),
        (json!({ "marketplace": ["blur", "x2y2"] }), vec!["b"]),
        (json!({ "marketplace": ["nowhere"] }), vec![]),
        (json!({ "currencies": [COIN.to_uppercase().replace('X', "x")] }), vec!["a", "b"]),
        (json!({ "createdBy": [], "marketplace": [], "currencies": [] }), vec!["a", "b", "c"]),
    ] {
        let body = json!({ "tokenId": "1", "filter": filter });
        let answer = ask(&app, "Marketplace/ListListingsForCollectible", body.clone()).await.ok();
        assert_eq!(order_ids(&answer, "listings"), expected, "{filter}");
        let count = ask(&app, "Marketplace/GetCountOfListingsForCollectible", body.clone()).await.ok();
        assert_eq!(count["count"], expected.len(), "{filter}");
        let best = ask(&app, "Marketplace/GetHighestPriceListingForCollectible", body).await.ok();
        assert_eq!(best["order"]["orderId"].as_str(), expected.last().copied(), "{filter}");
    }
}
