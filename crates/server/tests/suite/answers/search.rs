//! Tokens and contracts across collections.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::{put, put_order, whole};
use crate::support::seed::{self, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const TOKENS: &str = "Metadata/SearchTokens";
const CONTRACTS: &str = "Metadata/SearchContracts";

/// Contract and token id of each token.
fn places(tokens: &[Value]) -> Vec<(&str, &str)> {
    fn text(value: &Value) -> &str {
        value.as_str().unwrap()
    }
    tokens.iter().map(|token| (text(&token["contractAddress"]), text(&token["tokenId"]))).collect()
}

fn names(contracts: &[Value]) -> Vec<&str> {
    contracts.iter().map(|contract| contract["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tokens() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    seed::tokens(&app.store, UNKNOWN, 8..12, "Étoile relic").await;
    let elsewhere = json!([{ "contractAddress": RELICS, "tokenId": "3", "name": "Relic of another chain" }]);
    put(&app, "PutTokens", json!({ "chainId": 1, "tokens": elsewhere })).await;
    put_order(&app, "1", json!({ "tokenId": "5" })).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    said.call(a, TOKENS, json!({ "chainID": "polygon", "q": "PLAIN" })).await;
    said.call(a, TOKENS, json!({ "chainID": "polygon", "q": "e\u{301}TOI", "page": { "pageSize": 2 } }))
        .await;
    said.call(a, TOKENS, json!({ "chainID": "polygon", "q": "nothing has this" })).await;
    said.call(a, TOKENS, json!({ "chainID": "optimism", "q": "relic" })).await;
    said.call(a, TOKENS, json!({ "chainID": "nowhere", "q": "relic" })).await;
    said.call(a, TOKENS, json!({ "q": "relic" })).await;
    let page = json!({ "after": "not an after" });
    said.call(a, TOKENS, json!({ "chainID": 137, "q": "relic", "page": page })).await;
    insta::assert_snapshot!(said.text());
    let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let others = ["8", "9", "10", "11"].map(|token| (UNKNOWN, token));
    for size in 1..8 {
        let found =
            whole(&app, TOKENS, &json!({ "chainID": 137, "q": "relic" }), "tokenMetadata", size).await;
        let expected = [&[(RELICS, "1"), (RELICS, largest)], &others[..]].concat();
        assert_eq!(places(&found), expected, "{size}");
        // Without a text everything is found, also what only an order tells of.
        let found = whole(&app, TOKENS, &json!({ "chainID": 137 }), "tokenMetadata", size).await;
        let expected = [&[(RELICS, "1"), (RELICS, "5"), (RELICS, largest)], &others[..]].concat();
        assert_eq!(places(&found), expected, "{size}");
    }
}

#[tokio::test]
async fn a_call_looks_into_a_hundred_collections() {
    let app = TestApp::start().await;
    for number in 1..=102 {
        seed::tokens(&app.store, &format!("0x{number:040x}"), 1..2, "relic").await;
    }
    let ask = async |page: Value| {
        let body = json!({ "chainID": 137, "q": "relic", "page": page });
        let answer = app.project_a.call(TOKENS, body).await.ok();
        (answer["tokenMetadata"].as_array().unwrap().len(), answer["nextPage"].clone())
    };
    let (found, next) = ask(json!({ "pageSize": 200 })).await;
    assert_eq!((found, next["page"].as_u64()), (100, Some(2)));
    assert_eq!(ask(next).await, (2, Value::Null));
    // The tokens to pass over are counted on in the next call.
    let (found, next) = ask(json!({ "page": 102, "pageSize": 1 })).await;
    assert_eq!(found, 0);
    assert_eq!(ask(next).await, (1, Value::Null));
}

#[tokio::test]
async fn contracts() {
    let app = TestApp::start().await;
    let contract = |last: u8, name: &str, symbol: &str, standard: &str| {
        json!({ "address": format!("0x{:040x}", 0xab00 + u64::from(last)), "name": name, "symbol": symbol,
            "contractType": standard })
    };
    let polygon = [
        contract(1, "Harbour Relics", "HRB", "ERC721"),
        contract(2, "ÉTOILE", "STAR", "ERC1155"),
        contract(3, "Coin", "harb", "ERC20"),
    ];
    for contract in polygon {
        put(&app, "PutContracts", json!({ "chainId": 137, "contracts": [contract] })).await;
    }
    let mainnet = [contract(4, "harbour of others", "", "ERC1155")];
    put(&app, "PutContracts", json!({ "chainId": 1, "contracts": mainnet })).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    said.call(a, CONTRACTS, json!({ "q": "e\u{301}toi", "chainID": "polygon" })).await;
    said.call(a, CONTRACTS, json!({ "q": "harb", "chainIDs": ["polygon", "nowhere"] })).await;
    said.call(a, CONTRACTS, json!({ "types": vec!["ERC721"; 51] })).await;
    insta::assert_snapshot!(said.text());
    let expected: [(Value, &[&str]); 8] = [
        (json!({ "q": "HARB" }), &["Harbour Relics", "Coin", "harbour of others"]),
        (json!({ "q": "harb", "chainID": 137 }), &["Harbour Relics", "Coin"]),
        (json!({ "q": "harb", "chainIDs": [1, "10"] }), &["harbour of others"]),
        (json!({ "q": "harb", "types": ["ERC1155", "ERC20", "MISC"] }), &["Coin", "harbour of others"]),
        (json!({ "types": ["MISC"] }), &[]),
        (json!({ "q": "0X", "types": [] }), &["Harbour Relics", "ÉTOILE", "Coin", "harbour of others"]),
        (json!({ "q": "AB02" }), &["ÉTOILE"]),
        (json!({ "q": "nothing has this" }), &[]),
    ];
    for (body, expected) in expected {
        for size in 1..6 {
            let found = whole(&app, CONTRACTS, &body, "contractInfo", size).await;
            assert_eq!(names(&found), expected, "{body} {size}");
        }
    }
}
