//! Hosted collections speak for contracts that are linked with them: who does, of what, until when, and page by page.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod hosted;
    pub(crate) mod projects;
}

use std::time::Duration;

use bourse_store::testing::{
    HeldWrite, batch, enqueue_metadata, forget_links, on_citus, operator, operator_at,
};
use bourse_store::{
    AssetFile, Change, CollectionKey, DatabaseUrl, Due, Fetched, Grant, HostedTokenEdit, Outcome,
    ProjectScope, Queued, Reach, Store, Subject, Upload, Visibility,
};
use bourse_wire::{
    Address, AssetInput, ChainId, CollectionInput, ContractInfo, MetadataStatus, RecordId, Timestamp,
    TokenId, TokenInput, TokenMetadata,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use support::database::open;
use support::hosted::new_token;
use support::projects::project;

const CONTRACT: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };
const NOW: Timestamp = Timestamp::ZERO;
/// Ends a test that would wait forever.
const BOUND: Duration = Duration::from_mins(1);
/// Tokens of a page.
const PAGE: u64 = 100;

fn at(millis: i128) -> Timestamp {
    Timestamp::from_unix_nanos(millis * 1_000_000)
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    bourse_wire::from_slice(value.to_string().as_bytes(), 16).unwrap()
}

/// A published collection with tokens of these names, from 1 on.
async fn hosted(store: &Store, scope: ProjectScope, name: &str, tokens: &[&str]) -> RecordId {
    let input: CollectionInput = read(&json!({ "metadata": { "name": name }, "private": false }));
    let id = store.create_hosted_collection(scope, input, NOW).await.unwrap().id;
    for (token, name) in (1_u64..).zip(tokens) {
        put(store, scope, id, token, name).await;
    }
    id
}

async fn put(store: &Store, scope: ProjectScope, collection: RecordId, token: u64, name: &str) {
    let input: TokenInput = read(&json!({ "name": name }));
    let token = new_token(token.into(), input, false);
    store.create_hosted_token(scope, collection, token, NOW).await.unwrap();
}

async fn link(store: &Store, scope: ProjectScope, collection: RecordId) {
    store.create_contract_collection(scope, CONTRACT, collection, operator()).await.unwrap();
}

/// Goes through all that links may have changed; in how many pages.
async fn follow(store: &Store) -> u64 {
    let mut pages = 0;
    while store.follow_links(NOW).await.unwrap() {
        pages += 1;
    }
    pages
}

/// The names of the contract's tokens, each behind its id and before where it comes from.
async fn names(store: &Store) -> Vec<String> {
    let Some(id) = store.collection(CONTRACT).await.unwrap() else { return Vec::new() };
    let all = bourse_store::testing::load_all(store, id).await.unwrap();
    let mut tokens: Vec<TokenMetadata> =
        all.tokens.iter().map(|token| serde_json::from_str(&token.metadata).unwrap()).collect();
    tokens.sort_by_key(|token| token.token_id);
    tokens.iter().map(|token| format!("{} {} {}", token.token_id, token.name, token.source)).collect()
}

async fn token(store: &Store, token: u64) -> TokenMetadata {
    let id = store.collection(CONTRACT).await.unwrap().unwrap();
    let stored = store.tokens(id, vec![token.into()]).await.unwrap();
    serde_json::from_str(&stored[0].metadata).unwrap()
}

async fn contract(store: &Store) -> ContractInfo {
    let id = store.collection(CONTRACT).await.unwrap().unwrap();
    serde_json::from_str(&store.contract(id).await.unwrap().unwrap()).unwrap()
}

fn imported(token: u64, name: &str) -> Change {
    let metadata =
        TokenMetadata { token_id: token.into(), name: name.to_owned(), ..TokenMetadata::default() };
    Change::Token { token_id: token.into(), metadata: metadata.to_json().unwrap() }
}

/// Tokens that were made on the chain, and wait for their metadata.
async fn minted(store: &Store, tokens: &[u64]) {
    let made = |token: &u64| {
        let metadata = TokenMetadata::not_available((*token).into()).to_json().unwrap();
        Change::Token { token_id: (*token).into(), metadata }
    };
    store.commit(batch(CONTRACT, tokens.iter().map(made).collect())).await.unwrap();
    let items = tokens.iter().map(|token| Some(TokenId::from(*token))).collect();
    enqueue_metadata(store, CONTRACT, items, NOW).await.unwrap();
}

