//! Balances of accounts.

use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::{ANNA, BEN, MASKS, NOBODY, held, hold, row, rows};
use crate::support::TestApp;
use crate::support::actor::Actor;
use crate::support::market::{put, whole};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const BALANCES: &str = "Indexer/GetTokenBalances";
const BY_CONTRACT: &str = "Indexer/GetTokenBalancesByContract";
const DETAILS: &str = "Indexer/GetTokenBalancesDetails";
const SUMMARY: &str = "Indexer/GetTokenBalancesSummary";

fn details(filter: Value) -> Value {
    let mut filter = filter;
    filter["omitNativeBalances"] = json!(true);
    json!({ "chainId": 137, "filter": filter, "omitMetadata": true })
}

#[tokio::test]
async fn what_accounts_hold() {
    let app = held().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    said.call(a, BALANCES, json!({ "chainId": "polygon", "accountAddress": ANNA })).await;
    let token = json!({
        "chainId": "polygon", "accountAddress": ANNA, "contractAddress": RELICS, "tokenID": "1",
        "includeMetadata": true,
    });
    said.call(a, BALANCES, token).await;
    let of = json!({ "contractAddresses": [MASKS], "accountAddresses": [ANNA, BEN] });
    said.call(a, BY_CONTRACT, json!({ "chainId": "polygon", "filter": of })).await;
    said.call(a, DETAILS, json!({ "chainId": "polygon", "filter": { "accountAddresses": [BEN] } })).await;
    said.call(a, SUMMARY, details(json!({ "accountAddresses": [ANNA], "contractStatus": "ALL" }))).await;
    insta::assert_snapshot!(said.text());
}

/// However large pages are, all rows come, each once, whether contracts are named or not.
#[tokio::test]
async fn page_by_page() {
    let app = held().await;
    let mut all =
        vec![row(RELICS, "1", "7"), row(RELICS, "2", "1"), row(RELICS, "10", "5"), row(MASKS, "4", "1")];
    let named = json!({ "contractAddresses": [UNKNOWN, RELICS, MASKS], "accountAddresses": [NOBODY, ANNA] });
    let body = json!({ "chainId": 137, "filter": named });
    for size in 1..6 {
        assert_eq!(rows(&json!(whole(&app, BY_CONTRACT, &body, "balances", size).await)), all, "{size}");
    }
    let body = json!({ "chainId": 137, "accountAddress": ANNA, "includeCollectionTokens": true });
    all.sort();
    for size in 1..6 {
        let mut found = rows(&json!(whole(&app, BALANCES, &body, "balances", size).await));
        found.sort();
        assert_eq!(found, all, "{size}");
    }
    let body = details(json!({ "accountAddresses": [ANNA, BEN], "contractStatus": "ALL" }));
    for size in 1..6 {
        let found = rows(&json!(whole(&app, SUMMARY, &body, "balances", size).await));
        let mut expected =
            [row(RELICS, "-", "13"), row(MASKS, "-", "1"), row(RELICS, "-", "3"), row(MASKS, "-", "1")];
        let mut found = found;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{size}");
    }
}

