//! `bourse import`: every record, twice, from files and from standard input.

use bourse_store::testing::{load_all, usage_since};
use bourse_store::{CollectionKey, CountsCursor, ProjectScope};
use bourse_wire::{ChainId, Marketplace, OrderKey};
use serde_json::{Value, json};

use crate::http::Credential;
use crate::instance::{Instance, within};
use crate::process::WAIT_MAX;

pub(crate) const CONTRACT: &str = "0x1111111111111111111111111111111111111111";
const ACCOUNT: &str = "0x3333333333333333333333333333333333333333";

/// One record of every type; `version` is in each that can change.
fn records(project: u64, version: u64) -> Vec<Value> {
    vec![
        json!({ "type": "currency", "chainId": "polygon", "contractAddress": CONTRACT, "name": format!("Coin {version}"),
            "symbol": "COIN", "decimals": 18, "imageUrl": "https://coin.example/a.png", "exchangeRate": "0.25" }),
        json!({ "type": "contract", "chainId": 137, "address": CONTRACT, "contractType": "ERC721",
            "name": format!("Contract {version}"), "symbol": "C", "logoURI": "https://c.example/logo.png",
            "deployed": true, "bytecodeHash": "0xab", "extensions": { "link": "https://c.example", "verified": true } }),
        token(1, &format!("Token {version}")),
        json!({ "type": "balance", "chainId": 137, "contractAddress": CONTRACT, "tokenId": "1", "account": ACCOUNT,
            "balance": version.to_string() }),
        json!({ "type": "order", "orderId": "7", "marketplace": "opensea", "side": "listing", "chainId": 137,
            "collectionContractAddress": CONTRACT, "tokenId": "1", "createdBy": ACCOUNT,
            "priceAmount": version.to_string(), "priceCurrencyAddress": CONTRACT, "feeBps": 250,
            "feeBreakdown": [{ "kind": "royalty", "recipientAddress": ACCOUNT, "bps": 250 }],
            "validUntil": "2030-01-01T00:00:00Z" }),
        json!({ "type": "event", "projectId": project, "wallet": ACCOUNT, "kind": "session",
            "at": "2026-01-02T03:04:05Z", "id": "event 1" }),
        json!({ "type": "usage", "projectId": project, "service": "metadata", "day": "2026-01-02",
            "units": 40 + version, "id": "usage 1" }),
        json!({ "type": "audience", "projectId": project, "name": "Guests",
            "contacts": [{ "name": format!("Guest {version}"), "address": ACCOUNT, "email": "guest@a.example" },
                { "address": CONTRACT }],
            "contracts": [{ "contractName": format!("Linked {version}"), "contractAddress": CONTRACT,
                "contractType": "ERC721", "chainId": 137 }] }),
    ]
}

pub(crate) fn token(number: u64, name: &str) -> Value {
    json!({ "type": "token", "chainId": 137, "contractAddress": CONTRACT, "tokenId": number.to_string(), "name": name })
}

pub(crate) fn lines(records: &[Value]) -> String {
    records.iter().fold(String::new(), |text, record| text + &record.to_string() + "\n")
}

/// Writes a file into the working directory.
pub(crate) fn file(instance: &Instance, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(instance.directory().join(name), content).unwrap();
}

/// How many records were read, changed and skipped.
pub(crate) fn counts(summary: &Value) -> [u64; 3] {
    ["read", "changed", "skipped"].map(|member| summary[member].as_u64().unwrap())
}

