//! Orders as the contracts of the service's own marketplaces have them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::orders::{ANA, BEN, COIN, DOLLAR, balance, listing, market, orders, with};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const ORDERS: &str = "Indexer/GetMarketplaceOrders";
const TOP: &str = "Indexer/GetMarketplaceTopOrders";
/// The second of the service's own marketplaces, and the first.
const CONTRACT: &str = "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712";
const BEFORE: &str = "0xb537a160472183f2150d42eb1c3dd6684a55f74c";
const YESTERDAY: &str = "2025-03-13T12:00:00Z";
/// Noon of the day on which tests begin.
const NOON: u64 = 1_741_953_600;

/// A listing at the second marketplace, with other members.
fn own(id: &str, token: u64, price: u64, other: Value) -> Value {
    with(with(listing(id, token, price), json!({ "marketplace": "bourse_marketplace_v2" })), other)
}

/// One order of each kind.
async fn traded() -> TestApp {
    let made = json!({ "orderCreatedAt": YESTERDAY, "blockNumber": 7 });
    let mut changes = orders([
        own("1", 1, 50, made),
        own("2", 1, 20, json!({ "createdBy": BEN })),
        own("3", 2, 30, json!({ "priceCurrencyAddress": DOLLAR })),
        own("4", 2, 10, json!({ "status": "cancelled" })),
        own("5", 2, 11, json!({ "status": "filled", "quantityRemaining": "0" })),
        own("6", 2, 12, json!({ "validUntil": YESTERDAY })),
        own("7", 1, 5, json!({ "side": "offer", "createdBy": BEN })),
        own("8", 1, 9, json!({ "side": "offer", "createdBy": BEN })),
        own("9", 2, 1, json!({ "marketplace": "bourse_marketplace_v1" })),
        listing("10", 2, 2),
    ]);
    changes.extend([balance(1, ANA, 9), balance(2, ANA, 9), balance(1, BEN, 9)]);
    market(changes).await
}

fn asked(contract: &str, collection: &str, filter: &Value) -> Value {
    json!({ "chainId": "polygon", "marketplaceContractAddress": contract, "collectionAddress": collection, "filter": filter })
}

fn asked_before(members: Value) -> Value {
    let place = json!({ "chainId": 137, "orderbookContractAddress": CONTRACT, "collectionAddress": RELICS });
    with(place, members)
}

#[tokio::test]
async fn whatever_became_of_them_and_the_best_of_each_token() {
    let app = traded().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    said.call(a, ORDERS, asked(CONTRACT, RELICS, &json!({ "tokenIds": ["2"], "returnExpired": true }))).await;
    said.call(a, ORDERS, asked(BEFORE, RELICS, &Value::Null)).await;
    let best = json!({ "currencyAddresses": [], "tokenIds": ["2", "1", "77"], "isListing": true, "priceSort": "ASC" });
    said.call(a, TOP, asked(CONTRACT, RELICS, &best)).await;
    let offers = json!({ "filters": [{ "isListing": false }], "orderStatuses": ["OPEN"] });
    said.call(a, "Indexer/GetOrderbookOrders", asked_before(offers)).await;
    let before = json!({ "tokenIDs": ["1"], "isListing": false, "priceSort": "DESC" });
    said.call(a, "Indexer/GetTopOrders", asked_before(before)).await;
    said.call(a, ORDERS, asked(ANA, RELICS, &json!({}))).await;
    said.call(a, ORDERS, asked(CONTRACT, UNKNOWN, &json!({}))).await;
    said.call(a, ORDERS, asked(CONTRACT, RELICS, &json!({ "orderStatuses": ["GONE"] }))).await;
    said.call(a, TOP, asked(CONTRACT, RELICS, &with(best, json!({ "tokenIds": [] })))).await;
    insta::assert_snapshot!(said.text());
}

