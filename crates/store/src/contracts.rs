//! Contract information across collections.

use bourse_wire::ChainId;

use crate::args::{Arg, args};
use crate::backend::Store;
use crate::row::Row;
use crate::session::list;
use crate::{CollectionKey, StoreError};

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
    pub async fn contracts(
        &self,
        chains: &[ChainId],
        after: u64,
        limit: u64,
    ) -> Result<Vec<StoredContract>, StoreError> {
        let mut args = args![after, limit];
        args.extend(chains.iter().map(|chain| Arg::from(*chain)));
        let of_chains = match chains.len() {
            0 => String::new(),
            count => format!("AND collections.chain_id IN ({})", list(count, 2)),
        };
        let sql = format!(
            "SELECT contracts.collection_id, collections.chain_id, collections.contract_address, contracts.info
            FROM contracts JOIN collections ON collections.collection_id = contracts.collection_id
            WHERE contracts.collection_id > $1 {of_chains} ORDER BY contracts.collection_id LIMIT $2"
        );
        self.read(move |mut session| {
            Box::pin(async move { session.all(sql, args).await?.iter().map(contract).collect() })
        })
        .await
    }
}

fn contract(row: &Row) -> Result<StoredContract, StoreError> {
    let key =
        CollectionKey { chain: ChainId(row.u64(1, "chain id")?), address: row.parse(2, "contract address")? };
    Ok(StoredContract { collection: row.u64(0, "collection id")?, key, info: row.text(3)? })
}
