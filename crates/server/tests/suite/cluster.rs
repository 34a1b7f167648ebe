//! Nodes of a cluster that are away, slow, or gone in the middle of a commit. On a cluster only.

use std::time::Duration;

use bourse_market::facts::{Block, BlockHash};
use bourse_store::testing::{Fate, WorkerRelays, administer, batch, on_citus, operator};
use bourse_store::{
    BlockFacts, Blocks, BlocksCommitted, Change, CollectionKey, History, NewWebhook, StoreError,
};
use bourse_wire::{EventFilter, ProjectId};
use serde_json::{Value, json};

use crate::support::actor::{Actor, Answer};
use crate::support::project::create_key;
use crate::support::seed::{self, RELICS, UNKNOWN, key};
use crate::support::{TestApp, wait_until};

/// Ends a test that would wait forever.
const BOUND: Duration = Duration::from_mins(1);
/// What a node is told in the second phase of a commit.
const SECOND: &str = "COMMIT PREPARED";

async fn ask(actor: &Actor, contract: &str) -> Answer {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [1] });
    actor.call("Metadata/GetTokenMetadata", body).await
}

async fn name(actor: &Actor, contract: &str) -> Value {
    ask(actor, contract).await.ok()["tokenMetadata"][0]["name"].clone()
}

async fn put(actor: &Actor, contract: &str, name: &str) -> Answer {
    let token = json!({ "chainId": 137, "contractAddress": contract, "tokenId": "1", "name": name });
    actor.call("Ingest/PutTokens", json!({ "tokens": [token] })).await
}

#[track_caller]
fn assert_refused(answer: &Answer) {
    assert_eq!(answer.refusal(), (503, 1903), "{}", answer.json);
    assert_ne!(answer.header("retry-after"), "");
}

fn named(name: &str) -> Change {
    seed::token_of(json!({ "tokenId": "1", "name": name }))
}

/// Has the node that a collection is on looked for where nobody is, by this database alone, or where it is again.
pub(crate) async fn shift_node_of(app: &TestApp, contract: CollectionKey, by: i32) {
    let id = app.store.collection(contract).await.unwrap().unwrap().number();
    shift(app, &format!("groupid = {}", group_of("collection_versions", id)), by).await;
}

/// The same with all nodes but the one that a project is on.
async fn shift_other_nodes(app: &TestApp, project: ProjectId, by: i32) {
    let group = group_of("hosted_collections", project.get());
    shift(app, &format!("groupid NOT IN (0, {group})"), by).await;
}

fn group_of(table: &str, id: u64) -> String {
    format!(
        "(SELECT groupid FROM pg_dist_placement
        WHERE shardid = get_shard_id_for_distribution_column('{table}', {id}))"
    )
}

async fn shift(app: &TestApp, nodes: &str, by: i32) {
    let sql = format!("UPDATE pg_dist_node SET nodeport = nodeport + ({by}) WHERE {nodes}");
    assert!(administer(&app.database, &sql).await.unwrap());
}

/// Waits until the service says so of itself, with so many nodes that cannot be reached.
async fn is_said(app: &TestApp, status: &str, away: usize) {
    wait_until("it is said", async || {
        let (ready, metrics) =
            (app.anonymous.get("/ready").await, app.anonymous.get("/metrics").await.text());
        let up = metrics.lines().filter(|line| line.starts_with("bourse_database_node_up{"));
        let said =
            (ready.json["status"].as_str() == Some(status), up.filter(|line| line.ends_with("} 0")).count());
        assert_eq!(ready.status, 200, "{}", ready.json);
        said == (true, away)
    })
    .await;
}

