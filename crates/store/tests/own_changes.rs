//! What a process need not read back after it committed it.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
}

use bourse_store::testing::{batch, changes_since, mark_of, set_back};
use bourse_store::{Change, Changes, CollectionId, CollectionKey, SignedOrder, Store};
use bourse_wire::{Address, Amount, ChainId, FeeEntry, OrderFacts, OrderStatus, Timestamp};
use serde_json::json;
use support::database::open;
use support::orders::{change, offer};
use tokio::task::JoinSet;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

async fn commit(store: &Store, changes: Vec<Change>) -> u64 {
    store.commit(batch(COLLECTION, changes)).await.unwrap().version
}

async fn id_of(store: &Store) -> CollectionId {
    store.collection(COLLECTION).await.unwrap().unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(second) * 1_000_000_000)
}

fn priced(id: &str, price: u64) -> OrderFacts {
    let fee = FeeEntry { kind: "royalty".to_owned(), recipient_address: Address::ZERO, bps: 250 };
    OrderFacts {
        price_amount: price.into(),
        fee_breakdown: vec![fee],
        created_at: at(9),
        updated_at: Timestamp::from_unix_nanos(1_500_000_000),
        ..offer(id)
    }
}

async fn own_changes(store: &Store, id: CollectionId, since: u64, until: u64) -> Option<Vec<Changes>> {
    let since = mark_of(store, id, since).await.unwrap();
    let until = mark_of(store, id, until).await.unwrap();
    store.take_own_changes(id, since, until)
}

fn signed(facts: OrderFacts) -> SignedOrder {
    let nonces = json!({ "contract": Address::ZERO, "numbers": [] });
    SignedOrder { facts, native: "{}".to_owned(), nonces: serde_json::from_value(nonces).unwrap() }
}

fn sorted(mut orders: Vec<OrderFacts>) -> Vec<OrderFacts> {
    orders.sort_unstable_by(|one, other| one.order_id.cmp(&other.order_id));
    orders
}

#[tokio::test]
async fn they_are_what_was_stored() {
    let (_database, store) = open().await;
    commit(&store, vec![change(priced("a", 1)), change(priced("b", 1)), change(priced("c", 1))]).await;
    let id = id_of(&store).await;
    assert_eq!(own_changes(&store, id, 0, 1).await.unwrap().len(), 1);
    // One is new, one was seen before, one is as it was.
    let earlier = OrderFacts { created_at: at(5), ..priced("b", 1) };
    let later = OrderFacts { updated_at: at(100), ..priced("c", 1) };
    let known_earlier = OrderFacts { created_at: at(20), ..priced("a", 2) };
    let changes = [known_earlier, earlier, later, priced("d", 1)].map(change);
    assert_eq!(commit(&store, changes.into()).await, 2);
    let own = own_changes(&store, id, 1, 2).await.unwrap();
    let stored = changes_since(&store, id, 1).await.unwrap().unwrap();
    let [Changes { version: 2, orders, .. }] = <[Changes; 1]>::try_from(own).unwrap() else { panic!("two") };
    let orders = sorted(orders);
    assert_eq!(orders, sorted(stored.orders));
    assert_eq!(orders.iter().map(|order| order.order_id.as_str()).collect::<Vec<_>>(), ["a", "b", "d"]);
    assert_eq!((orders[0].created_at, orders[1].created_at), (at(9), at(5)));
}

/// What is kept of a row whatever is put over it: who moves its tokens or money, and how much of it is covered.
#[tokio::test]
async fn an_order_that_is_put_again_is_followed_as_it_is_stored() {
    let (_database, store) = open().await;
    let put = |status, backing: Option<u64>| {
        let operator = Some(Address::from_bytes([7; 20]));
        let facts = OrderFacts { status, operator, backing: backing.map(Amount::from), ..priced("a", 1) };
        Change::SignedOrder(Box::new(signed(facts)))
    };
    let ended = OrderFacts { status: OrderStatus::Inactive, ..priced("a", 1) };
    let steps = [
        put(OrderStatus::Active, Some(0)),
        change(ended.clone()),
        // It can be filled again, and its maker has what it would give.
        put(OrderStatus::Active, Some(3)),
        change(ended),
        // What is covered of it is known: nobody may say that it is nothing.
        put(OrderStatus::Active, Some(0)),
        change(OrderFacts { status: OrderStatus::Cancelled, ..priced("a", 1) }),
    ];
    for (step, since) in steps.into_iter().zip(0..) {
        let version = commit(&store, vec![step]).await;
        assert_eq!(version, since + 1);
        let id = id_of(&store).await;
        let own = own_changes(&store, id, since, version).await.unwrap();
        assert_eq!(own, [changes_since(&store, id, since).await.unwrap().unwrap()], "version {version}");
    }
}

