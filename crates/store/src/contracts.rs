//! Contract information across collections.

use std::collections::BTreeMap;

use bourse_wire::{Address, ChainId};

use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::columns::selection;
use crate::session::list;
use crate::{CollectionId, CollectionKey};

/// One stored contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredContract {
    /// Number of its collection.
    pub collection: u64,
    /// Chain and address.
    pub key: CollectionKey,
    /// Information as JSON text.
    pub info: String,
}

impl Store {
    /// Contracts of these chains, or of all when none are named, in the order of their collections' numbers, from the
    /// one after a number on.
    pub fn contracts(&self, chains: &[ChainId], after: u64, limit: u64) -> Pending<'_, Vec<StoredContract>> {
        let mut args = args![after, limit];
        args.extend(chains.iter().map(|chain| Arg::from(*chain)));
        // No more is read than is wanted: of one chain it is found by its index, of several along the contracts, and nothing is
        // sorted.
        let listed = match chains.len() {
            0 => "JOIN collections ON collections.collection_id = contracts.collection_id
                WHERE contracts.collection_id > $1 ORDER BY contracts.collection_id"
                .to_owned(),
            1 => "JOIN collections ON collections.collection_id = contracts.collection_id
                WHERE collections.chain_id = $3 AND collections.collection_id > $1
                ORDER BY collections.collection_id"
                .to_owned(),
            count => format!(
                "CROSS JOIN collections WHERE collections.collection_id = contracts.collection_id
                AND collections.chain_id IN ({}) AND contracts.collection_id > $1 ORDER BY contracts.collection_id",
                list(count, 2)
            ),
        };
        let sql = format!("FROM contracts {listed} LIMIT $2");
        self.read(move |mut session| {
            Box::pin(async move {
                let found: Vec<(CollectionId, CollectionKey, Info)> = session.select(sql, args).await?;
                let contract = |(id, key, Info { info }): (CollectionId, CollectionKey, Info)| {
                    StoredContract { collection: id.number(), key, info }
                };
                Ok(found.into_iter().map(contract).collect())
            })
        })
    }

    /// What is known of the contracts at some addresses, on whichever of these chains; so many of them at most.
    pub fn contracts_at(
        &self,
        chains: &[ChainId],
        addresses: &[Address],
        limit: u64,
    ) -> Pending<'_, Vec<StoredContract>> {
        let mut args = args![limit];
        args.extend(chains.iter().map(|chain| Arg::from(*chain)));
        args.extend(addresses.iter().map(|address| Arg::from(*address)));
        let sql = format!(
            "FROM collections WHERE chain_id IN ({}) AND contract_address IN ({}) ORDER BY collection_id LIMIT $1",
            list(chains.len(), 1),
            list(addresses.len(), 1 + chains.len())
        );
        self.read(move |mut session| {
            Box::pin(async move {
                let found: Vec<(CollectionId, CollectionKey)> = session.select(sql, args).await?;
                // Contracts lie elsewhere than the list of collections, where tables are distributed.
                let keys: BTreeMap<u64, CollectionKey> =
                    found.into_iter().map(|(id, key)| (id.number(), key)).collect();
                let sql = format!(
                    "FROM contracts WHERE collection_id IN ({}) ORDER BY collection_id",
                    list(keys.len(), 0)
                );
                let args = keys.keys().map(|id| Arg::from(*id)).collect();
                let known: Vec<Known> = session.select(sql, args).await?;
                let contract = |Known { collection, info }| {
                    Some(StoredContract { collection, key: *keys.get(&collection)?, info })
                };
                Ok(known.into_iter().filter_map(contract).collect())
            })
        })
    }

    /// Whether there is a collection of a chain.
    pub fn has_collections(&self, chain: ChainId) -> Pending<'_, bool> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT collection_id FROM collections WHERE chain_id = $1 LIMIT 1";
                let found: Vec<u64> = session.values(sql, args![chain]).await?;
                Ok(!found.is_empty())
            })
        })
    }

    /// The chains that there are collections of, so many at most. Each is found by its first collection, whatever their number.
    pub fn chains_of_collections(&self, limit: u64) -> Pending<'_, Vec<ChainId>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "WITH RECURSIVE found (chain_id) AS (
                        SELECT MIN(chain_id) FROM collections
                        UNION ALL
                        SELECT (SELECT MIN(chain_id) FROM collections WHERE chain_id > found.chain_id) FROM found
                        WHERE found.chain_id IS NOT NULL
                    )
                    SELECT chain_id FROM found WHERE chain_id IS NOT NULL ORDER BY chain_id LIMIT $1";
                session.values(sql, args![limit]).await
            })
        })
    }
}

selection! {
    struct Info {
        info: String = "contracts.info",
    }
}

selection! {
    struct Known {
        collection: u64 = "collection_id",
        info: String,
    }
}