async fn waiting(store: &Store) -> Vec<Queued> {
    let chains = vec![CONTRACT.chain];
    store.take_due(Due { chains, busy_hosts: Vec::new(), limit: 1_000, now: NOW, until: NOW }).await.unwrap()
}

fn fetched(name: &str) -> Outcome {
    Outcome::Fetched(Fetched::Token(Box::new(TokenMetadata {
        name: name.to_owned(),
        ..TokenMetadata::default()
    })))
}

/// A link is made and its collection published in either order; what it says goes with it.
#[tokio::test]
async fn what_is_published_is_said_for_as_long_as_it_is_linked() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    store.commit(batch(CONTRACT, vec![imported(1, "Brought"), imported(9, "Nine")])).await.unwrap();
    let id = hosted(&store, scope, "Maps", &["One", "Two"]).await;
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 Brought ", "9 Nine "], "nothing is linked");

    link(&store, scope, id).await;
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 One hosted", "2 Two hosted", "9 Nine "]);
    let said = contract(&store).await;
    assert_eq!((said.name.as_str(), said.source.as_str()), ("Maps", "hosted"));

    store.publish_hosted_collection(scope, id, Visibility::Private, NOW).await.unwrap();
    follow(&store).await;
    // Token 2 was made by the collection, and tokens stay.
    assert_eq!(names(&store).await, ["1 Brought ", "2  ", "9 Nine "]);
    assert_eq!(token(&store, 2).await.status, Some(MetadataStatus::NotAvailable));
    assert_eq!(contract(&store).await.name, "");

    store.publish_hosted_collection(scope, id, Visibility::Public, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 One hosted", "2 Two hosted", "9 Nine "]);
    store.delete_contract_collection(scope, CONTRACT, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 Brought ", "2  ", "9 Nine "]);
}

#[tokio::test]
async fn a_contract_says_itself_what_its_collection_leaves_out() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let own = json!({
        "chainId": 137, "address": CONTRACT.address, "name": "Relics", "type": "ERC721", "symbol": "RLC",
        "logoURI": "https://a.example/logo.png", "deployed": true, "bytecodeHash": "",
        "extensions": {
            "link": "", "description": "Old things", "ogImage": "", "ogName": "Relics", "originChainId": 0,
            "originAddress": CONTRACT.address, "verified": true, "verifiedBy": "somebody",
        },
        "updatedAt": "2024-11-01T08:18:33Z",
    });
    let own: ContractInfo = serde_json::from_value(own).unwrap();
    store.commit(batch(CONTRACT, vec![Change::Contract(own.to_json().unwrap())])).await.unwrap();
    let id = hosted(&store, scope, "Maps", &[]).await;
    link(&store, scope, id).await;
    follow(&store).await;
    let said = contract(&store).await;
    assert_eq!((said.name.as_str(), said.symbol.as_str()), ("Maps", "RLC"));
    assert_eq!((said.extensions.description.as_str(), said.extensions.verified), ("Old things", true));

    let input: CollectionInput = read(&json!({ "metadata": { "description": "New things" } }));
    store.update_hosted_collection(scope, id, input, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(contract(&store).await.extensions.description, "New things");

    store.delete_hosted_collection(scope, id, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(contract(&store).await, ContractInfo { updated_at: NOW, ..own });
}

#[tokio::test]
async fn each_change_of_a_published_token_is_followed_and_private_ones_are_not_shown() {
    let (_database, store) = open().await;
    let store = store.served_at("https://bourse.example");
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &["One", "Two"]).await;
    link(&store, scope, id).await;
    follow(&store).await;
    let edit = |token: u64, input: Value, private| {
        let edit = HostedTokenEdit { token_id: token.into(), input: read(&input), private };
        store.update_hosted_token(scope, id, edit, NOW)
    };
    edit(1, json!({ "name": "First" }), None).await.unwrap();
    edit(2, json!({ "name": "Secret" }), Some(true)).await.unwrap();
    put(&store, scope, id, 3, "Three").await;
    let hidden = new_token(4.into(), read(&json!({ "name": "Hidden" })), true);
    store.create_hosted_token(scope, id, hidden, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 First hosted", "2  ", "3 Three hosted"]);

    let asset = AssetInput { collection_id: Some(id), token_id: Some(1.into()), ..AssetInput::default() };
    let asset = store.create_asset(scope, asset, NOW).await.unwrap().id;
    let file =
        AssetFile { content_hash: "a".to_owned(), filesize: 1, mime_type: String::new(), dimensions: None };
    let upload = Upload { file, filename: String::new(), project_bytes_max: None };
    store.set_asset_file(scope, asset, upload, NOW).await.unwrap();
    follow(&store).await;
    let project = scope.project();
    let image = format!("https://bourse.example/projects/{project}/collections/{id}/assets/{asset}");
    assert_eq!(token(&store, 1).await.image, image);
    store.delete_asset(scope, asset, NOW).await.unwrap();
    store.delete_hosted_token(scope, id, 3.into(), NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(token(&store, 1).await.image, "");
    assert_eq!(names(&store).await, ["1 First hosted", "2  ", "3  "]);

    store.publish_hosted_collection(scope, id, Visibility::PublicWithTokens, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 First hosted", "2 Secret hosted", "3  ", "4 Hidden hosted"]);
}

/// The first project may state everything; another what it is granted. Of two that may, whoever linked first speaks.
#[tokio::test]
async fn the_first_link_of_who_may_state_the_contract_speaks() {
    let (_database, store) = open().await;
    let (first, second) = (project(&store).await, project(&store).await);
    let theirs = hosted(&store, second, "Theirs", &["A", "B"]).await;
    link(&store, second, theirs).await;
    follow(&store).await;
    assert_eq!(names(&store).await, Vec::<String>::new(), "whoever has no grant says nothing");

    let ours = hosted(&store, first, "Ours", &["One"]).await;
    link(&store, first, ours).await;
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 One hosted"]);

    let grant = Grant { subject: Subject::Collections, reach: Reach::Contract(CONTRACT) };
    store.add_grants(second, vec![grant], operator()).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 A hosted", "2 B hosted"], "theirs is the older link");
    assert_eq!(contract(&store).await.name, "Ours", "what it is called is another right");

    store.publish_hosted_collection(second, theirs, Visibility::Private, NOW).await.unwrap();
    follow(&store).await;
    assert_eq!(
        names(&store).await,
        ["1 One hosted", "2  "],
        "a collection that nobody sees stands in nobody's way"
    );
    store.publish_hosted_collection(second, theirs, Visibility::Public, NOW).await.unwrap();
    store.remove_grant(second, grant, operator()).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 One hosted", "2  "]);
}

#[tokio::test]
async fn which_tokens_there_are_the_chain_says_of_what_is_followed() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    minted(&store, &[2]).await;
    store.follow(CONTRACT, 1, operator()).await.unwrap();
    let id = hosted(&store, scope, "Maps", &["One", "Two", "Three"]).await;
    link(&store, scope, id).await;
    follow(&store).await;
    assert_eq!(names(&store).await, ["2 Two hosted"]);
    put(&store, scope, id, 4, "Four").await;
    follow(&store).await;
    assert_eq!(names(&store).await, ["2 Two hosted"]);
    // One that is made later waits like any other, and is told by the collection.
    minted(&store, &[3]).await;
    for item in waiting(&store).await {
        store.finish_fetches(vec![(item, Outcome::Linked)], NOW).await.unwrap();
    }
    assert_eq!(names(&store).await, ["2 Two hosted", "3 Three hosted"]);
}

#[tokio::test]
async fn what_the_chain_says_counts_only_where_the_collection_says_nothing() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    minted(&store, &[1, 2]).await;
    let id = hosted(&store, scope, "Maps", &["One"]).await;
    link(&store, scope, id).await;
    assert_eq!(store.said_by_links(CONTRACT, vec![1.into(), 2.into()]).await.unwrap(), [1.into()]);
    for item in waiting(&store).await {
        store.finish_fetches(vec![(item, fetched("of the chain"))], NOW).await.unwrap();
    }
    assert_eq!(names(&store).await, ["1 One hosted", "2 of the chain "]);
    assert!(waiting(&store).await.is_empty());
    follow(&store).await;

    // Without the link the contract is asked again of what it may be asked of.
    store.delete_contract_collection(scope, CONTRACT, NOW).await.unwrap();
    assert!(store.said_by_links(CONTRACT, vec![1.into()]).await.unwrap().is_empty());
    follow(&store).await;
    assert_eq!(names(&store).await, ["1  ", "2 of the chain "]);
    let again = async || {
        let waiting = waiting(&store).await.into_iter();
        waiting.filter(|item| item.token.is_some()).collect::<Vec<_>>()
    };
    let left = again().await;
    assert_eq!(left.iter().map(|item| item.token).collect::<Vec<_>>(), [Some(1.into())]);
    // What was left to a collection that says nothing any more waits on.
    store.finish_fetches(vec![(left[0].clone(), Outcome::Linked)], NOW).await.unwrap();
    assert_eq!(again().await.len(), 1);
}

#[tokio::test]
async fn many_tokens_are_gone_through_in_pages_and_again_from_the_start_when_asked_again() {
    let (database, store) = open().await;
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &[]).await;
    let count = 2 * PAGE + 50;
    for token in 1..=count {
        put(&store, scope, id, token, "Old").await;
    }
    link(&store, scope, id).await;
    // One for what there is of the contract, which is nothing, and three for what is published.
    assert_eq!(follow(&store).await, 4);
    assert_eq!(names(&store).await.len() as u64, count);

    store.update_contract_collection(scope, CONTRACT, id, NOW).await.unwrap();
    assert!(store.follow_links(NOW).await.unwrap());
    // Somebody unlinks it while a page is done, and another server goes on.
    store.delete_contract_collection(scope, CONTRACT, NOW).await.unwrap();
    let other = database.open().await.unwrap();
    assert_eq!(follow(&other).await, 3);
    let left = names(&store).await;
    assert!(left.iter().all(|name| !name.contains("hosted")), "{left:?}");
}

/// Of two contracts one is large: what changes of the other does not wait until all of it is done.
#[tokio::test]
async fn contracts_take_turns() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let large = hosted(&store, scope, "Large", &[]).await;
    for token in 1..=3 * PAGE {
        put(&store, scope, large, token, "Many").await;
    }
    let small = hosted(&store, scope, "Small", &["One"]).await;
    link(&store, scope, large).await;
    let other = CollectionKey { address: Address::from_bytes([1; 20]), ..CONTRACT };
    store.create_contract_collection(scope, other, small, operator_at(at(1))).await.unwrap();
    for page in 0..4 {
        assert!(store.follow_links(at(10 + page)).await.unwrap());
    }
    let id = store.collection(other).await.unwrap().expect("its turn came");
    let stored = store.tokens(id, vec![1.into()]).await.unwrap();
    assert!(stored[0].metadata.contains("One"), "{}", stored[0].metadata);
    assert!((names(&store).await.len() as u64) < 3 * PAGE, "the large one is not done yet");
    let mut pages = 4;
    while store.follow_links(at(10 + pages)).await.unwrap() {
        pages += 1;
    }
    assert_eq!(names(&store).await.len() as u64, 3 * PAGE);
}