#[tokio::test]
async fn a_node_that_is_away_concerns_what_is_there_alone() {
    if !on_citus() {
        return;
    }
    let app = TestApp::start().await;
    let contracts = |numbers: std::ops::Range<u8>| -> Vec<String> {
        numbers.map(|number| format!("0x{number:040x}")).collect()
    };
    let (resident, stored) = (contracts(0xb0..0xc0), contracts(0xc0..0xd0));
    for contract in resident.iter().chain(&stored) {
        seed::tokens(&app.store, contract, 1..2, "before").await;
    }
    let reader = &app.project_a.token;
    for contract in &resident {
        assert_eq!(name(reader, contract).await, "before");
    }
    let background = app.background();
    is_said(&app, "ready", 0).await;
    shift_node_of(&app, key(&resident[0]), 20_000).await;
    is_said(&app, "degraded", 1).await;
    let mut away = Vec::new();
    for contract in &resident {
        match app.store.commit(batch(key(contract), vec![named("after")])).await {
            Ok(_) => {
                wait_until("it is followed", async || name(reader, contract).await == "after").await;
            }
            Err(error) => {
                assert!(error.is_unavailable(), "{error}");
                assert_eq!(name(reader, contract).await, "before", "memory goes on");
                assert_refused(&put(reader, contract, "refused").await);
                away.push(contract);
            }
        }
    }
    assert!(!away.is_empty() && away.len() < resident.len(), "{away:?}");
    let answers = futures_util::future::join_all(stored.iter().map(|contract| ask(reader, contract))).await;
    let (there, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert!(
        !there.is_empty() && !refused.is_empty(),
        "what is not in memory: {} {}",
        there.len(),
        refused.len()
    );
    refused.iter().for_each(assert_refused);
    assert_eq!(app.store.away_for(), None, "the coordinator is there");
    shift_node_of(&app, key(&resident[0]), -20_000).await;
    is_said(&app, "ready", 0).await;
    for contract in away {
        seed::tokens(&app.store, contract, 1..2, "later").await;
        wait_until("it is followed again", async || name(reader, contract).await == "later").await;
    }
    for contract in &stored {
        wait_until("it is read again", async || ask(reader, contract).await.status == 200).await;
    }
    background.stop().await;
}

/// Collections of contracts that are new, and hosted ones, are made as long as the node is there that they are on.
#[tokio::test]
async fn what_is_new_is_made_while_an_unrelated_node_is_away() {
    if !on_citus() {
        return;
    }
    let app = TestApp::start().await;
    let project = &app.project_a;
    let contracts: Vec<String> = (0xd0_u8..0xe0).map(|number| format!("0x{number:040x}")).collect();
    shift_other_nodes(&app, project.scope.project(), 20_000).await;
    let input = json!({ "metadata": { "name": "Relics" } });
    let made = project.token.call("Collections/CreateCollection", json!({ "collection": input })).await.ok();
    let hosted = &made["collection"]["id"];
    let link =
        |contract: &str| json!({ "chainId": 137, "contractAddress": contract, "collectionId": hosted });
    for contract in &contracts {
        let link = json!({ "contractCollection": link(contract) });
        project.token.call("Collections/CreateContractCollection", link).await.ok();
    }
    let make = async |contract: &str| app.store.commit(batch(key(contract), vec![named("new")])).await;
    let (mut there, mut away) = (Vec::new(), Vec::new());
    for contract in &contracts {
        match make(contract).await {
            Ok(_) => there.push(contract),
            Err(error) => {
                assert!(error.is_unavailable(), "{error}");
                away.push(contract);
            }
        }
    }
    assert!(!there.is_empty() && !away.is_empty(), "{} {}", there.len(), away.len());
    let is_in_market = async |contract: &str| {
        let markets = app.store.markets().await.unwrap();
        markets.iter().any(|market| market.key == key(contract))
    };
    for contract in there {
        assert_eq!(name(&project.token, contract).await, "new");
        assert!(is_in_market(contract).await, "{contract} is linked");
    }
    let deleted = project.token.call("Collections/DeleteCollection", json!({ "collectionId": hosted })).await;
    deleted.ok();
    shift_other_nodes(&app, project.scope.project(), -20_000).await;
    for contract in away {
        wait_until("it is made", async || make(contract).await.is_ok()).await;
        assert!(!is_in_market(contract).await, "{contract} is linked no more");
    }
}

/// What was said of webhooks, and how far they were told, is on the coordinator, and so is how far a chain is followed.
#[tokio::test]
async fn webhooks_and_chains_go_on_while_nodes_are_away() {
    if !on_citus() {
        return;
    }
    let app = TestApp::start().await;
    let (store, scope, me) = (&app.store, app.project_a.scope, "me");
    let hash = |number: u64| BlockHash::left_padding_from(&number.to_be_bytes());
    let block = |number: u64| {
        let (hash, parent) = (hash(number), hash(number - 1));
        let block = Block { number, hash, parent, at: app.now() };
        BlockFacts { block, facts: Vec::new() }
    };
    let (chain, first) = (key(RELICS).chain, 10);
    seed::tokens(store, RELICS, 1..2, "before").await;
    store.follow(key(RELICS), first, operator()).await.unwrap();
    store.start_chain(chain, block(first).block).await.unwrap();
    let history = History { collection: key(RELICS), from: first, to: first, blocks: Vec::new(), window: 8 };
    store.commit_history(history).await.unwrap();
    let contract_addresses = vec![key(RELICS).address];
    let new = NewWebhook {
        chain,
        url: "https://hooks.example/".to_owned(),
        filters: EventFilter { contract_addresses, ..EventFilter::default() },
        name: String::new(),
        secret: String::new(),
    };
    let webhook = store.add_webhook(scope, new, 3, operator()).await.unwrap();
    shift(&app, "groupid <> 0", 20_000).await;
    let lines = store.hold_webhooks(me.to_owned()).await.unwrap();
    assert_eq!(lines.len(), 1);
    assert!(store.webhook_sent(&lines[0], me, lines[0].sent.begun()).await.unwrap());
    store.toggle_webhook(scope, webhook.id, operator()).await.unwrap();
    store.leave_webhooks(me.to_owned()).await.unwrap();
    for number in first + 1..first + 70 {
        let (expected, blocks, covered) = (hash(number - 1), vec![block(number)], vec![key(RELICS).address]);
        let batch = Blocks { chain, expected, rewind_to: None, blocks, covered, window: 8 };
        let committed = store.commit_blocks(batch).await.unwrap();
        assert!(matches!(committed, BlocksCommitted::Done { .. }), "{committed:?}");
    }
    shift(&app, "groupid <> 0", -20_000).await;
}

/// What was used of quotas is read as far as it can be.
#[tokio::test]
async fn a_server_with_quotas_starts_while_a_node_is_away() {
    if !on_citus() {
        return;
    }
    let quotas = [("quotas.builder", "1000")];
    let app = TestApp::with(&quotas).await;
    shift_other_nodes(&app, app.project_a.scope.project(), 20_000).await;
    let late = app.another_asking(&quotas, None).await;
    late.token.call("Builder/ListAudiences", json!({})).await.ok();
    shift_other_nodes(&app, app.project_a.scope.project(), -20_000).await;
}

/// What tells who may ask is on the coordinator, and waits for no node.
#[tokio::test]
async fn a_disabled_key_stops_working_everywhere_however_slowly_nodes_commit() {
    let app = TestApp::start().await;
    let Some(workers) = WorkerRelays::of(&app.database).await.unwrap() else { return };
    let other = app.another().await;
    let backgrounds = [app.background(), other.background()];
    create_key(&app.store, app.project_a.scope, |_| {}).await;
    let keys = [&app.project_a.key, &other.key];
    let status = async |key: &Actor| key.call("Builder/ListAudiences", json!({})).await.status;
    for key in keys {
        assert_eq!(status(key).await, 200);
    }
    workers.mark(SECOND, Fate::Hold);
    let (store, slow) = (app.store.clone(), batch(key(RELICS), vec![named("slow")]));
    let slow = tokio::spawn(async move { store.commit(slow).await });
    wait_until("a commit is held", async || workers.held() > 0).await;
    let disabled = app.project_a.key_record.id;
    let disabling = app.store.disable_access_key(app.project_a.scope, disabled, operator());
    // It waits for no node.
    tokio::time::timeout(BOUND, disabling).await.unwrap().unwrap();
    for key in keys {
        wait_until("it is refused", async || status(key).await == 401).await;
    }
    assert!(!slow.is_finished());
    workers.unmark();
    slow.await.unwrap().unwrap();
    for key in keys {
        assert_eq!(status(key).await, 401);
    }
    for background in backgrounds {
        background.stop().await;
    }
}

/// Neither the server that wrote it nor another one answers with less than what was acknowledged.
#[tokio::test]
async fn a_node_that_goes_while_it_commits_hides_nothing_that_was_acknowledged() {
    let app = TestApp::start().await;
    let Some(workers) = WorkerRelays::of(&app.database).await.unwrap() else { return };
    let other = app.another().await;
    for (contract, name_of) in [(RELICS, "made"), (UNKNOWN, "made")] {
        workers.mark(SECOND, Fate::Cut);
        let written = put(&app.project_a.token, contract, name_of).await;
        let version = written.header("data-version").to_owned();
        written.ok();
        assert!(!workers.is_marked(), "a node was told");
        for actor in [&app.project_a.token, &other.token] {
            assert_eq!(name(&actor.with("data-version", &version), contract).await, name_of);
        }
    }
}

#[tokio::test]
async fn what_a_node_does_not_know_yet_is_refused_and_then_there() {
    let app = TestApp::start().await;
    let Some(workers) = WorkerRelays::of(&app.database).await.unwrap() else { return };
    let other = app.another().await;
    workers.mark(SECOND, Fate::GoDown);
    assert_refused(&put(&app.project_a.token, RELICS, "made").await);
    assert!(!workers.is_marked(), "a node was told");
    for actor in [&app.project_a.token, &other.token] {
        assert_refused(&ask(actor, RELICS).await);
    }
    let refused = app.store.commit(batch(key(RELICS), vec![named("refused")])).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    workers.come_up();
    for actor in [&app.project_a.token, &other.token] {
        wait_until("it is there", async || {
            let answer = ask(actor, RELICS).await;
            if answer.status != 200 {
                assert_refused(&answer);
                return false;
            }
            assert_eq!(answer.json["tokenMetadata"][0]["name"], "made", "and never empty");
            true
        })
        .await;
    }
}
