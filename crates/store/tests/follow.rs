//! Following a collection from another process: waking up, and taking over what changed.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
    pub(crate) mod projects;
    pub(crate) mod random;
}

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bourse_store::testing::{
    batch, change_unnoticed, changes_since, collection_id, load_all, make_collections, numbered_address,
    operator,
};
use bourse_store::{
    Actor, Balance, Change, Changes, CollectionId, CollectionKey, KeyTerms, Look, Lookout, OpenOptions, Store,
};
use bourse_wire::{
    Address, Amount, ChainId, Currency, Marketplace, OrderFacts, OrderKey, Timestamp, TokenId,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use support::database::open;
use support::orders::{self, offer};
use support::projects::project;
use support::random::{explain, runner, seed};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

fn token(id: u64, metadata: &str) -> Change {
    Change::Token { token_id: id.into(), metadata: metadata.to_owned() }
}

async fn commit(store: &Store, changes: Vec<Change>) -> u64 {
    store.commit(batch(COLLECTION, changes)).await.unwrap().version
}

async fn id_of(store: &Store) -> CollectionId {
    store.collection(COLLECTION).await.unwrap().unwrap()
}

/// What a follower has in memory.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    contract: Option<String>,
    tokens: BTreeMap<TokenId, String>,
    balances: BTreeMap<(TokenId, Address), Amount>,
    orders: BTreeMap<OrderKey, OrderFacts>,
}

impl State {
    fn take_over(&mut self, changes: Changes) {
        self.contract = changes.contract.or(self.contract.take());
        self.tokens.extend(changes.tokens.into_iter().map(|token| (token.token_id, token.metadata)));
        let key = |held: &Balance| (held.token_id, held.account);
        self.balances.extend(changes.balances.into_iter().map(|held| (key(&held), held.balance)));
        self.orders.extend(changes.orders.into_iter().map(|order| (order.key(), order)));
    }

    fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match change.clone() {
                Change::Contract(info) => self.contract = Some(info),
                Change::Token { token_id, metadata } => drop(self.tokens.insert(token_id, metadata)),
                Change::Balance { token_id, account, balance } => {
                    self.balances.insert((token_id, account), balance);
                }
                Change::Order(order) => {
                    self.orders.insert(order.key(), *order);
                }
                Change::SignedOrder(order) => {
                    let order = order.facts;
                    self.orders.insert(order.key(), order);
                }
                Change::Activity(_) => {}
                Change::UndatedContract(_) | Change::UndatedToken { .. } | Change::OrderEnded { .. } => {
                    panic!("what {change:?} changes depends on what is stored")
                }
            }
        }
    }
}

/// How long a watcher sleeps when something is done behind it.
async fn wake_up_time(watching: &Store, work: impl Future<Output = ()>) -> Duration {
    let mut watcher = watching.watch().await.unwrap();
    let started = Instant::now();
    let (woken, ()) = tokio::join!(tokio::time::timeout(Duration::from_mins(2), watcher.changed()), work);
    woken.unwrap_or_else(|_| panic!("no wake-up")).unwrap();
    started.elapsed()
}

/// A watcher of `PostgreSQL` also wakes up by itself, every 700 ms; what is quicker was a notification. One of several is
/// enough, as a busy machine may hold up all others.
fn assert_prompt(delays: &[Duration]) {
    assert!(delays.iter().any(|delay| *delay < Duration::from_millis(600)), "{delays:?}");
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
        assert_eq!(elsewhere.versions(vec![id]).await.unwrap()[0].1.version, number + 1);
        assert_eq!(changes_since(&elsewhere, id, number).await.unwrap().unwrap().tokens.len(), 1);
    }
    assert_prompt(&delays);
}

/// More than any statement takes as arguments.
#[tokio::test]
async fn versions_of_very_many_collections_are_told() {
    let (_database, store) = open().await;
    commit(&store, vec![token(0, "x")]).await;
    let id = id_of(&store).await;
    let unknown = (1_000_000..1_070_000).map(collection_id);
    let versions = store.versions(unknown.chain([id]).collect()).await.unwrap();
    assert_eq!(versions.iter().map(|(id, mark)| (*id, mark.version)).collect::<Vec<_>>(), [(id, 1)]);
}

