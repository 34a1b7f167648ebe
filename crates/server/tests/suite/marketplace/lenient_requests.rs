//! Requests as existing clients write them.

use serde_json::{Value, json};

use super::{ANA, ask, listing, market, offer, orders};
use crate::support::seed::{RELICS, RELICS_MIXED};

/// The Go client sends every member, null when it has nothing to say.
#[tokio::test]
async fn nulls_are_absent() {
    let app = market(orders([listing("a", 1, 5), offer("b", 1, 3)])).await;
    let nothing = json!({ "includeEmpty": false, "searchText": "", "properties": null, "marketplaces": null,
        "inAccounts": null, "notInAccounts": null, "ordersCreatedBy": null, "ordersNotCreatedBy": null,
        "inCurrencyAddresses": null, "notInCurrencyAddresses": null, "prices": null });
    let expected = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok();
    let page = json!({ "page": null, "pageSize": null, "more": null, "sort": null, "after": null });
    for (filter, page) in [
        (Value::Null, Value::Null),
        (nothing.clone(), Value::Null),
        (json!({}), json!({})),
        (nothing.clone(), page.clone()),
        (
            json!({ "includeEmpty": null, "searchText": null }),
            json!({ "page": 0, "pageSize": 0, "sort": [] }),
        ),
    ] {
        let body = json!({ "side": "listing", "filter": filter, "page": page });
        assert_eq!(ask(&app, "Marketplace/ListCollectibles", body.clone()).await.ok(), expected, "{body}");
        let floor = ask(&app, "Marketplace/GetFloorOrder", body.clone()).await.ok();
        assert_eq!(floor["collectible"], expected["collectibles"][0]);
        let count = ask(&app, "Marketplace/GetCountOfFilteredCollectibles", body).await.ok();
        assert_eq!(count["count"], 1);
    }
    let filter = json!({ "createdBy": null, "marketplace": null, "currencies": null });
    for filter in [Value::Null, filter] {
        let body = json!({ "tokenId": 1, "filter": filter, "page": null });
        let answer = ask(&app, "Marketplace/ListListingsForCollectible", body).await.ok();
        assert_eq!(answer["listings"][0]["orderId"], "a");
    }
    let search = json!({ "filter": null, "page": null });
    let answer = ask(&app, "Metadata/SearchTokenMetadata", search).await.ok();
    assert_eq!(answer["tokenMetadata"].as_array().unwrap().len(), 1);
    let facets = json!({ "excludeProperties": null, "excludePropertyValues": null, "filter": null });
    assert_eq!(ask(&app, "Metadata/TokenCollectionFilters", facets).await.ok(), json!({ "filters": [] }));
}

#[tokio::test]
async fn names_in_any_case_and_unknown_members() {
    let app = market(orders([listing("a", 1, 5), listing("b", 2, 6)])).await;
    for body in [
        json!({ "chainID": "137", "contractAddress": RELICS_MIXED, "side": "listing",
            "filter": { "orders_created_by": [ANA], "inAccounts": [] }, "page": { "PageSize": "1", "page": "1" } }),
        json!({ "CHAINID": 137, "contract_address": RELICS, "Side": "listing", "query": { "enabled": true },
            "filter": { "colour": null, "ORDERSCREATEDBY": [ANA] }, "page": { "page_size": 1, "column": "x" } }),
        json!({ "chainId": "Polygon", "contractaddress": RELICS, "side": "listing", "filter": { "searchtext": "1" },
            "page": { "pagesize": 1 } }),
    ] {
        let answer = app.project_a.key.call("Marketplace/ListCollectibles", body.clone()).await.ok();
        assert_eq!(super::tokens(&answer), ["1"], "{body}");
        assert_eq!(answer["page"]["pageSize"], 1, "{body}");
    }
}

/// A typo in a filter would have everything.
#[tokio::test]
async fn unknown_members_of_filters_are_refused_by_name() {
    let app = market(orders([listing("a", 1, 5), listing("b", 2, 6)])).await;
    for (operation, filter, member) in [
        ("Marketplace/ListCollectibles", json!({ "colour": "red" }), "filter.colour"),
        ("Marketplace/GetFloorOrder", json!({ "inAcounts": [ANA] }), "filter.inAcounts"),
        (
            "Marketplace/ListCollectibles",
            json!({ "prices": [{ "contractAddress": RELICS, "least": "1" }] }),
            "filter.prices.[0].least",
        ),
        ("Marketplace/ListListingsForCollectible", json!({ "maker": [ANA] }), "filter.maker"),
        ("Metadata/SearchTokenMetadata", json!({ "searchText": "axe" }), "filter.searchText"),
    ] {
        let body = json!({ "contractAddress": RELICS, "chainId": "137", "side": "listing", "tokenId": "1", "filter": filter });
        let answer = app.project_a.key.call(operation, body).await;
        assert_eq!(answer.refusal(), (400, 2001), "{operation}: {}", answer.json);
        let message = answer.json["msg"].as_str().unwrap();
        assert!(message.replace(".[", "[").starts_with(&member.replace(".[", "[")), "{message}");
        assert!(message.contains("is not known: there are "), "{message}");
    }
}

/// Some clients send all members that they know, with what asks for nothing.
#[tokio::test]
async fn members_of_filters_that_ask_for_nothing_are_ignored() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let filter = json!({ "includeEmpty": false, "searchText": "", "properties": [], "least": 0 });
    let body = json!({ "contractAddress": RELICS, "chainId": "137", "tokenId": "1", "filter": filter });
    let answer = app.project_a.key.call("Marketplace/ListListingsForCollectible", body).await.ok();
    assert_eq!(answer["listings"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_chain_in_the_path_in_the_body_or_in_both() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let key = &app.project_a.key;
    for (operation, members) in [
        ("Marketplace/ListCollectibles", json!({ "side": "listing" })),
        ("Marketplace/GetFloorOrder", json!({})),
        ("Marketplace/ListListingsForCollectible", json!({ "tokenId": "1" })),
        ("Metadata/SearchTokenMetadata", json!({})),
    ] {
        let post = async |prefix: &str, chain: Value| {
            let body = super::with(json!({ "contractAddress": RELICS, "chainId": chain }), members.clone());
            key.post(&format!("{prefix}/rpc/{operation}"), body.to_string()).await
        };
        let expected = post("", json!("137")).await.ok();
        assert_eq!(post("/polygon", Value::Null).await.ok(), expected, "{operation}");
        assert_eq!(post("/Polygon", json!(137)).await.ok(), expected, "{operation}");
        assert_eq!(post("/amoy", json!(137)).await.refusal(), (400, 2001), "{operation}");
        assert_eq!(post("", Value::Null).await.refusal(), (400, 2001), "{operation}");
        // The client of the marketplace has no word for it.
        let unknown = (400, if operation.starts_with("Metadata/") { 3003 } else { 2001 });
        assert_eq!(post("", json!("atlantis")).await.refusal(), unknown, "{operation}");
        assert_eq!(post("/atlantis", Value::Null).await.refusal(), unknown, "{operation}");
    }
}
