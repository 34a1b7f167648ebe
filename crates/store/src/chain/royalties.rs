//! What goes to others out of the prices of orders that contracts of our own keep. No log states it, and it may change
//! while an order stands, so it is looked up and written by itself.

use bourse_market::facts::Block;
use bourse_wire::{FeeEntry, Marketplace, OrderFacts, OrderKey, Timestamp};

use super::restate::{Restated, restate};
use crate::args::args;
use crate::collections::{CollectionId, CollectionKey, find};
use crate::columns::Value as _;
use crate::session::Session;
use crate::{Pending, Store, StoreError};

/// The shares that go to others out of the price of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderFees {
    /// The order.
    pub key: OrderKey,
    /// Who gets which share.
    pub fees: Vec<FeeEntry>,
}

/// Some of the orders of a collection that contracts of our own keep, in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnOrders {
    /// The last one before them; none for the first ones.
    pub after: Option<OrderKey>,
    /// The time at which they may be filled; none for all that there were.
    pub open_at: Option<Timestamp>,
    /// How many at most.
    pub most: u64,
}

impl Store {
    /// Reads some of the orders of a collection that contracts of our own keep.
    pub fn own_orders(&self, collection: CollectionKey, asked: OwnOrders) -> Pending<'_, Vec<OrderFacts>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let Some(id) = find(&mut session, collection).await? else { return Ok(Vec::new()) };
                own_orders(&mut session, id, asked).await
            })
        })
    }

    /// Writes which shares of the prices of orders go to others as of a block; tells how many are different now.
    pub fn set_order_fees(
        &self,
        collection: CollectionKey,
        at: Block,
        fees: Vec<OrderFees>,
    ) -> Pending<'_, u64> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move {
                let orders = fees.into_iter().map(|OrderFees { key, fees }| {
                    let bps: i64 = fees.iter().map(|fee| fee.bps).sum();
                    Ok((key, args![bps, fees.arg()?]))
                });
                let restated = Restated { at, sql: FEES, orders: orders.collect::<Result<_, StoreError>>()? };
                restate(&mut session, collection, restated, changes_kept).await
            })
        })
    }
}

/// The orders of a collection behind one that are of our own marketplaces, which have the first numbers, and whose contract
/// told of them: others may have put some that no contract knows. It goes along the primary key, and not beyond its end.
const OWN: &str = "FROM orders WHERE collection_id = $1 AND (marketplace, order_id) > ($2, $3)
    AND marketplace <= $4 AND operator IS NOT NULL";

async fn own_orders(
    session: &mut Session<'_>,
    id: CollectionId,
    OwnOrders { after, open_at, most }: OwnOrders,
) -> Result<Vec<OrderFacts>, StoreError> {
    // No order has no name.
    let after = after.unwrap_or(OrderKey { marketplace: Marketplace::OwnV1, order_id: String::new() });
    let last = Marketplace::OwnV2.number();
    let mut args = args![id.0, after.marketplace.number(), after.order_id, last, most];
    // Times of blocks have no fraction, and sort as texts.
    let is_open = match open_at {
        None => "",
        Some(now) => {
            args.extend(args![now, Timestamp::ZERO]);
            "AND status = 1 AND quantity_remaining <> '0' AND (valid_until > $6 OR valid_until = $7)"
        }
    };
    session.select(format!("{OWN} {is_open} ORDER BY marketplace, order_id LIMIT $5"), args).await
}

/// What is written of an order whose shares are others now.
const FEES: &str = "UPDATE orders SET fee_bps = $4, fee_breakdown = $5
    WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3 AND operator IS NOT NULL
    AND (fee_bps <> $4 OR fee_breakdown IS DISTINCT FROM $5)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseUrl, OpenOptions};

    /// Pieces of a collection with millions of orders are read one after the other, again and again.
    #[tokio::test]
    async fn the_next_orders_are_found_by_the_primary_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let url = DatabaseUrl::Sqlite(path.clone());
        let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await.unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN SELECT * {OWN} ORDER BY marketplace, order_id LIMIT 9");
        let plan: String = connection.query_row(&sql, ["1", "1", "", "2"], |row| row.get("detail")).unwrap();
        let range = "(collection_id=? AND (marketplace,order_id)>(?,?) AND marketplace<?)";
        assert!(plan.contains(range), "{plan}");
        store.close().await;
    }

    #[test]
    fn our_own_marketplaces_have_the_first_numbers() {
        let last = Marketplace::OwnV2.number();
        assert!(Marketplace::ALL.iter().all(|kind| kind.is_own() == (1..=last).contains(&kind.number())));
    }
}