/// Who names tokens and nobody means everybody who holds one of them; who names neither means nothing.
#[tokio::test]
async fn who_holds_a_token() {
    let app = held().await;
    let body = |filter: Value| json!({ "chainId": 137, "filter": filter, "omitMetadata": true });
    let of = json!({ "contractAddresses": [UNKNOWN, RELICS, MASKS], "tokenIDs": ["1", "4", "77"] });
    let all = whole(&app, BY_CONTRACT, &body(of.clone()), "balances", 9).await;
    let row = |row: &Value| {
        [&row["accountAddress"], &row["contractAddress"], &row["tokenID"], &row["balance"]].map(Value::clone)
    };
    let mut found: Vec<[Value; 4]> = all.iter().map(row).collect();
    let one = |account: &str, contract: &str, token: &str, balance: &str| {
        [account, contract, token, balance].map(|text| json!(text))
    };
    assert!(found.contains(&one(ANNA, RELICS, "1", "7")), "{found:?}");
    assert!(found.contains(&one(ANNA, MASKS, "4", "1")), "{found:?}");
    for size in 1..4 {
        assert_eq!(whole(&app, BY_CONTRACT, &body(of.clone()), "balances", size).await, all, "{size}");
    }
    // Whoever is named too is one of them.
    let mut named = of;
    named["accountAddresses"] = json!([ANNA, BEN]);
    let named = whole(&app, BY_CONTRACT, &body(named), "balances", 9).await;
    let mut named: Vec<[Value; 4]> = named.iter().map(row).collect();
    named.sort_by_key(|row| format!("{row:?}"));
    found.sort_by_key(|row| format!("{row:?}"));
    assert_eq!(named, found);
    let refused = app.project_a.call(BY_CONTRACT, body(json!({ "contractAddresses": [RELICS] }))).await;
    assert_eq!(refused.json["code"], 2001);
}

/// Asks for so much that contracts are brought into memory.
async fn bring_into_memory(actor: &Actor, contracts: &[String]) {
    let of = json!({ "contractAddresses": contracts, "accountAddresses": [NOBODY] });
    actor.call(BY_CONTRACT, json!({ "chainId": 137, "filter": of })).await.ok();
}

/// What anybody holds of all contracts, token by token.
fn everything(account: &str, page: &Value) -> Value {
    json!({ "chainId": 137, "accountAddress": account, "includeCollectionTokens": true, "page": page })
}

/// Brings every contract of the chain into memory.
async fn bring_all(app: &TestApp, actor: &Actor) {
    let all = app.store.collections_of(ChainId(137), 0, 100).await.unwrap();
    let all: Vec<String> = all.into_iter().map(|(_, key)| key.address.to_string()).collect();
    bring_into_memory(actor, &all).await;
}

/// Where one service has all contracts in memory and another none, they answer the same, and whoever asks both in turn gets each row
/// once.
#[tokio::test]
async fn from_memory_as_from_the_store() {
    let app = held().await;
    let tokens: Vec<String> = (1..60_u32).map(|number| (number * number).to_string()).collect();
    let held: Vec<(&str, &str, &str)> = tokens.iter().map(|token| (token.as_str(), NOBODY, "2")).collect();
    for contract in [RELICS, MASKS] {
        hold(&app, 137, contract, &held).await;
    }
    let memory = app.another().await;
    bring_all(&app, &memory.key).await;
    let whole = memory.key.call(BALANCES, everything(NOBODY, &json!({ "pageSize": 200 }))).await.ok();
    let all = rows(&whole["balances"]);
    assert_eq!(all.len(), 2 * tokens.len());
    for (size, first) in [(1, 0), (1, 1), (7, 0), (7, 1), (58, 1), (59, 0), (59, 1), (60, 0), (60, 1)] {
        let store = app.another().await;
        let services = [&store, &memory];
        let (mut found, mut pages, mut page) = (Vec::new(), 0, json!({ "pageSize": size }));
        loop {
            let by_number = json!({ "page": pages + 1, "pageSize": size });
            for service in services {
                let answer = service.key.call(BALANCES, everything(NOBODY, &by_number)).await.ok();
                assert_eq!(
                    rows(&answer["balances"]),
                    all[pages * size..][..size.min(all.len() - pages * size)]
                );
            }
            let service = services[(first + pages) % 2];
            let answer = service.key.call(BALANCES, everything(NOBODY, &page)).await.ok();
            found.extend(rows(&answer["balances"]));
            (page, pages) = (answer["page"].clone(), pages + 1);
            if page["more"] == false {
                break;
            }
        }
        assert_eq!(found, all, "{size} at a time, {first} first");
    }
}

