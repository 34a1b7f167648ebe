//! Which price is lower.

use serde_json::{Value, json};

use super::{COIN, DOLLAR, SHELL, ask, listed, listing, market, offer, order_ids, orders, tokens, with};
use crate::support::TestApp;

/// 10^18 base units of [`COIN`] are worth two US dollars, and so are 2·10^6 of [`DOLLAR`].
const ONE_COIN: u64 = 1_000_000_000_000_000_000;

fn in_dollars(order: Value) -> Value {
    with(order, json!({ "priceCurrencyAddress": DOLLAR }))
}

fn in_shells(order: Value) -> Value {
    with(order, json!({ "priceCurrencyAddress": SHELL }))
}

/// Listings of 1.5, 2 and 3 dollars, of a hair less than 2, and two that nobody can value.
async fn currencies() -> TestApp {
    market(orders([
        in_shells(listing("shell 1", 6, 1)),
        in_shells(listing("shell 2", 5, 2)),
        in_dollars(listing("3 dollars", 1, 3_000_000)),
        listing("a hair less than 2 dollars", 2, ONE_COIN - 1),
        in_dollars(listing("2 dollars", 3, 2_000_000)),
        in_dollars(listing("1.5 dollars", 4, 1_500_000)),
        in_shells(offer("shell offer", 4, u64::MAX)),
        offer("2 dollars offered", 6, ONE_COIN),
        in_dollars(offer("1 dollar offered", 5, 1_000_000)),
    ]))
    .await
}

#[tokio::test]
async fn prices_of_several_currencies_compare_by_what_they_are_worth() {
    let app = currencies().await;
    // A hair less is exactly less, where a float sees a tie. Without a rate: last.
    assert_eq!(listed(&app, json!({})).await, ["4", "2", "3", "1", "6", "5"]);
    let offers = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "offer" })).await.ok();
    assert_eq!(tokens(&offers), ["6", "5", "4"]);
    let floor = ask(&app, "Marketplace/GetFloorOrder", json!({})).await.ok();
    assert_eq!(floor["collectible"]["order"]["orderId"], "1.5 dollars");
    assert_eq!(floor["collectible"]["listing"], floor["collectible"]["order"]);
}

#[tokio::test]
async fn sorting_backwards_leaves_the_unpriced_last() {
    let app = currencies().await;
    for column in ["price", "priceUSD", "price_usd"] {
        let sort = json!([{ "column": column, "order": "DESC" }]);
        let body = json!({ "side": "listing", "page": { "sort": sort } });
        let answer = ask(&app, "Marketplace/ListCollectibles", body).await.ok();
        let tokens = tokens(&answer);
        assert_eq!(tokens[..4], ["1", "3", "2", "4"], "{column}");
        assert_eq!(answer["page"]["sort"], sort);
    }
}

#[tokio::test]
async fn what_nobody_can_value_is_no_floor_unless_nothing_else_is_asked_for() {
    let app = currencies().await;
    let floor =
        async |filter: Value| ask(&app, "Marketplace/GetFloorOrder", json!({ "filter": filter })).await;
    let id = |answer: Value| answer["collectible"]["order"]["orderId"].clone();
    let only_shells = json!({ "inCurrencyAddresses": [SHELL] });
    assert_eq!(id(floor(only_shells).await.ok()), "shell 1");
    let no_other = json!({ "notInCurrencyAddresses": [COIN, DOLLAR] });
    assert_eq!(id(floor(no_other).await.ok()), "shell 1");
    let by_price = json!({ "prices": [{ "contractAddress": SHELL, "min": "2" }] });
    assert_eq!(id(floor(by_price).await.ok()), "shell 2");
    // Only tokens with shells are left, but the filter would let other currencies through.
    let others_too = json!({ "searchText": "5" });
    let refused = floor(others_too.clone()).await;
    assert_eq!((refused.refusal(), &refused.json["error"]), ((400, 2000), &json!("NotFound")));
    assert_eq!(listed(&app, others_too).await, ["5"]);
    assert_eq!(
        floor(json!({ "inCurrencyAddresses": [SHELL, COIN], "searchText": "5" })).await.refusal(),
        (400, 2000)
    );
}

