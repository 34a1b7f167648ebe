//! Contracts across collections.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::testing::batch;
use bourse_store::{Change, CollectionKey, Store, StoredContract};
use bourse_wire::{Address, ChainId};
use support::database::open;

fn key(number: u8) -> CollectionKey {
    CollectionKey { chain: ChainId(u64::from(number % 3) + 1), address: Address::from_bytes([number; 20]) }
}

/// Reads page after page.
async fn list(store: &Store, chains: &[ChainId], limit: u64) -> Vec<StoredContract> {
    let mut all: Vec<StoredContract> = Vec::new();
    loop {
        let after = all.last().map_or(0, |contract| contract.collection);
        let page = store.contracts(chains, after, limit).await.unwrap();
        assert!(page.len() as u64 <= limit);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
        assert!(all.len() < 100, "a page again");
    }
}

#[tokio::test]
async fn contracts_are_listed_page_by_page_and_by_chain() {
    let (_database, store) = open().await;
    for number in 0..10 {
        let changes = match number {
            4 => vec![Change::Token { token_id: 1.into(), metadata: "{}".to_owned() }],
            _ => vec![Change::Contract(format!("[{number}]"))],
        };
        store.commit(batch(key(number), changes)).await.unwrap();
    }
    for limit in [1, 2, 3, 100] {
        let listed = list(&store, &[], limit).await;
        assert!(listed.is_sorted_by_key(|contract| contract.collection));
        let found: Vec<_> = listed.into_iter().map(|contract| (contract.key, contract.info)).collect();
        let with_information = (0..10).filter(|number| *number != 4);
        assert_eq!(
            found,
            with_information.map(|number| (key(number), format!("[{number}]"))).collect::<Vec<_>>()
        );

        let some = list(&store, &[ChainId(1), ChainId(3)], limit).await;
        let infos: Vec<_> = some.into_iter().map(|contract| contract.info).collect();
        assert_eq!(infos, ["[0]", "[2]", "[3]", "[5]", "[6]", "[8]", "[9]"]);
    }
    assert_eq!(list(&store, &[ChainId(77)], 10).await, []);

    // Collections are listed whether they have information or not.
    let all = store.collections_of(ChainId(2), 0, 100).await.unwrap();
    assert_eq!(all.iter().map(|(_, key)| *key).collect::<Vec<_>>(), [1, 4, 7].map(key));
    let after_first = store.collections_of(ChainId(2), all[0].0.number(), 1).await.unwrap();
    assert_eq!(after_first, all[1..2]);
    assert_eq!(store.contracts(&[], 0, 0).await.unwrap(), []);
}

#[tokio::test]
async fn a_contract_is_found_by_its_address_on_whichever_chain() {
    let (_database, store) = open().await;
    let address = Address::from_bytes([7; 20]);
    let on = |chain| CollectionKey { chain: ChainId(chain), address };
    for chain in [5, 1, 9, 9_000_000_000] {
        store.commit(batch(on(chain), vec![Change::Contract(format!("[{chain}]"))])).await.unwrap();
    }
    // Nothing is known of this one, and the other is at another address.
    let token = Change::Token { token_id: 1.into(), metadata: "{}".to_owned() };
    store.commit(batch(on(11), vec![token])).await.unwrap();
    store.commit(batch(key(1), vec![Change::Contract("[]".to_owned())])).await.unwrap();

    let chains = store.chains_of_collections(100).await.unwrap();
    assert_eq!(chains, [1, 2, 5, 9, 11, 9_000_000_000].map(ChainId));
    assert_eq!(store.chains_of_collections(2).await.unwrap(), [1, 2].map(ChainId));

    let found = store.contracts_at(&chains, &[address], 100).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|contract| (contract.key, contract.info)).collect();
    let expected = [5, 1, 9, 9_000_000_000].map(|chain| (on(chain), format!("[{chain}]")));
    assert_eq!(found, expected);
    assert_eq!(store.contracts_at(&chains[..1], &[address], 100).await.unwrap().len(), 1);
    assert_eq!(store.contracts_at(&chains, &[address], 2).await.unwrap().len(), 2);
    assert_eq!(store.contracts_at(&[], &[address], 100).await.unwrap(), []);
    assert_eq!(store.contracts_at(&chains, &[], 100).await.unwrap(), []);
}

#[tokio::test]
async fn no_chain_has_collections_in_an_empty_database() {
    let (_database, store) = open().await;
    assert_eq!(store.chains_of_collections(10).await.unwrap(), []);
}
