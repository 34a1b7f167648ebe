//! Which projects' markets a collection is in, and how far it is counted for each.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
    pub(crate) mod projects;
}

use std::time::Duration;

use bourse_store::testing::{HeldWrite, batch, forget_links, happened, operator, take_back};
use bourse_store::{
    Act, AuditPage, Change, CollectionId, CollectionKey, CountsCommit, CountsCommitted, CountsCursor, Extent,
    MarketNews, MarketStep, ProjectScope, Store,
};
use bourse_wire::{
    ActivityAction, ActivityFacts, Address, ChainId, Code, CollectionInput, Marketplace, Timestamp,
};
use support::database::open;
use support::orders::{change, offer};
use support::projects::project;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

fn at(second: i64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(second) * 1_000_000_000)
}

/// A sale that a chain states.
fn sale(tx: &str, second: i64) -> Change {
    let (sale, at) = (happened(ActivityAction::Sale, 1, tx), at(second));
    Change::Activity(Box::new(ActivityFacts { marketplace: Marketplace::OwnV2, at, created_at: at, ..sale }))
}

async fn put(store: &Store, changes: Vec<Change>) -> CollectionId {
    store.commit(batch(COLLECTION, changes)).await.unwrap();
    store.collection(COLLECTION).await.unwrap().unwrap()
}

async fn news(store: &Store, scope: ProjectScope, id: CollectionId) -> Option<MarketNews> {
    store.market_news(scope, id, 2).await.unwrap()
}

/// The names of the activities that are to be counted next.
async fn names(store: &Store, scope: ProjectScope, id: CollectionId) -> Vec<String> {
    let news = news(store, scope, id).await;
    let activities = news.into_iter().flat_map(|news| news.activities);
    activities.map(|activity| activity.facts.unique_hash).collect()
}

/// The projects, with the collections of their markets.
async fn markets(store: &Store) -> Vec<(bourse_wire::ProjectId, CollectionId)> {
    let markets = store.markets().await.unwrap();
    markets.iter().map(|market| (market.project, market.collection)).collect()
}

async fn count(store: &Store, scope: ProjectScope, step: MarketStep) -> CountsCommitted {
    let expected = store.counts(scope, CountsCursor::default()).await.unwrap().version;
    let commit = CountsCommit { expected, market: vec![step], ..CountsCommit::default() };
    store.commit_counts(scope, commit).await.unwrap()
}

/// Counts everything, step by step, and returns how many activities that were.
async fn count_all(store: &Store, scope: ProjectScope, id: CollectionId) -> usize {
    let mut counted = 0;
    while let Some(MarketNews { step, activities }) = news(store, scope, id).await {
        assert!(matches!(count(store, scope, step).await, CountsCommitted::As(_)));
        counted += activities.len();
    }
    counted
}

#[tokio::test]
async fn a_project_counts_what_is_in_its_market_from_the_first_activity_on() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let id = put(&store, vec![change(offer("1")), change(offer("2")), change(offer("3"))]).await;
    assert!(news(&store, a, id).await.is_none());
    for _ in 0..2 {
        store.join_market(a, COLLECTION, operator()).await.unwrap();
    }
    assert_eq!(markets(&store).await, [(a.project(), id)]);
    assert_eq!(names(&store, a, id).await.len(), 2);
    assert_eq!(count_all(&store, a, id).await, 3);
    put(&store, vec![change(offer("4"))]).await;
    assert_eq!(count_all(&store, a, id).await, 1);
    store.join_market(b, COLLECTION, operator()).await.unwrap();
    assert_eq!(count_all(&store, b, id).await, 4);
    let nobody = ProjectScope::of_operator(99.try_into().unwrap());
    let refused = store.join_market(nobody, COLLECTION, operator()).await.unwrap_err();
    assert!(
        matches!(refused, bourse_store::StoreError::Refused(error) if error.code == Code::ProjectNotFound)
    );
}

