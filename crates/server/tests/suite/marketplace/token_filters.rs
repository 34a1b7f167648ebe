//! Filters on tokens: text and owners.

use bourse_store::Change;
use serde_json::json;

use super::{ANA, BEN, balance, listed, listing, market, order, orders, token};
use crate::support::TestApp;

const NOBODY: &str = "0x00000000000000000000000000000000000000cc";

#[tokio::test]
async fn text_finds_names_in_any_case_and_composition_and_exact_ids() {
    let names = ["Divine Axe #160", "divine AXE #7", "Crème brûlée", "Ωμέγα", "刀 Katana", "160"];
    let mut changes: Vec<Change> = (1..).zip(names).map(|(id, name)| token(id, name)).collect();
    changes.push(token(160, "Plain"));
    let app = market(changes).await;
    for (text, expected) in [
        ("divine", vec!["1", "2"]),
        ("NE AX", vec!["1", "2"]),
        // Words in any order, each somewhere in the name.
        ("axe Divine", vec!["1", "2"]),
        (" #160  axe", vec!["1"]),
        ("axe 刀", vec![]),
        ("7 7", vec!["2"]),
        ("cre\u{300}me BRU\u{302}", vec!["3"]),
        ("ωΜΈ", vec!["4"]),
        ("刀", vec!["5"]),
        ("kat", vec!["5"]),
        // In a name, as a name, or as the id; an id only as a whole.
        ("160", vec!["1", "6", "160"]),
        ("16", vec!["1", "6"]),
        ("7", vec!["2"]),
        ("nowhere", vec![]),
        ("", vec!["1", "2", "3", "4", "5", "6", "160"]),
        ("  ", vec!["1", "2", "3", "4", "5", "6", "160"]),
    ] {
        let filter = json!({ "searchText": text, "includeEmpty": true });
        assert_eq!(listed(&app, filter).await, expected, "{text:?}");
    }
    let many = json!({ "searchText": "a ".repeat(17) });
    let answer = super::ask(&app, "Marketplace/ListCollectibles", json!({ "filter": many })).await;
    assert_eq!(answer.json["msg"], "filter.searchText: 17 words where at most 16 are allowed");
}

async fn held() -> TestApp {
    let mut changes: Vec<Change> = (1..=4).map(|id| order(listing(&id.to_string(), id, id))).collect();
    changes.extend([
        balance(1, ANA, 1),
        balance(2, ANA, 5),
        balance(2, BEN, 3),
        balance(3, BEN, 1),
        balance(4, ANA, 0),
    ]);
    // Listings of tokens that Ana does not hold are not there.
    changes.push(balance(3, ANA, 2));
    market(changes).await
}

#[tokio::test]
async fn owners() {
    let app = held().await;
    for (filter, with_listing, with_empty) in [
        (json!({ "inAccounts": [ANA] }), vec!["1", "2", "3"], vec!["1", "2", "3"]),
        (json!({ "inAccounts": [BEN.to_uppercase().replace('X', "x")] }), vec!["2", "3"], vec!["2", "3"]),
        (json!({ "inAccounts": [ANA, BEN] }), vec!["1", "2", "3"], vec!["1", "2", "3"]),
        (json!({ "inAccounts": [NOBODY] }), vec![], vec![]),
        (json!({ "inAccounts": [NOBODY, BEN] }), vec!["2", "3"], vec!["2", "3"]),
        (json!({ "notInAccounts": [BEN] }), vec!["1"], vec!["1", "4"]),
        (json!({ "notInAccounts": [NOBODY] }), vec!["1", "2", "3"], vec!["1", "2", "3", "4"]),
        (json!({ "inAccounts": [ANA], "notInAccounts": [BEN] }), vec!["1"], vec!["1"]),
        (json!({ "inAccounts": [], "notInAccounts": [] }), vec!["1", "2", "3"], vec!["1", "2", "3", "4"]),
    ] {
        assert_eq!(listed(&app, filter.clone()).await, with_listing, "{filter}");
        let filter = super::with(filter, json!({ "includeEmpty": true }));
        assert_eq!(listed(&app, filter.clone()).await, with_empty, "{filter}");
    }
}

#[tokio::test]
async fn filters_on_tokens_and_orders_hold_together() {
    let app = market(orders([listing("1", 1, 10), listing("2", 2, 20), listing("3", 3, 30)])).await;
    super::commit(&app.store, vec![token(1, "Sword"), token(2, "Sword"), token(3, "Shield")]).await;
    let price = json!([{ "contractAddress": super::COIN, "min": "15" }]);
    assert_eq!(listed(&app, json!({ "searchText": "sword", "prices": price })).await, ["2"]);
    let filter = json!({ "searchText": "sword", "prices": price, "includeEmpty": true });
    assert_eq!(listed(&app, filter).await, ["2", "1"]);
}