/// All contracts are in memory, and then there is another one.
#[tokio::test]
async fn a_contract_that_comes_is_seen_at_once() {
    let app = held().await;
    bring_all(&app, &app.project_a.key).await;
    let of_ben = async || {
        let answer = app.project_a.call(BALANCES, everything(BEN, &json!({}))).await.ok();
        let mut found = rows(&answer["balances"]);
        found.sort();
        found
    };
    let before = vec![row(MASKS, "5", "1"), row(RELICS, "1", "3")];
    assert_eq!(of_ben().await, before);
    hold(&app, 137, UNKNOWN, &[("8", BEN, "9")]).await;
    let after = [&[row(UNKNOWN, "8", "9")], &before[..]].concat();
    assert_eq!(of_ben().await, after);
    bring_all(&app, &app.project_a.key).await;
    assert_eq!(of_ben().await, after);
}

/// A contract counts by its status, its standard and its name; whoever names it means it.
#[tokio::test]
async fn contracts_that_count() {
    let app = held().await;
    let found = async |filter: Value| {
        let answer = app.project_a.call(SUMMARY, details(filter)).await.ok();
        let mut contracts: Vec<String> = rows(&answer["balances"]).into_iter().map(|row| row.0).collect();
        contracts.sort();
        contracts
    };
    let anna = json!([ANNA]);
    assert_eq!(found(json!({ "accountAddresses": anna, "contractStatus": "UNVERIFIED" })).await.len(), 2);
    assert_eq!(found(json!({ "accountAddresses": anna })).await, [""; 0]);
    assert_eq!(found(json!({ "accountAddresses": anna, "contractWhitelist": [MASKS] })).await, [MASKS]);
    let verified =
        json!({ "accountAddresses": anna, "contractWhitelist": [MASKS], "contractStatus": "VERIFIED" });
    assert_eq!(found(verified).await, [""; 0]);
    let others = json!({ "accountAddresses": anna, "contractStatus": "ALL", "contractBlacklist": [MASKS] });
    assert_eq!(found(others).await, [RELICS]);
    let unique =
        json!({ "accountAddresses": anna, "contractStatus": "ALL", "contractTypes": ["NATIVE", "ERC721"] });
    assert_eq!(found(unique).await, [MASKS]);
    let none = json!({ "accountAddresses": anna, "contractStatus": "ALL", "contractTypes": ["ERC6909"] });
    assert_eq!(found(none).await, [""; 0], "no contract is of a standard that is not known here");
    let tokens =
        json!({ "accountAddresses": anna, "contractWhitelist": [RELICS], "tokenIDs": ["2", "3", "1"] });
    let answer = app.project_a.call(SUMMARY, details(tokens)).await.ok();
    assert_eq!(rows(&answer["balances"]), [row(RELICS, "-", "8")], "of those that are named");
    assert_eq!(answer["balances"][0]["uniqueCollectibles"], "2");
    let tokens =
        json!({ "accountAddresses": anna, "contractWhitelist": [RELICS], "tokenIDs": ["2", "3", "1"] });
    let answer = app.project_a.call(DETAILS, details(tokens)).await.ok();
    assert_eq!(rows(&answer["balances"]), [row(RELICS, "2", "1"), row(RELICS, "1", "7")]);
}

/// Of very many tokens of one contract, memory has the sum; those of the next contract follow.
#[tokio::test]
async fn sums_of_many_tokens() {
    let app = held().await;
    let tokens: Vec<String> = (100..900).map(|token| token.to_string()).collect();
    for tokens in tokens.chunks(400) {
        let held: Vec<(&str, &str, &str)> =
            tokens.iter().map(|token| (token.as_str(), NOBODY, "2")).collect();
        hold(&app, 137, RELICS, &held).await;
        hold(&app, 80002, UNKNOWN, &held).await;
        hold(&app, 137, MASKS, &held[..200]).await;
    }
    let body = details(json!({ "accountAddresses": [NOBODY, BEN], "contractStatus": "ALL" }));
    for size in 1..5 {
        let mut found = rows(&json!(whole(&app, SUMMARY, &body, "balances", size).await));
        found.sort();
        let mut expected =
            [row(RELICS, "-", "1600"), row(MASKS, "-", "800"), row(RELICS, "-", "3"), row(MASKS, "-", "1")];
        expected.sort();
        assert_eq!(found, expected, "{size}");
    }
    let body = details(json!({ "accountAddresses": [NOBODY], "contractStatus": "ALL" }));
    assert_eq!(whole(&app, DETAILS, &body, "balances", 150).await.len(), 1_200);
}