#[tokio::test]
async fn the_best_of_one_collectible() {
    let app = market(orders([
        in_shells(listing("shell", 1, u64::MAX)),
        listing("2 dollars", 1, ONE_COIN),
        in_dollars(listing("3 dollars", 1, 3_000_000)),
        in_shells(offer("shell offer", 1, u64::MAX)),
        in_dollars(offer("1 dollar", 1, 1_000_000)),
        offer("a hair more", 1, ONE_COIN / 2 + 1),
        offer("2 alone", 2, 7),
    ]))
    .await;
    for (operation, token, best) in [
        ("GetHighestPriceListingForCollectible", "1", json!("3 dollars")),
        ("GetLowestPriceListingForCollectible", "1", json!("2 dollars")),
        ("GetHighestPriceOfferForCollectible", "1", json!("a hair more")),
        ("GetLowestPriceOfferForCollectible", "1", json!("1 dollar")),
        ("GetHighestPriceListingForCollectible", "2", Value::Null),
        ("GetLowestPriceOfferForCollectible", "404", Value::Null),
    ] {
        let answer = ask(&app, &format!("Marketplace/{operation}"), json!({ "tokenId": token })).await.ok();
        assert!(answer.as_object().unwrap().contains_key("order"), "{operation}");
        assert_eq!(answer["order"]["orderId"], best, "{operation} {token}");
    }
    let answer = ask(&app, "Marketplace/ListListingsForCollectible", json!({ "tokenId": "1" })).await.ok();
    assert_eq!(order_ids(&answer, "listings"), ["2 dollars", "3 dollars", "shell"]);
    let answer = ask(&app, "Marketplace/ListOffersForCollectible", json!({ "tokenId": "1" })).await.ok();
    assert_eq!(order_ids(&answer, "offers"), ["a hair more", "1 dollar", "shell offer"]);
}

#[tokio::test]
async fn prices_are_per_unit() {
    let many = json!({ "quantityInitial": "1000" });
    let app = market(orders([with(listing("many", 1, 9), many), listing("one", 2, 10)])).await;
    assert_eq!(listed(&app, json!({})).await, ["1", "2"]);
    let floor = ask(&app, "Marketplace/GetFloorOrder", json!({})).await.ok();
    assert_eq!(floor["collectible"]["order"]["priceAmount"], "9");
}

#[tokio::test]
async fn equal_prices_come_by_token_id() {
    let app = market(orders([10, 9, 100, 1].map(|token| listing(&token.to_string(), token, 5)))).await;
    assert_eq!(listed(&app, json!({})).await, ["1", "9", "10", "100"]);
}

/// The tokens of all pages that go on with `after`, and of all by their numbers, which must be the same.
async fn of_both_sides(app: &TestApp, sort: &Value, filter: &Value) -> Vec<String> {
    let body = json!({ "side": "unknown", "filter": filter, "page": { "sort": sort, "pageSize": 2 } });
    let (mut found, mut body, mut number) = (Vec::new(), body, 0);
    loop {
        let answer = ask(app, "Marketplace/ListCollectibles", body.clone()).await.ok();
        number += 1;
        body["page"] = json!({ "sort": sort, "pageSize": 2, "page": number });
        let numbered = ask(app, "Marketplace/ListCollectibles", body.clone()).await.ok();
        assert_eq!(tokens(&numbered), tokens(&answer), "page {number} of {sort}");
        found.extend(tokens(&answer));
        if answer["page"]["more"] == false {
            return found;
        }
        body["page"]["after"] = answer["page"]["after"].clone();
    }
}

#[tokio::test]
async fn both_sides_are_one_list_where_an_order_is_asked_for() {
    let app = market(orders([
        in_dollars(listing("1 dollar", 1, 1_000_000)),
        in_dollars(offer("2 dollars offered", 2, 2_000_000)),
        in_dollars(listing("3 dollars", 3, 3_000_000)),
        in_dollars(offer("4 dollars offered", 4, 4_000_000)),
        in_dollars(listing("5 dollars", 5, 5_000_000)),
        in_dollars(offer("nothing for what is listed", 5, 1)),
        in_shells(offer("shell offer", 6, 1)),
        in_shells(listing("shell", 7, 1)),
    ]))
    .await;
    let by = |column: &str, order: &str| json!([{ "column": column, "order": order }]);
    let none = json!({});
    assert_eq!(of_both_sides(&app, &by("price", "ASC"), &none).await, ["1", "2", "3", "4", "5", "7", "6"]);
    assert_eq!(of_both_sides(&app, &by("price", "DESC"), &none).await, ["5", "4", "3", "2", "1", "7", "6"]);
    // Where nothing is said, what can be bought comes first.
    assert_eq!(of_both_sides(&app, &json!([]), &none).await, ["1", "3", "5", "7", "4", "2", "6"]);
    let dollars = json!({ "inCurrencyAddresses": [DOLLAR] });
    assert_eq!(of_both_sides(&app, &by("price", "DESC"), &dollars).await, ["5", "4", "3", "2", "1"]);
    let oldest = of_both_sides(&app, &by("createdAt", "ASC"), &none).await;
    let mut newest = of_both_sides(&app, &by("createdAt", "DESC"), &none).await;
    newest.reverse();
    assert_eq!(oldest.len(), 7);
    assert_eq!(newest.len(), 7);
}
