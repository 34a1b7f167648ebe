//! What happened to tokens and orders.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
}

use bourse_store::testing::{batch, changes_since, happened, load_all};
use bourse_store::{Activity, Author, Batch, Change, CollectionId, CollectionKey, Committed, Store};
use bourse_wire::{
    ActivityAction, ActivityFacts, Address, Amount, ChainId, Marketplace, OrderFacts, OrderKey, OrderSide,
    OrderStatus, Timestamp, TokenId,
};
use support::database::open;
use support::orders::{change, offer};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };
const MAKER: [u8; 20] = [7; 20];

fn at(second: i64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(second) * 1_000_000_000)
}

/// A listing of ten of token 5, seen at second 2, made at second 1.
fn listing(id: &str) -> OrderFacts {
    OrderFacts {
        side: OrderSide::Listing,
        token_id: Some(5.into()),
        maker: Address::from_bytes(MAKER),
        quantity_initial: 10.into(),
        quantity_remaining: 10.into(),
        order_created_at: at(1),
        created_at: at(2),
        updated_at: at(2),
        ..offer(id)
    }
}

async fn commit(store: &Store, changes: Vec<Change>) -> Committed {
    store.commit(batch(COLLECTION, changes)).await.unwrap()
}

async fn put(store: &Store, order: &OrderFacts) -> Committed {
    commit(store, vec![change(order.clone())]).await
}

async fn id_of(store: &Store) -> CollectionId {
    store.collection(COLLECTION).await.unwrap().unwrap()
}

/// Everything that happened, oldest first.
async fn history(store: &Store) -> Vec<Activity> {
    let mut all = store.activities(id_of(store).await, None, None, 1_000).await.unwrap();
    assert!(all.is_sorted_by(|one, other| one.id > other.id), "{all:?}");
    all.reverse();
    all
}

/// What happened, in words: action, quantity, from, to, time.
fn words(activities: &[Activity]) -> Vec<String> {
    let name = |account: &Address| if *account == Address::ZERO { "nobody" } else { "maker" };
    let words = |activity: &Activity| {
        let facts = &activity.facts;
        let to = facts.to.as_ref().map_or("?", name);
        let second = facts.at.unix_seconds();
        format!("{} {} {}->{to} at {second}", facts.action, facts.quantity, name(&facts.from))
    };
    activities.iter().map(words).collect()
}

#[tokio::test]
async fn a_listing_is_made_sold_from_and_taken_back() {
    let (_database, store) = open().await;
    let mut order = listing("o");
    put(&store, &order).await;
    (order.quantity_remaining, order.order_updated_at, order.updated_at) = (6.into(), at(10), at(11));
    put(&store, &order).await;
    // Another change is no activity, and a time that is not known is replaced by when we saw it.
    (order.price_amount, order.order_updated_at, order.updated_at) = (9.into(), at(0), at(20));
    put(&store, &order).await;
    (order.quantity_remaining, order.order_updated_at, order.updated_at) =
        (5.into(), Timestamp::ZERO, at(21));
    put(&store, &order).await;
    (order.status, order.updated_at) = (OrderStatus::Cancelled, at(22));
    put(&store, &order).await;
    let expected = [
        "listing 10 maker->? at 1",
        "sale 4 maker->? at 10",
        "sale 1 maker->? at 21",
        "listingCancel 5 maker->? at 22",
    ];
    let happened = history(&store).await;
    assert_eq!(words(&happened), expected);
    let sale = &happened[2].facts;
    assert_eq!((sale.price_amount, sale.currency), (Some(9.into()), Some(Address::ZERO)));
    assert_eq!((sale.token_id, sale.marketplace), (Some(5.into()), Marketplace::OwnV2));
    assert_eq!((sale.created_at, sale.tx_hash.as_str()), (at(21), ""));
}

