//! What an account holds, whatever collections it is of.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::testing::batch;
use bourse_store::{Change, CollectionKey, Holdings, KnownCollection};
use bourse_wire::{Address, ChainId, TokenId};
use support::database::open;

fn account(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

fn key(chain: u64, number: u8) -> CollectionKey {
    CollectionKey { chain: ChainId(chain), address: account(number) }
}

fn balance(token: u64, of: u8, held: u64) -> Change {
    Change::Balance { token_id: token.into(), account: account(of), balance: held.into() }
}

#[tokio::test]
async fn of_an_account_part_by_part() {
    let (_database, store) = open().await;
    let changes = vec![balance(1, 1, 5), balance(2, 1, 0), balance(10, 1, 6), balance(3, 2, 7)];
    store.commit(batch(key(1, 101), changes)).await.unwrap();
    store.commit(batch(key(2, 102), vec![balance(4, 1, 8), Change::Contract("{}".into())])).await.unwrap();
    let (mut from, mut after, mut found) = (0, None, Vec::new());
    while let Holdings { held, collections } = store.holdings(account(1), from, after, 1).await.unwrap()
        && let [held] = held[..]
    {
        assert_eq!(collections, store.known_collections(&[held.collection]).await.unwrap());
        found.push((held.collection, held.token_id, held.balance));
        (from, after) = (held.collection.number(), Some(held.token_id));
    }
    let [one, two] =
        [store.collection(key(1, 101)).await.unwrap(), store.collection(key(2, 102)).await.unwrap()];
    let [one, two] = [one.unwrap(), two.unwrap()];
    let of = |token: u64| TokenId::from(token);
    assert_eq!(found, [(one, of(1), 5.into()), (one, of(10), 6.into()), (two, of(4), 8.into())]);
    // From a collection on.
    assert_eq!(store.holdings(account(1), one.number() + 1, None, 9).await.unwrap().held.len(), 1);
    // Of nobody.
    assert_eq!(store.holdings(account(9), 0, None, 9).await.unwrap(), Holdings::default());
    let mut known = store.known_collections(&[one, two]).await.unwrap();
    known.sort_by_key(|known| known.id);
    let collection = |id, key, info: Option<&str>| KnownCollection { id, key, info: info.map(str::to_owned) };
    assert_eq!(known, [collection(one, key(1, 101), None), collection(two, key(2, 102), Some("{}"))]);
    assert_eq!(store.known_collections(&[]).await.unwrap(), []);
}
