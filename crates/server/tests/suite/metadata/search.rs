//! Tokens by text and properties.

use bourse_store::Change;
use serde_json::{Value, json};

use crate::marketplace::{ask, listing, market, order};
use crate::support::TestApp;
use crate::support::seed::token_of;

/// Token n is called Axe or Bow, has level n, and the first has an order.
async fn fifty() -> TestApp {
    let named = |id: u64| {
        let name = format!("{} #{id}", if id.is_multiple_of(2) { "Axe" } else { "Bow" });
        token_of(json!({ "tokenId": id.to_string(), "name": name, "attributes": [{ "level": id }] }))
    };
    let mut changes: Vec<Change> = (1..=50).map(named).collect();
    changes.push(order(listing("a", 1, 5)));
    market(changes).await
}

fn ids(answer: &Value) -> Vec<u64> {
    let tokens = answer["tokenMetadata"].as_array().unwrap().iter();
    tokens.map(|token| token["tokenId"].as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn metadata_by_text_and_properties() {
    let app = fifty().await;
    let search = async |body: Value| ask(&app, "Metadata/SearchTokenMetadata", body).await.ok();
    let answer = search(json!({ "filter": { "text": "AXE #1" } })).await;
    assert_eq!(ids(&answer), [10, 12, 14, 16, 18]);
    assert_eq!(answer["page"], json!({ "page": 1, "pageSize": 10, "more": false }));
    let expected = json!({ "tokenId": "10", "name": "Axe #10", "description": "", "image": "", "properties": null,
        "attributes": [{ "level": 10 }], "updatedAt": "0001-01-01T00:00:00Z", "source": "import", "status": "AVAILABLE" });
    assert_eq!(answer["tokenMetadata"][0], expected);
    let level = json!([{ "name": "level", "type": "INT", "min": 45, "max": 48 }]);
    assert_eq!(ids(&search(json!({ "filter": { "properties": level } })).await), [45, 46, 47, 48]);
    assert_eq!(ids(&search(json!({ "filter": { "text": "bow", "properties": level } })).await), [45, 47]);
    assert_eq!(ids(&search(json!({ "filter": { "text": "sabre" } })).await), Vec::<u64>::new());
}

#[tokio::test]
async fn ten_in_a_page_unless_asked_otherwise() {
    let app = fifty().await;
    let search = async |body: Value| ask(&app, "Metadata/SearchTokenMetadata", body).await.ok();
    let answer = search(json!({})).await;
    assert_eq!(ids(&answer), (1..=10).collect::<Vec<_>>());
    let page = &answer["page"];
    assert_eq!((&page["page"], &page["pageSize"], &page["more"]), (&json!(1), &json!(10), &json!(true)));
    // As the web client does: the number of the answer plus one.
    let answer = search(json!({ "page": { "page": 2, "pageSize": 30 } })).await;
    assert_eq!(ids(&answer), (31..=50).collect::<Vec<_>>());
    assert_eq!(answer["page"], json!({ "page": 2, "pageSize": 30, "more": false }));
    let answer = search(json!({ "page": { "pageSize": 1000 } })).await;
    assert_eq!((ids(&answer).len(), &answer["page"]["pageSize"]), (50, &json!(200)));
}

#[tokio::test]
async fn token_ids_are_found_alike() {
    let app = fifty().await;
    for filter in [json!({}), json!({ "text": "bow" }), json!({ "text": "7" })] {
        let body = json!({ "filter": filter, "page": { "pageSize": 40 } });
        let metadata = ask(&app, "Metadata/SearchTokenMetadata", body.clone()).await.ok();
        let answer = ask(&app, "Metadata/SearchTokenIDs", body).await.ok();
        let expected: Vec<String> = ids(&metadata).iter().map(u64::to_string).collect();
        assert_eq!(answer["tokenIds"], json!(expected), "{filter}");
        assert_eq!(answer["page"], metadata["page"]);
    }
}

#[tokio::test]
async fn descriptions_are_read_when_asked() {
    let described = |id: u64| {
        let description = format!("Found in {} by Ana", if id.is_multiple_of(3) { "Lisbon" } else { "Oslo" });
        token_of(json!({ "tokenId": id.to_string(), "name": format!("Axe #{id}"), "description": description,
            "attributes": [{ "level": id }] }))
    };
    let app = market((1..=20).map(described).collect()).await;
    let search = async |filter: Value, page: Value| {
        let body = json!({ "filter": filter, "page": page });
        let answer = ask(&app, "Metadata/SearchTokenMetadata", body.clone()).await.ok();
        let listed = ask(&app, "Metadata/SearchTokenIDs", body).await.ok();
        let expected: Vec<String> = ids(&answer).iter().map(u64::to_string).collect();
        assert_eq!(listed["tokenIds"], json!(expected));
        answer
    };
    let text = |text: &str| json!({ "text": text, "inDescriptions": true });
    assert_eq!(ids(&search(json!({ "text": "lisbon" }), json!({})).await), Vec::<u64>::new());
    assert_eq!(ids(&search(text("LISBON"), json!({})).await), [3, 6, 9, 12, 15, 18]);
    // In any order, in the name or in the description; and a number is still a token.
    assert_eq!(ids(&search(text("lisbon #1"), json!({})).await), [12, 15, 18]);
    assert_eq!(ids(&search(text("7"), json!({})).await), [7, 17]);
    assert_eq!(ids(&search(text("porto"), json!({})).await), Vec::<u64>::new());
    let mut level = text("oslo");
    level["properties"] = json!([{ "name": "level", "type": "INT", "min": 5, "max": 8 }]);
    assert_eq!(ids(&search(level, json!({})).await), [5, 7, 8]);
    let first = search(text("lisbon"), json!({ "pageSize": 4 })).await;
    assert_eq!((ids(&first), &first["page"]["more"]), (vec![3, 6, 9, 12], &json!(true)));
    let next = search(text("lisbon"), json!({ "pageSize": 4, "after": first["page"]["after"] })).await;
    assert_eq!((ids(&next), &next["page"]["more"]), (vec![15, 18], &json!(false)));
    assert_eq!(ids(&search(text("lisbon"), json!({ "pageSize": 4, "page": 2 })).await), [15, 18]);
}

/// However many tokens there are, a call reads so many descriptions and says where it stopped.
#[tokio::test]
async fn a_search_of_descriptions_stops_and_goes_on() {
    let described = |id: u64| {
        let description = if id == 5_000 { "a pearl" } else { "a stone" };
        token_of(json!({ "tokenId": id.to_string(), "name": "Find", "description": description }))
    };
    let app = market((1..=5_000).map(described).collect()).await;
    let search = async |page: Value| {
        let body = json!({ "filter": { "text": "pearl", "inDescriptions": true }, "page": page });
        ask(&app, "Metadata/SearchTokenMetadata", body).await
    };
    let first = search(json!({})).await.ok();
    assert_eq!((ids(&first), &first["page"]["more"]), (vec![], &json!(true)));
    let next = search(first["page"].clone()).await.ok();
    assert_eq!((ids(&next), &next["page"]["more"]), (vec![5_000], &json!(false)));
    assert_eq!(search(json!({ "page": 2 })).await.refusal(), (400, 2001));
}
