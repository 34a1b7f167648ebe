//! Reading a whole collection, piece by piece.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
}

use std::collections::BTreeMap;
use std::time::Duration;

use bourse_store::testing::{batch, load_all};
use bourse_store::{Change, CollectionId, CollectionKey, Holders, Mark, Part, Store};
use bourse_wire::{Address, ChainId, OrderFacts, TokenId};
use support::database::open;
use support::orders::{change, offer};
use tokio::sync::mpsc;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

async fn commit(store: &Store, changes: Vec<Change>) -> CollectionId {
    store.commit(batch(COLLECTION, changes)).await.unwrap();
    store.collection(COLLECTION).await.unwrap().unwrap()
}

fn token(id: u64, metadata: &str) -> Change {
    Change::Token { token_id: id.into(), metadata: metadata.to_owned() }
}

fn balance(token: u64, held: u64) -> Change {
    Change::Balance { token_id: token.into(), account: Address::ZERO, balance: held.into() }
}

/// A name for the kind of a part, its place among the kinds, and how many records it has.
fn shape(part: &Part) -> (u8, &'static str, usize) {
    match part {
        Part::Begin { .. } => (0, "begin", 1),
        Part::Contract(_) => (1, "contract", 1),
        Part::Tokens(tokens) => (2, "tokens", tokens.len()),
        Part::Balances(balances) => (3, "balances", balances.len()),
        Part::Orders(orders) => (4, "orders", orders.len()),
    }
}

#[tokio::test]
async fn parts_are_small_and_come_in_order() {
    let (_database, store) = open().await;
    commit(&store, (0..2_500).map(|id| token(id, "t")).collect()).await;
    commit(&store, (0..2_000).map(|id| balance(id, 1)).collect()).await;
    commit(&store, vec![Change::Contract("{}".to_owned())]).await;
    let id = commit(&store, (0..1_001).map(|id| change(offer(&id.to_string()))).collect()).await;

    let (sender, mut receiver) = mpsc::channel(100);
    store.load(id, sender).await.unwrap();
    let mut parts = Vec::new();
    while let Some(part) = receiver.recv().await {
        parts.push(part);
    }
    assert!(matches!(parts[0], Part::Begin { mark } if mark.version == 4));
    let shapes: Vec<_> = parts.iter().map(shape).collect();
    assert!(shapes.is_sorted_by_key(|(place, ..)| *place), "{shapes:?}");
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, kind, records) in shapes {
        assert!((1..=1_000).contains(&records), "{records} {kind}");
        *sums.entry(kind).or_default() += records;
    }
    let expected = [("balances", 2_000), ("begin", 1), ("contract", 1), ("orders", 1_001), ("tokens", 2_500)];
    assert_eq!(sums.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_collection_without_anything_begins_and_ends() {
    let (_database, store) = open().await;
    let id = commit(&store, Vec::new()).await;
    let (sender, mut receiver) = mpsc::channel(1);
    store.load(id, sender).await.unwrap();
    assert_eq!(receiver.recv().await, Some(Part::Begin { mark: Mark::default() }));
    assert_eq!(receiver.recv().await, None);
}

#[tokio::test]
async fn other_collections_stay_out() {
    let (_database, store) = open().await;
    let other = CollectionKey { chain: ChainId(1), ..COLLECTION };
    let all = || vec![Change::Contract("{}".to_owned()), token(1, "t"), balance(1, 1), change(offer("o"))];
    store.commit(batch(other, all())).await.unwrap();
    let id = commit(&store, vec![token(2, "own")]).await;
    let loaded = load_all(&store, id).await.unwrap();
    assert_eq!((loaded.contract, loaded.balances, loaded.orders), (None, Vec::new(), Vec::new()));
    assert_eq!(loaded.tokens.iter().map(|token| token.token_id).collect::<Vec<_>>(), [TokenId::from(2)]);
}

/// The same number on everything, so that a mixture of two states shows.
fn numbered(number: u64) -> Vec<Change> {
    let order = OrderFacts { price_amount: number.into(), ..offer("o") };
    let text = number.to_string();
    vec![Change::Contract(text.clone()), token(1, &text), balance(1, number), change(order)]
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_of_one_version_whoever_writes_meanwhile() {
    let (_database, store) = open().await;
    let id = commit(&store, numbered(1)).await;
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 2..200 {
                commit(&store, numbered(number)).await;
            }
        }
    });
    let mut versions = Vec::new();
    while !writer.is_finished() {
        let (sender, mut receiver) = mpsc::channel(1);
        let loading = tokio::spawn({
            let store = store.clone();
            async move { store.load(id, sender).await }
        });
        let mut numbers = Vec::new();
        while let Some(part) = receiver.recv().await {
            numbers.push(match part {
                Part::Begin { mark } => mark.version.to_string(),
                Part::Contract(info) => info,
                Part::Tokens(tokens) => tokens[0].metadata.clone(),
                Part::Balances(balances) => balances[0].balance.to_string(),
                Part::Orders(orders) => orders[0].price_amount.to_string(),
            });
            // Time for the writer to get between two parts.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        loading.await.unwrap().unwrap();
        assert_eq!(numbers, vec![numbers[0].clone(); 5]);
        versions.push(numbers[0].clone());
    }
    writer.await.unwrap();
    versions.dedup();
    assert!(versions.len() > 1, "nothing was written meanwhile");
}

#[tokio::test]
async fn loading_ends_when_nobody_listens_any_more() {
    let (_database, store) = open().await;
    let id = commit(&store, (0..5_000).map(|id| token(id, "t")).collect()).await;
    for parts in 0..4 {
        let (sender, mut receiver) = mpsc::channel(1);
        let listen = async {
            for _ in 0..parts {
                receiver.recv().await.unwrap();
            }
            drop(receiver);
        };
        let (loaded, ()) = tokio::join!(store.load(id, sender), listen);
        loaded.unwrap();
    }
    // The connections are as good as new.
    for _ in 0..10 {
        assert_eq!(load_all(&store, id).await.unwrap().tokens.len(), 5_000);
    }
}

#[tokio::test]
async fn holders_of_a_token_come_largest_first() {
    let (_database, store) = open().await;
    let account = |byte: u8| Address::from_bytes([byte; 20]);
    let holds = |token: u64, byte: u8, held: &str| Change::Balance {
        token_id: token.into(),
        account: account(byte),
        balance: held.parse().unwrap(),
    };
    let id = commit(
        &store,
        vec![
            holds(7, 1, "9"),
            holds(7, 2, "100000000000000000000000000000000000000000"),
            holds(7, 3, "10"),
            holds(7, 4, "10"),
            holds(7, 5, "0"),
            holds(70, 6, "1"),
        ],
    )
    .await;
    let found = store.holders(id, 7.into(), 3).await.unwrap();
    let largest: Vec<Address> = found.largest.iter().map(|held| held.account).collect();
    assert_eq!((found.count, largest), (4, vec![account(2), account(3), account(4)]));
    assert_eq!(found.largest[1].balance, 10.into());
    assert_eq!(store.holders(id, 8.into(), 3).await.unwrap(), Holders::default());
}
