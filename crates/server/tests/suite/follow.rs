//! What another process changes, and what memory has no room for.

use bourse_server::auth::AccessKey;
use bourse_store::testing::{
    HeldWrite, batch, change_unnoticed, operator, operator_at, set_back, write_grant, write_side,
};
use bourse_store::{Change, Subject};
use bourse_wire::{Marketplace, OrderFacts, OrderKey};
use serde_json::{Value, json};

use crate::support::orders::{balance, commit, listing, market, order, with};
use crate::support::project::{create_key, create_token};
use crate::support::seed::{self, RELICS, UNKNOWN, key};
use crate::support::{TestApp, wait_until};

const THIRD: &str = "0x00000000000000000000000000000000000000bb";

async fn name(app: &TestApp, contract: &str, token: u64) -> Value {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [token] });
    app.project_a.call("Metadata/GetTokenMetadata", body).await.ok()["tokenMetadata"][0]["name"].clone()
}

#[tokio::test]
async fn a_new_key_and_a_disabled_key_are_wait_until() {
    let app = TestApp::start().await;
    let background = app.background();
    let (record, text) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    let with_key = app.anonymous.with("x-access-key", &text);
    let status = async || with_key.call("Builder/ListAudiences", json!({})).await.status;
    wait_until("a new key", async || status().await == 200).await;
    app.store.disable_access_key(app.project_a.scope, record.id, operator()).await.unwrap();
    wait_until("a disabled key", async || status().await == 401).await;
    let (_, again) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    let first = app.project_a.key_record.id;
    app.store
        .rotate_access_key(app.project_a.scope, first, "0".repeat(64), operator_at(app.now()))
        .await
        .unwrap();
    wait_until("a rotated key", async || {
        app.project_a.key.call("Builder/ListAudiences", json!({})).await.status == 401
    })
    .await;
    let with_key = app.anonymous.with("x-access-key", &again);
    assert_eq!(with_key.call("Builder/ListAudiences", json!({})).await.status, 200);
    background.stop().await;
}

#[tokio::test]
async fn a_new_token_and_a_revoked_token_are_wait_until() {
    let app = TestApp::start().await;
    let background = app.background();
    let (id, text) = create_token(&app.store, app.project_a.id, None).await;
    let with_token = app.anonymous.with("authorization", &format!("Bearer {text}"));
    let status = async || with_token.call("Collections/ListCollections", json!({})).await.status;
    wait_until("a new token", async || status().await == 200).await;
    app.store.revoke_secret_token(app.project_a.scope, id, operator_at(app.now())).await.unwrap();
    wait_until("a revoked token", async || status().await == 401).await;
    app.project_a.token.call("Collections/ListCollections", json!({})).await.ok();
    background.stop().await;
}

/// Another process writes, and does not come to an end: a token that was revoked before stops working all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_token_stops_working_while_somebody_else_writes() {
    let app = TestApp::start().await;
    let status = async || app.project_a.token.call("Collections/ListCollections", json!({})).await.status;
    // It was used, which somebody has to write down.
    assert_eq!(status().await, 200);
    let token = app.project_a.token_id.clone();
    app.store.revoke_secret_token(app.project_a.scope, token, operator_at(app.now())).await.unwrap();
    let contract = seed::key(UNKNOWN);
    let unrelated = HeldWrite::begin(&app.store, batch(contract, vec![Change::Contract("{}".into())])).await;
    let background = app.background();
    wait_until("a revoked token", async || status().await == 401).await;
    unrelated.release().await.unwrap();
    background.stop().await;
}

/// What another process just made works at once: nobody has to be told of it first.
#[tokio::test]
async fn a_credential_that_was_just_made_works_at_once() {
    let app = TestApp::start().await;
    let (_, key) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    let with_key = app.anonymous.with("x-access-key", &key);
    assert_eq!(with_key.call("Builder/ListAudiences", json!({})).await.status, 200);
    let (_, token) = create_token(&app.store, app.project_a.id, None).await;
    let with_token = app.anonymous.with("authorization", &format!("Bearer {token}"));
    assert_eq!(with_token.call("Collections/ListCollections", json!({})).await.status, 200);
    let (_, token) = create_token(&app.store, app.project_a.id, None).await;
    let with_token = app.anonymous.with("authorization", &format!("Bearer {token}"));
    let path = format!("/projects/{}/collections/1/tokens/1", app.project_a.id);
    assert_eq!(with_token.get(&path).await.status, 404);
    // One that nobody made is not known after the look either.
    let made_up = AccessKey::generate(app.project_a.id);
    let with_key = app.anonymous.with("x-access-key", made_up.expose());
    assert_eq!(with_key.call("Builder/ListAudiences", json!({})).await.status, 401);
}

