//! Who gave tokens to whom, whatever collections they are of, in the order of their chain.

use alloy_primitives::B256;
use bourse_wire::{Address, Amount, ChainId, Timestamp, TokenId};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::collections::CollectionId;
use crate::columns::selection;
use crate::session::Session;

/// What of a row is below a place, in the order of a chain from the newest on. An index has each kind in this order, so that a
/// page costs what it has, however much happened.
const BELOW: &str =
    "AND chain_id = $2 AND (block_number, log_index, activity_id) < ($3, $4, $5) AND block_number >= $6
    ORDER BY block_number DESC, log_index DESC, activity_id DESC LIMIT $7";

/// What is common to a row of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransfersOf {
    /// Somebody gave.
    From(Address),
    /// Somebody got.
    To(Address),
    /// They are of a collection.
    Collection(CollectionId),
    /// They happened in a transaction.
    Transaction(B256),
}

/// A place among the transfers of a chain: those after it come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferPlace {
    /// Height of the block.
    pub block_number: u64,
    /// Place of the log in its block.
    pub log_index: u64,
    /// Number of the activity in its collection, as one log may tell of several.
    pub activity_id: u64,
}

/// Which transfers of a chain are read.
#[derive(Clone, Debug)]
pub struct TransfersQuery {
    /// The chain.
    pub chain: ChainId,
    /// Those of each of these are read by themselves.
    pub of: Vec<TransfersOf>,
    /// Those before this place.
    pub below: TransferPlace,
    /// Those of this block and later ones.
    pub from_block: u64,
    /// So many at most of each.
    pub limit: u64,
}

/// Tokens that changed hands.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The collection.
    pub collection: CollectionId,
    /// Its number in the collection.
    pub activity_id: u64,
    /// Height of the block.
    pub block_number: u64,
    /// Name of the block.
    pub block_hash: B256,
    /// The transaction.
    pub transaction: B256,
    /// Place of the log in its block.
    pub log_index: u64,
    /// The former holder.
    pub from: Address,
    /// The new holder.
    pub to: Address,
    /// The token.
    pub token_id: TokenId,
    /// How many.
    pub quantity: Amount,
    /// When the block was made.
    pub at: Timestamp,
}

selection! { Transfer {
    collection = "collection_id",
    activity_id,
    block_number,
    block_hash,
    transaction = "tx_hash",
    log_index,
    from = "from_account",
    to = "to_account",
    token_id,
    quantity,
    at,
} }

impl Transfer {
    /// Where it is among those of its chain.
    pub fn place(&self) -> TransferPlace {
        let Self { block_number, log_index, activity_id, .. } = *self;
        TransferPlace { block_number, log_index, activity_id }
    }
}

impl TransfersOf {
    fn column(self) -> &'static str {
        match self {
            Self::From(_) => "from_account = $1",
            Self::To(_) => "to_account = $1",
            Self::Collection(_) => "collection_id = $1",
            Self::Transaction(_) => "tx_hash = $1",
        }
    }

    fn arg(self) -> Arg {
        match self {
            Self::From(account) | Self::To(account) => account.into(),
            Self::Collection(id) => id.0.into(),
            Self::Transaction(hash) => hash.to_string().into(),
        }
    }
}

impl Store {
    /// Transfers of a chain, from the newest on, of each kind asked for by itself: all of them as of one moment, so that no
    /// block that is taken back meanwhile is among them twice or half.
    pub fn transfers(&self, query: TransfersQuery) -> Pending<'_, Vec<Vec<Transfer>>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let mut found = Vec::with_capacity(query.of.len());
                for of in &query.of {
                    found.push(read(&mut session, *of, &query).await?);
                }
                Ok(found)
            })
        })
    }
}

async fn read(
    session: &mut Session<'_>,
    of: TransfersOf,
    query: &TransfersQuery,
) -> Result<Vec<Transfer>, StoreError> {
    let TransfersQuery { chain, below, from_block, limit, .. } = query;
    let TransferPlace { block_number, log_index, activity_id } = *below;
    let mut args = vec![of.arg()];
    args.extend(args![*chain, block_number, log_index, activity_id, *from_block, *limit]);
    session.select(format!("FROM activities WHERE {} {BELOW}", of.column()), args).await
}

#[cfg(test)]
mod tests {
    use crate::{DatabaseUrl, OpenOptions};

    use super::*;

    /// Whoever was given a million tokens is asked for a page of them, and nobody sorts.
    #[tokio::test]
    async fn each_kind_is_found_in_its_order_by_an_index() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let url = DatabaseUrl::Sqlite(path.clone());
        let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await.unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        for (of, index, column) in [
            (TransfersOf::From(Address::ZERO), "transfers_from", "from_account"),
            (TransfersOf::To(Address::ZERO), "transfers_to", "to_account"),
            (TransfersOf::Collection(CollectionId(1)), "transfers_of_contract", "collection_id"),
            (TransfersOf::Transaction(B256::ZERO), "transfers_of_transaction", "tx_hash"),
        ] {
            let sql =
                format!("EXPLAIN QUERY PLAN SELECT quantity FROM activities WHERE {} {BELOW}", of.column());
            let mut explained = connection.prepare(&sql).unwrap();
            let detail = |row: &rusqlite::Row<'_>| row.get::<_, String>("detail");
            let plan: Vec<String> = explained
                .query_map((0, 0, 0, 0, 0, 0, 0), detail)
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            let prefix = format!("SEARCH activities USING INDEX {index} ({column}=? AND chain_id=? AND ");
            assert!(plan.len() == 1 && plan[0].starts_with(&prefix), "{plan:?}");
        }
        store.close().await;
    }
}
