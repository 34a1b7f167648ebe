//! Pages by number.

use serde_json::{Value, json};

use super::{ask, listing, market, order_ids, orders, token, tokens};
use crate::support::TestApp;

/// So many tokens, token n listed for n.
async fn many(count: u64) -> TestApp {
    market(orders((1..=count).map(|id| listing(&id.to_string(), id, id)))).await
}

async fn page(app: &TestApp, page: Value) -> Value {
    ask(app, "Marketplace/ListCollectibles", json!({ "side": "listing", "page": page })).await.ok()
}

fn numbers(from: u64, to: u64) -> Vec<String> {
    (from..=to).map(|number| number.to_string()).collect()
}

#[tokio::test]
async fn sizes_and_numbers_have_defaults_and_are_echoed() {
    let app = many(250).await;
    for (asked, number, size, first) in [
        (Value::Null, 1, 30, 1),
        (json!({}), 1, 30, 1),
        (json!({ "page": 0, "pageSize": 0 }), 1, 30, 1),
        (json!({ "page": 1 }), 1, 30, 1),
        (json!({ "page": 3 }), 3, 30, 61),
        (json!({ "pageSize": 100 }), 1, 100, 1),
        (json!({ "pageSize": 1000 }), 1, 200, 1),
        (json!({ "page": 2, "pageSize": 120 }), 2, 120, 121),
    ] {
        let answer = page(&app, asked.clone()).await;
        let shown = &answer["page"];
        assert_eq!((&shown["page"], &shown["pageSize"]), (&json!(number), &json!(size)), "{asked}");
        assert_eq!(tokens(&answer), numbers(first, first + size - 1), "{asked}");
        assert_eq!(shown["more"], true, "{asked}");
        assert_eq!(shown.get("sort"), None, "{asked}");
    }
}

#[tokio::test]
async fn more_is_exact() {
    let app = many(10).await;
    for (number, size, expected, more) in [
        (1, 10, numbers(1, 10), false),
        (1, 9, numbers(1, 9), true),
        (2, 9, numbers(10, 10), false),
        (2, 5, numbers(6, 10), false),
        (3, 5, Vec::new(), false),
        (1_000_000_000, 200, Vec::new(), false),
    ] {
        let answer = page(&app, json!({ "page": number, "pageSize": size })).await;
        assert_eq!(tokens(&answer), expected, "{number} of {size}");
        assert_eq!(answer["page"]["more"], more, "{number} of {size}");
        assert_eq!(answer["page"]["page"], number);
        assert_eq!(answer["page"].get("after").is_some(), more, "{number} of {size}");
    }
    let body = json!({ "side": "listing", "page": { "page": u64::MAX, "pageSize": 200 } });
    assert_eq!(ask(&app, "Marketplace/ListCollectibles", body).await.refusal(), (400, 2001));
    let body = json!({ "side": "listing", "page": { "page": -1 } });
    assert_eq!(ask(&app, "Marketplace/ListCollectibles", body).await.status, 400);
}

#[tokio::test]
async fn every_column_sorts_both_ways_and_unknown_ones_are_ignored() {
    let at = |order: Value, second: u64| {
        super::with(order, json!({ "createdAt": format!("2025-03-01T00:00:0{second}Z") }))
    };
    let mut changes =
        orders([at(listing("a", 1, 20), 1), at(listing("b", 2, 10), 3), at(listing("c", 10, 30), 2)]);
    changes.extend([token(1, "Charlie"), token(2, "bravo"), token(10, "Alpha")]);
    let app = market(changes).await;
    for (column, ascending) in [
        ("price", ["2", "1", "10"]),
        ("priceUSD", ["2", "1", "10"]),
        ("price_usd", ["2", "1", "10"]),
        ("createdAt", ["1", "10", "2"]),
        ("created_at", ["1", "10", "2"]),
        ("tokenId", ["1", "2", "10"]),
        ("token_id", ["1", "2", "10"]),
        ("name", ["10", "2", "1"]),
    ] {
        for (order, reverse) in [("ASC", false), ("DESC", true), ("desc", true), ("", false)] {
            let sort = json!([{ "column": column, "order": order }]);
            let answer = page(&app, json!({ "sort": sort })).await;
            let mut expected = ascending.to_vec();
            if reverse {
                expected.reverse();
            }
            assert_eq!(tokens(&answer), expected, "{sort}");
            assert_eq!(answer["page"]["sort"], sort);
        }
    }
    assert_eq!(page(&app, json!({ "sort": [] })).await["page"].get("sort"), None);
}

