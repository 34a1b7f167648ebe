//! The table of marketplaces is one: what is answered, what is documented and what is spoken.

use bourse_protocols::venues::{profiles, table};
use bourse_wire::ServiceName;
use serde_json::{Value, json};

use super::{text, venues};

#[tokio::test]
async fn marketplaces_are_those_of_the_table() {
    let app = venues().await;
    let answer = app.project_a.key.call("Marketplace/SupportedMarketplaces", json!({})).await.ok();
    let service = ServiceName::new("bourse");
    let known: Value = profiles().iter().map(|profile| profile.marketplace.word(&service)).collect();
    assert_eq!(answer, json!({ "marketplaces": known }));
    let documented = include_str!("../../../../../docs/marketplaces.md");
    // Behind the names of the columns.
    let rows: Vec<&str> = documented.lines().filter(|line| line.starts_with("| `")).skip(1).collect();
    let expected = table(&service);
    let expected: Vec<&str> = expected.lines().skip(2).collect();
    assert_eq!(rows, expected);
    for (row, word) in rows.iter().zip(known.as_array().unwrap()) {
        assert!(row.starts_with(&format!("| `{}` |", text(word))), "{row}");
    }
}
