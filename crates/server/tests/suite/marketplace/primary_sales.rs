//! What contracts of primary sales sell, told by a chain that says what the test wants.

use std::sync::Arc;

use alloy_primitives::{hex, keccak256};
use serde_json::{Value, json};

use super::COIN;
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;
use crate::support::seed::{self, RELICS};
use crate::support::transcript::Transcript;
use crate::support::{TestApp, market};

const SALE: &str = "0x5a1e000000000000000000000000000000000001";
const SETTINGS: [(&str, &str); 2] = [
    ("networks.polygon.id", "137"),
    ("networks.polygon.sales", r#"["0x5a1e000000000000000000000000000000000001"]"#),
];
/// 2024-11-01T00:00:00Z, and ten years later.
const STARTS: u64 = 1_730_419_200;
const ENDS: u64 = 2_045_952_000;

fn word(text: &str) -> String {
    format!("{:0>64}", text.trim_start_matches("0x"))
}

fn number(number: u64) -> String {
    format!("{number:064x}")
}

/// Terms as a contract writes them: cost, what is left, start, end, and no root.
fn terms(cost: u64, left: &str, starts: u64, ends: u64) -> String {
    [number(cost), word(left), number(starts), number(ends), number(0)].concat()
}

/// Has the contract sell tokens 1 to 100 at 50 each, of which 30 are left, and a few on terms of their own.
fn sells(chain: &FakeChain, is_erc1155: bool) {
    let says = |function: &str, data: &str| {
        chain.says_data(SALE, &hex::encode(&keccak256(function)[..4]), data);
    };
    says("globalSaleDetails()", &[number(1), number(100), terms(50, "1e", STARTS, ENDS)].concat());
    says("paymentToken()", &word(COIN));
    says("itemsContract()", &word(RELICS));
    says("isERC1155()", &number(is_erc1155.into()));
    says("itemCount()", &number(4));
    let item = |token: u64, terms: String, sold: u64| {
        [number(token), terms, number(sold), number(7), number(9)].concat()
    };
    let items = [
        item(500, terms(75, "4", STARTS, ENDS), 2),
        item(3, terms(60, "0", STARTS, ENDS), 6),
        item(4, terms(60, &"f".repeat(64), ENDS - 1, ENDS), 0),
        // Its terms were taken away, so that those of the range hold.
        item(5, terms(60, "9", STARTS, 0), 1),
    ];
    says("items(uint256,uint256)", &[number(32), number(4), items.concat()].concat());
}

async fn shop(is_erc1155: bool) -> (TestApp, Arc<FakeChain>) {
    let chain = Arc::new(FakeChain::default());
    sells(&chain, is_erc1155);
    let asked = Arc::<FakeChain>::clone(&chain);
    let (app, ()) = TestApp::asking(&SETTINGS, Some(asked), async |store, _, _| {
        seed::relics(store).await;
        seed::tokens(store, RELICS, 2..=7, "Sword").await;
        seed::tokens(store, RELICS, 100..=102, "Shield").await;
    })
    .await;
    market::put_coin(&app).await;
    (app, chain)
}

async fn call(app: &TestApp, operation: &str, body: Value) -> Answer {
    let mut body = body;
    body["chainId"] = json!("137");
    body["primarySaleContractAddress"] = json!(SALE);
    app.project_a.key.call(&format!("Marketplace/{operation}"), body).await
}

async fn tokens(app: &TestApp, filter: Value) -> Vec<String> {
    let count = call(app, "GetCountOfPrimarySaleItems", json!({ "filter": filter })).await.ok();
    let all =
        call(app, "ListPrimarySaleItems", json!({ "filter": filter, "page": { "pageSize": 50 } })).await.ok();
    let tokens = ids(&all);
    assert_eq!(count["count"], json!(tokens.len()), "{filter}");
    // The same, page by page.
    let (mut paged, mut page) = (Vec::new(), json!({ "pageSize": 2 }));
    loop {
        let answer = call(app, "ListPrimarySaleItems", json!({ "filter": filter, "page": page })).await.ok();
        paged.extend(ids(&answer));
        if answer["page"]["more"] == false {
            break;
        }
        page = json!({ "pageSize": 2, "after": answer["page"]["after"] });
    }
    assert_eq!(paged, tokens, "{filter}");
    tokens
}

fn ids(answer: &Value) -> Vec<String> {
    let items = answer["primarySaleItems"].as_array().unwrap();
    let id = |item: &Value| {
        assert_eq!(item["metadata"]["tokenId"], item["primarySaleItem"]["tokenId"]);
        item["primarySaleItem"]["tokenId"].as_str().unwrap().to_owned()
    };
    items.iter().map(id).collect()
}

#[tokio::test]
async fn a_sale_sells_tokens_of_a_range_and_tokens_with_terms_of_their_own() {
    let (app, _) = shop(true).await;
    let all = ["1", "2", "3", "4", "5", "6", "7", "100", "500"];
    assert_eq!(tokens(&app, json!({ "includeEmpty": true })).await, all);
    assert_eq!(tokens(&app, json!({})).await, ["1", "2", "4", "5", "6", "7", "100", "500"]);
    assert_eq!(tokens(&app, json!({ "detailTypes": ["individual"] })).await, ["4", "500"]);
    assert_eq!(tokens(&app, json!({ "detailTypes": ["global"] })).await, ["1", "2", "5", "6", "7", "100"]);
    assert_eq!(tokens(&app, json!({ "detailTypes": ["unknown"] })).await, [""; 0]);
    assert_eq!(tokens(&app, json!({ "searchText": "shield" })).await, ["100"]);
    assert_eq!(tokens(&app, json!({ "searchText": "sword", "includeEmpty": true })).await, all[1..7]);
    assert_eq!(tokens(&app, json!({ "startDateAfter": "2025-01-01T00:00:00Z" })).await, ["4"]);
    assert_eq!(
        tokens(&app, json!({ "startDateBefore": "2025-01-01T00:00:00Z", "searchText": "5" })).await,
        ["5"]
    );
    assert_eq!(tokens(&app, json!({ "endDateBefore": "2025-01-01T00:00:00Z" })).await, [""; 0]);
    let by_number = json!({ "page": { "page": 3, "pageSize": 3 } });
    assert_eq!(ids(&call(&app, "ListPrimarySaleItems", by_number).await.ok()), ["100", "500"]);
}

#[tokio::test]
async fn an_item_tells_its_terms() {
    let (app, _) = shop(true).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let of =
        |token: &str| json!({ "chainId": "polygon", "primarySaleContractAddress": SALE, "tokenId": token });
    for token in ["1", "4", "500"] {
        said.call(a, "Marketplace/GetPrimarySaleItem", of(token)).await;
    }
    let page = json!({ "chainId": "polygon", "primarySaleContractAddress": SALE, "page": { "page": 2, "pageSize": 1 } });
    said.call(a, "Marketplace/ListPrimarySaleItems", page.clone()).await;
    said.call(a, "Marketplace/GetCountOfPrimarySaleItems", page).await;
    let items = json!([{ "tokenId": "1", "quantity": "1" }]);
    let wanted = json!({ "chainId": "polygon", "wallet": COIN, "contractAddress": SALE, "collectionAddress": RELICS,
        "items": items });
    said.call(a, "Marketplace/CheckoutOptionsSalesContract", wanted).await;
    insta::assert_snapshot!(said.text());
    for token in ["0", "101", "102", "99999"] {
        let answer = call(&app, "GetPrimarySaleItem", json!({ "tokenId": token })).await;
        assert_eq!(answer.status, 400, "{token}: {}", answer.json);
    }
    // One that is not known otherwise is for sale all the same.
    let unknown = call(&app, "GetPrimarySaleItem", json!({ "tokenId": "50" })).await.ok();
    assert_eq!(unknown["item"]["metadata"]["tokenId"], "50");
}

#[tokio::test]
async fn of_a_single_token_there_is_one() {
    let (app, _) = shop(false).await;
    let item = call(&app, "GetPrimarySaleItem", json!({ "tokenId": "500" })).await.ok();
    assert_eq!(item["item"]["primarySaleItem"]["contractType"], "ERC721");
    assert_eq!(item["item"]["primarySaleItem"]["supply"], "1");
    assert_eq!(item["item"]["primarySaleItem"]["unlimitedSupply"], false);
}

async fn crypto(app: &TestApp, items: &[(&str, &str)]) -> Value {
    let items: Vec<Value> =
        items.iter().map(|(token, quantity)| json!({ "tokenId": token, "quantity": quantity })).collect();
    let body = json!({
        "chainId": "137", "wallet": COIN, "contractAddress": SALE, "collectionAddress": RELICS, "items": items,
    });
    app.project_a.key.call("Marketplace/CheckoutOptionsSalesContract", body).await.ok()["options"]["crypto"]
        .clone()
}

#[tokio::test]
async fn what_can_be_paid_for_is_what_the_contract_would_sell_now() {
    let (app, _) = shop(true).await;
    app.clock.set("2025-06-01T00:00:00Z");
    for (items, expected) in [
        (vec![("1", "30")], "all"),
        (vec![("1", "31")], "none"),
        (vec![("1", "1"), ("500", "4")], "all"),
        (vec![("1", "1"), ("500", "5")], "partially"),
        (vec![("3", "1")], "none"),
        (vec![("4", "1")], "none"),
        (vec![("1", "0")], "none"),
        (vec![("101", "1")], "none"),
    ] {
        assert_eq!(crypto(&app, &items).await, expected, "{items:?}");
    }
    app.clock.set("2040-01-01T00:00:00Z");
    assert_eq!(crypto(&app, &[("1", "1")]).await, "none");
    let (app, _) = shop(false).await;
    app.clock.set("2025-06-01T00:00:00Z");
    assert_eq!(crypto(&app, &[("1", "1")]).await, "all");
    assert_eq!(crypto(&app, &[("1", "2")]).await, "none");
}

#[tokio::test]
async fn only_contracts_that_the_settings_name_are_asked() {
    let (app, chain) = shop(true).await;
    let other = json!({ "chainId": "137", "primarySaleContractAddress": RELICS });
    let answer = app.project_a.key.call("Marketplace/ListPrimarySaleItems", other).await;
    assert_eq!(answer.status, 400, "{}", answer.json);
    assert!(chain.asked.lock().unwrap().is_empty());
    // Many questions are one question.
    for _ in 0..5 {
        call(&app, "ListPrimarySaleItems", json!({})).await.ok();
    }
    assert_eq!(chain.asked.lock().unwrap().iter().filter(|asked| asked.contains("119cd50c")).count(), 1);
}

#[tokio::test]
async fn whoever_cannot_be_asked_is_named() {
    let (app, chain) = shop(true).await;
    chain.asleep();
    let answer = call(&app, "ListPrimarySaleItems", json!({})).await;
    assert_eq!(answer.status, 503, "{}", answer.json);
    assert_eq!(answer.header("retry-after"), "5");
    // A contract that has no such functions.
    let (app, chain) = shop(true).await;
    chain.asleep();
    chain.awake();
    let answer = call(&app, "ListPrimarySaleItems", json!({})).await;
    assert_eq!(answer.status, 400, "{}", answer.json);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let (app, _) = shop(true).await;
    for body in [
        json!({ "page": { "sort": [{ "column": "price", "order": "ASC" }] } }),
        json!({ "page": { "sort": [{ "column": "tokenId", "order": "DESC" }] } }),
        json!({ "page": { "page": 100_000 } }),
        json!({ "filter": { "detailTypes": ["own"] } }),
        json!({ "filter": { "startDateAfter": "tomorrow" } }),
    ] {
        let answer = call(&app, "ListPrimarySaleItems", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.json);
    }
    let body = json!({
        "chainId": "137", "wallet": COIN, "contractAddress": SALE, "collectionAddress": COIN,
        "items": [{ "tokenId": "1", "quantity": "1" }],
    });
    assert_eq!(app.project_a.key.call("Marketplace/CheckoutOptionsSalesContract", body).await.status, 400);
}

#[tokio::test]
async fn a_single_token_that_somebody_holds_is_not_sold_again() {
    let (app, _) = shop(false).await;
    let all = ["1", "2", "3", "4", "5", "6", "7", "100", "500"];
    assert_eq!(tokens(&app, json!({ "includeEmpty": true })).await, all);
    let held = |token: &str, balance: &str| json!({ "contractAddress": RELICS, "tokenId": token, "account": seed::ACCOUNT, "balance": balance });
    let put = json!({ "chainId": 137, "balances": [held("2", "1"), held("7", "1"), held("100", "0")] });
    market::put(&app, "PutBalances", put).await;
    let rest = ["1", "3", "4", "5", "6", "100", "500"];
    assert_eq!(tokens(&app, json!({ "includeEmpty": true })).await, rest);
    assert_eq!(tokens(&app, json!({ "searchText": "sword" })).await, ["4", "5", "6"]);
    // Of others there may be more.
    let (app, _) = shop(true).await;
    market::put(&app, "PutBalances", json!({ "chainId": 137, "balances": [held("2", "1")] })).await;
    assert_eq!(tokens(&app, json!({ "includeEmpty": true })).await, all);
}
