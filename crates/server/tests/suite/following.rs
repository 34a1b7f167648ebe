//! Following by grant: how many, from where, and until when.

use bourse_market::facts::{Block, BlockHash, Fact, StatedFact};
use bourse_store::testing::{operator, operator_at};
use bourse_store::{BlockFacts, History, HistoryCommitted, ProjectFollow, Store, Subject};
use bourse_wire::{Address, ChainId};
use serde_json::{Value, json};

use crate::support::project::{Project, everything};
use crate::support::seed::{ACCOUNT, RELICS, key};
use crate::support::{START, TestApp};

const NODE: [(&str, &str); 2] =
    [("networks.polygon.rpc_url", "https://node.example"), ("networks.polygon.id", "137")];
const CREATE: &str = "Admin/CreateCollection";
const DELETE: &str = "Admin/DeleteCollection";

fn of(address: &str, more: Value) -> Value {
    crate::marketplace::with(json!({ "chainId": 137, "contractAddress": address }), more)
}

async fn is_followed(app: &TestApp) -> bool {
    app.store.following(key(RELICS)).await.unwrap().is_some()
}

/// Row 7: random addresses, as many as one likes.
#[tokio::test]
async fn a_hundred_and_fifty_random_addresses_are_capped() {
    let app = TestApp::with(&NODE).await;
    let mut refused = 0;
    for number in 1..=150 {
        let answer = app.project_a.call(CREATE, of(&format!("0x{number:040x}"), json!({}))).await;
        if answer.status != 200 {
            assert_eq!(answer.refusal(), (409, 1004), "{}", answer.json);
            let message = answer.json["message"].as_str().unwrap();
            assert!(
                message.contains("100 is the most") && message.contains("limits.followed_collections_max")
            );
            refused += 1;
        }
    }
    assert_eq!((refused, app.store.followed(ChainId(137)).await.unwrap().len()), (50, 100));
    // Neither another project nor what is followed already is concerned.
    app.project_b.call(CREATE, of(RELICS, json!({}))).await.ok();
    app.project_a.call(CREATE, of(&format!("0x{:040x}", 1), json!({ "fromBlock": 7 }))).await.ok();
    app.project_a.call(DELETE, of(&format!("0x{:040x}", 1), json!({}))).await.ok();
    app.project_a.call(CREATE, of(RELICS, json!({}))).await.ok();
    let one_more = app.project_a.call(CREATE, of(&format!("0x{:040x}", 200), json!({}))).await;
    assert_eq!(one_more.refusal(), (409, 1004));
}

#[tokio::test]
async fn the_cap_is_a_setting() {
    let app = TestApp::with(&[NODE[0], NODE[1], ("limits.followed_collections_max", "1")]).await;
    app.project_a.call(CREATE, of(RELICS, json!({}))).await.ok();
    let second = app.project_a.call(CREATE, of(ACCOUNT, json!({}))).await;
    assert_eq!(second.refusal(), (409, 1004));
    app.project_b.call(CREATE, of(ACCOUNT, json!({}))).await.ok();
}