/// Whoever states something else of a signed order is told that it was not taken, and of one that is as it was nothing.
#[tokio::test]
async fn what_only_the_maker_can_say_is_refused_by_name() {
    let (_database, store) = open().await;
    let order = || signed(OrderFacts { operator: Some(Address::from_bytes([7; 20])), ..priced("signed", 1) });
    let put = || Change::SignedOrder(Box::new(order()));
    let commit = async |changes: Vec<Change>| store.commit(batch(COLLECTION, changes)).await.unwrap();
    assert_eq!(commit(vec![put()]).await.refused, []);
    assert_eq!(commit(vec![put(), change(priced("signed", 1))]).await.refused, [], "it is so");
    for beside in [[put(), change(priced("signed", 2))], [change(priced("signed", 2)), put()]] {
        let done = commit(beside.into()).await;
        assert_eq!((done.refused, done.changed), (vec![order().facts.key()], 0), "in one batch");
    }
    let cheaper_and_over = OrderFacts { status: OrderStatus::Cancelled, ..priced("signed", 2) };
    for stated in [priced("signed", 2), cheaper_and_over] {
        let done = commit(vec![change(stated), change(priced("plain", 1))]).await;
        assert_eq!(done.refused, [order().facts.key()]);
        assert!(!done.replayed);
    }
    let id = id_of(&store).await;
    assert_eq!(store.orders_by_key(id, vec![order().facts.key()]).await.unwrap(), [order().facts]);
    let over = OrderFacts { status: OrderStatus::Cancelled, ..priced("signed", 1) };
    let done = commit(vec![change(over)]).await;
    assert_eq!((done.refused, done.changed), (vec![], 1));
}

#[tokio::test]
async fn there_are_none_where_something_is_missing() {
    let (database, store) = open().await;
    let other = database.open().await.unwrap();
    let put = |store: Store, price| async move { commit(&store, vec![change(priced("a", price))]).await };
    put(store.clone(), 1).await;
    let id = id_of(&store).await;
    assert_eq!(own_changes(&store, id, 0, 2).await, None, "not yet");
    assert_eq!(own_changes(&store, id, 0, 1).await, None, "taken");

    put(store.clone(), 2).await;
    put(other.clone(), 3).await;
    put(store.clone(), 4).await;
    assert_eq!(own_changes(&store, id, 1, 4).await, None, "another process");

    put(store.clone(), 5).await;
    commit(&store, vec![Change::Contract("{}".to_owned()), change(priced("a", 6))]).await;
    put(store.clone(), 7).await;
    assert_eq!(own_changes(&store, id, 4, 7).await, None, "more than orders");

    put(store.clone(), 8).await;
    put(store.clone(), 8).await;
    assert_eq!(own_changes(&store, id, 7, 8).await.unwrap().len(), 1, "no change is no version");
}

/// Versions whose numbers a database that was set back gave out again are others.
#[tokio::test]
async fn a_database_that_was_set_back_is_noticed() {
    let (database, store) = open().await;
    let other = database.open().await.unwrap();
    commit(&store, vec![change(priced("a", 1))]).await;
    let id = id_of(&store).await;
    let first = mark_of(&store, id, 1).await.unwrap();
    assert_eq!(commit(&store, vec![change(priced("a", 2))]).await, 2);
    let lost = mark_of(&store, id, 2).await.unwrap();
    set_back(&store, id, priced("a", 1)).await.unwrap();
    assert_eq!(store.changes(id, lost).await.unwrap(), None, "it is ahead");
    assert_eq!(commit(&other, vec![change(priced("a", 3))]).await, 2);
    assert_eq!(store.changes(id, lost).await.unwrap(), None, "another of the same number");
    assert_eq!(commit(&store, vec![change(priced("a", 4))]).await, 3);
    assert_eq!(store.changes(id, lost).await.unwrap(), None, "one after another of the same number");
    let newest = mark_of(&store, id, 3).await.unwrap();
    assert_eq!(store.take_own_changes(id, first, newest), None, "what was lost is not followed");
    let versions = store.versions(vec![id]).await.unwrap();
    let changes = store.changes(id, first).await.unwrap().unwrap();
    assert_eq!((changes.version, changes.stamp), (3, versions[0].1.stamp));
    assert_eq!(store.changes(id, versions[0].1).await.unwrap().unwrap().orders, []);
}

#[tokio::test]
async fn commits_at_once_leave_no_gap() {
    let (_database, store) = open().await;
    commit(&store, vec![change(priced("first", 1))]).await;
    let id = id_of(&store).await;
    let mut tasks = JoinSet::new();
    for number in 0..50 {
        let store = store.clone();
        tasks.spawn(async move { commit(&store, vec![change(priced(&number.to_string(), 1))]).await });
    }
    tasks.join_all().await;
    let own = own_changes(&store, id, 0, 51).await.unwrap();
    assert!(own.iter().map(|changes| changes.version).eq(1..=51));
    let mut all: Vec<OrderFacts> = own.into_iter().flat_map(|changes| changes.orders).collect();
    all = sorted(all);
    assert_eq!(all, sorted(changes_since(&store, id, 0).await.unwrap().unwrap().orders));
}

#[tokio::test]
async fn a_token_that_its_only_order_left_is_not_among_changes() {
    let (_database, store) = open().await;
    let of_token = |token: u64| OrderFacts { token_id: Some(token.into()), ..offer("a") };
    let told = Change::Token { token_id: 7_u64.into(), metadata: "{}".to_owned() };
    commit(&store, vec![told, change(of_token(7))]).await;
    let id = id_of(&store).await;
    // Of the first token there is more than the order.
    commit(&store, vec![change(of_token(8))]).await;
    assert!(own_changes(&store, id, 1, 2).await.is_some());
    assert!(changes_since(&store, id, 1).await.unwrap().is_some());
    // Of the second there is nothing: whoever follows finds out by loading everything.
    let second = mark_of(&store, id, 2).await.unwrap();
    commit(&store, vec![change(of_token(9))]).await;
    let third = store.versions(vec![id]).await.unwrap()[0].1;
    assert!(store.take_own_changes(id, second, third).is_none());
    assert!(store.changes(id, second).await.unwrap().is_none());
}
