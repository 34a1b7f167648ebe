//! What became of signed orders.
//!
//! Logs tell what happens to such an order from the moment on that it is known here, but not what happened before. So the
//! chain is asked about it once, as of the block that it is followed to: from there on logs are enough. It is asked again
//! when that block is taken back.

use std::collections::BTreeMap;

use bourse_market::Standing;
use bourse_market::facts::Block;
use bourse_wire::{Amount, ChainId, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus};

use super::orders::write;
use super::state::{hold, is_live};
use crate::args::args;
use crate::attributions::{Author, Authorship};
use crate::collections::{self, CollectionId, CollectionKey, find};
use crate::columns::{Insert, or_nothing, record};
use crate::commit::{Changed, NextVersion, raise_version};
use crate::orders::{Signature, read_orders};
use crate::session::Session;
use crate::{Pending, Store, StoreError};

/// A signed order of which a chain is to be asked what became of it.
#[derive(Clone, Debug)]
pub struct Unsettled {
    /// Its collection.
    pub collection: CollectionKey,
    /// The order.
    pub facts: OrderFacts,
    /// What was signed.
    pub native: String,
}

/// What a chain said of a signed order.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Its collection.
    pub collection: CollectionKey,
    /// The order.
    pub key: OrderKey,
    /// What became of it; `None` when the chain does not tell.
    pub standing: Option<Standing>,
    /// Whether the maker of a listing lets the token be moved; `None` when the chain does not tell.
    pub covered: Option<bool>,
}

impl Store {
    /// Signed orders on collections that move on with a chain, of which it is to be asked what became of them.
    pub fn unsettled_orders(&self, chain: ChainId, most: u64) -> Pending<'_, Vec<Unsettled>> {
        self.read(move |mut session| Box::pin(async move { unsettled(&mut session, chain, most).await }))
    }

    /// Takes what a chain said of signed orders as of a block. Tells whether that is still the newest one that is known:
    /// otherwise nothing is taken, as what happened since is known already.
    pub fn settle_orders(&self, chain: ChainId, at: Block, settled: Vec<Settled>) -> Pending<'_, bool> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move { settle(&mut session, chain, at, settled, changes_kept).await })
        })
    }
}

async fn unsettled(
    session: &mut Session<'_>,
    chain: ChainId,
    most: u64,
) -> Result<Vec<Unsettled>, StoreError> {
    // `CROSS` has SQLite begin with the queue, which is short.
    let sql = "FROM standing_queue CROSS JOIN followed_collections followed CROSS JOIN collections CROSS JOIN orders
        WHERE followed.chain_id = $1 AND followed.live = $2
        AND followed.collection_id = standing_queue.collection_id
        AND collections.collection_id = standing_queue.collection_id
        AND orders.collection_id = standing_queue.collection_id
        AND orders.marketplace = standing_queue.marketplace AND orders.order_id = standing_queue.order_id LIMIT $3";
    let found: Vec<(CollectionKey, OrderFacts, Signature)> =
        session.select(sql, args![chain, true, most]).await?;
    let order = |(collection, facts, signature): (CollectionKey, OrderFacts, Signature)| Unsettled {
        collection,
        facts,
        native: signature.native.unwrap_or_default(),
    };
    Ok(found.into_iter().map(order).collect())
}

async fn settle(
    session: &mut Session<'_>,
    chain: ChainId,
    at: Block,
    settled: Vec<Settled>,
    changes_kept: u64,
) -> Result<bool, StoreError> {
    if hold(session, chain).await?.is_none_or(|held| held.hash != at.hash) {
        return Ok(false);
    }
    let mut by_collection: BTreeMap<CollectionKey, BTreeMap<OrderKey, Settled>> = BTreeMap::new();
    for settled in settled {
        by_collection.entry(settled.collection).or_default().insert(settled.key.clone(), settled);
    }
    for (collection, settled) in by_collection {
        let Some(id) = find(session, collection).await? else { continue };
        // It may have been left since the chain was asked, or be read anew: then it is asked again.
        if !is_live(session, id).await? {
            continue;
        }
        settle_collection(session, id, at, &settled, changes_kept).await?;
    }
    Ok(true)
}

