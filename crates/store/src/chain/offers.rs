//! What the funds of makers cover of their offers. No log of the collection tells of it, so that it is asked and put.

use bourse_market::ledger::OrderKey;
use bourse_wire::{Amount, OrderFacts, OrderSide};

use super::write::Work;
use crate::args::args;
use crate::collections::CollectionId;
use crate::orders::{SELECT_ORDERS, order};
use crate::session::Session;
use crate::{Store, StoreError};

impl Store {
    /// The offers of a collection that its chain states and that may still be filled, in no order.
    pub async fn open_offers(&self, id: CollectionId) -> Result<Vec<OrderFacts>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = format!(
                    "{SELECT_ORDERS} WHERE collection_id = $1 AND status = 1 AND operator IS NOT NULL
                    AND side = $2 AND quantity_remaining <> '0'"
                );
                let rows = session.all(sql, args![id.0, OrderSide::Offer.number()]).await?;
                rows.iter().map(order).collect()
            })
        })
        .await
    }

    /// Puts how many units the funds of makers cover of their offers, and tells how many are different now.
    pub async fn put_offer_backings(
        &self,
        id: CollectionId,
        backings: Vec<(OrderKey, Option<Amount>)>,
    ) -> Result<u64, StoreError> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move { put(&mut session, id, backings, changes_kept).await })
        })
        .await
    }
}

async fn put(
    session: &mut Session<'_>,
    id: CollectionId,
    backings: Vec<(OrderKey, Option<Amount>)>,
    changes_kept: u64,
) -> Result<u64, StoreError> {
    let mut work = Work::default();
    work.hold(session, id).await?;
    let sql = "UPDATE orders SET backing = $5 WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3
        AND side = $4 AND operator IS NOT NULL AND backing IS DISTINCT FROM $6";
    for ((marketplace, order_id), backing) in backings {
        let (place, side) = (marketplace.number(), OrderSide::Offer.number());
        let args = args![id.0, place, order_id.as_str(), side, backing, backing];
        if session.execute(sql, args).await? > 0 {
            work.changed.orders.push((place, order_id));
        }
    }
    work.finish(session, id, changes_kept).await
}