/// Has a collection read up to block 12, in which token 1 was made.
async fn read(store: &Store, from: u64) {
    let block = |number: u8| Block {
        number: number.into(),
        hash: BlockHash::from([number; 32]),
        parent: BlockHash::from([number - 1; 32]),
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let fact = Fact::Transfer {
        token_id: 1.into(),
        from: Address::ZERO,
        to: ACCOUNT.parse().unwrap(),
        quantity: 1.into(),
        single: true,
    };
    let (collection, tx_hash) = (key(RELICS).address, BlockHash::from([7; 32]));
    let facts = vec![StatedFact { collection, tx_hash, log_index: 0, part: 0, fact }];
    store.start_chain(ChainId(137), block(12)).await.unwrap();
    let blocks = vec![BlockFacts { block: block(12), facts }];
    let history = History { collection: key(RELICS), from, to: 12, blocks, window: 4 };
    let done = store.commit_history(history).await.unwrap();
    assert!(matches!(done, HistoryCommitted::Done { live: true, .. }), "{done:?}");
}

/// Row 7: somebody follows a collection from a late block, and its owner from the one that it was deployed in.
#[tokio::test]
async fn an_earlier_start_is_read_anew() {
    let app = TestApp::with(&NODE).await;
    app.project_b.call(CREATE, of(RELICS, json!({ "fromBlock": 12 }))).await.ok();
    read(&app.store, 12).await;
    let later = app.project_a.call(CREATE, of(RELICS, json!({ "fromBlock": 99 }))).await.ok();
    let so_far =
        json!({ "chainId": 137, "contractAddress": RELICS, "fromBlock": 12, "nextBlock": 13, "live": true });
    assert_eq!(later["collection"], so_far, "what counts is told");
    let earlier = app.project_a.call(CREATE, of(RELICS, json!({ "fromBlock": 5 }))).await.ok();
    let anew =
        json!({ "chainId": 137, "contractAddress": RELICS, "fromBlock": 5, "nextBlock": 5, "live": false });
    assert_eq!(earlier["collection"], anew);
    read(&app.store, 5).await;
    let held = app
        .store
        .holders(app.store.collection(key(RELICS)).await.unwrap().unwrap(), 1.into(), 9)
        .await
        .unwrap();
    assert_eq!(
        (held.count, held.largest[0].balance.to_string().as_str()),
        (1, "1"),
        "read twice, counted once"
    );
}

/// Row 7: nothing could be unfollowed, and what is followed is its chain's to state.
#[tokio::test]
async fn what_is_unfollowed_is_left_alone() {
    let app = TestApp::with(&NODE).await;
    let balance = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "9", "account": ACCOUNT, "balance": "1" });
    let put =
        async || app.project_a.token.call("Ingest/PutBalances", json!({ "balances": [balance] })).await.ok();
    app.project_a.call(CREATE, of(RELICS, json!({ "fromBlock": 12 }))).await.ok();
    read(&app.store, 12).await;
    assert_eq!(put().await["rejected"][0]["reason"], "stated-by-chain");
    let answer = app.project_a.call(DELETE, of(RELICS, json!({}))).await.ok();
    assert_eq!((answer, is_followed(&app).await), (json!({}), false));
    assert_eq!(put().await["accepted"], 1, "its owner states it again, at once");
    let tokens = json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": [1] });
    let tokens = app.project_a.call("Metadata/GetTokenMetadata", tokens).await.ok();
    assert_eq!(tokens["tokenMetadata"].as_array().unwrap().len(), 1, "tokens stay");
    let again = app.project_a.call(DELETE, of(RELICS, json!({}))).await;
    assert_eq!(again.refusal(), (404, 3000));
}

#[tokio::test]
async fn no_project_ends_what_another_follows() {
    let app = TestApp::with(&NODE).await;
    app.project_a.call(CREATE, of(RELICS, json!({}))).await.ok();
    assert_eq!(app.project_b.call(DELETE, of(RELICS, json!({}))).await.refusal(), (404, 3000));
    app.project_b.call(CREATE, of(RELICS, json!({}))).await.ok();
    app.project_a.call(DELETE, of(RELICS, json!({}))).await.ok();
    assert!(is_followed(&app).await, "the other still asks for it");
    app.project_b.call(DELETE, of(RELICS, json!({}))).await.ok();
    assert!(!is_followed(&app).await);
    app.store.follow(key(RELICS), 0, operator_at(app.now())).await.unwrap();
    app.project_a.call(CREATE, of(RELICS, json!({}))).await.ok();
    app.project_a.call(DELETE, of(RELICS, json!({}))).await.ok();
    assert!(is_followed(&app).await, "the operator asks for it");
}

#[tokio::test]
async fn who_lost_the_grant_ends_nothing() {
    let (app, project) = TestApp::prepared(&NODE, async |store, _, _| {
        let project = Project::create(store, "steward").await;
        let follow = ProjectFollow { key: key(RELICS), from: 0, most: None };
        store.follow_for(project.scope, follow, operator_at(START.parse().unwrap())).await.unwrap();
        for grant in everything().into_iter().filter(|grant| grant.subject == Subject::Collections) {
            store.remove_grant(project.scope, grant, operator()).await.unwrap();
        }
        project
    })
    .await;
    let project = project.calling(&app.anonymous);
    assert_eq!(project.call(DELETE, of(RELICS, json!({}))).await.refusal(), (403, 1001));
    assert!(is_followed(&app).await);
}