/// What is known of contracts and tokens has the same members, wherever it is read.
#[tokio::test]
async fn metadata_is_the_same_from_memory_as_from_the_store() {
    let app = held().await;
    let mut asked = everything(ANNA, &Value::Null);
    asked["includeMetadata"] = json!(true);
    let from_store = app.another().await.key.call(BALANCES, asked.clone()).await.ok();
    let memory = app.another().await;
    bring_all(&app, &memory.key).await;
    assert_eq!(memory.key.call(BALANCES, asked).await.ok(), from_store);
    for row in from_store["balances"].as_array().unwrap() {
        let (contract, token) = (&row["contractInfo"], &row["tokenMetadata"]);
        assert!(token["status"].is_string() && token["source"].is_string(), "{token}");
        assert_eq!(contract.is_null(), row["contractAddress"] == RELICS, "{row}");
        assert!(contract.is_null() || contract["status"].is_string() && contract["source"].is_string());
    }
}

/// Of a contract that is larger than memory the store has what an account holds.
#[tokio::test]
async fn of_a_contract_that_is_larger_than_memory() {
    let app = TestApp::with(&[("storage.resident_bytes_max", "100")]).await;
    hold(&app, 137, RELICS, &[("1", ANNA, "7"), ("2", ANNA, "1"), ("10", ANNA, "5"), ("1", BEN, "3")]).await;
    let tokens: Vec<String> = (100..400).map(|token| token.to_string()).collect();
    let held: Vec<(&str, &str, &str)> = tokens.iter().map(|token| (token.as_str(), BEN, "2")).collect();
    hold(&app, 137, RELICS, &held).await;
    let named = json!({ "contractAddresses": [UNKNOWN, RELICS], "accountAddresses": [NOBODY, ANNA, BEN] });
    let body = json!({ "chainId": 137, "filter": named });
    for size in [1, 2, 3, 200] {
        let found = rows(&json!(whole(&app, BY_CONTRACT, &body, "balances", size).await));
        assert_eq!(found.len(), 304, "{size}");
        assert_eq!(found[..3], [row(RELICS, "1", "7"), row(RELICS, "10", "5"), row(RELICS, "2", "1")]);
    }
    let filter = json!({ "accountAddresses": [ANNA, BEN], "contractWhitelist": [RELICS] });
    let answer = app.project_a.call(SUMMARY, details(filter.clone())).await.ok();
    assert_eq!(rows(&answer["balances"]), [row(RELICS, "-", "13"), row(RELICS, "-", "603")]);
    let mut some = filter;
    some["tokenIDs"] = json!(["2", "3", "1"]);
    let answer = app.project_a.call(SUMMARY, details(some.clone())).await.ok();
    assert_eq!(rows(&answer["balances"]), [row(RELICS, "-", "8"), row(RELICS, "-", "3")]);
    let found = rows(&json!(whole(&app, DETAILS, &details(some), "balances", 1).await));
    assert_eq!(found, [row(RELICS, "2", "1"), row(RELICS, "1", "7"), row(RELICS, "1", "3")]);
}