#[tokio::test]
async fn at_another_address_files_have_others_too() {
    let (_database, store) = open().await;
    let store = store.served_at("https://old.example");
    assert!(store.note_public_url(NOW).await.unwrap());
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &["One"]).await;
    link(&store, scope, id).await;
    let asset = AssetInput { collection_id: Some(id), token_id: Some(1.into()), ..AssetInput::default() };
    let asset = store.create_asset(scope, asset, NOW).await.unwrap().id;
    let file =
        AssetFile { content_hash: "a".to_owned(), filesize: 1, mime_type: String::new(), dimensions: None };
    let upload = Upload { file, filename: String::new(), project_bytes_max: None };
    store.set_asset_file(scope, asset, upload, NOW).await.unwrap();
    follow(&store).await;
    assert!(!store.note_public_url(NOW).await.unwrap(), "it is at the same address");
    assert_eq!(follow(&store).await, 0);
    assert!(token(&store, 1).await.image.starts_with("https://old.example/"));

    let moved = store.clone().served_at("https://new.example");
    assert!(moved.note_public_url(NOW).await.unwrap());
    follow(&moved).await;
    assert!(token(&moved, 1).await.image.starts_with("https://new.example/"));
    assert!(!moved.note_public_url(NOW).await.unwrap());
}

