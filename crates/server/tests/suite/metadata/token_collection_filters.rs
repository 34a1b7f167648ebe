//! The properties of a collection as filters to choose from.

use bourse_store::Change;
use serde_json::{Value, json};

use crate::marketplace::{ask, market};
use crate::support::TestApp;
use crate::support::seed::token_of;

const BOTH: [&str; 2] = ["Metadata/TokenCollectionFilters", "Metadata/GetTokenMetadataPropertyFilters"];

async fn four() -> TestApp {
    let token = |id: &str, name: &str, attributes: Value, properties: Value| {
        token_of(json!({ "tokenId": id, "name": name, "attributes": attributes, "properties": properties }))
    };
    market(vec![
        token(
            "1",
            "Axe",
            json!([{ "trait_type": "Metal", "value": "Tin" }]),
            json!({ "level": 3, "tags": ["a", "b"] }),
        ),
        token("2", "Bow", json!([{ "Metal": "Gold" }]), json!({ "level": -7, "tags": ["b"], "mixed": 1 })),
        token(
            "3",
            "Cup",
            json!([{ "name": "Metal", "value": "Tin" }]),
            json!({ "mixed": "one", "lit": true }),
        ),
        token("4", "Dye", Value::Null, Value::Null),
    ])
    .await
}

async fn filters(app: &TestApp, members: Value) -> Value {
    let [old, new] = [ask(app, BOTH[0], members.clone()).await.ok(), ask(app, BOTH[1], members).await.ok()];
    assert_eq!(old, new);
    old["filters"].clone()
}

#[tokio::test]
async fn kinds_bounds_and_values_sorted() {
    let app = four().await;
    let expected = json!([
        { "name": "Metal", "type": "STRING", "min": null, "max": null, "values": ["Gold", "Tin"] },
        { "name": "level", "type": "INT", "min": -7, "max": 3, "values": [] },
        { "name": "lit", "type": "GENERIC", "min": null, "max": null, "values": [true] },
        { "name": "mixed", "type": "GENERIC", "min": null, "max": null, "values": [1, "one"] },
        { "name": "tags", "type": "ARRAY", "min": null, "max": null, "values": ["a", "b"] },
    ]);
    assert_eq!(filters(&app, json!({})).await, expected);
}

#[tokio::test]
async fn properties_and_values_are_left_out_on_demand() {
    let app = four().await;
    let names = |filters: &Value| {
        filters.as_array().unwrap().iter().map(|filter| filter["name"].clone()).collect::<Vec<_>>()
    };
    let answer = filters(&app, json!({ "excludeProperties": ["Metal", "tags", "nothing"] })).await;
    assert_eq!(names(&answer), ["level", "lit", "mixed"]);
    let answer = filters(&app, json!({ "excludePropertyValues": true })).await;
    assert_eq!(names(&answer), ["Metal", "level", "lit", "mixed", "tags"]);
    assert!(answer.as_array().unwrap().iter().all(|filter| filter["values"] == json!([])), "{answer}");
    assert_eq!(answer[1]["max"], 3);
}

#[tokio::test]
async fn counts_are_of_the_tokens_that_the_filter_lets_through() {
    let app = four().await;
    let counts = async |filter: Value| {
        let answer = filters(&app, json!({ "includeCounts": true, "filter": filter })).await;
        (answer[0]["counts"].clone(), answer[4]["counts"].clone())
    };
    let count = |value: &str, count: u64| json!({ "value": value, "count": count });
    let (metal, tags) = counts(Value::Null).await;
    assert_eq!(metal, json!([count("Gold", 1), count("Tin", 2)]));
    assert_eq!(tags, json!([count("a", 1), count("b", 2)]));
    let level = json!([{ "name": "level", "type": "INT", "min": 0 }]);
    let (metal, tags) = counts(json!({ "properties": level })).await;
    assert_eq!(metal, json!([count("Gold", 0), count("Tin", 1)]));
    assert_eq!(tags, json!([count("a", 1), count("b", 1)]));
    let (metal, _) = counts(json!({ "text": "bow" })).await;
    assert_eq!(metal, json!([count("Gold", 1), count("Tin", 0)]));
    assert_eq!(filters(&app, json!({})).await[0].get("counts"), None);
}

#[tokio::test]
async fn very_many_values_are_not_listed_and_still_filter() {
    let token = |id: u64| {
        let few = if id <= 1_000 { json!({ "few": format!("v{id}") }) } else { json!({}) };
        let properties = crate::marketplace::with(few, json!({ "many": format!("v{id}") }));
        token_of(json!({ "tokenId": id.to_string(), "properties": properties }))
    };
    let app = market((1..=1_001).map(token).collect::<Vec<Change>>()).await;
    let answer = filters(&app, json!({})).await;
    assert_eq!((&answer[0]["name"], answer[0]["values"].as_array().unwrap().len()), (&json!("few"), 1_000));
    assert_eq!((&answer[1]["name"], &answer[1]["values"]), (&json!("many"), &json!([])));
    let many = json!([{ "name": "many", "type": "STRING", "values": ["v1001"] }]);
    let body = json!({ "filter": { "properties": many } });
    assert_eq!(ask(&app, "Metadata/SearchTokenIDs", body).await.ok()["tokenIds"], json!(["1001"]));
}