/// One call reads the store only so often, and the next page goes on with the others.
#[tokio::test]
async fn very_many_reads_of_the_store() {
    let app = TestApp::with(&[("storage.resident_bytes_max", "100")]).await;
    for contract in [RELICS, MASKS, UNKNOWN] {
        hold(&app, 137, contract, &[("50", BEN, "9")]).await;
    }
    let all = [row(RELICS, "50", "9"), row(MASKS, "50", "9"), row(UNKNOWN, "50", "9")];
    let numbers = 1..=50_u64;
    let tokens: Vec<String> = numbers.clone().map(|number| number.to_string()).collect();
    let mut accounts: Vec<String> = numbers.take(49).map(|number| format!("0x{number:038x}ee")).collect();
    accounts.push(BEN.to_owned());
    let contracts = [RELICS, MASKS, UNKNOWN];
    for of in [
        json!({ "contractAddresses": contracts, "tokenIDs": tokens }),
        json!({ "contractAddresses": contracts, "accountAddresses": accounts }),
    ] {
        let mut body =
            json!({ "chainId": 137, "filter": of, "omitMetadata": true, "page": { "pageSize": 50 } });
        let first = app.project_a.call(BY_CONTRACT, body.clone()).await.ok();
        assert!(first["page"]["more"] == true && rows(&first["balances"]).len() < 3, "{first}");
        body["page"] = first["page"].clone();
        let rest = app.project_a.call(BY_CONTRACT, body).await.ok();
        let found = [rows(&first["balances"]), rows(&rest["balances"])].concat();
        assert_eq!((found, &rest["page"]["more"]), (all.to_vec(), &json!(false)));
    }
}

/// One call brings only so many contracts into memory, and the next page goes on with the others.
#[tokio::test]
async fn very_many_contracts_that_are_not_in_memory() {
    let app = held().await;
    let contracts: Vec<String> = (0..25).map(|number| format!("0x{number:038x}ee")).collect();
    let balance = |contract: &String| json!({ "contractAddress": contract, "tokenId": "1", "account": BEN, "balance": "1" });
    let balances: Vec<Value> = contracts.iter().map(balance).collect();
    put(&app, "PutBalances", json!({ "chainId": 137, "balances": balances })).await;
    let fresh = app.another().await;
    let of = json!({ "contractAddresses": contracts, "accountAddresses": [BEN] });
    let mut body = json!({ "chainId": 137, "filter": of, "omitMetadata": true, "page": { "pageSize": 100 } });
    for expected in [10, 10, 5] {
        let answer = fresh.key.call(BY_CONTRACT, body.clone()).await.ok();
        assert_eq!(rows(&answer["balances"]).len(), expected);
        assert_eq!(answer["page"]["more"], expected == 10);
        body["page"] = answer["page"].clone();
    }
    // A page by number passes over what it has to on the way, however often it ends.
    let fresh = app.another().await;
    body["page"] = json!({ "page": 2, "pageSize": 12 });
    let mut found = Vec::new();
    loop {
        let answer = fresh.key.call(BY_CONTRACT, body.clone()).await.ok();
        found.extend(rows(&answer["balances"]));
        if answer["page"]["more"] == false {
            break;
        }
        body["page"] = answer["page"].clone();
    }
    let expected: Vec<_> = contracts[12..].iter().map(|contract| row(contract, "1", "1")).collect();
    assert_eq!(found, expected);
}

