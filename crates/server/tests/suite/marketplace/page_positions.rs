//! Going on exactly where a page ended.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{ask, listing, market, offer, order_ids, orders, token, tokens, with};
use crate::support::TestApp;
use crate::support::seed::RELICS;

const LIST: &str = "Marketplace/ListCollectibles";

/// Twenty tokens: 1 to 12 with a listing, two of them at one price each; 7 to 16 with an offer; all with names.
async fn twenty() -> TestApp {
    let at = |number: u64| json!({ "createdAt": format!("2025-03-01T00:00:{:02}Z", number % 7) });
    let listings = (1..=12).map(|id| with(listing(&format!("l{id}"), id, 10 + id / 2), at(id)));
    let offers = (7..=16).map(|id| with(offer(&format!("o{id}"), id, 5 + id / 3), at(id)));
    let mut changes = orders(listings.chain(offers));
    changes.extend((1..=20).map(|id| token(id, ["Axe", "Bow", "Cup"][usize::try_from(id % 3).unwrap()])));
    market(changes).await
}

/// Sends every answer's page back unchanged until there is no more; what was on the pages.
async fn read_on(
    app: &TestApp,
    operation: &str,
    mut body: Value,
    items: impl Fn(&Value) -> Vec<String>,
) -> Vec<String> {
    let mut all = Vec::new();
    for number in 1..=100 {
        let answer = ask(app, operation, body.clone()).await.ok();
        assert_eq!(answer["page"]["page"], number, "{body}");
        all.extend(items(&answer));
        if answer["page"]["more"] == false {
            return all;
        }
        body["page"] = answer["page"].clone();
    }
    panic!("{body} has no end")
}

#[tokio::test]
async fn the_answers_page_sent_back_unchanged_is_the_next_page() {
    let app = twenty().await;
    let mut ways = vec![Value::Null];
    for column in ["price", "createdAt", "tokenId", "name"] {
        ways.extend(["ASC", "DESC"].map(|order| json!([{ "column": column, "order": order }])));
    }
    for side in ["listing", "offer", "unknown"] {
        for filter in [
            json!({}),
            json!({ "includeEmpty": true }),
            json!({ "marketplaces": ["opensea"], "includeEmpty": true }),
        ] {
            for sort in &ways {
                let body = |size| json!({ "side": side, "filter": filter, "page": { "pageSize": size, "sort": sort } });
                let whole = tokens(&ask(&app, LIST, body(200)).await.ok());
                for size in [1, 3, 7] {
                    assert_eq!(read_on(&app, LIST, body(size), tokens).await, whole, "{}", body(size));
                }
            }
        }
    }
}

#[tokio::test]
async fn orders_and_searches_go_on_too() {
    let app = twenty().await;
    super::commit(&app.store, orders((1..=9).map(|id| listing(&format!("more {id}"), 1, 11 + id % 2)))).await;
    for sort in [
        Value::Null,
        json!([{ "column": "created_at", "order": "DESC" }]),
        json!([{ "column": "price", "order": "DESC" }]),
    ] {
        let body = |size| json!({ "tokenId": "1", "page": { "pageSize": size, "sort": sort } });
        let list = "Marketplace/ListListingsForCollectible";
        let items = |answer: &Value| order_ids(answer, "listings");
        let whole = items(&ask(&app, list, body(200)).await.ok());
        assert_eq!(whole.len(), 10);
        assert_eq!(read_on(&app, list, body(3), items).await, whole, "{sort}");
    }
    let body = |size| json!({ "filter": { "text": "o" }, "page": { "pageSize": size } });
    let ids = |answer: &Value| serde_json::from_value::<Vec<String>>(answer["tokenIds"].clone()).unwrap();
    let whole = ids(&ask(&app, "Metadata/SearchTokenIDs", body(200)).await.ok());
    assert_eq!(read_on(&app, "Metadata/SearchTokenIDs", body(2), ids).await, whole);
}

#[tokio::test]
async fn after_wins_over_the_page_number() {
    let app = twenty().await;
    let first = ask(&app, LIST, json!({ "side": "listing", "page": { "pageSize": 4 } })).await.ok();
    let after = &first["page"]["after"];
    for number in [0, 1, 2, 99] {
        let page = json!({ "page": number, "pageSize": 4, "more": true, "after": after });
        let second = ask(&app, LIST, json!({ "side": "listing", "page": page })).await.ok();
        assert_eq!(second["page"]["page"], 2);
        let numbered = json!({ "side": "listing", "page": { "page": 2, "pageSize": 4 } });
        assert_eq!(second, ask(&app, LIST, numbered).await.ok());
    }
}