#[tokio::test]
async fn another_process_wakes_up_for_credentials() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let scope = project(&store).await;
    let mut delays = Vec::new();
    for number in 0..5 {
        let revision = elsewhere.credentials_revision().await.unwrap();
        let hash = number.to_string();
        let work = async {
            let made = store
                .create_access_key(scope, hash, KeyTerms::default(), Actor::command_line(Timestamp::ZERO))
                .await;
            drop(made.unwrap());
        };
        delays.push(wake_up_time(&elsewhere, work).await);
        assert_eq!(elsewhere.credentials_revision().await.unwrap().version, revision.version + 1);
    }
    assert_prompt(&delays);
}

#[tokio::test]
async fn another_process_wakes_up_for_currencies() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let mut delays = Vec::new();
    for decimals in 1..=5 {
        let currency = Currency {
            chain_id: ChainId(1),
            contract_address: Address::ZERO,
            name: String::new(),
            symbol: String::new(),
            decimals,
            image_url: String::new(),
            rate: None,
        };
        let work =
            async { assert_eq!(store.put_currencies(vec![currency.clone()], operator()).await.unwrap(), 1) };
        delays.push(wake_up_time(&elsewhere, work).await);
        // The same again is no change.
        assert_eq!(store.put_currencies(vec![currency.clone()], operator()).await.unwrap(), 0);
        assert_eq!(elsewhere.currencies_revision().await.unwrap().version, u64::from(decimals) + 1);
        assert_eq!(elsewhere.credentials_revision().await.unwrap().version, 1);
    }
    assert_prompt(&delays);
}

#[tokio::test]
async fn a_follower_that_is_up_to_date_gets_nothing() {
    let (_database, store) = open().await;
    let version = commit(&store, vec![token(1, "a"), Change::Contract("{}".to_owned())]).await;
    let changes = changes_since(&store, id_of(&store).await, version).await.unwrap().unwrap();
    assert_eq!(changes, Changes { version, stamp: changes.stamp, ..Changes::default() });
}

#[tokio::test]
async fn a_follower_too_far_behind_must_load_everything() {
    let (database, _store) = open().await;
    let options = OpenOptions { changes_kept: 3, ..OpenOptions::default() };
    let store = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
    for number in 1..=10 {
        commit(&store, vec![token(number, "x")]).await;
    }
    let id = id_of(&store).await;
    for since in 0..=10 {
        let changes = changes_since(&store, id, since).await.unwrap();
        let seen = changes.map(|changes| (changes.version, changes.tokens.len() as u64));
        assert_eq!(seen, (since >= 7).then_some((10, 10 - since)), "since {since}");
    }
    assert_eq!(load_all(&store, id).await.unwrap().tokens.len(), 10);
}

/// One of a few orders, in one of a few states.
fn order() -> impl Strategy<Value = Change> {
    let market = (1..4_u8).prop_map(|number| Marketplace::from_number(number).unwrap());
    (0..3_u8, market, 0..3_u64).prop_map(|(id, marketplace, price)| {
        orders::change(OrderFacts { marketplace, price_amount: price.into(), ..offer(&id.to_string()) })
    })
}

fn change() -> impl Strategy<Value = Change> {
    let text = (0..3_u8).prop_map(|number| number.to_string());
    let account = (0..3_u8).prop_map(|number| Address::from_bytes([number; 20]));
    prop_oneof![
        8 => (0..12_u64, text.clone()).prop_map(|(id, text)| token(id, &text)),
        1 => text.prop_map(Change::Contract),
        4 => (0..4_u64, account, 0..3_u64).prop_map(|(token, account, held)| Change::Balance {
            token_id: token.into(),
            account,
            balance: held.into(),
        }),
        4 => order(),
    ]
}

