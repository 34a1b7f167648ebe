//! Memory: loaded once, dropped when short, and what does not fit at all.

use bourse_store::Change;
use bourse_store::testing::batch;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{ask, balance, commit, listed, listing, market, order, orders, put, token, with};
use crate::support::actor::Answer;
use crate::support::seed::{RELICS, UNKNOWN, key};
use crate::support::{TestApp, wait_until};

/// A series as the service reports it.
async fn metric(app: &TestApp, series: &str) -> f64 {
    let text = app.anonymous.get("/metrics").await.text();
    let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().unwrap()
}

fn hundred(contract: &str) -> Vec<Change> {
    let change = |id: u64| {
        order(with(listing(&id.to_string(), id, id), json!({ "collectionContractAddress": contract })))
    };
    (1..=100).flat_map(|id| [change(id), token(id, contract)]).collect()
}

async fn cheapest(app: &TestApp, contract: &str) -> Value {
    let body = json!({ "chainId": 137, "contractAddress": contract });
    let answer = app.project_a.call("Marketplace/GetFloorOrder", body).await.ok();
    let collectible = &answer["collectible"];
    assert_eq!(collectible["order"]["collectionContractAddress"], contract);
    collectible["order"]["priceAmount"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_first_touches_load_once() {
    let app = market(hundred(RELICS)).await;
    assert_eq!(metric(&app, "bourse_resident_load_seconds_count").await.to_string(), "0");
    let calls = (0..64).map(|_| {
        let key = app.project_a.key.clone();
        tokio::spawn(async move { super::ask_as(&key, "Marketplace/GetFloorOrder", json!({})).await.status })
    });
    for status in join_all(calls).await {
        assert_eq!(status.unwrap(), 200);
    }
    assert_eq!(metric(&app, "bourse_resident_load_seconds_count").await.to_string(), "1");
}

#[tokio::test]
async fn metrics_tell_of_what_is_resident() {
    let app = market(hundred(RELICS)).await;
    let values = async |app: &TestApp| {
        let of = async |name: &str| metric(app, &format!("bourse_resident_{name}")).await;
        (of("collections").await, of("bytes").await, of("load_seconds_sum").await, of("lag_versions").await)
    };
    let (collections, bytes, load, lag) = values(&app).await;
    assert_eq!([collections, bytes, load, lag].map(|value| value.to_string()), ["0", "0", "0", "0"]);
    listed(&app, json!({})).await;
    let (collections, bytes, load, lag) = values(&app).await;
    assert_eq!([collections, lag].map(|value| value.to_string()), ["1", "0"]);
    assert!(bytes > 10_000.0 && load > 0.0, "{bytes} bytes loaded in {load} s");
    let followed = metric(&app, "bourse_resident_follow_seconds_count").await;
    let body = json!({ "orders": [listing("new", 1, 1)] });
    app.project_a.call("Ingest/PutOrders", body).await.ok();
    assert!(metric(&app, "bourse_resident_follow_seconds_count").await > followed);
}

#[tokio::test]
async fn collections_that_do_not_fit_together_are_answered_all_the_same() {
    let roomy = market(hundred(RELICS)).await;
    cheapest(&roomy, RELICS).await;
    let room_for_one = format!("{}", metric(&roomy, "bourse_resident_bytes").await * 1.5);
    let app = TestApp::with(&[("storage.resident_bytes_max", room_for_one.split('.').next().unwrap())]).await;
    put(&app.store, hundred(RELICS)).await;
    let batch = batch(key(UNKNOWN), hundred(UNKNOWN));
    app.store.commit(batch).await.unwrap();
    // Currencies came after the service had read them.
    let background = app.background();
    for round in 0..3 {
        for contract in [RELICS, UNKNOWN] {
            if round == 0 {
                wait_until("a floor", async || ask_floor(&app, contract).await == 200).await;
            }
            assert_eq!(cheapest(&app, contract).await, "1");
        }
    }
    assert_eq!(metric(&app, "bourse_resident_collections").await.to_string(), "1");
    assert!(metric(&app, "bourse_resident_load_seconds_count").await >= 6.0);
    background.stop().await;
}

async fn ask_floor(app: &TestApp, contract: &str) -> u16 {
    let body = json!({ "chainId": 137, "contractAddress": contract });
    app.project_a.call("Marketplace/GetFloorOrder", body).await.status
}

#[tokio::test]
async fn a_collection_larger_than_memory_is_refused_clearly_and_its_tokens_are_served() {
    let (app, ()) = TestApp::prepared(&[("storage.resident_bytes_max", "100")], async |store, _, _| {
        put(store, hundred(RELICS)).await;
    })
    .await;
    for operation in [
        "Marketplace/ListCollectibles",
        "Marketplace/GetCountOfFilteredCollectibles",
        "Marketplace/GetFloorOrder",
        "Marketplace/ListListingsForCollectible",
        "Marketplace/GetHighestPriceListingForCollectible",
        "Metadata/SearchTokenMetadata",
        "Metadata/TokenCollectionFilters",
    ] {
        let refused = ask(&app, operation, json!({ "tokenId": "1" })).await;
        assert_eq!(refused.refusal(), (503, 1901), "{operation}");
        let message = refused.json["msg"].as_str().unwrap();
        assert!(message.contains("storage.resident_bytes_max") && message.contains(RELICS), "{message}");
    }
    let body = json!({ "chainID": 137, "contractTokenMap": { RELICS: ["100", "1"] } });
    let answer = app.project_a.call("Metadata/GetTokenMetadataBatch", body).await.ok();
    assert_eq!(answer["contractTokenMetadata"][RELICS].as_array().unwrap().len(), 2);
    assert_eq!(metric(&app, "bourse_resident_collections").await.to_string(), "0");
}

/// Everything that is asked of a collection when it is first touched.
async fn first_touches(app: &TestApp, contract: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for operation in ["Marketplace/ListCollectibles", "Marketplace/GetFloorOrder", "Metadata/SearchTokenIDs"]
    {
        let body = json!({ "chainId": 137, "chainID": 137, "contractAddress": contract, "side": "listing" });
        answers.push(app.project_a.call(operation, body).await);
    }
    let body = json!({ "chainID": 137, "contractTokenMap": { contract: ["1"] } });
    answers.push(app.project_a.call("Metadata/GetTokenMetadataBatch", body).await);
    answers
}

/// What else is being loaded takes all the memory: whoever comes meanwhile is told when to come back, and is answered then.
#[tokio::test]
async fn a_first_touch_without_room_is_refused_until_there_is_some() {
    const BYTES_MAX: usize = 10_000_000;
    let settings = [("storage.resident_bytes_max", "10000000")];
    let (app, ()) = TestApp::prepared(&settings, async |store, _, _| {
        put(store, hundred(RELICS)).await;
        // Larger than the other, which could go for it.
        let long = token(500, &"long".repeat(100_000));
        store
            .commit(batch(key(UNKNOWN), hundred(UNKNOWN).into_iter().chain([long]).collect()))
            .await
            .unwrap();
    })
    .await;
    cheapest(&app, RELICS).await;
    let (budget, load) = (app.app.budget(), app.app.budget().share());
    load.grow(BYTES_MAX - budget.taken()).unwrap();
    for refused in first_touches(&app, UNKNOWN).await {
        assert_eq!(refused.refusal(), (503, 1901));
        assert_eq!(refused.header("retry-after"), "1");
        let message = refused.json["msg"].as_str().unwrap();
        let says = |text: &str| message.contains(text);
        assert!(
            says(UNKNOWN) && says("storage.resident_bytes_max") && says("try again shortly"),
            "{message}"
        );
    }
    // What is resident did not have to go for what does not fit anyway, and nothing is left of the attempts.
    assert_eq!(cheapest(&app, RELICS).await, "1");
    assert_eq!(metric(&app, "bourse_resident_load_seconds_count").await.to_string(), "1");
    assert_eq!(budget.taken(), BYTES_MAX);
    drop(load);
    assert!(first_touches(&app, UNKNOWN).await.iter().all(|answer| answer.status == 200));
    assert_eq!(metric(&app, "bourse_resident_collections").await.to_string(), "2");
}

/// A collection that was larger than the memory there is may have shrunk since.
#[tokio::test]
async fn a_collection_that_shrank_is_searched_again_after_a_while() {
    let (app, ()) = TestApp::prepared(&[("storage.resident_bytes_max", "100000")], async |store, _, _| {
        let name = "long".repeat(50_000);
        store.commit(batch(key(RELICS), vec![token(1, &name)])).await.unwrap();
    })
    .await;
    let found = async || ask(&app, "Metadata/SearchTokenIDs", json!({ "chainID": 137 })).await;
    assert_eq!(found().await.refusal(), (503, 1901));
    app.store.commit(batch(key(RELICS), vec![token(1, "short")])).await.unwrap();
    assert_eq!(found().await.refusal(), (503, 1901), "to look costs all others their memory");
    app.clock.advance(9 * 60);
    assert_eq!(found().await.status, 503);
    app.clock.advance(60);
    assert_eq!(found().await.ok()["tokenIds"], json!(["1"]));
    assert_eq!(metric(&app, "bourse_resident_collections").await.to_string(), "1");
}

/// A service that fell behind the kept changes loads anew, orders and balances included.
#[tokio::test]
async fn a_service_far_behind_loads_orders_anew() {
    let (app, ()) = TestApp::prepared(&[("storage.changes_kept", "2")], async |store, _, _| {
        put(store, orders([listing("a", 1, 900), listing("b", 2, 950)])).await;
    })
    .await;
    assert_eq!(cheapest(&app, RELICS).await, "900");
    for price in (100..105).rev() {
        // Through the service's own store, which keeps two versions only.
        commit(app.app.store(), orders([listing("b", 2, price)])).await;
    }
    commit(app.app.store(), vec![balance(2, super::ANA, 1)]).await;
    let background = app.background();
    wait_until("the last changes", async || listed(&app, json!({})).await == ["2"]).await;
    assert_eq!(cheapest(&app, RELICS).await, "100");
    background.stop().await;
}