/// Whoever commits to the collection meanwhile is waited for, and nothing that was asked for is lost.
#[tokio::test(flavor = "multi_thread")]
async fn servers_that_follow_links_at_once_beside_a_commit_say_what_is_last_said() {
    let (database, store) = open().await;
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &["0"]).await;
    link(&store, scope, id).await;
    follow(&store).await;
    let others = [database.open().await.unwrap(), database.open().await.unwrap()];
    for round in 1..=20 {
        let held = HeldWrite::begin(&store, batch(CONTRACT, vec![imported(50, &round.to_string())])).await;
        let edit = HostedTokenEdit {
            token_id: 1.into(),
            input: read(&json!({ "name": round.to_string() })),
            private: None,
        };
        let (edited, one, two, released) = tokio::join!(
            others[0].update_hosted_token(scope, id, edit, NOW),
            follow(&others[0]),
            follow(&others[1]),
            held.release()
        );
        edited.unwrap();
        released.unwrap();
        let _ = (one, two);
        follow(&store).await;
        assert_eq!(token(&store, 1).await.name, round.to_string());
    }
}

#[tokio::test]
async fn links_that_an_older_server_made_are_followed_too() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &["One"]).await;
    link(&store, scope, id).await;
    forget_links(&store, vec![CONTRACT]).await.unwrap();
    follow(&store).await;
    assert_eq!(names(&store).await, Vec::<String>::new());
    assert_eq!(store.complete_links(NOW).await.unwrap(), 1);
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 One hosted"]);
}

