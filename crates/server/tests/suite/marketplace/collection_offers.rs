//! Offers for any token of a collection: each token has them beside its own.

use serde_json::{Value, json};

use super::{
    ANA, SHELL, ask, balance, commit, listing, market, offer, order_ids, orders, slots, token, tokens, with,
};
use crate::support::TestApp;
use crate::support::seed::RELICS;

/// An offer for any token.
fn for_any(id: &str, price: u64) -> Value {
    with(offer(id, 1, price), json!({ "tokenId": null }))
}

/// Token 1 has the best offer of all, 2 one that nobody would take by now, 3 one at the same price, and 4 none.
async fn offered() -> TestApp {
    let mut changes = orders([
        for_any("any", 9),
        for_any("any, less", 4),
        offer("1", 1, 12),
        offer("2", 2, 3),
        offer("0 of 3", 3, 9),
        listing("sold", 2, 50),
    ]);
    changes.extend([token(4, "four"), balance(2, ANA, 1)]);
    market(changes).await
}

async fn offers_of(app: &TestApp, token: u64, members: Value) -> Vec<String> {
    let body = with(json!({ "tokenId": token.to_string() }), members);
    let answer = ask(app, "Marketplace/ListOffersForCollectible", body.clone()).await.ok();
    let count = ask(app, "Marketplace/GetCountOfOffersForCollectible", body).await.ok();
    let found = order_ids(&answer, "offers");
    assert_eq!(count["count"], found.len());
    found
}

async fn rows(app: &TestApp, side: &str, members: Value) -> Value {
    let body = with(json!({ "side": side }), members);
    let answer = ask(app, "Marketplace/ListCollectibles", body.clone()).await.ok();
    let count = ask(app, "Marketplace/GetCountOfFilteredCollectibles", body).await.ok();
    assert_eq!(count["count"], answer["collectibles"].as_array().unwrap().len());
    answer
}

#[tokio::test]
async fn every_token_has_them_among_its_own() {
    let app = offered().await;
    for (token, expected) in [
        (1, vec!["1", "any", "any, less"]),
        (2, vec!["any", "any, less", "2"]),
        (3, vec!["0 of 3", "any", "any, less"]),
        (4, vec!["any", "any, less"]),
        // One that nobody named yet may be there all the same.
        (77, vec!["any", "any, less"]),
    ] {
        assert_eq!(offers_of(&app, token, json!({})).await, expected, "{token}");
        let body = json!({ "tokenId": token.to_string() });
        let best = ask(&app, "Marketplace/GetHighestPriceOfferForCollectible", body.clone()).await.ok();
        assert_eq!(best["order"]["orderId"], expected[0], "{token}");
        let older = ask(&app, "Marketplace/GetCollectibleHighestOffer", body.clone()).await.ok();
        assert_eq!(older, best);
        let least = ask(&app, "Marketplace/GetLowestPriceOfferForCollectible", body.clone()).await.ok();
        assert_eq!(least["order"]["orderId"], expected[expected.len() - 1], "{token}");
        // What tells them apart is that they are for no token.
        let answer = ask(&app, "Marketplace/ListOffersForCollectible", body).await.ok();
        for offer in answer["offers"].as_array().unwrap() {
            let is_any = offer["orderId"].as_str().unwrap().starts_with("any");
            assert_eq!((offer["tokenId"].is_null(), offer["collectibleId"] == 0), (is_any, is_any));
        }
    }
    let listings = ask(&app, "Marketplace/ListListingsForCollectible", json!({ "tokenId": "4" })).await.ok();
    assert_eq!(listings["listings"], json!([]));
}

#[tokio::test]
async fn filters_and_pages_hold_for_them_too() {
    let app = offered().await;
    commit(&app.store, orders([with(for_any("any of ana", 6), json!({ "createdBy": ANA }))])).await;
    let of_ana = json!({ "filter": { "createdBy": [ANA] } });
    assert_eq!(offers_of(&app, 1, of_ana).await, ["any of ana"]);
    assert_eq!(offers_of(&app, 1, json!({ "filter": { "marketplace": ["blur"] } })).await, [""; 0]);
    let mut page = json!({ "pageSize": 1 });
    let mut found = Vec::new();
    while found.len() < 9 {
        let body = json!({ "tokenId": "2", "page": page });
        let answer = ask(&app, "Marketplace/ListOffersForCollectible", body).await.ok();
        found.extend(order_ids(&answer, "offers"));
        if answer["page"]["more"] == json!(false) {
            break;
        }
        page = answer["page"].clone();
    }
    assert_eq!(found, ["any", "any of ana", "any, less", "2"]);
    let row = rows(&app, "offer", json!({ "filter": { "ordersCreatedBy": [ANA], "searchText": "1" } })).await;
    assert_eq!(slots(&row["collectibles"][0]), [Some("any of ana"), None, Some("any of ana")]);
}