#[tokio::test]
async fn the_collections_of_a_market_come_in_pages_and_with_what_is_known_of_them() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let keys: Vec<CollectionKey> = (1..=5)
        .map(|byte| CollectionKey { chain: ChainId(137), address: Address::from_bytes([byte; 20]) })
        .collect();
    for key in &keys {
        store.join_market(a, *key, operator()).await.unwrap();
    }
    let changes = vec![Change::Contract(r#"{"name":"Relics"}"#.to_owned())];
    store.commit(batch(keys[2], changes)).await.unwrap();
    store.join_market(b, keys[4], operator()).await.unwrap();
    let mut found = store.market_collections(a, 0, 3).await.unwrap();
    assert_eq!(found[2].info.as_deref(), Some(r#"{"name":"Relics"}"#));
    assert_eq!(found[1].info, None);
    found.extend(store.market_collections(a, 3, 3).await.unwrap());
    assert_eq!(found.iter().map(|collection| collection.key).collect::<Vec<_>>(), keys);
    let of_b = store.market_collections(b, 0, 3).await.unwrap();
    assert_eq!(of_b.iter().map(|collection| collection.key).collect::<Vec<_>>(), keys[4..]);
}

#[tokio::test]
async fn a_step_is_counted_once_and_whole_or_not_at_all() {
    let (_database, store) = open().await;
    let a = project(&store).await;
    store.join_market(a, COLLECTION, operator()).await.unwrap();
    let id = put(&store, vec![change(offer("1"))]).await;
    let early = news(&store, a, id).await.unwrap().step;
    put(&store, vec![change(offer("2"))]).await;
    let late = news(&store, a, id).await.unwrap().step;
    assert_eq!((early.from, late.from), (0, 0));
    assert_eq!(count(&store, a, late).await, CountsCommitted::As(1));
    for step in [early, late] {
        assert_eq!(count(&store, a, step).await, CountsCommitted::Repeated(vec![step.name()]));
    }
    // Whoever prepared for an older version moves nothing.
    put(&store, vec![change(offer("3"))]).await;
    let step = news(&store, a, id).await.unwrap().step;
    let commit = CountsCommit { expected: 0, market: vec![step], ..CountsCommit::default() };
    assert_eq!(store.commit_counts(a, commit).await.unwrap(), CountsCommitted::Behind);
    assert_eq!(count(&store, a, step).await, CountsCommitted::As(2));
}

#[tokio::test]
async fn what_is_taken_back_is_not_skipped_when_its_number_is_given_again() {
    let (_database, store) = open().await;
    let a = project(&store).await;
    store.join_market(a, COLLECTION, operator()).await.unwrap();
    let id = put(&store, vec![sale("0xa", 1), change(offer("1")), sale("0xb", 2)]).await;
    assert_eq!(count_all(&store, a, id).await, 3);
    take_back(&store, id, "0xb", false).await.unwrap();
    put(&store, vec![sale("0xc", 2)]).await;
    assert_eq!(names(&store, a, id).await, ["0xc"]);
    // A step that was read before does not stand for what came in its place.
    let step = news(&store, a, id).await.unwrap().step;
    take_back(&store, id, "0xc", false).await.unwrap();
    put(&store, vec![sale("0xd", 2)]).await;
    assert_eq!(count(&store, a, step).await, CountsCommitted::Repeated(vec![step.name()]));
    assert_eq!(names(&store, a, id).await, ["0xd"]);
}

#[tokio::test]
async fn what_is_read_anew_is_not_counted_anew() {
    let (_database, store) = open().await;
    let a = project(&store).await;
    store.join_market(a, COLLECTION, operator()).await.unwrap();
    let id = put(&store, vec![sale("0xa", 10), sale("0xb", 20)]).await;
    assert_eq!(count_all(&store, a, id).await, 2);
    for _ in 0..2 {
        take_back(&store, id, "0x", true).await.unwrap();
        // It begins earlier this time, and goes further.
        let id = put(&store, vec![sale("0x9", 5), sale("0xa", 10), sale("0xb", 20), sale("0xc", 21)]).await;
        assert_eq!(names(&store, a, id).await, ["0x9"]);
    }
    assert_eq!(count_all(&store, a, id).await, 2);
    take_back(&store, id, "0x", true).await.unwrap();
    put(&store, vec![sale("0x9", 5), sale("0xc", 21), change(offer("1"))]).await;
    assert_eq!(count_all(&store, a, id).await, 1);
}

/// A contract is linked while another process makes its collection, and has not committed yet: neither sees the other, and
/// yet the collection is in the project's market afterwards. The collection is held until the link had time to look for it;
/// however slow the machine is, it then waits for the collection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_contract_that_is_linked_while_its_collection_is_made_is_in_the_market() {
    let (database, store) = open().await;
    let scope = project(&store).await;
    let hosted = store.create_hosted_collection(scope, CollectionInput::default(), at(0)).await.unwrap();
    let other = database.open().await.unwrap();
    let making = HeldWrite::begin(&store, batch(COLLECTION, vec![Change::Contract("{}".to_owned())])).await;
    let linking = tokio::spawn(async move {
        other.create_contract_collection(scope, COLLECTION, hosted.id, operator()).await
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    making.release().await.unwrap();
    linking.await.unwrap().unwrap();
    let id = store.collection(COLLECTION).await.unwrap().unwrap();
    assert_eq!(markets(&store).await, [(scope.project(), id)]);
}

/// A contract that nothing is known of is in the market of those who link it when its collection is made, and of nobody else.
#[tokio::test]
async fn a_link_counts_as_long_as_it_is_there() {
    let (_database, store) = open().await;
    let scopes = [project(&store).await, project(&store).await, project(&store).await, project(&store).await];
    let [linking, unlinking, moving, deleting] = scopes;
    for scope in scopes {
        let host = async || store.create_hosted_collection(scope, CollectionInput::default(), at(0)).await;
        let (first, second) = (host().await.unwrap(), host().await.unwrap());
        store.create_contract_collection(scope, COLLECTION, first.id, operator()).await.unwrap();
        if scope == unlinking {
            store.delete_contract_collection(scope, COLLECTION, at(0)).await.unwrap();
        }
        if scope == moving {
            store.update_contract_collection(scope, COLLECTION, second.id, at(0)).await.unwrap();
        }
        if scope == moving || scope == deleting {
            store.delete_hosted_collection(scope, first.id, at(0)).await.unwrap();
        }
    }
    let id = put(&store, vec![change(offer("1"))]).await;
    let mut markets = markets(&store).await;
    markets.sort_unstable();
    assert_eq!(markets, [(linking.project(), id), (moving.project(), id)]);
}

/// A server of before the table of links by contract links contracts beside one that looks there.
#[tokio::test]
async fn links_that_an_older_server_made_are_added_once() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let hosted = store.create_hosted_collection(scope, CollectionInput::default(), at(0)).await.unwrap();
    let contract = |number: u8| CollectionKey { address: Address::from_bytes([number; 20]), ..COLLECTION };
    let [known, unknown, unlinked] = [1, 2, 3].map(contract);
    let make = async |key| {
        store.commit(batch(key, vec![Change::Contract("{}".to_owned())])).await.unwrap();
        store.collection(key).await.unwrap().unwrap()
    };
    for key in [known, unknown, unlinked] {
        store.create_contract_collection(scope, key, hosted.id, operator()).await.unwrap();
    }
    forget_links(&store, vec![known, unknown]).await.unwrap();
    store.delete_contract_collection(scope, unlinked, at(0)).await.unwrap();
    let known = make(known).await;
    assert_eq!(markets(&store).await, [], "who made it saw no link");
    assert_eq!(store.complete_links(at(1)).await.unwrap(), 2);
    assert_eq!(markets(&store).await, [(scope.project(), known)]);
    let (unknown, _) = (make(unknown).await, make(unlinked).await);
    let mut markets = markets(&store).await;
    markets.sort_unstable();
    assert_eq!(markets, [(scope.project(), known), (scope.project(), unknown)]);
    assert_eq!(store.complete_links(at(2)).await.unwrap(), 0);
}

/// Whose market a collection is in is written down, whichever way it came there.
#[tokio::test]
async fn a_contract_that_is_linked_joins_the_market_with_an_entry_of_the_audit_log() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let hosted = store.create_hosted_collection(scope, CollectionInput::default(), at(0)).await.unwrap();
    let other = |number: u8| CollectionKey { address: Address::from_bytes([number; 20]), ..COLLECTION };
    for key in [other(1), other(2)] {
        store.commit(batch(key, vec![Change::Contract("{}".to_owned())])).await.unwrap();
    }
    store.join_market(scope, other(2), operator()).await.unwrap();
    for key in [other(1), other(2), other(3)] {
        store.create_contract_collection(scope, key, hosted.id, operator()).await.unwrap();
    }
    let page = AuditPage { before: None, limit: 100 };
    let log = store.audit(Extent::Project(scope), page).await.unwrap();
    let joined = log.into_iter().filter(|entry| entry.act == Some(Act::MarketJoined)).rev();
    let joined: Vec<(String, String)> = joined.map(|entry| (entry.subject, entry.detail)).collect();
    let entry =
        |number: u8, detail: &str| (format!("{} on chain 137", other(number).address), detail.to_owned());
    assert_eq!(
        joined,
        [
            entry(2, ""),
            entry(1, "by linking its contract"),
            entry(3, "by linking its contract, as soon as anything is known of it"),
        ]
    );
}