#[tokio::test]
async fn new_and_changed_tokens_are_wait_until() {
    let app = TestApp::start().await;
    seed::tokens(&app.store, RELICS, 1..3, "old").await;
    let background = app.background();
    assert_eq!(name(&app, RELICS, 1).await, "old");
    seed::tokens(&app.store, RELICS, 2..4, "new").await;
    wait_until("new tokens", async || name(&app, RELICS, 3).await == "new").await;
    assert_eq!(name(&app, RELICS, 2).await, "new");
    assert_eq!(name(&app, RELICS, 1).await, "old");
    // A collection that was not there when it was first asked for.
    assert_eq!(name(&app, UNKNOWN, 1).await, Value::Null);
    seed::tokens(&app.store, UNKNOWN, 1..2, "made").await;
    wait_until("a new collection", async || name(&app, UNKNOWN, 1).await == "made").await;
    background.stop().await;
}

/// An order whose side only a newer version knows, as it may come while servers are upgraded one after the other.
#[tokio::test]
async fn a_row_that_cannot_be_read_stops_nobody_else() {
    let app =
        market(vec![order(listing("a", 1, 1)), seed::token_of(json!({ "tokenId": "1", "name": "old" }))])
            .await;
    seed::tokens(&app.store, UNKNOWN, 1..3, "old").await;
    let background = app.background();
    let floor = async || {
        let body = json!({ "chainId": 137, "contractAddress": RELICS });
        app.project_a.call("Marketplace/GetFloorOrder", body).await
    };
    let price = async || floor().await.json["collectible"]["order"]["priceAmount"].clone();
    wait_until("a floor", async || price().await == "1").await;
    assert_eq!(name(&app, UNKNOWN, 1).await, "old");

    let id = app.store.collection(seed::key(RELICS)).await.unwrap().unwrap();
    let unread = OrderKey { marketplace: Marketplace::Opensea, order_id: "a".to_owned() };
    write_side(&app.store, id, unread.clone(), 9).await.unwrap();
    seed::tokens(&app.store, UNKNOWN, 1..3, "new").await;
    wait_until("another collection", async || name(&app, UNKNOWN, 1).await == "new").await;
    let (_, text) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    let with_key = app.anonymous.with("x-access-key", &text);
    wait_until("a new key", async || with_key.call("Builder/ListAudiences", json!({})).await.status == 200)
        .await;
    wait_until("a refusal", async || floor().await.status == 503).await;
    let refused = floor().await;
    assert_eq!(refused.refusal(), (503, 1901));
    let message = refused.json["msg"].as_str().unwrap();
    assert!(message.contains(RELICS) && message.contains("cannot be read"), "{message}");
    let metrics = app.anonymous.get("/metrics").await.text();
    assert!(metrics.contains("bourse_resident_stale_collections 1\n"), "{metrics}");

    let listing_side = 1;
    write_side(&app.store, id, unread, listing_side).await.unwrap();
    wait_until("the collection again", async || price().await == "1").await;
    background.stop().await;
}

/// Versions are read of many collections at once. One that makes no sense is found among them, and concerns its collection
/// alone.
#[tokio::test]
async fn a_version_that_cannot_be_read_stops_nobody_else() {
    let app = TestApp::start().await;
    let others: Vec<String> = (0xb0..0xb9).map(|number| format!("0x{number:040x}")).collect();
    for contract in others.iter().map(String::as_str).chain([RELICS]) {
        seed::tokens(&app.store, contract, 1..2, "before").await;
        assert_eq!(name(&app, contract, 1).await, "before");
    }
    let background = app.background();
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let broken = "UPDATE collection_versions SET version = -version WHERE collection_id = $1";
    change_unnoticed(&app.store, id, broken).await.unwrap();
    for other in &others {
        seed::tokens(&app.store, other, 1..2, "after").await;
        wait_until("others are followed", async || name(&app, other, 1).await == "after").await;
    }
    let body = json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": [1] });
    let ask = async || app.project_a.call("Metadata/GetTokenMetadata", body.clone()).await;
    wait_until("it is refused", async || ask().await.status != 200).await;
    assert_eq!(ask().await.refusal(), (503, 1901));
    change_unnoticed(&app.store, id, broken).await.unwrap();
    wait_until("it is there again", async || ask().await.status == 200).await;
    background.stop().await;
}

