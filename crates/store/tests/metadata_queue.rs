//! The queue of metadata to be fetched: leases, shares, what becomes of tokens, and how far tasks are.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::testing::{batch, enqueue_metadata};
use bourse_store::{
    Actor, Change, CollectionKey, Due, Fetched, Outcome, ProjectScope, Queued, Refresh, RefreshReason,
    RefreshedThing, Store, StoreError,
};
use bourse_wire::{
    Address, ChainId, Code, ContractInfo, ContractInfoExtensions, ContractType, MetadataStatus, TaskStatus,
    Timestamp, TokenId, TokenMetadata,
};
use support::database::open;

const CHAIN: ChainId = ChainId(137);

fn key(number: u8) -> CollectionKey {
    CollectionKey { chain: CHAIN, address: Address::from_bytes([number; 20]) }
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(1_700_000_000 + second) * 1_000_000_000)
}

fn tokens(count: u64) -> impl Iterator<Item = TokenId> {
    (1..=count).map(TokenId::from)
}

/// A collection with tokens of which nothing is known yet, all in the queue.
async fn minted(store: &Store, key: CollectionKey, count: u64) {
    let change = |token_id| {
        let status = Some(MetadataStatus::NotAvailable);
        let token = TokenMetadata { token_id, status, ..TokenMetadata::default() };
        Change::Token { token_id, metadata: token.to_json().unwrap() }
    };
    let changes = tokens(count).map(change).collect();
    store.commit(batch(key, changes)).await.unwrap();
    enqueue_metadata(store, key, tokens(count).map(Some).collect(), at(0)).await.unwrap();
}

fn due(limit: u64, now: u64) -> Due {
    Due { chains: vec![CHAIN], busy_hosts: Vec::new(), limit, now: at(now), until: at(now + 60) }
}

async fn take(store: &Store, limit: u64, now: u64) -> Vec<Queued> {
    store.take_due(due(limit, now)).await.unwrap()
}

fn names(items: &[Queued]) -> Vec<String> {
    let mut names: Vec<String> = items
        .iter()
        .map(|item| item.token.map_or("contract".to_owned(), |token| token.to_string()))
        .collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names
}

fn fetched(item: &Queued, name: &str) -> Outcome {
    let token_id = item.token.unwrap();
    Outcome::Fetched(Fetched::Token(Box::new(TokenMetadata {
        token_id,
        name: name.to_owned(),
        ..TokenMetadata::default()
    })))
}

fn failed(again: u64, given_up: bool) -> Outcome {
    let reason = "the host does not answer".to_owned();
    Outcome::Failed { reason, host: "a.example".to_owned(), again_at: at(again), given_up }
}

async fn finish(store: &Store, item: &Queued, outcome: Outcome, now: u64) {
    store.finish_fetches(vec![(item.clone(), outcome)], at(now)).await.unwrap();
}

async fn token(store: &Store, key: CollectionKey, token: u64) -> TokenMetadata {
    let id = store.collection(key).await.unwrap().unwrap();
    let stored = store.tokens(id, vec![token.into()]).await.unwrap();
    serde_json::from_str(&stored[0].metadata).unwrap()
}

async fn project(store: &Store, name: &str) -> ProjectScope {
    let project = store.create_project(name.parse().unwrap(), Actor::command_line(at(0))).await.unwrap();
    ProjectScope::of_operator(project.id)
}

