//! Batches of many rows, which PostgreSQL has copied into its tables where they are new: they say the same as rows one by one.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
}

use std::collections::BTreeSet;

use bourse_store::testing::{batch, changes_since, given_up_after, load_all, numbered_address, on_citus};
use bourse_store::{Activity, Change, CollectionKey, DatabaseUrl, OpenOptions, Store};
use bourse_wire::{
    ActivityAction, ActivityFacts, Address, Amount, ChainId, Marketplace, OrderFacts, Timestamp, TokenId,
};
use sqlx::{Connection as _, PgConnection};
use support::database::open;
use support::orders::{change, offer};

/// Enough of each kind to be worth a copy.
const MANY: u64 = 300;

fn collection(number: u8) -> CollectionKey {
    CollectionKey { chain: ChainId(1), address: Address::from_bytes([number; 20]) }
}

/// Letters that mean something to one form of a copy or another.
fn odd(number: u64) -> String {
    format!("{number}\t\\N\r\n\\.,\"'{{}}ü𝄞{}", "\u{7f}".repeat((number % 5) as usize))
}

fn token(number: u64, metadata: String) -> Change {
    Change::Token { token_id: number.into(), metadata }
}

fn activity(number: u64) -> ActivityFacts {
    ActivityFacts {
        action: ActivityAction::Transfer,
        marketplace: Marketplace::Unknown,
        token_id: (!number.is_multiple_of(3)).then(|| number.into()),
        tx_hash: odd(number),
        from: Address::ZERO,
        to: number.is_multiple_of(2).then(|| numbered_address(number)),
        quantity: Amount::MAX,
        quantity_decimals: 18,
        price_amount: number.is_multiple_of(5).then(|| number.into()),
        currency: None,
        at: Timestamp::ZERO,
        log_index: number,
        block_number: None,
        block_hash: None,
        unique_hash: format!("activity {number}"),
        created_at: Timestamp::ZERO,
    }
}

/// What may be said of a collection, some of it of each number.
fn said(number: u64) -> [Change; 4] {
    let token_id: TokenId = number.into();
    let account = numbered_address(number);
    let order = OrderFacts {
        token_id: number.is_multiple_of(2).then_some(token_id),
        origin_name: odd(number),
        ..offer(&format!("order {number}"))
    };
    [
        token(number, odd(number)),
        Change::Balance { token_id, account, balance: Amount::MAX },
        change(order),
        Change::Activity(Box::new(activity(number))),
    ]
}

async fn happened(store: &Store, key: CollectionKey) -> Vec<ActivityFacts> {
    let id = store.collection(key).await.unwrap().unwrap();
    let all = store.activities(id, None, None, 10_000).await.unwrap();
    let mut facts: Vec<ActivityFacts> = all.into_iter().map(|Activity { facts, .. }| facts).collect();
    facts.sort_by(|one, other| one.unique_hash.cmp(&other.unique_hash));
    facts
}

#[tokio::test]
async fn many_rows_say_the_same_as_rows_one_by_one() {
    let (_database, store) = open().await;
    let (together, apart) = (collection(1), collection(2));
    let committed = store.commit(batch(together, (0..MANY).flat_map(said).collect())).await.unwrap();
    assert_eq!(committed.changed, MANY * 4);
    for number in 0..MANY {
        store.commit(batch(apart, said(number).to_vec())).await.unwrap();
    }
    let mut states = Vec::new();
    for key in [together, apart] {
        let id = store.collection(key).await.unwrap().unwrap();
        let mut all = load_all(&store, id).await.unwrap();
        all.tokens.sort_by_key(|token| token.token_id);
        all.balances.sort_by_key(|held| (held.token_id, held.account));
        all.orders.sort_by_key(OrderFacts::key);
        assert_eq!(all.tokens.len() as u64, MANY);
        states.push((all.tokens, all.balances, all.orders, happened(&store, key).await));
    }
    assert!(states[0] == states[1], "they differ");
}

#[tokio::test]
async fn of_many_rows_those_that_are_different_are_told() {
    let (_database, store) = open().await;
    let key = collection(1);
    let some = (0..100).map(|number| token(number, "known".to_owned()));
    store.commit(batch(key, some.collect())).await.unwrap();
    let text = |number| if number < 40 { "known" } else { "new" };
    let all = (0..MANY).map(|number| token(number, text(number).to_owned()));
    let committed = store.commit(batch(key, all.collect())).await.unwrap();
    assert_eq!(committed.changed, MANY - 40);
    let id = store.collection(key).await.unwrap().unwrap();
    let since = changes_since(&store, id, 1).await.unwrap().unwrap();
    let told: BTreeSet<TokenId> = since.tokens.iter().map(|token| token.token_id).collect();
    assert_eq!(told, (40..MANY).map(TokenId::from).collect());
    assert!(since.tokens.iter().all(|token| token.metadata == "new"));
}