fn names(answer: &Value) -> Vec<String> {
    let orders = answer["orders"].as_array().unwrap_or_else(|| panic!("no orders: {answer}"));
    orders.iter().map(|order| order["orderId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_asked_for_and_nothing_else() {
    let app = traded().await;
    let found =
        async |filter: Value| names(&app.project_a.call(ORDERS, asked(CONTRACT, RELICS, &filter)).await.ok());
    assert_eq!(found(json!({})).await, ["1", "2", "3", "4", "5", "7", "8"]);
    assert_eq!(found(json!({ "isListing": false })).await, ["7", "8"]);
    assert_eq!(found(json!({ "userAddresses": [BEN], "isListing": true })).await, ["2"]);
    assert_eq!(found(json!({ "excludeUserAddresses": [BEN], "orderStatuses": ["OPEN"] })).await, ["1", "3"]);
    assert_eq!(found(json!({ "currencyAddresses": [DOLLAR] })).await, ["3"]);
    assert_eq!(found(json!({ "orderStatuses": ["CLOSED", "CANCELLED"] })).await, ["4", "5"]);
    assert_eq!(found(json!({ "orderIds": ["5", "2", "77", "9"] })).await, ["2", "5"]);
    assert_eq!(found(json!({ "blockNumberGt": 6 })).await, ["1"]);
    assert!(found(json!({ "blockNumberGt": 7 })).await.is_empty());
    assert!(!found(json!({ "createdAtAfter": NOON - 86_400 })).await.contains(&"1".to_owned()));
    assert!(found(json!({ "createdAtAfter": NOON - 86_401 })).await.contains(&"1".to_owned()));
}

#[tokio::test]
async fn older_clients_are_answered_the_same() {
    let app = traded().await;
    let found = async |members: Value| {
        names(&app.project_a.call("Indexer/GetOrderbookOrders", asked_before(members)).await.ok())
    };
    assert_eq!(found(json!({})).await.len(), 8);
    assert!(!found(json!({ "beforeExpiryTimestamp": NOON })).await.contains(&"6".to_owned()));
    let filters =
        json!([{ "isListing": false, "tokenIds": ["1"] }, { "userAddress": ANA, "tokenIds": ["2"] }]);
    let open = json!({ "filters": filters, "orderStatuses": ["OPEN"], "currencyAddresses": [COIN] });
    assert_eq!(found(open).await, ["6", "7", "8"]);
    assert_eq!(found(json!({ "filters": [{ "excludeUserAddress": ANA }] })).await, ["2", "7", "8"]);
}

#[tokio::test]
async fn the_best_by_either_order() {
    let app = traded().await;
    let top = async |members: Value| {
        let filter = with(json!({ "tokenIds": ["1", "2"], "isListing": true, "priceSort": "ASC" }), members);
        let now = app.project_a.call(TOP, asked(CONTRACT, RELICS, &filter)).await.ok();
        let mut before = filter;
        before["tokenIDs"] = before["tokenIds"].take();
        let before = app.project_a.call("Indexer/GetTopOrders", asked_before(before)).await.ok();
        assert_eq!(now, before);
        names(&now)
    };
    // 20 coins are worth less than 30 dollars' worth of base units, as coins have more decimals.
    assert_eq!(top(json!({})).await, ["2", "3"]);
    assert_eq!(top(json!({ "priceSort": "DESC" })).await, ["3", "1"]);
    assert_eq!(top(json!({ "excludeUser": BEN })).await, ["1", "3"]);
    assert_eq!(top(json!({ "isListing": false, "priceSort": "DESC" })).await, ["8"]);
    assert_eq!(top(json!({ "isListing": false })).await, ["7"]);
    assert_eq!(top(json!({ "currencyAddresses": [COIN] })).await, ["2"]);
}

/// More than one call looks at, of which few are asked for.
#[tokio::test]
async fn pages_of_very_many() {
    let of = |number: u64| {
        let other = json!({ "createdBy": if number.is_multiple_of(97) { BEN } else { ANA } });
        own(&number.to_string(), number % 13, 5, other)
    };
    let app = market(orders((0..2_600).map(of))).await;
    for (filter, size, wanted) in [
        (json!({}), 999, (0..2_600).collect::<Vec<u64>>()),
        (json!({ "userAddresses": [BEN] }), 7, (0..2_600).step_by(97).collect()),
        (
            json!({ "userAddresses": [BEN], "tokenIds": ["1"] }),
            5,
            (0..2_600).step_by(97).filter(|n| n % 13 == 1).collect(),
        ),
        (json!({ "orderIds": ["7", "8", "9", "10"] }), 3, vec![7, 8, 9, 10]),
    ] {
        let (mut found, mut page) = (Vec::new(), json!({ "pageSize": size }));
        loop {
            let body = with(asked(CONTRACT, RELICS, &filter), json!({ "page": page }));
            let answer = app.project_a.call(ORDERS, body).await.ok();
            found.extend(names(&answer));
            if answer["page"]["more"] == false {
                break;
            }
            page = json!({ "pageSize": size, "after": answer["page"]["after"] });
        }
        let names: BTreeSet<String> = wanted.iter().map(u64::to_string).collect();
        // Each once, in the order of texts.
        assert_eq!(found, names.into_iter().collect::<Vec<_>>(), "{filter}");
    }
    let by_number = |page: u64| {
        with(asked(CONTRACT, RELICS, &json!({})), json!({ "page": { "page": page, "pageSize": 10 } }))
    };
    let third = names(&app.project_a.call(ORDERS, by_number(3)).await.ok());
    assert_eq!(third.first().map(String::as_str), Some("1015"));
    let answer = app.project_a.call(ORDERS, by_number(250)).await;
    assert!(answer.status == 400 && answer.text().contains("page.page"), "{}", answer.text());
}
