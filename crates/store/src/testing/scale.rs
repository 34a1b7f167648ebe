//! Databases with more in them than a test would commit piece by piece.

use bourse_wire::{Address, ChainId, OrderFacts, TokenId};

use crate::args::{Arg, args};
use crate::backend::Sequence;
use crate::columns::Insert;
use crate::{CollectionId, CollectionKey, Store, StoreError};

/// Rows that are written in one transaction.
const ROWS_AT_ONCE: u64 = 50_000;

/// The address with a number, which no other number has.
pub fn numbered_address(number: u64) -> Address {
    let mut bytes = [0x5c; 20];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    Address::from_bytes(bytes)
}

/// Makes so many collections on a chain, at the addresses numbered from 1 on, each with a token 1 and at its first version.
pub async fn make_collections(store: &Store, chain: ChainId, count: u64) -> Result<(), StoreError> {
    for first in (1..=count).step_by(usize::try_from(ROWS_AT_ONCE).unwrap_or(usize::MAX)) {
        let numbers = first..=count.min(first + ROWS_AT_ONCE - 1);
        store
            .write(move |mut session| {
                Box::pin(async move {
                    let ids = session.next_ids(Sequence::Collection, numbers.clone().count() as u64).await?;
                    let rows = |row: &dyn Fn(u64, u64) -> Vec<Arg>| -> Vec<Vec<Arg>> {
                        ids.iter().zip(numbers.clone()).map(|(id, number)| row(*id, number)).collect()
                    };
                    let all = [
                        (
                            "collections",
                            "collection_id, chain_id, contract_address",
                            rows(&|id, number| args![id, chain, numbered_address(number)]),
                        ),
                        (
                            "collection_versions",
                            "collection_id, version, stamp",
                            rows(&|id, number| args![id, 1_u64, number]),
                        ),
                        (
                            "tokens",
                            "collection_id, token_id, metadata",
                            rows(&|id, number| {
                                let metadata = format!(r#"{{"tokenId":"1","name":"token of {number}"}}"#);
                                args![id, TokenId::from(1), metadata]
                            }),
                        ),
                    ];
                    for (table, columns, rows) in all {
                        session.insert(Insert::plain(table, columns, rows), "").await?;
                    }
                    session.notify().await.map(drop)
                })
            })
            .await?;
    }
    Ok(())
}

/// Gives token 1 of a collection so many holders of one unit each, without a new version.
pub async fn make_holders(store: &Store, key: CollectionKey, count: u64) -> Result<(), StoreError> {
    let missing = || StoreError::corrupt("collection", "not made yet");
    let CollectionId(id) = store.collection(key).await?.ok_or_else(missing)?;
    for first in (1..=count).step_by(usize::try_from(ROWS_AT_ONCE).unwrap_or(usize::MAX)) {
        let numbers = first..=count.min(first + ROWS_AT_ONCE - 1);
        store
            .write(move |mut session| {
                Box::pin(async move {
                    let row = |number| args![id, TokenId::from(1), numbered_address(number), "1"];
                    let (columns, rows) =
                        ("collection_id, token_id, account, balance", numbers.map(row).collect());
                    session.insert(Insert::plain("balances", columns, rows), "").await
                })
            })
            .await?;
    }
    Ok(())
}

/// Puts orders into a collection, without a new version.
pub async fn make_orders(
    store: &Store,
    key: CollectionKey,
    orders: Vec<OrderFacts>,
) -> Result<(), StoreError> {
    let missing = || StoreError::corrupt("collection", "not made yet");
    let id = store.collection(key).await?.ok_or_else(missing)?;
    store
        .write(move |mut session| {
            Box::pin(async move { session.insert(Insert::owned(id, &orders)?, "").await })
        })
        .await
}