/// A market with one listing, and that listing as it is stored.
async fn with_one_order() -> (TestApp, OrderFacts) {
    let listed = order(listing("a", 1, 1));
    let Change::Order(before) = listed.clone() else { panic!("an order") };
    (market(vec![listed]).await, *before)
}

async fn floor_price(app: &TestApp) -> Value {
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    let floor = app.project_a.call("Marketplace/GetFloorOrder", body).await.json;
    floor["collectible"]["order"]["priceAmount"].clone()
}

/// A database that failed over to an older copy has an order as it was, and gives out the same versions for other changes.
#[tokio::test]
async fn a_database_that_was_set_back_is_answered_from_as_it_is() {
    let (app, before) = with_one_order().await;
    let price = async || floor_price(&app).await;
    let background = app.background();
    assert_eq!(price().await, "1");
    commit(&app.store, vec![order(with(listing("a", 1, 1), json!({ "status": "cancelled" })))]).await;
    wait_until("the order is cancelled", async || price().await == Value::Null).await;
    let id = app.store.collection(seed::key(RELICS)).await.unwrap().unwrap();
    set_back(&app.store, id, before).await.unwrap();
    wait_until("the order is as it was", async || price().await == "1").await;
    background.stop().await;
}

/// The same, where others committed as many versions before this server looked.
#[tokio::test]
async fn versions_that_were_given_out_again_are_told_apart() {
    let (app, before) = with_one_order().await;
    let price = async || floor_price(&app).await;
    assert_eq!(price().await, "1");
    let put = json!({ "orders": [listing("a", 1, 2)] });
    app.project_a.call("Ingest/PutOrders", put).await.ok();
    assert_eq!(price().await, "2");
    let id = app.store.collection(seed::key(RELICS)).await.unwrap().unwrap();
    set_back(&app.store, id, before).await.unwrap();
    commit(&app.store, vec![order(listing("b", 2, 7))]).await;
    let background = app.background();
    wait_until("the order is as it was", async || price().await == "1").await;
    background.stop().await;
}

/// Of several servers some are of a newer version for a while, and know rights that the others do not.
#[tokio::test]
async fn a_right_that_only_a_newer_version_knows_keeps_nobody_from_another() {
    let app = TestApp::start().await;
    let background = app.background();
    write_grant(&app.store, app.project_b.scope, 9).await.unwrap();
    // Credentials and rights are read together: with one of them, all of them would stay what they were.
    let (_, text) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    let with_key = app.anonymous.with("x-access-key", &text);
    wait_until("a new key", async || with_key.call("Builder/ListAudiences", json!({})).await.status == 200)
        .await;
    let revoked =
        app.store.revoke_secret_token(app.project_a.scope, app.project_a.token_id.clone(), operator());
    revoked.await.unwrap();
    wait_until("a revoked token", async || {
        app.project_a.token.call("Builder/ListAudiences", json!({})).await.status == 401
    })
    .await;
    // Also for a server that starts now.
    let token = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "1", "name": "stated" });
    let other = app.another().await;
    assert_eq!(other.key.call("Builder/ListAudiences", json!({})).await.status, 200);
    let stated = app.project_b.call("Ingest/PutTokens", json!({ "tokens": [token] })).await;
    assert_eq!(stated.status, 200, "what it may state besides: {}", stated.json);
    assert_eq!(app.store.grants(app.project_b.scope).await.unwrap().len(), Subject::ALL.len());
    background.stop().await;
}

/// What this process itself committed is on disk, and nothing older is served, also where it cannot be read.
#[tokio::test]
async fn a_commit_to_what_cannot_be_read_stands() {
    let app = market(vec![order(listing("a", 1, 1)), order(listing("b", 2, 2))]).await;
    let floor = async || {
        let body = json!({ "chainId": 137, "contractAddress": RELICS });
        app.project_a.call("Marketplace/GetFloorOrder", body).await
    };
    assert_eq!(floor().await.ok()["collectible"]["order"]["priceAmount"], "1");
    let id = app.store.collection(seed::key(RELICS)).await.unwrap().unwrap();
    let unread = OrderKey { marketplace: Marketplace::Opensea, order_id: "b".to_owned() };
    write_side(&app.store, id, unread, 9).await.unwrap();
    let put = json!({ "orders": [listing("a", 1, 7)] });
    let answer = app.project_a.call("Ingest/PutOrders", put).await.ok();
    assert_eq!(answer["changed"], 1, "{answer}");
    assert_eq!(floor().await.refusal(), (503, 1901));
}