#[tokio::test]
async fn what_is_taken_is_nobody_elses_until_the_lease_ends() {
    let (_database, store) = open().await;
    minted(&store, key(1), 5).await;
    assert_eq!(take(&store, 3, 0).await.len(), 3);
    assert_eq!(take(&store, 3, 0).await.len(), 2);
    assert_eq!(take(&store, 3, 59).await.len(), 0);
    assert_eq!(names(&take(&store, 10, 60).await), ["1", "2", "3", "4", "5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_take_at_once_share() {
    let (database, store) = open().await;
    minted(&store, key(1), 60).await;
    let other = database.open().await.unwrap();
    let (mut one, two) = tokio::join!(take(&store, 40, 0), take(&other, 40, 0));
    one.extend(two);
    let rest = take(&store, 100, 0).await;
    one.extend(rest);
    let names = names(&one);
    assert_eq!(names, (1..=60).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_in_the_queue_stays_when_it_is_put_there_again() {
    let (_database, store) = open().await;
    minted(&store, key(1), 1).await;
    let taken = take(&store, 1, 0).await;
    finish(&store, &taken[0], failed(100, false), 1).await;
    enqueue_metadata(&store, key(1), vec![Some(1.into())], at(2)).await.unwrap();
    assert!(take(&store, 1, 99).await.is_empty());
    assert_eq!(take(&store, 1, 100).await[0].attempts, 1);
    enqueue_metadata(&store, key(9), vec![Some(1.into())], at(2)).await.unwrap();
    assert_eq!(store.collection(key(9)).await.unwrap(), None);
}

#[tokio::test]
async fn a_token_becomes_available_and_its_time_moves_only_with_what_it_says() {
    let (_database, store) = open().await;
    minted(&store, key(1), 1).await;
    assert_eq!(token(&store, key(1), 1).await.status, Some(MetadataStatus::NotAvailable));
    let taken = take(&store, 1, 0).await;
    finish(&store, &taken[0], fetched(&taken[0], "One"), 1).await;
    let first = token(&store, key(1), 1).await;
    assert_eq!((first.name.as_str(), first.status), ("One", Some(MetadataStatus::Available)));
    assert_eq!((first.updated_at, first.last_fetched), (at(1), Some(at(1))));
    assert!(take(&store, 1, 1000).await.is_empty());

    let scope = project(&store, "p").await;
    store.refresh(scope, key(1), Refresh::Tokens(vec![1.into()]), at(2)).await.unwrap();
    let asked = token(&store, key(1), 1).await;
    assert_eq!((asked.status, asked.queued_at), (Some(MetadataStatus::Refreshing), Some(at(2))));
    let taken = take(&store, 1, 2).await;
    finish(&store, &taken[0], fetched(&taken[0], "One"), 3).await;
    let again = token(&store, key(1), 1).await;
    assert_eq!(again, TokenMetadata { last_fetched: Some(at(3)), ..first });
}

#[tokio::test]
async fn bad_ones_get_their_share_and_no_more() {
    let (_database, store) = open().await;
    minted(&store, key(1), 40).await;
    for (index, item) in take(&store, 40, 0).await.iter().enumerate() {
        finish(&store, item, failed(1, index % 2 == 0), 0).await;
    }
    minted(&store, key(2), 40).await;
    let taken = take(&store, 16, 5).await;
    let old = taken.iter().filter(|item| item.collection == key(1)).count();
    assert_eq!((taken.len(), old), (16, 4 + 2));
}

#[tokio::test]
async fn busy_hosts_and_other_chains_are_left_alone() {
    let (_database, store) = open().await;
    minted(&store, key(1), 2).await;
    let taken = take(&store, 2, 0).await;
    let put_off = Outcome::PutOff { host: "slow.example".to_owned(), again_at: at(1) };
    finish(&store, &taken[0], put_off, 0).await;
    finish(&store, &taken[1], failed(1, false), 0).await;
    let busy = Due { busy_hosts: vec!["slow.example".to_owned()], ..due(8, 5) };
    let others = store.take_due(busy).await.unwrap();
    assert_eq!(names(&others), names(&taken[1..]));
    assert_eq!(others[0].attempts, 1);
    assert_eq!(store.take_due(Due { chains: vec![ChainId(1)], ..due(8, 5) }).await.unwrap(), []);
    assert_eq!(store.take_due(Due { chains: Vec::new(), ..due(8, 5) }).await.unwrap(), []);
    let rest = take(&store, 8, 5).await;
    assert_eq!((names(&rest), rest[0].attempts), (names(&taken[..1]), 0));
}

#[tokio::test]
async fn asked_for_again_while_it_is_fetched_it_is_fetched_again() {
    let (_database, store) = open().await;
    minted(&store, key(1), 1).await;
    let scope = project(&store, "p").await;
    let taken = take(&store, 1, 0).await;
    let asked = store.refresh(scope, key(1), Refresh::Tokens(vec![1.into()]), at(1)).await.unwrap();
    finish(&store, &taken[0], fetched(&taken[0], "Old"), 2).await;
    assert_eq!(token(&store, key(1), 1).await.name, "Old");
    let task = store.task(scope, asked.task.id).await.unwrap();
    assert_eq!((task.status(), task.waiting), (TaskStatus::Queued, 1));
    let taken = take(&store, 1, 2).await;
    finish(&store, &taken[0], fetched(&taken[0], "New"), 3).await;
    assert_eq!(token(&store, key(1), 1).await.name, "New");
    assert_eq!(store.task(scope, asked.task.id).await.unwrap().status(), TaskStatus::Completed);
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_dropped() {
    let (_database, store) = open().await;
    minted(&store, key(1), 1).await;
    enqueue_metadata(&store, key(1), vec![Some(7.into())], at(0)).await.unwrap();
    let taken = take(&store, 2, 0).await;
    let unminted = taken.iter().find(|item| item.token == Some(7.into())).unwrap();
    finish(&store, unminted, failed(9, false), 1).await;
    let id = store.collection(key(1)).await.unwrap().unwrap();
    assert_eq!(store.tokens(id, vec![7.into()]).await.unwrap(), []);
    assert_eq!(names(&take(&store, 9, 100).await), ["1"], "a token that is no more has left the queue");
    finish(&store, unminted, fetched(unminted, "Ghost"), 2).await;
    assert_eq!(store.tokens(id, vec![7.into()]).await.unwrap(), []);
}

#[tokio::test]
async fn who_comes_too_late_changes_nothing() {
    let (_database, store) = open().await;
    minted(&store, key(1), 1).await;
    let slow = take(&store, 1, 0).await;
    let quick = take(&store, 1, 60).await;
    finish(&store, &quick[0], fetched(&quick[0], "New"), 61).await;
    finish(&store, &slow[0], fetched(&slow[0], "Old"), 62).await;
    assert_eq!(token(&store, key(1), 1).await.name, "New");
    assert!(take(&store, 1, 1000).await.is_empty());
}

#[tokio::test]
async fn a_refresh_in_vain_leaves_what_was_there() {
    let (_database, store) = open().await;
    minted(&store, key(1), 2).await;
    let scope = project(&store, "p").await;
    let taken = take(&store, 2, 0).await;
    let of = |number: u64| taken.iter().find(|item| item.token == Some(number.into())).unwrap().clone();
    finish(&store, &of(1), fetched(&of(1), "One"), 1).await;
    finish(&store, &of(2), failed(10_000, true), 1).await;
    assert_eq!(token(&store, key(1), 2).await.status, Some(MetadataStatus::NotAvailable));
    let wanted = Refresh::Tokens(vec![1.into(), 2.into(), 3.into(), 1.into()]);
    let asked = store.refresh(scope, key(1), wanted, at(2)).await.unwrap();
    assert_eq!((asked.task.total, asked.task.waiting, asked.task.status()), (2, 2, TaskStatus::Queued));
    assert_eq!(asked.versions.len(), 1);
    for item in take(&store, 2, 2).await {
        finish(&store, &item, failed(10_000, true), 3).await;
    }
    let one = token(&store, key(1), 1).await;
    assert_eq!((one.name.as_str(), one.status), ("One", Some(MetadataStatus::Available)));
    assert_eq!((one.last_fetched, one.queued_at), (Some(at(1)), None));
    let task = store.task(scope, asked.task.id).await.unwrap();
    assert_eq!((task.failed, task.waiting, task.attempts, task.status()), (2, 0, 1, TaskStatus::Failed));
    let why = "the host does not answer".to_owned();
    assert_eq!(task.reasons[0], RefreshReason { of: RefreshedThing::Token(1.into()), why });
}

#[tokio::test]
async fn all_tokens_are_asked_for_once_in_a_while() {
    let (_database, store) = open().await;
    minted(&store, key(1), 300).await;
    let scope = project(&store, "p").await;
    let all = || Refresh::AllTokens { again_after_ms: 60_000 };
    let first = store.refresh(scope, key(1), all(), at(0)).await.unwrap();
    assert_eq!((first.task.total, first.task.waiting, first.versions), (300, 300, vec![]));
    let again = store.refresh(scope, key(1), all(), at(59)).await.unwrap();
    assert_eq!(again.task, first.task);
    let other = project(&store, "q").await;
    assert_ne!(store.refresh(other, key(1), all(), at(59)).await.unwrap().task.id, first.task.id);
    assert_ne!(store.refresh(scope, key(1), all(), at(60)).await.unwrap().task.id, first.task.id);
    for item in take(&store, 300, 60).await {
        finish(&store, &item, fetched(&item, "x"), 61).await;
    }
    let task = store.task(scope, first.task.id).await.unwrap();
    assert_eq!((task.waiting, task.status()), (0, TaskStatus::Completed));
}

#[tokio::test]
async fn a_task_is_its_projects_own() {
    let (_database, store) = open().await;
    minted(&store, key(1), 1).await;
    let (own, other) = (project(&store, "p").await, project(&store, "q").await);
    let asked = store.refresh(own, key(1), Refresh::Contract, at(1)).await.unwrap();
    assert!(store.task(own, asked.task.id).await.is_ok());
    let refused = store.task(other, asked.task.id).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(error) if error.code == Code::NotFound));
    for (key, wanted) in [(key(2), Refresh::Contract), (key(1), Refresh::Tokens(vec![5.into()]))] {
        let refused = store.refresh(own, key, wanted, at(1)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Refused(error) if error.code == Code::NotFound));
    }
}

#[tokio::test]
async fn a_contract_is_fetched_like_a_token() {
    let (_database, store) = open().await;
    minted(&store, key(1), 0).await;
    let scope = project(&store, "p").await;
    store.refresh(scope, key(1), Refresh::Contract, at(1)).await.unwrap();
    let taken = take(&store, 1, 1).await;
    assert_eq!(taken[0].token, None);
    let info = ContractInfo {
        chain_id: CHAIN,
        address: key(1).address,
        name: "Relics".to_owned(),
        r#type: ContractType::Erc721,
        symbol: "R".to_owned(),
        decimals: None,
        owner: None,
        logo_uri: String::new(),
        deployed: true,
        bytecode_hash: String::new(),
        extensions: ContractInfoExtensions {
            link: String::new(),
            description: String::new(),
            og_image: String::new(),
            og_name: String::new(),
            origin_chain_id: 0,
            origin_address: key(1).address,
            verified: false,
            verified_by: String::new(),
            featured: false,
            blacklist: false,
        },
        source: String::new(),
        status: None,
        queued_at: None,
        updated_at: Timestamp::ZERO,
    };
    finish(&store, &taken[0], Outcome::Fetched(Fetched::Contract(Box::new(info.clone()))), 2).await;
    let id = store.collection(key(1)).await.unwrap().unwrap();
    let read =
        async || serde_json::from_str::<ContractInfo>(&store.contract(id).await.unwrap().unwrap()).unwrap();
    let stored = read().await;
    assert_eq!((stored.status, stored.updated_at), (Some(MetadataStatus::Available), at(2)));
    store.refresh(scope, key(1), Refresh::Contract, at(3)).await.unwrap();
    assert_eq!(read().await.status, Some(MetadataStatus::Refreshing));
    let taken = take(&store, 1, 3).await;
    finish(&store, &taken[0], Outcome::Fetched(Fetched::Contract(Box::new(info))), 4).await;
    assert_eq!(read().await, stored, "the same said again is no change");
}

#[tokio::test]
async fn a_contract_that_is_followed_is_asked_unless_it_was_told_of() {
    let (_database, store) = open().await;
    store.follow(key(1), 0, Actor::command_line(at(0))).await.unwrap();
    let told = Change::Contract("{}".to_owned());
    store.commit(batch(key(2), vec![told])).await.unwrap();
    store.follow(key(2), 0, Actor::command_line(at(0))).await.unwrap();
    let taken = take(&store, 10, 1).await;
    assert_eq!(names(&taken), ["contract"]);
    assert_eq!(taken[0].collection, key(1));
    store.follow(key(1), 0, Actor::command_line(at(2))).await.unwrap();
    assert!(take(&store, 10, 3).await.is_empty(), "it is asked once");
}
