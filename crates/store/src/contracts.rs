//! Contract information across collections.

use bourse_wire::ChainId;

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
        let of_chains = match chains.len() {
            0 => String::new(),
            count => format!("AND collections.chain_id IN ({})", list(count, 2)),
        };
        let sql = format!(
            "FROM contracts JOIN collections ON collections.collection_id = contracts.collection_id
            WHERE contracts.collection_id > $1 {of_chains} ORDER BY contracts.collection_id LIMIT $2"
        );
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
}

selection! {
    struct Info {
        info: String = "contracts.info",
    }
}