/// What is changed is seen at once, and what somebody has no more of is gone.
#[tokio::test]
async fn after_a_change() {
    let app = held().await;
    let of_relics = async |account: &str| {
        let body = json!({ "chainId": 137, "accountAddress": account, "contractAddress": RELICS });
        rows(&app.project_a.call(BALANCES, body).await.ok()["balances"])
    };
    assert_eq!(of_relics(BEN).await, [row(RELICS, "1", "3")]);
    hold(&app, 137, RELICS, &[("1", BEN, "0"), ("2", BEN, "4")]).await;
    assert_eq!(of_relics(BEN).await, [row(RELICS, "2", "4")]);
    let body = json!({ "chainId": 137, "accountAddress": BEN, "includeCollectionTokens": true });
    let found = rows(&app.project_a.call(BALANCES, body).await.ok()["balances"]);
    assert!(found.contains(&row(RELICS, "2", "4")) && found.len() == 2, "{found:?}");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_by_name() {
    let app = held().await;
    let refused = async |operation: &str, body: Value| {
        let answer = app.project_a.call(operation, body).await;
        assert_eq!(answer.refusal(), (400, 2001), "{}", answer.json);
        answer.json["msg"].as_str().unwrap().to_owned()
    };
    let starts = |text: String, member: &str| assert!(text.starts_with(member), "{text}");
    starts(refused(BALANCES, json!({ "accountAddress": ANNA })).await, "chainId");
    starts(refused(BALANCES, json!({ "chainId": 137 })).await, "accountAddress");
    let of = json!({ "contractAddresses": [], "accountAddresses": [ANNA] });
    starts(refused(BY_CONTRACT, json!({ "chainId": 137, "filter": of })).await, "filter.contractAddresses");
    let many: Vec<String> = (0..51).map(|account| format!("0x{account:040x}")).collect();
    starts(refused(SUMMARY, details(json!({ "accountAddresses": many }))).await, "filter.accountAddresses");
    let body = details(json!({ "accountAddresses": [ANNA], "tokenIDs": ["1"] }));
    starts(refused(DETAILS, body).await, "filter.tokenIDs");
    let sorted =
        json!({ "chainId": 137, "accountAddress": ANNA, "page": { "sort": [{ "column": "balance" }] } });
    starts(refused(BALANCES, sorted).await, "page.sort");
    let far = json!({ "chainId": 137, "accountAddress": ANNA, "page": { "page": 1_000_000 } });
    starts(refused(BALANCES, far).await, "page.page");
    // The last one passes over more rows than a page number may.
    let far = "eyJwIjoyLCJhIjp7ImEiOjAsImMiOjAsInIiOm51bGwsInQiOjAsInMiOjEwMDAxfX0";
    for after in ["", "e30", "eyJwIjoxLCJhIjp7fX0", far] {
        let body = json!({ "chainId": 137, "accountAddress": ANNA, "page": { "after": after } });
        assert_eq!(app.project_a.call(BALANCES, body).await.status, 400, "{after}");
    }
}

/// Facts of a chain are everybody's: another project's key reads the same.
#[tokio::test]
async fn another_project_reads_the_same() {
    let app = held().await;
    let body = json!({ "chainId": 137, "accountAddress": ANNA });
    let of_a = app.project_a.call(BALANCES, body.clone()).await.ok();
    assert_eq!(app.project_b.call(BALANCES, body.clone()).await.ok(), of_a);
    assert_eq!(app.anonymous.call(BALANCES, body.clone()).await.status, 401);
    let by_path = app
        .project_a
        .key
        .post("/polygon/rpc/Indexer/GetTokenBalances", json!({ "accountAddress": ANNA }).to_string());
    assert_eq!(by_path.await.ok(), of_a);
    let contradicting = app.project_a.key.post("/amoy/rpc/Indexer/GetTokenBalances", body.to_string()).await;
    assert_eq!(contradicting.refusal(), (400, 2001));
}

/// Whoever holds things of very many contracts of another chain is not gone through all at once.
#[tokio::test]
async fn many_contracts_of_another_chain() {
    let app = held().await;
    let balance = |number: u64| json!({ "contractAddress": format!("0x{number:038x}ee"), "tokenId": "1", "account": BEN, "balance": "1" });
    let balances: Vec<Value> = (0..300).map(balance).collect();
    put(&app, "PutBalances", json!({ "chainId": 80002, "balances": balances })).await;
    hold(&app, 137, UNKNOWN, &[("8", BEN, "9")]).await;
    let mut body = json!({
        "chainId": 137, "accountAddress": BEN, "includeCollectionTokens": true, "page": { "pageSize": 1 },
    });
    let (mut found, mut empty) = (Vec::new(), 0);
    loop {
        let answer = app.project_a.call(BALANCES, body.clone()).await.ok();
        let of_page = rows(&answer["balances"]);
        empty += u64::from(of_page.is_empty());
        found.extend(of_page);
        if answer["page"]["more"] == false {
            break;
        }
        body["page"] = answer["page"].clone();
    }
    found.sort();
    assert_eq!(found, [row(UNKNOWN, "8", "9"), row(MASKS, "5", "1"), row(RELICS, "1", "3")]);
    assert!(empty > 0, "a page ends after so many looks, whether anything was found or not");
}