#[tokio::test]
async fn an_offer_is_made_taken_and_taken_back() {
    let (_database, store) = open().await;
    let mut order = OrderFacts { side: OrderSide::Offer, token_id: None, ..listing("o") };
    put(&store, &order).await;
    (order.quantity_remaining, order.updated_at) = (9.into(), at(10));
    put(&store, &order).await;
    // Both between two looks; and what is taken back leaves nothing in some sources.
    (order.quantity_remaining, order.status, order.updated_at) = (3.into(), OrderStatus::Cancelled, at(11));
    put(&store, &order).await;
    let mut emptied = OrderFacts { side: OrderSide::Offer, ..listing("p") };
    put(&store, &emptied).await;
    (emptied.quantity_remaining, emptied.status, emptied.updated_at) =
        (0.into(), OrderStatus::Cancelled, at(12));
    put(&store, &emptied).await;
    let expected = [
        "offer 10 maker->? at 1",
        "sale 1 nobody->maker at 10",
        "sale 6 nobody->maker at 11",
        "offerCancel 3 maker->? at 11",
        "offer 10 maker->? at 1",
        "offerCancel 10 maker->? at 12",
    ];
    assert_eq!(words(&history(&store).await), expected);
}

#[tokio::test]
async fn an_order_that_is_over_when_first_seen_was_not_made_now() {
    let (_database, store) = open().await;
    for (id, status) in (0..).zip(OrderStatus::ALL) {
        put(&store, &OrderFacts { status: *status, ..listing(&format!("{id}")) }).await;
    }
    put(&store, &OrderFacts { quantity_remaining: 0.into(), ..listing("empty") }).await;
    let made = history(&store).await.into_iter().map(|activity| activity.facts.unique_hash);
    // Unknown, active, inactive, and without decimals.
    let expected = ["order:2:0:listing", "order:2:1:listing", "order:2:2:listing", "order:2:6:listing"];
    assert_eq!(made.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn the_same_again_adds_nothing() {
    let (_database, store) = open().await;
    let full = listing("o");
    let part = OrderFacts { quantity_remaining: 4.into(), ..full.clone() };
    for _ in 0..3 {
        put(&store, &full).await;
        put(&store, &part).await;
        put(&store, &part).await;
        put(&store, &OrderFacts { status: OrderStatus::Cancelled, ..part.clone() }).await;
    }
    let happened: Vec<_> = history(&store).await.into_iter().map(|one| one.facts.action).collect();
    assert_eq!(happened, [ActivityAction::Listing, ActivityAction::Sale, ActivityAction::ListingCancel]);
}

#[tokio::test]
async fn an_order_keeps_the_time_it_was_first_seen() {
    let (_database, store) = open().await;
    let seen = async |order: OrderFacts| {
        put(&store, &order).await;
        load_all(&store, id_of(&store).await).await.unwrap().orders[0].created_at
    };
    // Text would sort the half second before the whole one.
    let half = Timestamp::from_unix_nanos(5_500_000_000);
    let cases = [
        (Timestamp::ZERO, Timestamp::ZERO),
        (half, half),
        (at(9), half),
        (Timestamp::ZERO, half),
        (at(5), at(5)),
        (half, at(5)),
        (at(4), at(4)),
    ];
    for (price, (created_at, expected)) in (1..).zip(cases) {
        let order = OrderFacts { created_at, price_amount: Amount::from(price), ..listing("o") };
        assert_eq!(seen(order).await, expected, "after {created_at}");
    }
    let later = OrderFacts { created_at: at(100), price_amount: 7.into(), ..listing("o") };
    assert_eq!(put(&store, &later).await.changed, 0, "to be seen again is no change");
}

#[tokio::test]
async fn orders_are_found_by_their_keys() {
    let (_database, store) = open().await;
    let other = OrderFacts { marketplace: Marketplace::Blur, price_amount: 2.into(), ..offer("1") };
    let mut orders: Vec<Change> = (0..1_200).map(|id| change(offer(&id.to_string()))).collect();
    orders.push(change(other.clone()));
    commit(&store, orders).await;
    let id = id_of(&store).await;
    let key = |marketplace, id: u32| OrderKey { marketplace, order_id: id.to_string() };
    let keys = |range: std::ops::Range<u32>| range.map(|id| key(Marketplace::OwnV2, id)).collect();
    assert_eq!(store.orders_by_key(id, keys(100..1_300)).await.unwrap().len(), 1_100);
    let one = store.orders_by_key(id, vec![key(Marketplace::Blur, 1); 2]).await.unwrap();
    assert_eq!(one, [other], "once, however often it is named");
    assert_eq!(store.orders_by_key(id, vec![key(Marketplace::Blur, 2)]).await.unwrap(), []);
    assert_eq!(store.orders_by_key(id, Vec::new()).await.unwrap(), []);
}

fn transfer(name: &str, token: u64) -> ActivityFacts {
    ActivityFacts {
        tx_hash: "0xabc".to_owned(),
        to: Some(Address::from_bytes(MAKER)),
        at: at(1),
        log_index: 3,
        created_at: at(2),
        ..happened(ActivityAction::Transfer, token, name)
    }
}

#[tokio::test]
async fn activities_from_elsewhere_are_changes_and_count_once() {
    let (_database, store) = open().await;
    let activity = |name: &str| Change::Activity(Box::new(transfer(name, 1)));
    let first = commit(&store, vec![activity("a"), activity("b"), activity("a")]).await;
    assert_eq!((first.version, first.changed), (1, 2));
    assert_eq!(commit(&store, vec![activity("b")]).await, Committed { changed: 0, ..first });
    let second = commit(&store, vec![activity("b"), activity("c")]).await;
    assert_eq!((second.version, second.changed), (2, 1));
    // A follower has nothing to take over but the version.
    let changes = changes_since(&store, id_of(&store).await, 0).await.unwrap().unwrap();
    assert_eq!((changes.version, changes.tokens.len(), changes.orders.len()), (2, 0, 0));
    let names: Vec<_> = history(&store).await.into_iter().map(|one| one.facts.unique_hash).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_and_show_one_token() {
    let (_database, store) = open().await;
    for commits in 0..7_u64 {
        let some = (0..5).map(|number| (commits * 5 + number, number));
        let changes =
            some.map(|(name, token)| Change::Activity(Box::new(transfer(&name.to_string(), token))));
        commit(&store, changes.collect()).await;
    }
    let id = id_of(&store).await;
    for (token, count) in [(None, 35), (Some(TokenId::from(3)), 7), (Some(TokenId::from(9)), 0)] {
        for limit in [1, 4, 100] {
            let mut pages: Vec<Activity> = Vec::new();
            loop {
                let before = pages.last().map(|activity| activity.id);
                let page = store.activities(id, token, before, limit).await.unwrap();
                assert!(page.len() as u64 <= limit);
                if page.is_empty() {
                    break;
                }
                pages.extend(page);
                assert!(pages.len() <= count, "a page again");
            }
            assert!(pages.is_sorted_by(|one, other| one.id > other.id));
            assert_eq!(pages.len(), count);
            for newer in [0, 1, count - count.min(1), count] {
                let number = store.activity_number(id, token, newer as u64).await.unwrap();
                assert_eq!(number, pages.get(newer).map(|activity| activity.id));
            }
            assert!(token.is_none() || pages.iter().all(|activity| activity.facts.token_id == token));
        }
    }
}

#[tokio::test]
async fn an_order_and_its_activity_stand_or_fall_together() {
    let (_database, store) = open().await;
    let other = CollectionKey { chain: ChainId(1), ..COLLECTION };
    let keyed = |order: OrderFacts| Batch {
        collection: other,
        changes: vec![change(order)],
        key: Some("k".to_owned()),
        author: Author::Operator,
        at: Timestamp::ZERO,
    };
    store.commit(keyed(listing("o"))).await.unwrap();
    assert!(store.commit(keyed(listing("p"))).await.unwrap().replayed);
    let id = store.collection(other).await.unwrap().unwrap();
    assert_eq!(store.activities(id, None, None, 10).await.unwrap().len(), 1);
    commit(&store, vec![change(listing("o"))]).await;
    assert_eq!(history(&store).await.len(), 1, "names are a collection's own");
}