async fn settle_collection(
    session: &mut Session<'_>,
    id: CollectionId,
    at: Block,
    settled: &BTreeMap<OrderKey, Settled>,
    changes_kept: u64,
) -> Result<(), StoreError> {
    let version = collections::hold(session, id).await?;
    let (mut different, mut changed) = (Vec::new(), Changed::default());
    for order in read_orders(session, id, settled.keys().cloned()).await? {
        let key = order.key();
        let mut told = settled.get(&key).map_or_else(|| order.clone(), |settled| settled.applied_to(&order));
        told.block_number = order.block_number.max(at.number);
        if told != order {
            different.push(told);
            changed.orders.push(key);
        }
    }
    write(session, id, &different).await?;
    let sql = "DELETE FROM standing_queue WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
    for key in settled.keys() {
        session.execute(sql, args![id.0, key.marketplace.number(), key.order_id.as_str()]).await?;
    }
    if changed.orders.is_empty() {
        return Ok(());
    }
    let authorship = Authorship::new(Author::Chain { block: Some(at.number) }, at.at);
    let next = NextVersion { number: version + 1, changed: &changed, authorship: &authorship, changes_kept };
    raise_version(session, id, next).await
}

impl Settled {
    /// An order as the chain says it is. One that somebody took back here, or that logs told the end of, stays as it is.
    fn applied_to(&self, order: &OrderFacts) -> OrderFacts {
        let is_open = order.status == OrderStatus::Active && order.quantity_remaining != Amount::ZERO;
        let mut told = order.clone();
        if let (OrderSide::Listing, Some(covered)) = (order.side, self.covered) {
            told.backing = (!covered).then_some(Amount::ZERO);
        }
        let Some(standing) = self.standing else { return told };
        match standing {
            Standing::Open { remaining } if order.status == OrderStatus::Active => {
                told.quantity_remaining = remaining.min(order.quantity_initial);
            }
            Standing::Filled => told.quantity_remaining = Amount::ZERO,
            Standing::Cancelled if is_open => told.status = OrderStatus::Cancelled,
            Standing::Uncovered if order.side == OrderSide::Listing => told.backing = Some(Amount::ZERO),
            Standing::Open { .. }
            | Standing::Cancelled
            | Standing::Uncovered
            | Standing::Absent
            | Standing::Refused => {}
        }
        told
    }
}

/// Has the chain asked about signed orders of a collection.
pub(crate) async fn enqueue(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: impl Iterator<Item = &OrderKey>,
) -> Result<(), StoreError> {
    let queued =
        |key: &OrderKey| QueuedOrder { marketplace: key.marketplace, order_id: key.order_id.clone() };
    session.insert(Insert::owned(id, orders.map(queued))?, &or_nothing::<QueuedOrder>()).await
}

record! {
    struct QueuedOrder: "standing_queue" ("collection_id, marketplace, order_id") {
        marketplace: Marketplace,
        order_id: String,
    }
}

/// Has a chain asked again about the signed orders of which it told something in blocks after one.
pub(super) async fn enqueue_after(
    session: &mut Session<'_>,
    chain: ChainId,
    number: u64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO standing_queue (collection_id, marketplace, order_id)
        SELECT orders.collection_id, orders.marketplace, orders.order_id
        FROM followed_collections followed CROSS JOIN orders
        WHERE followed.chain_id = $1 AND orders.collection_id = followed.collection_id
        AND orders.native IS NOT NULL AND orders.block_number > $2
        ON CONFLICT DO NOTHING";
    session.execute(sql, args![chain, number]).await.map(drop)
}

/// Has the chain asked again about all signed orders of a collection that are not over.
pub(super) async fn enqueue_open(session: &mut Session<'_>, id: CollectionId) -> Result<(), StoreError> {
    let sql = "INSERT INTO standing_queue (collection_id, marketplace, order_id)
        SELECT collection_id, marketplace, order_id FROM orders
        WHERE collection_id = $1 AND native IS NOT NULL AND status = $2
        ON CONFLICT DO NOTHING";
    session.execute(sql, args![id.0, OrderStatus::Active.number()]).await.map(drop)
}