#[tokio::test]
async fn what_is_not_an_after_is_refused() {
    let app = twenty().await;
    let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let garbage = [
        "2",
        "????",
        "null",
        &encoded("{}"),
        &encoded("[1]"),
        &encoded(r#"{"p":1,"g":0,"t":"x","k":"t"}"#),
        "🗝",
    ];
    for after in garbage {
        for (operation, members) in [
            (LIST, json!({ "side": "listing" })),
            ("Marketplace/ListListingsForCollectible", json!({ "tokenId": "1" })),
            ("Metadata/SearchTokenMetadata", json!({})),
        ] {
            let body = with(members, json!({ "page": { "after": after } }));
            let refused = ask(&app, operation, body).await;
            assert_eq!(refused.refusal(), (400, 2001), "{operation} {after}");
            assert_eq!(refused.json["msg"], "page.after: not the `after` of an earlier answer");
        }
    }
    // One that was changed by hand may lead anywhere, but not astray.
    let page = json!({ "pageSize": 1, "sort": [{ "column": "tokenId" }] });
    let first = ask(&app, LIST, json!({ "side": "listing", "page": page })).await.ok();
    let after = URL_SAFE_NO_PAD.decode(first["page"]["after"].as_str().unwrap()).unwrap();
    let changed = String::from_utf8(after).unwrap().replacen(":2,", &format!(":{},", u64::MAX), 1);
    let page = with(page, json!({ "after": encoded(&changed) }));
    let answer = ask(&app, LIST, json!({ "side": "listing", "page": page })).await.ok();
    assert_eq!((tokens(&answer), &answer["page"]["page"]), (vec!["2".into()], &json!(u64::MAX)));
}

#[tokio::test]
async fn the_after_of_another_list_is_refused() {
    let app = twenty().await;
    super::commit(&app.store, orders([listing("more", 1, 11)])).await;
    let listings = "Marketplace/ListListingsForCollectible";
    let sorted = |column: &str| json!([{ "column": column }]);
    let body = |sort: &Value, after: &Value| json!({ "side": "listing", "tokenId": "1", "page": { "pageSize": 1, "sort": sort, "after": after } });
    let lists = [
        (LIST, Value::Null),
        (LIST, sorted("createdAt")),
        (LIST, sorted("tokenId")),
        (LIST, sorted("name")),
        (listings, Value::Null),
        (listings, sorted("createdAt")),
    ];
    for (index, (operation, sort)) in lists.iter().enumerate() {
        let first = ask(&app, operation, body(sort, &Value::Null)).await.ok();
        for (other_index, (other, other_sort)) in lists.iter().enumerate() {
            let answer = ask(&app, other, body(other_sort, &first["page"]["after"])).await;
            if index == other_index {
                answer.ok();
            } else {
                assert_eq!(answer.refusal(), (400, 2001), "{operation} {sort} {other} {other_sort}");
            }
        }
    }
}

async fn put_orders(app: &TestApp, orders: &[Value]) {
    app.project_a.call("Ingest/PutOrders", json!({ "orders": orders })).await.ok();
}

async fn cancel(app: &TestApp, id: &str) {
    let order = json!({ "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": id });
    app.project_a.call("Ingest/CancelOrders", json!({ "chainId": 137, "orders": [order] })).await.ok();
}

/// While orders come and go between the pages, what stays is neither skipped nor repeated.
#[tokio::test]
async fn what_does_not_change_is_seen_exactly_once() {
    for sort in
        [Value::Null, json!([{ "column": "price", "order": "DESC" }]), json!([{ "column": "createdAt" }])]
    {
        let app = market(orders((1..=40).map(|id| listing(&format!("l{id}"), id, 1000 + id)))).await;
        let mut body = json!({ "side": "listing", "page": { "pageSize": 4, "sort": sort } });
        let (mut seen, mut changed) = (Vec::new(), BTreeSet::new());
        for round in 0.. {
            let answer = ask(&app, LIST, body.clone()).await.ok();
            let page = tokens(&answer);
            // The first of the page goes, and the last, which the next page begins after.
            for gone in [page.first(), page.last()].into_iter().flatten() {
                changed.insert(gone.clone());
                cancel(&app, &format!("l{gone}")).await;
            }
            seen.extend(page);
            // New ones come before all, after all and in the middle.
            let new = [1, 1020, 5000].map(|price| (100 + round * 3 + price % 7, price + round));
            let new: Vec<Value> =
                new.iter().map(|(id, price)| listing(&format!("l{id}"), *id, *price)).collect();
            changed.extend((100..400).map(|id| id.to_string()));
            put_orders(&app, &new).await;
            if answer["page"]["more"] == false {
                break;
            }
            assert!(round < 100, "no end");
            body["page"] = answer["page"].clone();
        }
        let mut stayed: Vec<u64> =
            seen.iter().filter(|id| !changed.contains(*id)).map(|id| id.parse().unwrap()).collect();
        stayed.sort_unstable();
        let expected: Vec<u64> = (1..=40).filter(|id| !changed.contains(&id.to_string())).collect();
        assert_eq!(stayed, expected, "{sort}");
        let distinct: BTreeSet<&String> = seen.iter().filter(|id| id.len() < 3).collect();
        assert_eq!(distinct.len(), 40, "{sort}: every token that was there at its turn was seen");
    }
}
