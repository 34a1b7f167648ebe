//! The tokens of contracts, and how much there is of each.

use serde_json::{Value, json};

use super::{ANNA, BEN, MASKS, held, hold};
use crate::support::market::whole;
use crate::support::seed::{RELICS, RELICS_MIXED, UNKNOWN};
use crate::support::transcript::Transcript;

const SUPPLIES: &str = "Indexer/GetTokenSupplies";
const RANGES: &str = "Indexer/GetTokenIDRanges";

#[tokio::test]
async fn of_contracts() {
    let app = held().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    let relics = json!({ "chainId": 137, "contractAddress": RELICS, "page": { "pageSize": 2 } });
    said.call(a, SUPPLIES, relics.clone()).await;
    said.call(a, "Indexer/GetTokenIDs", relics).await;
    let masks = json!({ "chainId": 137, "contractAddress": MASKS, "includeMetadata": true });
    said.call(a, SUPPLIES, masks).await;
    said.call(a, RANGES, json!({ "chainId": 137, "contractAddress": RELICS })).await;
    let map = json!({ RELICS_MIXED: ["10", "1", "77"], UNKNOWN: ["1"], MASKS: [] });
    said.call(a, "Indexer/GetTokenSuppliesMap", json!({ "chainId": 137, "tokenMap": map })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn page_by_page() {
    let app = held().await;
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    for size in 1..5 {
        let supplies = whole(&app, SUPPLIES, &body, "tokenIDs", size).await;
        let read = |row: &Value| (row["tokenID"].clone(), row["supply"].clone());
        let supplies: Vec<_> = supplies.iter().map(read).collect();
        assert_eq!(
            supplies[..3],
            [("1", "10"), ("2", "1"), ("10", "5")].map(|(id, supply)| (json!(id), json!(supply)))
        );
    }
}

#[tokio::test]
async fn after_a_change() {
    let app = held().await;
    let supply = async || {
        let map = json!({ RELICS: ["1"] });
        let body = json!({ "chainId": 137, "tokenMap": map });
        let answer = app.project_a.call("Indexer/GetTokenSuppliesMap", body).await.ok();
        answer["supplies"][RELICS][0]["supply"].clone()
    };
    assert_eq!(supply().await, "10");
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    hold(&app, 137, RELICS, &[("1", ANNA, most)]).await;
    assert_eq!(supply().await, most);
    hold(&app, 137, RELICS, &[("1", ANNA, "0"), ("1", BEN, "4")]).await;
    assert_eq!(supply().await, "4");
}

#[tokio::test]
async fn ranges() {
    let app = held().await;
    let tokens: Vec<String> =
        (20..60).filter(|token| token % 10 != 7).map(|token| token.to_string()).collect();
    let held: Vec<(&str, &str, &str)> = tokens.iter().map(|token| (token.as_str(), ANNA, "1")).collect();
    hold(&app, 137, MASKS, &held).await;
    let ranges = async |after: Option<&str>| {
        let body = json!({ "chainId": 137, "contractAddress": MASKS, "lastTokenID": after });
        let answer = app.project_a.call(RANGES, body).await.ok();
        assert_eq!((&answer["moreRanges"], &answer["contractType"]), (&json!(false), &json!("ERC721")));
        let ranges = answer["tokenIDRanges"].as_array().unwrap().clone();
        let text = |range: &Value| {
            format!("{}-{}", range["start"].as_str().unwrap(), range["end"].as_str().unwrap())
        };
        ranges.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(ranges(None).await, ["4-6", "20-26", "28-36", "38-46", "48-56", "58-59"]);
    assert_eq!(ranges(Some("30")).await, ["31-36", "38-46", "48-56", "58-59"]);
    assert_eq!(ranges(Some("59")).await, [""; 0]);
}