/// What is echoed was done.
#[tokio::test]
async fn a_sorting_that_cannot_be_done_is_refused_by_name() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let lists = "Marketplace/ListCollectibles";
    let of_one = "Marketplace/ListListingsForCollectible";
    let search = "Metadata/SearchTokenMetadata";
    for (operation, sort, expected) in [
        (
            lists,
            json!([{ "column": "rarity", "order": "DESC" }]),
            "page.sort[0].column: `rarity` is none of price, priceUSD, createdAt, tokenId, name",
        ),
        (
            lists,
            json!([{ "column": "name", "order": "up" }]),
            "page.sort[0].order: `up` is none of ASC, DESC",
        ),
        (
            lists,
            json!([{ "column": "name" }, { "column": "price" }]),
            "page.sort: 2 columns where rows are sorted by one",
        ),
        (
            of_one,
            json!([{ "column": "name" }]),
            "page.sort: name ASC where this list has price ASC, price DESC, createdAt ASC, createdAt DESC",
        ),
        (search, json!([{ "column": "name" }]), "page.sort: name ASC where this list has tokenId ASC"),
        (
            "Marketplace/ListCollectionActivities",
            json!([{ "column": "price" }]),
            "page.sort: price ASC where this list has createdAt DESC",
        ),
    ] {
        let body = json!({ "tokenId": "1", "page": { "sort": sort } });
        let answer = ask(&app, operation, body).await;
        assert_eq!(answer.refusal(), (400, 2001), "{operation}: {}", answer.json);
        assert_eq!(answer.json["msg"], expected, "{operation}");
    }
    let by_id = json!({ "page": { "sort": [{ "column": "token_id", "order": "asc" }] } });
    assert_eq!(
        ask(&app, search, by_id).await.ok()["page"]["sort"],
        json!([{ "column": "token_id", "order": "asc" }])
    );
}

#[tokio::test]
async fn listings_of_one_collectible_have_pages_too() {
    let app = market(orders((1..=70).map(|price| listing(&format!("{price:02}"), 1, price)))).await;
    let list = async |page: Value| {
        let body = json!({ "tokenId": "1", "page": page });
        ask(&app, "Marketplace/ListListingsForCollectible", body).await.ok()
    };
    let answer = list(Value::Null).await;
    assert_eq!(answer["listings"].as_array().unwrap().len(), 30);
    let answer = list(json!({ "page": 3 })).await;
    assert_eq!(order_ids(&answer, "listings").len(), 10);
    assert_eq!(answer["page"], json!({ "page": 3, "pageSize": 30, "more": false }));
    let answer = list(json!({ "pageSize": 2, "sort": [{ "column": "price", "order": "DESC" }] })).await;
    assert_eq!(order_ids(&answer, "listings"), ["70", "69"]);
    assert_eq!(list(json!({ "page": 99 })).await["listings"], json!([]));
}

/// By id and by name, tokens without an order are among the others, however few a filter leaves.
#[tokio::test]
async fn tokens_without_an_order_are_among_the_others_by_id_and_name() {
    let mut changes = orders([listing("a", 2, 20)]);
    changes.extend([token(1, "Axe"), token(2, "Bee"), token(3, "Cue")]);
    let app = market(changes).await;
    for text in ["", "e"] {
        for (column, expected) in
            [("tokenId", ["1", "2", "3"]), ("name", ["1", "2", "3"]), ("price", ["2", "1", "3"])]
        {
            let filter = json!({ "includeEmpty": true, "searchText": text });
            let body =
                json!({ "side": "listing", "filter": filter, "page": { "sort": [{ "column": column }] } });
            let answer = ask(&app, "Marketplace/ListCollectibles", body).await.ok();
            assert_eq!(tokens(&answer), expected, "{column} {text:?}");
        }
    }
}
