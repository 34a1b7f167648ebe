//! The orders of a whole collection: each by itself, however many its token has.

use serde_json::{Value, json};

use super::{
    ANA, BEN, COIN, DOLLAR, SHELL, ask, balance, listing, market, offer, order_ids, orders, token, with,
};
use crate::support::TestApp;
use crate::support::market::{put, whole};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const LIST: &str = "Marketplace/ListOrdersWithCollectibles";

/// An offer for any token.
fn for_any(id: &str, price: u64) -> Value {
    with(offer(id, 1, price), json!({ "tokenId": null }))
}

/// Token 1 with several orders of each side, 2 with one of each, 3 with none, and offers for any.
async fn open() -> TestApp {
    let mut changes = orders([
        listing("dear", 1, 50),
        listing("cheap", 1, 20),
        listing("middle", 2, 30),
        with(listing("in dollars", 2, 25), json!({ "priceCurrencyAddress": DOLLAR })),
        with(listing("elsewhere", 1, 21), json!({ "marketplace": "blur", "createdBy": BEN })),
        offer("low", 1, 5),
        offer("high", 1, 10),
        offer("lone", 2, 7),
        for_any("any", 8),
        for_any("any, less", 1),
    ]);
    changes.extend([
        token(3, "three"),
        balance(1, ANA, 9),
        balance(2, ANA, 9),
        balance(3, ANA, 9),
        balance(1, BEN, 9),
    ]);
    market(changes).await
}

/// The ids of a page's orders, each of which is in its place.
fn listed(rows: &[Value]) -> Vec<String> {
    let id = |row: &Value| {
        let order = &row["order"];
        let (mine, other) =
            if order["side"] == "listing" { ("listing", "offer") } else { ("offer", "listing") };
        assert_eq!((&row[mine], &row[other]), (order, &Value::Null));
        let token = if order["tokenId"].is_null() { json!("") } else { order["tokenId"].clone() };
        assert_eq!(row["metadata"]["tokenId"], token, "{order}");
        order["orderId"].as_str().unwrap().to_owned()
    };
    rows.iter().map(id).collect()
}

async fn found(app: &TestApp, side: &str, filter: Value, sort: Option<[&str; 2]>) -> Vec<String> {
    let body = json!({ "chainId": 137, "contractAddress": RELICS, "side": side, "filter": filter });
    let sort = sort.map(|[column, order]| json!([{ "column": column, "order": order }]));
    let asked = with(body.clone(), json!({ "page": { "pageSize": 100, "sort": sort } }));
    let rows = app.project_a.call(LIST, asked).await.ok()["collectibles"].as_array().unwrap().clone();
    let count = ask(app, "Marketplace/GetCountOfFilteredOrders", body).await.ok();
    assert_eq!(count["count"], rows.len(), "{side}");
    listed(&rows)
}

#[tokio::test]
async fn each_side_by_itself_and_both_as_one() {
    let app = open().await;
    let all = async |side| found(&app, side, json!({}), None).await;
    let listings = all("listing").await;
    assert_eq!(listings.len(), 5);
    assert_eq!(all("offer").await, ["high", "any", "lone", "low", "any, less"]);
    let mut both = found(&app, "unknown", json!({}), Some(["price", "ASC"])).await;
    assert_eq!(both.len(), 10);
    both.retain(|id| listings.contains(id));
    assert_eq!(both, listings);
    let turned = |mut ids: Vec<String>| {
        ids.reverse();
        ids
    };
    assert_eq!(found(&app, "listing", json!({}), Some(["price", "DESC"])).await, turned(listings.clone()));
    for (side, count) in [("listing", 5), ("offer", 5), ("unknown", 10)] {
        let answer = ask(&app, "Marketplace/GetCountOfAllOrders", json!({ "side": side })).await.ok();
        assert_eq!(answer["count"], count, "{side}");
    }
}

#[tokio::test]
async fn by_when_they_were_first_seen() {
    let app = open().await;
    app.clock.advance(1);
    let late = json!({ "orders": [listing("late", 3, 1), for_any("late offer", 3)] });
    put(&app, "PutOrders", late).await;
    let newest = found(&app, "unknown", json!({}), Some(["createdAt", "DESC"])).await;
    assert_eq!(newest.len(), 12);
    let mut late = newest[..2].to_vec();
    late.sort();
    assert_eq!(late, ["late", "late offer"]);
    let oldest = found(&app, "offer", json!({}), Some(["createdAt", "ASC"])).await;
    assert_eq!(oldest.last().map(String::as_str), Some("late offer"));
}

#[tokio::test]
async fn filters_ask_for_orders_and_for_tokens() {
    let app = open().await;
    let listings = async |filter| found(&app, "listing", filter, None).await;
    assert_eq!(listings(json!({ "marketplaces": ["blur"] })).await, ["elsewhere"]);
    assert_eq!(listings(json!({ "ordersCreatedBy": [BEN] })).await, ["elsewhere"]);
    assert_eq!(listings(json!({ "inCurrencyAddresses": [DOLLAR] })).await, ["in dollars"]);
    let price = json!({ "contractAddress": COIN, "min": "20", "max": "30" });
    assert_eq!(listings(json!({ "prices": [price] })).await, ["cheap", "elsewhere", "middle"]);
    // An offer for any token buys the tokens that are asked for, when there are any.
    let offers = async |filter| found(&app, "offer", filter, None).await;
    assert_eq!(offers(json!({ "searchText": "2" })).await, ["any", "lone", "any, less"]);
    assert_eq!(offers(json!({ "inAccounts": [BEN] })).await, ["high", "any", "low", "any, less"]);
    assert_eq!(offers(json!({ "searchText": "nothing is called this" })).await, [""; 0]);
}

