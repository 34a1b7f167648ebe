//! Filters on properties.

use serde_json::{Value, json};

use super::{listed, market};
use crate::support::TestApp;
use crate::support::seed::token_of;

/// The same kinds of property from attributes in both shapes and from properties.
async fn four() -> TestApp {
    let token = |id: &str, attributes: Value, properties: Value| {
        token_of(json!({ "tokenId": id, "attributes": attributes, "properties": properties }))
    };
    market(vec![
        token(
            "1",
            json!([{ "trait_type": "Metal", "value": "Bronze" }, { "level": 1 }]),
            json!({ "tags": ["old", "red"], "lit": true }),
        ),
        token(
            "2",
            json!([{ "name": "Metal", "value": "Silver" }, { "level": 5 }]),
            json!({ "tags": ["new"], "lit": false }),
        ),
        token(
            "3",
            json!([{ "Metal": "Gold" }]),
            json!({ "level": -3, "tags": [], "lit": { "value": true } }),
        ),
        token(
            "4",
            json!(null),
            json!({ "Metal": "bronze", "level": { "name": "level", "value": 9 }, "size": 1.5 }),
        ),
    ])
    .await
}

async fn check(app: &TestApp, properties: Value, expected: &[&str]) {
    let filter = json!({ "properties": properties, "includeEmpty": true });
    assert_eq!(listed(app, filter).await, expected, "{properties}");
}

#[tokio::test]
async fn texts_match_exactly_and_bounds_mean_nothing_to_them() {
    let app = four().await;
    let metal = |values: Value| json!([{ "name": "Metal", "type": "STRING", "values": values }]);
    check(&app, metal(json!(["Bronze"])), &["1"]).await;
    check(&app, metal(json!(["Bronze", "Gold", "Tin"])), &["1", "3"]).await;
    check(&app, metal(json!(["Tin"])), &[]).await;
    // Without values, having it is enough.
    check(&app, metal(json!([])), &["1", "2", "3", "4"]).await;
    check(&app, metal(Value::Null), &["1", "2", "3", "4"]).await;
    // As Unity sends it.
    let unity = json!([{ "name": "Metal", "type": "STRING", "min": 0, "max": 0, "values": ["Silver"] }]);
    check(&app, unity, &["2"]).await;
    let other_name = json!([{ "name": "metal", "type": "STRING", "values": ["Bronze"] }]);
    check(&app, other_name, &[]).await;
}

#[tokio::test]
async fn whole_numbers_lie_within_bounds_or_equal_values() {
    let app = four().await;
    let level = |bounds: Value| json!([super::with(json!({ "name": "level", "type": "INT" }), bounds)]);
    for (bounds, expected) in [
        (json!({ "min": 1, "max": 5 }), vec!["1", "2"]),
        (json!({ "min": 2 }), vec!["2", "4"]),
        (json!({ "max": 1 }), vec!["1", "3"]),
        (json!({ "min": 5, "max": 5 }), vec!["2"]),
        (json!({ "min": 1.0, "max": 1.0 }), vec!["1"]),
        (json!({ "min": null, "max": null, "values": null }), vec!["1", "2", "3", "4"]),
        (json!({ "min": 6, "max": 5 }), vec![]),
        (json!({ "min": i64::MIN, "max": i64::MAX }), vec!["1", "2", "3", "4"]),
        (json!({ "values": [1, 9] }), vec!["1", "4"]),
        (json!({ "min": 2, "values": [1, 9] }), vec!["4"]),
    ] {
        check(&app, level(bounds), &expected).await;
    }
    check(&app, json!([{ "name": "Metal", "type": "INT", "min": 0 }]), &[]).await;
}

#[tokio::test]
async fn lists_contain_and_anything_equals() {
    let app = four().await;
    let of =
        |name: &str, kind: &str, values: Value| json!([{ "name": name, "type": kind, "values": values }]);
    check(&app, of("tags", "ARRAY", json!(["old"])), &["1"]).await;
    check(&app, of("tags", "ARRAY", json!(["new", "red"])), &["1", "2"]).await;
    check(&app, of("lit", "GENERIC", json!([true])), &["1", "3"]).await;
    check(&app, of("lit", "GENERIC", json!([])), &["1", "2", "3"]).await;
    check(&app, of("size", "GENERIC", json!([1.5])), &["4"]).await;
    check(&app, of("nothing", "GENERIC", json!([])), &[]).await;
}

#[tokio::test]
async fn all_filters_must_hold() {
    let app = four().await;
    let metal = json!({ "name": "Metal", "type": "STRING", "values": ["Bronze", "Silver"] });
    let level = json!({ "name": "level", "type": "INT", "min": 2 });
    check(&app, json!([metal, level]), &["2"]).await;
    let levels =
        json!([{ "name": "level", "type": "INT", "min": 0 }, { "name": "level", "type": "INT", "max": 4 }]);
    check(&app, levels, &["1"]).await;
    let gone = json!({ "name": "level", "type": "INT", "min": 100 });
    check(&app, json!([metal, gone]), &[]).await;
}

/// A number may come as a text, and what is no whole number is in no range.
#[tokio::test]
async fn whole_numbers_come_as_texts_too() {
    let app = four().await;
    let level = |members: Value| json!([super::with(json!({ "name": "level", "type": "INT" }), members)]);
    check(&app, level(json!({ "min": "1", "max": "5" })), &["1", "2"]).await;
    check(&app, level(json!({ "min": "-3", "max": 1.0 })), &["1", "3"]).await;
    check(&app, level(json!({ "values": ["5", 9] })), &["2", "4"]).await;
    let size = json!([{ "name": "size", "type": "INT", "min": 1, "max": 2 }]);
    check(&app, size, &[]).await;
}