/// Takes over what changed since a version, or everything; tells the version this leads to.
async fn catch_up(store: &Store, id: CollectionId, state: &mut State, since: Option<u64>) -> u64 {
    let changes = match since {
        Some(since) => changes_since(store, id, since).await.unwrap(),
        None => None,
    };
    let changes = if let Some(changes) = changes {
        changes
    } else {
        *state = State::default();
        load_all(store, id).await.unwrap()
    };
    let version = changes.version;
    state.take_over(changes);
    version
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
        let next = catch_up(&follower, id, &mut state, version).await;
        assert!(version.is_none_or(|version| version <= next), "{}", explain(seed, "back in time"));
        version = Some(next);
        states.push((next, state.clone()));
        if done {
            break;
        }
        tokio::time::sleep(Duration::from_millis(states.len() as u64 % 4)).await;
    }
    let versions = leading.await.unwrap();
    for (version, state) in states {
        assert_eq!(state, versions[usize::try_from(version).unwrap()], "{}", explain(seed, version));
    }
    let last = versions.len() as u64 - 1;
    assert_eq!(version, Some(last), "{}", explain(seed, "at the end"));
    for (since, mut then) in (0..).zip(versions) {
        let kept = changes_since(&follower, id, since).await.unwrap().is_some();
        assert_eq!(kept, last - since <= changes_kept, "{}", explain(seed, since));
        catch_up(&follower, id, &mut then, Some(since)).await;
        assert_eq!(then, state, "{}", explain(seed, format!("from {since} to the end")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_has_the_state_of_its_version() {
    follow(seed(), 10_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_with_a_short_log_has_the_state_of_its_version() {
    follow(seed(), 2).await;
}

/// More than are asked for in one statement.
const MANY: u64 = 1_100;
/// Collections whose versions are added up together.
const PART: u64 = 256;

/// How many of the collections a look would ask about, with the look.
async fn asked(lookout: &Lookout, store: &Store) -> (u64, Look) {
    let ids: Vec<CollectionId> = (1..=MANY).map(collection_id).collect();
    let look = lookout.look(store, &ids).await.unwrap();
    (ids.iter().filter(|id| look.may_have_changed(**id)).count() as u64, look)
}

/// The same once everything that was asked about is taken over.
async fn settled(lookout: &Lookout, store: &Store) -> u64 {
    let (count, look) = asked(lookout, store).await;
    lookout.settle(look, []);
    count
}

async fn change_of(store: &Store, number: u64) {
    let key = CollectionKey { chain: ChainId(1), address: numbered_address(number) };
    store.commit(batch(key, vec![token(1, r#"{"tokenId":"1","name":"changed"}"#)])).await.unwrap();
}

#[tokio::test]
async fn only_what_lies_beside_a_change_is_asked_about() {
    let (_database, store) = open().await;
    make_collections(&store, ChainId(1), MANY).await.unwrap();
    let lookout = Lookout::default();
    assert_eq!(settled(&lookout, &store).await, MANY, "nobody looked before");
    assert_eq!(settled(&lookout, &store).await, 0);
    change_of(&store, 300).await;
    assert_eq!(settled(&lookout, &store).await, PART);
    assert_eq!(settled(&lookout, &store).await, 0);
    // A database that was set back has the version, and another number with it.
    let sql = "UPDATE collection_versions SET stamp = stamp + 65536 WHERE collection_id = $1";
    assert_eq!(change_unnoticed(&store, collection_id(300), sql).await.unwrap(), 1);
    assert_eq!(settled(&lookout, &store).await, PART);
}

#[tokio::test]
async fn what_was_not_taken_over_or_came_meanwhile_is_asked_about_again() {
    let (_database, store) = open().await;
    make_collections(&store, ChainId(1), MANY).await.unwrap();
    let lookout = Lookout::default();
    settled(&lookout, &store).await;
    change_of(&store, 300).await;
    let (count, look) = asked(&lookout, &store).await;
    assert_eq!(count, PART);
    lookout.settle(look, [collection_id(300)]);
    let (count, look) = asked(&lookout, &store).await;
    assert_eq!(count, PART, "it was behind");
    drop(look);
    let (count, look) = asked(&lookout, &store).await;
    assert_eq!(count, PART, "it was left in the middle");
    lookout.forget(collection_id(301));
    lookout.settle(look, []);
    assert_eq!(settled(&lookout, &store).await, PART, "one came before it was done");
    assert_eq!(settled(&lookout, &store).await, 0);
    lookout.forget(collection_id(1));
    assert_eq!(settled(&lookout, &store).await, PART - 1, "one came after it was done");
}