#[tokio::test]
async fn pages_are_the_whole_list() {
    let app = open().await;
    for sort in [["price", "ASC"], ["price", "DESC"], ["createdAt", "ASC"], ["createdAt", "DESC"]] {
        for side in ["listing", "offer", "unknown"] {
            let expected = found(&app, side, json!({}), Some(sort)).await;
            for size in [1, 2, 3, 7] {
                let body = json!({ "chainId": 137, "contractAddress": RELICS, "side": side });
                let pages = pages(&app, body, sort, size).await;
                assert_eq!(pages, expected, "{side} by {sort:?}, {size} at a time");
            }
        }
    }
}

/// All pages one after another, each from where the last one ended.
async fn pages(app: &TestApp, mut body: Value, [column, order]: [&str; 2], size: u64) -> Vec<String> {
    let mut ids = Vec::new();
    body["page"] = json!({ "pageSize": size, "sort": [{ "column": column, "order": order }] });
    loop {
        let answer = app.project_a.call(LIST, body.clone()).await.ok();
        ids.extend(listed(answer["collectibles"].as_array().unwrap()));
        if answer["page"]["more"] != true {
            return ids;
        }
        body["page"] = answer["page"].clone();
    }
}

#[tokio::test]
async fn without_tokens() {
    let app = open().await;
    for (operation, member, side) in
        [("ListListings", "listings", "listing"), ("ListOffers", "offers", "offer")]
    {
        let operation = format!("Marketplace/{operation}");
        let body = json!({ "chainId": 137, "contractAddress": RELICS });
        let all = whole(&app, &operation, &body, member, 2).await;
        let ids: Vec<&str> = all.iter().map(|order| order["orderId"].as_str().unwrap()).collect();
        assert_eq!(ids, found(&app, side, json!({}), None).await);
        let asked = json!({ "filter": { "createdBy": [BEN], "marketplace": ["blur"] } });
        let answer = ask(&app, &operation, asked).await.ok();
        let expected: &[&str] = if side == "listing" { &["elsewhere"] } else { &[] };
        assert_eq!(order_ids(&answer, member), expected);
    }
}

#[tokio::test]
async fn answers() {
    let changes = orders([listing("77", 1, 5_000), for_any("0xab", 3_000), listing("78", 2, 6_000)]);
    let app = market(changes).await;
    let mut said = Transcript::default();
    let page = json!({ "pageSize": 1, "sort": [{ "column": "price", "order": "DESC" }] });
    for (operation, side) in [
        ("ListOrdersWithCollectibles", Some("unknown")),
        ("ListOrdersWithCollectibles", Some("offer")),
        ("ListListings", None),
        ("ListOffers", None),
        ("GetCountOfAllOrders", Some("unknown")),
        ("GetCountOfFilteredOrders", Some("listing")),
        ("GetCollectionActiveListingsCurrencies", None),
        ("GetCollectionActiveOffersCurrencies", None),
    ] {
        let mut body = json!({ "chainId": 137, "contractAddress": RELICS });
        if operation.starts_with("List") {
            body["page"] = page.clone();
        }
        if let Some(side) = side {
            body["side"] = json!(side);
        }
        said.call(&app.project_a, &format!("Marketplace/{operation}"), body).await;
    }
    for operation in
        ["ListOrdersWithCollectibles", "GetCountOfAllOrders", "GetCollectionActiveOffersCurrencies"]
    {
        let body = json!({ "chainId": 137, "contractAddress": UNKNOWN });
        said.call(&app.project_a, &format!("Marketplace/{operation}"), body).await;
    }
    let by_name = json!({ "sort": [{ "column": "name", "order": "ASC" }] });
    let body = json!({ "chainId": 137, "contractAddress": RELICS, "page": by_name });
    said.call(&app.project_a, "Marketplace/ListListings", body).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn currencies_are_those_of_active_orders() {
    let app = open().await;
    let currencies = async |kind: &str| {
        let operation = format!("Marketplace/GetCollectionActive{kind}Currencies");
        let answer = ask(&app, &operation, json!({})).await.ok();
        let all = answer["currencies"].as_array().unwrap().iter();
        all.map(|currency| currency["contractAddress"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(currencies("Listings").await.contains(&DOLLAR.to_owned()));
    assert!(!currencies("Offers").await.contains(&DOLLAR.to_owned()));
    let offered = with(for_any("in shells", 2), json!({ "priceCurrencyAddress": SHELL }));
    let before = currencies("Offers").await.len();
    put(&app, "PutOrders", json!({ "orders": [offered] })).await;
    assert_eq!(currencies("Offers").await.len(), before + 1);
}

#[tokio::test]
async fn orders_are_asked_about_again_without_a_word_of_what_became_of_them() {
    let app = open().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let name =
        |id: &str| json!({ "collectionContractAddress": RELICS, "orderId": id, "marketplace": "opensea" });
    let order =
        with(name("cheap"), json!({ "status": "filled", "priceAmount": "1", "unknown": { "member": [] } }));
    said.call(a, "Marketplace/SyncOrder", json!({ "chainId": 137, "order": order })).await;
    let several = json!([
        name("dear"),
        name("nobody knows it"),
        with(name("low"), json!({ "marketplace": "nowhere" }))
    ]);
    said.call(a, "Marketplace/SyncOrders", json!({ "chainId": 137, "orders": several })).await;
    said.call(a, "Marketplace/SyncOrders", json!({ "chainId": 137, "orders": vec![name("dear"); 201] }))
        .await;
    said.call(a, "Marketplace/SyncOrder", json!({ "chainId": 137 })).await;
    insta::assert_snapshot!(said.text());
    assert_eq!(found(&app, "listing", json!({}), None).await.len(), 5, "an order is what is known of it");
}
