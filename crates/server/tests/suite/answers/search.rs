//! Tokens and contracts across collections.

use bourse_store::testing::operator;
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::{put, put_order, whole};
use crate::support::seed::{self, RELICS, RELICS_MIXED, UNKNOWN, key};
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
async fn a_call_looks_into_a_hundred_collections_and_brings_ten_into_memory() {
    let app = TestApp::start().await;
    for number in 1..=102 {
        seed::tokens(&app.store, &format!("0x{number:040x}"), 1..2, "relic").await;
    }
    let ask = async |page: Value| {
        let body = json!({ "chainID": 137, "q": "relic", "page": page });
        let answer = app.project_a.call(TOKENS, body).await.ok();
        (answer["tokenMetadata"].as_array().unwrap().len(), answer["nextPage"].clone())
    };
    let (mut counts, mut page) = (Vec::new(), json!({ "pageSize": 200 }));
    while !page.is_null() {
        let (found, next) = ask(page).await;
        counts.push(found);
        page = next;
    }
    assert_eq!(counts, [&[10; 10][..], &[2]].concat());
    // Now they are all there.
    let (found, next) = ask(json!({ "pageSize": 200 })).await;
    assert_eq!((found, next["page"].as_u64()), (100, Some(2)));
    assert_eq!(ask(next).await, (2, Value::Null));
    // The tokens to pass over are counted on in the next call.
    let (found, next) = ask(json!({ "page": 102, "pageSize": 1 })).await;
    assert_eq!(found, 0);
    assert_eq!(ask(next).await, (1, Value::Null));
}