/// An older server changes what links lead to, and asks nobody to look.
#[tokio::test]
async fn a_start_looks_at_all_links_again() {
    let (_database, store) = open().await;
    store.ask_all_links(NOW).await.unwrap();
    assert!(!store.follow_links(NOW).await.unwrap(), "nothing is linked");
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &["One"]).await;
    link(&store, scope, id).await;
    follow(&store).await;
    assert!(!store.follow_links(NOW).await.unwrap());
    store.ask_all_links(NOW).await.unwrap();
    assert!(store.follow_links(NOW).await.unwrap(), "everything is looked at again");
}

/// An edit is followed although it was asked for before it is there: where a link was made beside it, and on a cluster, where a
/// coordinator commits before its workers do. On SQLite there is one who writes.
#[tokio::test]
async fn an_edit_that_is_not_there_yet_is_waited_for() {
    let (database, store) = open().await;
    let DatabaseUrl::Postgres(url) = &database.url else { return };
    let scope = project(&store).await;
    let id = hosted(&store, scope, "Maps", &["One"]).await;
    link(&store, scope, id).await;
    follow(&store).await;
    assert_eq!(names(&store).await, ["1 One hosted"]);
    let mut editing = PgConnection::connect(url).await.unwrap();
    let edit = format!(
        "BEGIN; UPDATE hosted_collections SET updated_at = updated_at WHERE project_id = {project};
        UPDATE hosted_tokens SET metadata = REPLACE(metadata, 'One', 'Other') WHERE project_id = {project}",
        project = scope.project()
    );
    for statement in edit.split(';') {
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut editing).await.unwrap();
    }
    store.ask_all_links(NOW).await.unwrap();
    let other = store.clone();
    let following = tokio::spawn(async move { follow(&other).await });
    let mut looking = PgConnection::connect(url).await.unwrap();
    let activity = if on_citus() { "citus_stat_activity" } else { "pg_stat_activity" };
    let waiting = format!(
        "SELECT EXISTS (SELECT FROM {activity} WHERE datname = current_database() AND wait_event_type = 'Lock')"
    );
    let comes_to_it = async {
        while !following.is_finished() {
            let waiting = sqlx::query_scalar::<_, bool>(AssertSqlSafe(waiting.clone()));
            if waiting.fetch_one(&mut looking).await.unwrap() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(BOUND, comes_to_it).await.unwrap();
    sqlx::raw_sql("COMMIT").execute(&mut editing).await.unwrap();
    tokio::time::timeout(BOUND, following).await.unwrap().unwrap();
    assert_eq!(names(&store).await, ["1 Other hosted"]);
}
