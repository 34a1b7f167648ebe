//! What docs/ingest.md says is so.

use serde_json::{Value, json};

use super::{put, taken};
use crate::support::TestApp;

const PAGE: &str = include_str!("../../../../../docs/ingest.md");

#[tokio::test]
async fn every_example_is_taken() {
    let app = TestApp::start().await;
    let mut examples = 0;
    for section in PAGE.split("\n## ").filter(|section| section.contains("```json\n")) {
        let operation = section.lines().next().unwrap();
        let example = section.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
        let body: Value = serde_json::from_str(example).unwrap();
        // The order that is cancelled cannot be invalidated as well.
        let changed = u64::from(operation != "InvalidateOrders");
        let expected = match operation {
            "TrackEvents" => json!({ "accepted": 1, "known": 0, "rejected": [], "replayed": false }),
            _ => taken(1, changed),
        };
        assert_eq!(put(&app, operation, body).await, expected, "{operation}");
        examples += 1;
    }
    assert_eq!(examples, 8);
}

#[test]
fn every_reason_is_explained() {
    let document = bourse_server::document();
    let reason = &document["components"]["schemas"]["RejectedRecord"]["properties"]["reason"];
    let words: Vec<&str> = reason["oneOf"]
        .as_array()
        .unwrap_or_else(|| panic!("{reason}"))
        .iter()
        .map(|word| word["const"].as_str().unwrap())
        .collect();
    assert!(words.contains(&"zero-price"), "{words:?}");
    for word in words {
        assert!(PAGE.contains(&format!("\n| `{word}` | ")), "docs/ingest.md lacks a row for {word}");
    }
}