#[tokio::test]
async fn tokens_of_a_market_by_query() {
    const BY_QUERY: &str = "Metadata/SearchTokenMetadataByQuery";
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    seed::tokens(&app.store, UNKNOWN, 8..12, "Étoile relic").await;
    app.store.join_market(app.project_a.scope, key(RELICS), operator()).await.unwrap();
    let mut said = Transcript::default();
    let a = &app.project_a;
    said.call(a, BY_QUERY, json!({ "q": "PLAIN" })).await;
    let other =
        json!({ "chainID": "polygon", "contractAddress": UNKNOWN, "q": "relic", "page": { "pageSize": 1 } });
    said.call(a, BY_QUERY, other.clone()).await;
    said.call(a, BY_QUERY, json!({ "q": "relic", "chainID": 1 })).await;
    said.call(a, BY_QUERY, json!({ "q": "relic", "contractAddress": UNKNOWN })).await;
    said.call(a, BY_QUERY, json!({ "q": "relic", "chainID": 1, "contractAddress": UNKNOWN })).await;
    let of_relics = json!({ "chainID": 137, "contractAddress": RELICS, "filter": { "text": "relic" } });
    said.call(a, "Metadata/SearchTokenMetadataTokenIDs", of_relics).await;
    insta::assert_snapshot!(said.text());
    for size in 1..6 {
        let found = whole(&app, BY_QUERY, &other, "tokenMetadata", size).await;
        assert_eq!(places(&found), ["8", "9", "10", "11"].map(|token| (UNKNOWN, token)), "{size}");
        // What is in no market of the project is not searched unless it is named.
        let found = whole(&app, BY_QUERY, &json!({ "q": "relic" }), "tokenMetadata", size).await;
        assert_eq!(found.len(), 2, "{size}");
    }
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
    said.call(a, "Metadata/SearchContractsByQuery", json!({ "q": "harb", "page": { "pageSize": 1 } })).await;
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

/// Contracts of a test network, of two others, one of them featured, and one that deceives people.
async fn directory() -> TestApp {
    let app = TestApp::start().await;
    let contract = |name: &str, extensions: Value| json!({ "address": RELICS, "name": name, "symbol": "", "contractType": "ERC721", "extensions": extensions });
    for (chain, contract) in [
        ("polygon", contract("Harbour Relics", json!({ "featured": true, "verified": true }))),
        ("amoy", contract("Harbour trial", json!({}))),
        ("mainnet", contract("Harbour of others", json!({}))),
        ("base", contract("Harbour for free", json!({ "featured": true, "blacklist": true }))),
    ] {
        put(&app, "PutContracts", json!({ "chainId": chain, "contracts": [contract] })).await;
    }
    app
}

#[tokio::test]
async fn the_directory() {
    let app = directory().await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    let get = "Metadata/GetTokenDirectory";
    said.call(a, get, json!({ "onlyFeatured": true })).await;
    said.call(a, get, json!({ "page": { "pageSize": 1 } })).await;
    said.call(a, "Metadata/SearchTokenDirectory", json!({ "query": "TRIAL", "chainID": 80002 })).await;
    said.call(a, "Metadata/SearchTokenDirectory", json!({ "query": "trial" })).await;
    said.call(a, "Metadata/GetTokenDirectoryNetworks", json!({})).await;
    said.call(
        a,
        "Metadata/GetTokenDirectoryNetworks",
        json!({ "includeTestnets": true, "onlyFeatured": true }),
    )
    .await;
    insta::assert_snapshot!(said.text());
    let expected: [(Value, &[&str]); 5] = [
        (json!({}), &["Harbour Relics", "Harbour of others"]),
        (json!({ "includeTestnets": true }), &["Harbour Relics", "Harbour trial", "Harbour of others"]),
        (json!({ "chainID": "amoy" }), &["Harbour trial"]),
        (json!({ "chainID": "base" }), &[]),
        (json!({ "chainID": "amoy", "onlyFeatured": true }), &[]),
    ];
    for (body, expected) in expected {
        for size in 1..4 {
            let found = whole(&app, get, &body, "contracts", size).await;
            assert_eq!(names(&found), expected, "{body} {size}");
            let mut body = body.clone();
            body["query"] = json!("harbour");
            let found = whole(&app, "Metadata/SearchTokenDirectory", &body, "contracts", size).await;
            assert_eq!(names(&found), expected, "{body} {size}");
        }
    }
}

#[tokio::test]
async fn an_installation_without_contracts_has_an_empty_directory() {
    let app = TestApp::start().await;
    let answer = app.project_a.call("Metadata/GetTokenDirectory", json!({})).await.ok();
    assert_eq!(answer["contracts"], json!([]));
    let answer = app.project_a.call("Metadata/GetTokenDirectoryNetworks", json!({})).await.ok();
    assert_eq!(answer, json!({ "chainIDs": [], "networks": [] }));
}

#[tokio::test]
async fn one_address_on_every_chain() {
    let app = directory().await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    said.call(a, "Metadata/FindContractInfo", json!({ "contractAddress": UNKNOWN })).await;
    let body = json!({ "contractAddresses": [RELICS_MIXED, UNKNOWN, RELICS, RELICS] });
    let found = a.call("Metadata/FindContractInfoBatch", body).await.ok();
    let one = a.call("Metadata/FindContractInfo", json!({ "contractAddress": RELICS })).await.ok();
    let chains: Vec<u64> = one["contractInfoList"]
        .as_array()
        .unwrap()
        .iter()
        .map(|info| info["chainId"].as_u64().unwrap())
        .collect();
    // Who names an address is told of it, whatever is said of it.
    assert_eq!(chains, [137, 80002, 1, 8453]);
    let list = &one["contractInfoList"];
    assert_eq!(found, json!({ "contractInfoByChain": { RELICS_MIXED: list, RELICS: list } }));
    said.call(a, "Metadata/FindContractInfoBatch", json!({ "contractAddresses": [UNKNOWN] })).await;
    said.call(a, "Metadata/FindContractInfoBatch", json!({ "contractAddresses": vec![RELICS; 51] })).await;
    said.call(a, "Metadata/FindContractInfoBatch", json!({ "contractAddresses": [RELICS, "polygon"] })).await;
    insta::assert_snapshot!(said.text());
}
