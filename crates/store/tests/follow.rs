//! Following a collection from another process: waking up, and taking over what changed.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod random;
}

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bourse_store::{
    Batch, Change, CollectionId, CollectionKey, LoadedCollection, NewAccessKey, OpenOptions, Store,
};
use bourse_wire::{Address, ChainId, Timestamp, TokenId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use support::database::{open, project};
use support::random::{explain, runner, seed};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

fn token(id: u64, metadata: &str) -> Change {
    Change::Token { token_id: id.into(), metadata: metadata.to_owned() }
}

async fn commit(store: &Store, changes: Vec<Change>) -> u64 {
    store.commit(Batch { collection: COLLECTION, changes, key: None }).await.unwrap().version
}

async fn id_of(store: &Store) -> CollectionId {
    store.collection(COLLECTION).await.unwrap().unwrap()
}

/// What a follower has in memory.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    contract: Option<String>,
    tokens: BTreeMap<TokenId, String>,
}

impl State {
    fn take_over(&mut self, loaded: LoadedCollection) {
        if loaded.whole {
            *self = Self::default();
        }
        self.contract = loaded.contract.or(self.contract.take());
        self.tokens.extend(loaded.tokens.into_iter().map(|token| (token.token_id, token.metadata)));
    }

    fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Contract(info) => self.contract = Some(info.clone()),
                Change::Token { token_id, metadata } => drop(self.tokens.insert(*token_id, metadata.clone())),
                Change::Balance { .. } | Change::Order(_) => {}
            }
        }
    }
}

/// How long a watcher sleeps when something is done behind it, if it wakes up within a second.
async fn wake_up_time(watching: &Store, work: impl Future<Output = ()>) -> Duration {
    let mut watcher = watching.watch().await.unwrap();
    let started = Instant::now();
    let (woken, ()) = tokio::join!(tokio::time::timeout(Duration::from_secs(1), watcher.changed()), work);
    woken.unwrap_or_else(|_| panic!("no wake-up within a second")).unwrap();
    started.elapsed()
}

/// A watcher of `PostgreSQL` also wakes up by itself, every 700 ms; what is quicker was a notification. The middle of
/// several, as a busy machine may hold up any one of them.
fn assert_prompt(mut delays: Vec<Duration>) {
    delays.sort_unstable();
    assert!(delays[delays.len() / 2] < Duration::from_millis(450), "{delays:?}");
}

#[tokio::test]
async fn another_process_wakes_up_and_sees_a_commit() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    commit(&store, vec![token(0, "x")]).await;
    let id = id_of(&elsewhere).await;
    let mut delays = Vec::new();
    for number in 1..=5 {
        let work = async {
            assert_eq!(commit(&store, vec![token(number, "x")]).await, number + 1);
        };
        delays.push(wake_up_time(&elsewhere, work).await);
        assert_eq!(elsewhere.versions(vec![id]).await.unwrap(), [(id, number + 1)]);
        assert_eq!(elsewhere.load(id, Some(number)).await.unwrap().tokens.len(), 1);
    }
    assert_prompt(delays);
}

#[tokio::test]
async fn another_process_wakes_up_for_credentials() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let scope = project(&store).await;
    let mut delays = Vec::new();
    for number in 0..5 {
        let revision = elsewhere.credentials_revision().await.unwrap();
        let key = NewAccessKey {
            hash: number.to_string(),
            display_name: String::new(),
            require_origin: false,
            allowed_origins: Vec::new(),
            allowed_services: Vec::new(),
        };
        let work = async { drop(store.create_access_key(scope, key, Timestamp::ZERO).await.unwrap()) };
        delays.push(wake_up_time(&elsewhere, work).await);
        assert_eq!(elsewhere.credentials_revision().await.unwrap(), revision + 1);
    }
    assert_prompt(delays);
}

#[tokio::test]
async fn a_follower_that_is_up_to_date_gets_nothing() {
    let (_database, store) = open().await;
    let version = commit(&store, vec![token(1, "a"), Change::Contract("{}".to_owned())]).await;
    let loaded = store.load(id_of(&store).await, Some(version)).await.unwrap();
    assert_eq!(loaded, LoadedCollection { version, ..LoadedCollection::default() });
    assert!(!loaded.whole);
}

#[tokio::test]
async fn a_follower_too_far_behind_gets_everything() {
    let (database, _store) = open().await;
    let options = OpenOptions { changes_kept: 3, ..OpenOptions::default() };
    let store = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
    for number in 1..=10 {
        commit(&store, vec![token(number, "x")]).await;
    }
    let id = id_of(&store).await;
    for since in 0..=10 {
        let loaded = store.load(id, Some(since)).await.unwrap();
        let kept = since >= 7;
        assert_eq!((loaded.version, loaded.whole), (10, !kept), "since {since}");
        assert_eq!(loaded.tokens.len() as u64, if kept { 10 - since } else { 10 }, "since {since}");
    }
}

fn change() -> impl Strategy<Value = Change> {
    let text = (0..3_u8).prop_map(|number| number.to_string());
    prop_oneof![
        8 => (0..12_u64, text.clone()).prop_map(|(id, text)| token(id, &text)),
        1 => text.prop_map(Change::Contract),
        1 => (0..3_u64).prop_map(|held| Change::Balance {
            token_id: held.into(),
            account: Address::ZERO,
            balance: held.into(),
        }),
    ]
}

/// Commits random changes while a follower takes them over, and compares it with a model at every version it sees.
async fn follow(seed: u64, changes_kept: u64) {
    let batches = vec(vec(change(), 0..4), 150).new_tree(&mut runner(seed, 1)).unwrap().current();
    let (database, _store) = open().await;
    let options = OpenOptions { changes_kept, ..OpenOptions::default() };
    let leader = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
    let follower = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
    commit(&leader, vec![token(100, "first")]).await;
    let id = id_of(&follower).await;

    let leading = tokio::spawn(async move {
        let mut model = State::default();
        model.apply(&[token(100, "first")]);
        let mut versions = vec![State::default(), model.clone()];
        for changes in batches {
            model.apply(&changes);
            let version = usize::try_from(commit(&leader, changes).await).unwrap();
            assert!(version + 1 == versions.len() || version == versions.len(), "a gap before {version}");
            assert!(version == versions.len() || versions[version] == model, "an unseen change at {version}");
            versions.truncate(version);
            versions.push(model.clone());
        }
        versions
    });
    let mut states = Vec::new();
    let (mut state, mut version) = (State::default(), None);
    loop {
        let done = leading.is_finished();
        let update = follower.load(id, version).await.unwrap();
        assert!(version.is_none_or(|version| version <= update.version), "{}", explain(seed, "back in time"));
        version = Some(update.version);
        state.take_over(update);
        states.extend(version.map(|version| (version, state.clone())));
        if done {
            break;
        }
        tokio::time::sleep(Duration::from_millis(states.len() as u64 % 4)).await;
    }
    let versions = leading.await.unwrap();
    for (version, state) in states {
        assert_eq!(state, versions[usize::try_from(version).unwrap()], "{}", explain(seed, version));
    }
    let mut whole = State::default();
    whole.take_over(follower.load(id, None).await.unwrap());
    assert_eq!(state, whole, "{}", explain(seed, "at the end"));
    assert_eq!(version, Some(versions.len() as u64 - 1), "{}", explain(seed, "at the end"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_has_the_state_of_its_version() {
    follow(seed(), 10_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_with_a_short_log_has_the_state_of_its_version() {
    follow(seed(), 2).await;
}