#[tokio::test]
async fn the_best_of_them_is_the_least_that_any_token_is_offered() {
    let app = offered().await;
    let offers = rows(&app, "offer", json!({})).await;
    // What is offered the same comes by token id.
    assert_eq!(tokens(&offers), ["1", "2", "3", "4"]);
    let shown: Vec<_> = offers["collectibles"].as_array().unwrap().iter().map(slots).collect();
    assert_eq!(
        shown,
        [
            [Some("1"), None, Some("1")],
            [Some("any"), Some("sold"), Some("any")],
            [Some("0 of 3"), None, Some("0 of 3")],
            [Some("any"), None, Some("any")],
        ]
    );
    let either = rows(&app, "unknown", json!({})).await;
    assert_eq!(tokens(&either), ["2", "1", "3", "4"]);
    assert_eq!(slots(&either["collectibles"][0]), [Some("sold"), Some("sold"), Some("any")]);
    // Listings are what they were, but for the offer beside them.
    let listed = rows(&app, "listing", json!({})).await;
    assert_eq!(tokens(&listed), ["2"]);
    assert_eq!(slots(&listed["collectibles"][0]), [Some("sold"), Some("sold"), Some("any")]);
    let floor = ask(&app, "Marketplace/GetFloorOrder", json!({})).await.ok();
    assert_eq!(slots(&floor["collectible"]), [Some("sold"), Some("sold"), Some("any")]);
    let highest = ask(&app, "Marketplace/ListCollectiblesWithHighestOffer", json!({})).await.ok();
    assert_eq!(tokens(&highest), ["1", "2", "3", "4"]);
    let upward = json!({ "page": { "sort": [{ "column": "price", "order": "ASC" }] } });
    assert_eq!(tokens(&rows(&app, "offer", upward).await), ["4", "3", "2", "1"]);
}

#[tokio::test]
async fn they_come_and_end_like_any_order() {
    let app = offered().await;
    let now_and_then = json!({ "validFrom": "2025-03-14T12:00:10Z", "validUntil": "2025-03-14T12:00:20Z",
        "quantityInitial": "5", "quantityRemaining": "3" });
    commit(&app.store, orders([with(for_any("any, for a while", 20), now_and_then)])).await;
    let best = async || {
        let answer =
            ask(&app, "Marketplace/GetHighestPriceOfferForCollectible", json!({ "tokenId": "1" })).await.ok();
        answer["order"].clone()
    };
    assert_eq!(best().await["orderId"], "1");
    app.clock.advance(10);
    let order = best().await;
    assert_eq!((&order["orderId"], &order["quantityAvailable"]), (&json!("any, for a while"), &json!("3")));
    assert_eq!(slots(&rows(&app, "offer", json!({})).await["collectibles"][3])[0], Some("any, for a while"));
    app.clock.advance(10);
    assert_eq!(best().await["orderId"], "1");
    let end = async |operation: &str, id: &str| {
        let order = json!({ "chainId": 137, "marketplace": "opensea", "orderId": id,
            "collectionContractAddress": RELICS });
        app.project_a.call(&format!("Ingest/{operation}"), json!({ "orders": [order] })).await.ok();
    };
    end("CancelOrders", "any").await;
    assert_eq!(offers_of(&app, 4, json!({})).await, ["any, less"]);
    end("InvalidateOrders", "any, less").await;
    assert_eq!(offers_of(&app, 4, json!({})).await, [""; 0]);
    assert_eq!(tokens(&rows(&app, "offer", json!({})).await), ["1", "3", "2"]);
}

#[tokio::test]
async fn one_of_which_nobody_knows_the_worth_comes_last() {
    let app = offered().await;
    let unpriced = with(for_any("any, in shells", 1), json!({ "priceCurrencyAddress": SHELL }));
    commit(&app.store, orders([unpriced])).await;
    assert_eq!(offers_of(&app, 4, json!({})).await, ["any", "any, less", "any, in shells"]);
    let shells = json!({ "filter": { "inCurrencyAddresses": [SHELL] } });
    assert_eq!(tokens(&rows(&app, "offer", shells).await), ["1", "2", "3", "4"]);
}
