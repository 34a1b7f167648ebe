//! Reading through one server what another one wrote. The servers here follow nothing by themselves, as if every notification
//! were late: what they know of each other's writes is what a request tells them with `Data-Version`.

use bourse_store::Change;
use bourse_store::testing::set_back;
use serde_json::{Value, json};

use crate::support::actor::{Actor, Answer};
use crate::support::orders::{ANA, listing, market, order};
use crate::support::seed::{self, RELICS, UNKNOWN, key};
use crate::support::{TestApp, wait_until};

const HEADER: &str = "data-version";

async fn put_name(actor: &Actor, contract: &str, name: &str) -> Answer {
    let token = json!({ "chainId": 137, "contractAddress": contract, "tokenId": "1", "name": name });
    actor.call("Ingest/PutTokens", json!({ "tokens": [token] })).await
}

async fn read(actor: &Actor, contract: &str) -> Answer {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [1] });
    actor.call("Metadata/GetTokenMetadata", body).await
}

async fn name(actor: &Actor, contract: &str) -> Value {
    read(actor, contract).await.ok()["tokenMetadata"][0]["name"].clone()
}

async fn floor(actor: &Actor) -> Value {
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    actor.call("Marketplace/GetFloorOrder", body).await.json["collectible"]["order"]["priceAmount"].clone()
}

/// The version that a write was answered with.
#[track_caller]
fn version(answer: Answer) -> String {
    let version = answer.header(HEADER).to_owned();
    answer.ok();
    assert!(!version.is_empty());
    version
}

#[tokio::test]
async fn what_one_server_wrote_is_read_through_another_that_is_told_of_it() {
    let app = market(vec![seed::token_of(json!({ "tokenId": "1", "name": "old" }))]).await;
    let other = app.another().await;
    assert_eq!((name(&other.token, RELICS).await, floor(&other.token).await), (json!("old"), Value::Null));

    let named = version(put_name(&app.project_a.token, RELICS, "new").await);
    assert_eq!(name(&other.token, RELICS).await, "old");
    assert_eq!(name(&other.token.with(HEADER, &named), RELICS).await, "new");
    assert_eq!(name(&other.token, RELICS).await, "new", "what was taken over stays");

    let orders = json!({ "orders": [listing("a", 1, 7)] });
    let listed = version(app.project_a.call("Ingest/PutOrders", orders).await);
    assert_eq!(floor(&other.token).await, Value::Null);
    assert_eq!(floor(&other.token.with(HEADER, &listed)).await, "7");

    let balance =
        json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "1", "account": ANA, "balance": "0" });
    let sold = version(app.project_a.call("Ingest/PutBalances", json!({ "balances": [balance] })).await);
    assert_eq!(floor(&other.token).await, "7");
    // What was written before is there as well.
    let told = other.token.with(HEADER, &format!("{named}, {listed}, {sold}"));
    assert_eq!((floor(&told).await, name(&told, RELICS).await), (Value::Null, json!("new")));
    // The server that wrote it is told the same, and so is one that has nothing in memory yet.
    let third = app.another().await;
    for actor in [&app.project_a.token, &third.token] {
        assert_eq!(name(&actor.with(HEADER, &sold), RELICS).await, "new");
    }
}

#[tokio::test]
async fn all_collections_of_a_write_are_told_unless_they_are_too_many() {
    let app = TestApp::start().await;
    let other = app.another().await;
    let contracts: Vec<String> = (1..=33).map(|number| format!("0x{number:040x}")).collect();
    let put = async |contracts: &[String], name: &str| {
        let token = |contract: &String| json!({ "chainId": 137, "contractAddress": contract, "tokenId": "1", "name": name });
        let tokens: Vec<Value> = contracts.iter().map(token).collect();
        app.project_a.call("Ingest/PutTokens", json!({ "tokens": tokens })).await
    };
    put(&contracts, "old").await.ok();
    for contract in &contracts {
        assert_eq!(name(&other.token, contract).await, "old");
    }
    let told = other.token.with(HEADER, &version(put(&contracts[1..], "new").await));
    assert_eq!(name(&told, &contracts[1]).await, "new");
    for contract in &contracts[1..] {
        assert_eq!(name(&other.token, contract).await, "new");
    }
    let many = put(&contracts, "newer").await;
    assert_eq!(many.header(HEADER), "");
    many.ok();
    // What only reads is answered without.
    assert_eq!(read(&app.project_a.token, RELICS).await.header(HEADER), "");
}

#[tokio::test]
async fn a_version_that_no_server_gave_out_is_refused() {
    let app = TestApp::start().await;
    let given = version(put_name(&app.project_a.token, RELICS, "new").await);
    let changed = format!("{}{}", if given.starts_with('A') { "B" } else { "A" }, &given[1..]);
    for text in ["", "17", "*", &changed, &given[4..], &format!("{given}, x")] {
        let refused = read(&app.project_a.token.with(HEADER, text), RELICS).await;
        assert_eq!(refused.refusal(), (400, -4), "{text}");
        let message = refused.json["msg"].as_str().unwrap();
        assert!(message.contains("Data-Version") && message.contains("leave it out"), "{message}");
    }
}

/// A database that lost the version will never have it: nobody waits for that.
#[tokio::test]
async fn a_version_that_the_database_lost_is_not_waited_for() {
    let app = market(vec![order(listing("a", 1, 1))]).await;
    let other = app.another().await;
    assert_eq!(floor(&other.token).await, "1");
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let Change::Order(before) = order(listing("a", 1, 1)) else { panic!("no order") };
    let lost =
        version(app.project_a.call("Ingest/PutOrders", json!({ "orders": [listing("a", 1, 2)] })).await);
    set_back(&app.store, id, *before).await.unwrap();
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    let refused = other.token.with(HEADER, &lost).call("Marketplace/GetFloorOrder", body).await;
    assert_eq!(refused.refusal(), (409, 1004), "{}", refused.json);
    assert_eq!(floor(&other.token).await, "1");
}

/// On PostgreSQL only. What is in memory is answered without the database, whatever the header says; what is not there cannot
/// be promised, and what is stays for everybody else.
#[tokio::test]
async fn the_database_is_asked_only_for_what_is_not_there() {
    let Some((app, relay)) = TestApp::relayed(&[("storage.database_timeout_ms", "300")]).await else {
        return;
    };
    let writer = app.another().await;
    let here = &app.project_a.token;
    let (known, quiet) =
        (version(put_name(here, RELICS, "known").await), version(put_name(here, UNKNOWN, "quiet").await));
    assert_eq!((name(here, RELICS).await, name(here, UNKNOWN).await), (json!("known"), json!("quiet")));
    let newer = version(put_name(&writer.token, RELICS, "newer").await);
    relay.go_down();
    let refused = read(&here.with(HEADER, &newer), RELICS).await;
    assert_eq!(refused.refusal(), (503, 1903), "{}", refused.json);
    assert_ne!(refused.header("retry-after"), "");
    assert_eq!(name(&here.with(HEADER, &format!("{known},{quiet}")), RELICS).await, "known");
    assert_eq!(name(here, UNKNOWN).await, "quiet");
    relay.come_up();
    wait_until("it is taken over again", async || {
        read(&here.with(HEADER, &newer), RELICS).await.status == 200
    })
    .await;
    assert_eq!(name(here, RELICS).await, "newer");
}