/// The names of the stored tokens, by id.
pub(crate) fn token_names(instance: &Instance) -> Vec<(String, String)> {
    let key = CollectionKey { chain: ChainId(137), address: CONTRACT.parse().unwrap() };
    let tokens = instance.with_store(async |store| {
        let Some(id) = store.collection(key).await.unwrap() else { return Vec::new() };
        load_all(store, id).await.unwrap().tokens
    });
    let mut names: Vec<_> = tokens
        .iter()
        .map(|token| {
            let metadata: Value = serde_json::from_str(&token.metadata).unwrap();
            (token.token_id.to_string(), metadata["name"].as_str().unwrap().to_owned())
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_record_arrives_and_the_same_file_again_changes_nothing() {
    let instance = Instance::new();
    let project = instance.create_project("imports");
    file(&instance, "one.jsonl", lines(&records(project.id, 1)));
    let first = instance.json(&["import", "one.jsonl"]);
    // The audience counts as itself, its two contacts and its contract.
    assert_eq!(counts(&first), [8, 11, 0]);
    let members: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(members, ["read", "changed", "skipped", "seconds", "linesPerSecond", "stopped"]);
    assert_eq!(first["stopped"], Value::Null);
    assert!(first["seconds"].is_number() && first["linesPerSecond"].is_number());
    check_store(&instance, project.wire_id());
    assert_eq!(counts(&instance.json(&["import", "one.jsonl"])), [8, 0, 0]);
    file(&instance, "two.jsonl", lines(&records(project.id, 2)));
    // Everything is different but the event, the audience itself and the contact without a name.
    assert_eq!(counts(&instance.json(&["import", "two.jsonl"])), [8, 8, 0]);
    assert_eq!(counts(&instance.json(&["import", "two.jsonl", "two.jsonl"])), [16, 0, 0]);
}

fn check_store(instance: &Instance, project: bourse_wire::ProjectId) {
    let scope = ProjectScope::of_operator(project);
    let key = CollectionKey { chain: ChainId(137), address: CONTRACT.parse().unwrap() };
    instance.with_store(async |store| {
        let id = store.collection(key).await.unwrap().unwrap();
        let contract: Value = serde_json::from_str(&store.contract(id).await.unwrap().unwrap()).unwrap();
        assert_eq!((&contract["name"], &contract["type"]), (&json!("Contract 1"), &json!("ERC721")));
        let currencies = store.currencies().await.unwrap();
        assert_eq!((currencies.len(), currencies[0].name.as_str()), (1, "Coin 1"));
        // The wallet's address, that it was there, and one event.
        let kinds = vec![(0, 0), (1, 0), (2, 0)];
        let counts = store.counts(scope, CountsCursor { kinds, ..CountsCursor::default() }).await.unwrap();
        assert_eq!((counts.version, counts.chunks.len()), (1, 3));
        let usage = usage_since(store, "2026-01-01".parse().unwrap()).await.unwrap();
        assert_eq!((usage.len(), usage[0].units, usage[0].service.as_str()), (1, 41, "metadata"));
        let audiences = store.audiences(scope).await.unwrap();
        let view = store.audience(scope, audiences[0].id).await.unwrap();
        assert_eq!((audiences.len(), view.contacts.len(), view.contracts.len()), (1, 2, 1));
    });
    assert_eq!(token_names(instance), [("1".to_owned(), "Token 1".to_owned())]);
}

#[test]
fn signed_orders_arrive_whole_and_only_when_their_makers_signed_them() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../protocols/vectors/vectors.json")).unwrap();
    let signed = &vectors["seaport"]["cases"][0]["orders"][0];
    let mut order = json!({ "type": "order", "chainId": 1, "marketplace": "opensea" });
    for member in ["native", "signature"] {
        order[member] = signed[member].clone();
    }
    let mut other = order.clone();
    other["native"]["salt"] = json!("2");
    let instance = Instance::new();
    file(&instance, "orders.jsonl", lines(&[order, other]));
    let done = instance.run(&["import", "orders.jsonl", "--skip-bad", "--json"]);
    assert_eq!(counts(&serde_json::from_str(&done.stdout).unwrap()), [1, 1, 1], "{done:?}");
    assert!(done.stderr.contains("signature: was not made with the maker's key"), "{done:?}");
    let (collection, order_id) =
        ("0x00000000000000000000000000000000000000c0", signed["id"].as_str().unwrap());
    instance.with_store(async |store| {
        let key = CollectionKey { chain: ChainId(1), address: collection.parse().unwrap() };
        let id = store.collection(key).await.unwrap().unwrap();
        let name = OrderKey { marketplace: Marketplace::Opensea, order_id: order_id.to_owned() };
        let order = store.orders_by_key(id, vec![name.clone()]).await.unwrap().remove(0);
        assert_eq!((order.price_amount, order.fee_bps), (1000.into(), 750));
        assert!(
            store.natives_by_key(id, vec![name.clone()]).await.unwrap()[&name].contains("\"signature\":\"0x")
        );
    });
}

#[test]
fn standard_input_several_files_and_every_line_ending_are_read() {
    let instance = Instance::new();
    let [one, two, three] = [1, 2, 3].map(|number| token(number, "a").to_string());
    // Empty lines, spaces around a record, carriage returns, and a last line without an end.
    let text = format!("\n{one}\r\n\r\n   \n \t{two} \n\n{three}");
    let done = instance.run_with_input(&["import", "-", "--json"], text.as_bytes());
    assert!(done.status.success(), "{done:?}");
    assert_eq!(counts(&serde_json::from_str(&done.stdout).unwrap()), [3, 3, 0]);
    // What Windows editors put at the start of a file is not part of its first record.
    file(&instance, "bom.jsonl", format!("\u{feff}{}\n", token(4, "a")));
    file(&instance, "empty.jsonl", "");
    file(&instance, "later.jsonl", lines(&[token(4, "b")]));
    let summary = instance.json(&["import", "bom.jsonl", "empty.jsonl", "later.jsonl"]);
    assert_eq!(summary["read"], json!(2));
    let names = token_names(&instance);
    assert_eq!(names.len(), 4);
    assert_eq!(names[3], ("4".to_owned(), "b".to_owned()), "the later file counts");
    let text = instance.run(&["import", "later.jsonl"]).stdout;
    assert!(text.starts_with("1 records read, 0 changed, 0 bad lines skipped, in "), "{text}");
}

#[test]
fn a_running_server_shows_what_is_imported_beside_it() {
    let instance = Instance::new();
    let project = instance.create_project("beside");
    let server = instance.serve();
    let body = json!({ "chainID": "137", "contractAddress": CONTRACT, "tokenIDs": ["1"] });
    let shown = || {
        let answer = server.call("Metadata/GetTokenMetadata", Credential::Key(&project.key), &body).ok();
        answer["tokenMetadata"][0]["name"].as_str().map(str::to_owned)
    };
    assert_eq!(shown(), None);
    for name in ["first", "second"] {
        file(&instance, "tokens.jsonl", lines(&[token(1, name)]));
        assert_eq!(counts(&instance.json(&["import", "tokens.jsonl"])), [1, 1, 0]);
        let took = within(WAIT_MAX, name, || shown().as_deref() == Some(name));
        println!("import: noticed after {took:?}");
    }
}