#[tokio::test]
async fn a_service_far_behind_the_change_log_loads_anew() {
    let app = TestApp::with(&[("storage.changes_kept", "2")]).await;
    seed::tokens(&app.store, RELICS, 1..3, "old").await;
    assert_eq!(name(&app, RELICS, 1).await, "old");
    for round in 0..5 {
        // Through the service's own store, which keeps two versions only.
        seed::tokens(app.app.store(), RELICS, 1..3, &format!("round {round}")).await;
    }
    let background = app.background();
    wait_until("the last round", async || name(&app, RELICS, 1).await == "round 4").await;
    background.stop().await;
}

/// Memory that resident collections take, as the service reports it.
async fn resident_bytes(app: &TestApp) -> usize {
    let metrics = app.anonymous.get("/metrics").await.text();
    let bytes = metrics.lines().find_map(|line| line.strip_prefix("bourse_resident_bytes "));
    bytes.unwrap().parse().unwrap()
}

#[tokio::test]
async fn collections_that_do_not_fit_together_are_dropped_and_loaded_again() {
    let roomy = TestApp::start().await;
    seed::tokens(&roomy.store, RELICS, 1..51, RELICS).await;
    assert_eq!(name(&roomy, RELICS, 50).await, RELICS);
    let room_for_two = resident_bytes(&roomy).await * 5 / 2;
    let app = TestApp::with(&[("storage.resident_bytes_max", &room_for_two.to_string())]).await;
    for contract in [RELICS, UNKNOWN, THIRD] {
        seed::tokens(&app.store, contract, 1..51, contract).await;
    }
    for _ in 0..3 {
        for contract in [RELICS, UNKNOWN, THIRD] {
            assert_eq!(name(&app, contract, 50).await, contract);
        }
    }
    let bytes = resident_bytes(&app).await;
    assert!(bytes > room_for_two / 2 && bytes <= room_for_two, "{bytes} of {room_for_two}");
    // What was dropped and loaded again is followed like before.
    let background = app.background();
    seed::tokens(&app.store, THIRD, 50..51, "new").await;
    wait_until("a token of a collection loaded again", async || name(&app, THIRD, 50).await == "new").await;
    background.stop().await;
}

/// Holders take memory as well as texts do, and are counted while they are loaded.
#[tokio::test]
async fn a_token_of_many_holders_is_larger_than_its_text() {
    let bytes_max = 200_000;
    let app = TestApp::with(&[("storage.resident_bytes_max", &bytes_max.to_string())]).await;
    seed::tokens(&app.store, RELICS, 1..2, "held").await;
    let holders = (1..=20_000).map(|holder| balance(1, &format!("0x{holder:040x}"), 1));
    commit(&app.store, holders.collect()).await;
    assert_eq!(name(&app, RELICS, 1).await, "held", "it is read from the store");
    assert_eq!(resident_bytes(&app).await, 0);
    // It takes nothing from those that fit.
    seed::tokens(&app.store, UNKNOWN, 1..2, "other").await;
    assert_eq!(name(&app, UNKNOWN, 1).await, "other");
    let bytes = resident_bytes(&app).await;
    assert!(bytes > 0 && bytes <= bytes_max, "{bytes} of {bytes_max}");
}

/// A collection answers the same from the store as from memory: order, repetitions, unknown tokens, contract.
#[tokio::test]
async fn a_collection_larger_than_memory_is_answered_from_the_store() {
    let small = TestApp::with(&[("storage.resident_bytes_max", "100")]).await;
    let large = TestApp::start().await;
    let body = json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": [7, 3, 404, 9, 3, 10, 1] });
    let contract = json!({ "chainID": 137, "contractAddress": RELICS });
    let mut answers = Vec::new();
    for app in [&small, &large] {
        seed::relics(&app.store).await;
        seed::tokens(&app.store, RELICS, 2..20, "Relic").await;
        let tokens = app.project_a.call("Metadata/GetTokenMetadata", body.clone()).await.ok();
        let info = app.project_a.call("Metadata/GetContractInfo", contract.clone()).await.ok();
        answers.push((tokens, info));
    }
    assert_eq!(resident_bytes(&small).await, 0, "the collection is in memory after all");
    assert_eq!(answers[0], answers[1]);
}