/// Rows of which none is between the first and the last of many are taken for new ones: both ends are between them.
#[tokio::test]
async fn a_row_at_either_end_of_many_is_known_again() {
    let (_database, store) = open().await;
    let held = |token: u64, account: u64, balance: u64| Change::Balance {
        token_id: token.into(),
        account: numbered_address(account),
        balance: balance.into(),
    };
    for (number, known) in (1..).zip([500_u64, 500 + MANY - 1, 700]) {
        let key = collection(number);
        let some = vec![token(known, "known".to_owned()), held(known, 7, 1)];
        store.commit(batch(key, some)).await.unwrap();
        let many = (500..500 + MANY).flat_map(|id| [token(id, "new".to_owned()), held(id, 7, 2)]);
        let committed = store.commit(batch(key, many.collect())).await.unwrap();
        assert_eq!(committed.changed, MANY * 2, "{known} was there");
        // Others hold some of the same tokens, with addresses before and behind the one that is there.
        let others = (500..500 + MANY).flat_map(|id| [held(id, 6, 1), held(id, 8, 1)]);
        assert_eq!(store.commit(batch(key, others.collect())).await.unwrap().changed, MANY * 2);
        let id = store.collection(key).await.unwrap().unwrap();
        let all = load_all(&store, id).await.unwrap();
        assert!(all.tokens.iter().all(|token| token.metadata == "new"));
        assert_eq!((all.tokens.len() as u64, all.balances.len() as u64), (MANY, MANY * 3));
    }
}

#[tokio::test]
async fn of_many_activities_each_is_kept_once() {
    let (_database, store) = open().await;
    let key = collection(1);
    let some =
        |numbers: std::ops::Range<u64>| numbers.map(|number| Change::Activity(Box::new(activity(number))));
    store.commit(batch(key, some(0..50).collect())).await.unwrap();
    let twice = some(0..MANY).chain(some(0..MANY)).collect();
    assert_eq!(store.commit(batch(key, twice)).await.unwrap().changed, MANY - 50);
    assert_eq!(happened(&store, key).await.len() as u64, MANY);
}

/// With one connection, so that everybody gets the one that was given up.
#[tokio::test]
async fn writing_many_rows_may_be_given_up_anywhere() {
    let (database, store) = open().await;
    store.close().await;
    let options = OpenOptions { connections_max: 1, ..OpenOptions::default() };
    let store = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
    let key = collection(1);
    for polls in 1.. {
        let numbers = u64::from(polls) * 1_000..;
        let many = numbers.take(150).map(|number| token(number, "given up".to_owned())).collect();
        let ended = given_up_after(polls, store.commit(batch(key, many))).await;
        store.commit(batch(key, vec![token(1, polls.to_string())])).await.unwrap();
        let id = store.collection(key).await.unwrap().unwrap();
        let all = load_all(&store, id).await.unwrap().tokens;
        let last = all.iter().find(|token| token.token_id == 1.into()).unwrap();
        assert_eq!(last.metadata, polls.to_string(), "given up after {polls}");
        let given_up = all.iter().filter(|token| token.metadata == "given up").count();
        assert!(given_up.is_multiple_of(150), "a part of a batch, given up after {polls}: {given_up}");
        if ended {
            break;
        }
    }
}

/// What is written down of a large batch is compressed in the way that costs PostgreSQL least, where it knows it.
#[tokio::test]
async fn what_is_long_is_compressed_by_lz4() {
    let (database, store) = open().await;
    let DatabaseUrl::Postgres(url) = &database.url else { return };
    let said: Vec<Change> = (0..2_000).map(|number| token(number, "{}".to_owned())).collect();
    store.commit(batch(collection(1), said)).await.unwrap();
    let mut connection = PgConnection::connect(url).await.unwrap();
    let knows = "SELECT EXISTS (SELECT 1 FROM pg_settings
        WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))";
    let knows_it: bool = sqlx::query_scalar(knows).fetch_one(&mut connection).await.unwrap();
    if knows_it && !on_citus() {
        let sql = "SELECT pg_column_compression(changed) FROM collection_changes";
        let by: Option<String> = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
        assert_eq!(by.as_deref(), Some("lz4"));
    }
}
