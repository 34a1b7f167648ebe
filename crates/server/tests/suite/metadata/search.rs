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
