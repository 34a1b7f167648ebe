//! What the funds of makers cover of their offers. No block states it, so it is looked up and written by itself.

use bourse_wire::{Amount, ChainId, Marketplace, OrderFacts, OrderSide, OrderStatus};

use crate::args::args;
use crate::collections::{CollectionKey, find_or_create, hold};
use crate::commit::{Changed, raise_version};
use crate::orders::{SELECT_ORDERS, order};
use crate::session::Session;
use crate::{Store, StoreError};

/// How many units of an offer its maker can pay for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backing {
    /// Where the offer is.
    pub marketplace: Marketplace,
    /// The marketplace's own name for it.
    pub order_id: String,
    /// How many units; `None` when nobody knows.
    pub units: Option<Amount>,
}

impl Store {
    /// The offers on followed collections of a chain that may still be filled, as far as no time is concerned, and
    /// of which it is known who takes the money.
    pub async fn open_offers(&self, chain: ChainId) -> Result<Vec<(CollectionKey, OrderFacts)>, StoreError> {
        self.read(move |mut session| Box::pin(async move { open_offers(&mut session, chain).await })).await
    }

    /// Writes what the makers of offers can pay for; tells how many are different now.
    pub async fn set_backing(
        &self,
        collection: CollectionKey,
        backing: Vec<Backing>,
    ) -> Result<u64, StoreError> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move { set_backing(&mut session, collection, backing, changes_kept).await })
        })
        .await
    }
}

async fn open_offers(
    session: &mut Session<'_>,
    chain: ChainId,
) -> Result<Vec<(CollectionKey, OrderFacts)>, StoreError> {
    let select = SELECT_ORDERS.replace(
        "FROM orders",
        ", collections.contract_address FROM followed_collections followed
        JOIN orders ON orders.collection_id = followed.collection_id
        JOIN collections ON collections.collection_id = followed.collection_id",
    );
    // Written out, as SQLite takes a partial index only for what it can see.
    let (side, status) = (OrderSide::Offer.number(), OrderStatus::Active.number());
    let sql = format!(
        "{select} WHERE followed.chain_id = $1 AND orders.side = {side} AND orders.status = {status}
        AND orders.operator IS NOT NULL AND orders.quantity_remaining <> '0'
        ORDER BY followed.collection_id, orders.marketplace, orders.order_id"
    );
    let rows = session.all(sql, args![chain]).await?;
    rows.iter()
        .map(|row| {
            let key = CollectionKey { chain, address: row.parse(CONTRACT_ADDRESS, "contract address")? };
            Ok((key, order(row)?))
        })
        .collect()
}

/// The column behind those of an order.
const CONTRACT_ADDRESS: usize = 23;

async fn set_backing(
    session: &mut Session<'_>,
    collection: CollectionKey,
    backing: Vec<Backing>,
    changes_kept: u64,
) -> Result<u64, StoreError> {
    let id = find_or_create(session, collection).await?;
    // Versions of one collection follow each other, whoever commits.
    let version = hold(session, id).await?;
    let mut changed = Changed::default();
    for Backing { marketplace, order_id, units } in backing {
        let sql =
            "UPDATE orders SET backing = $4 WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3
            AND side = $5 AND operator IS NOT NULL AND backing IS DISTINCT FROM $4";
        let side = OrderSide::Offer.number();
        let args = args![id.0, marketplace.number(), order_id.as_str(), units, side];
        if session.execute(sql, args).await? > 0 {
            changed.orders.push((marketplace.number(), order_id));
        }
    }
    let count = changed.orders.len() as u64;
    if count > 0 {
        raise_version(session, id, version + 1, &changed, changes_kept).await?;
    }
    Ok(count)
}
