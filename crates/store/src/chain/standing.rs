//! What became of signed orders.
//!
//! Logs tell what happens to such an order from the moment on that it is known here, but not what happened before. So the
//! chain is asked about it once, as of the block that it is followed to: from there on logs are enough. The answer may come
//! after further blocks, as long as these state nothing of the order. It is asked again when that block is taken back.

use std::collections::{BTreeMap, BTreeSet};

use bourse_market::Standing;
use bourse_market::facts::Block;
use bourse_wire::{Amount, ChainId, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus, Timestamp};

use super::state::{blocks_from, hold, is_live};
use super::undo::{Undo, UndoRow, Undone};
use crate::args::args;
use crate::attributions::{Author, Authorship};
use crate::collections::{self, CollectionId, CollectionKey, find};
use crate::columns::{Insert, or_nothing, or_replace, record, selection};
use crate::commit::{Changed, NextVersion, raise_version};
use crate::order_parts::{IsSigned, read_known, write_known};
use crate::orders::{Signature, is_known, with_keys};
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
    /// Whether that is by blocks after the one that was asked about, which may be taken back before they are read: then it
    /// is asked again.
    pub is_ahead: bool,
}

impl Store {
    /// Signed orders on collections that move on with a chain, of which it is to be asked what became of them.
    pub fn unsettled_orders(&self, chain: ChainId, most: u64) -> Pending<'_, Vec<Unsettled>> {
        self.read(move |mut session| Box::pin(async move { unsettled(&mut session, chain, most).await }))
    }

    /// The same to be asked about now, with the block that the chain is followed to: all blocks after it are taken when
    /// these orders are known. `None` when the chain is not followed.
    pub fn questions(&self, chain: ChainId, most: u64) -> Pending<'_, Option<(Block, Vec<Unsettled>)>> {
        self.write(move |mut session| {
            Box::pin(async move {
                let Some(held) = hold(&mut session, chain).await? else { return Ok(None) };
                let block = blocks_from(&mut session, chain, held.number).await?.pop();
                let Some(block) = block.filter(|block| block.hash == held.hash) else { return Ok(None) };
                Ok(Some((block, unsettled(&mut session, chain, most).await?)))
            })
        })
    }

    /// Has its chain asked again about those of some orders of a collection that are signed and may still be filled, where the
    /// collection moves on with its chain. Of those that wait to be asked about already nothing is written. Tells how many are new
    /// in the queue.
    pub fn ask_again(&self, collection: CollectionKey, orders: Vec<OrderKey>) -> Pending<'_, usize> {
        let orders: BTreeSet<OrderKey> = orders.into_iter().collect();
        let askable = self.read(move |mut session| {
            Box::pin(async move { askable(&mut session, collection, orders).await })
        });
        Box::pin(async move {
            let Some((id, orders)) = askable.await?.filter(|(_, orders)| !orders.is_empty()) else {
                return Ok(0);
            };
            let count = orders.len();
            let queued = self.write(move |mut session| {
                Box::pin(async move { enqueue(&mut session, id, orders.iter()).await })
            });
            queued.await.map(|()| count)
        })
    }

    /// Takes what a chain said of signed orders as of a block, of those that no block stated anything of since; others are
    /// asked about again. Tells whether that block is still part of the chain: otherwise nothing is taken.
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
    let sql = format!(
        "FROM standing_queue CROSS JOIN followed_collections followed CROSS JOIN collections CROSS JOIN orders
        WHERE followed.chain_id = $1 AND followed.live = $2
        AND followed.collection_id = standing_queue.collection_id
        AND collections.collection_id = standing_queue.collection_id
        AND orders.collection_id = standing_queue.collection_id
        AND orders.marketplace = standing_queue.marketplace AND orders.order_id = standing_queue.order_id
        AND {} ORDER BY standing_queue.queued_block, standing_queue.collection_id, standing_queue.marketplace,
        standing_queue.order_id LIMIT $3",
        is_known()
    );
    let found: Vec<(CollectionKey, OrderFacts, Signature)> =
        session.select(sql, args![chain, true, most]).await?;
    let order = |(collection, facts, signature): (CollectionKey, OrderFacts, Signature)| Unsettled {
        collection,
        facts,
        native: signature.native.unwrap_or_default(),
    };
    Ok(found.into_iter().map(order).collect())
}

/// Those of some orders of which it makes sense to ask the chain, and nobody is about to.
async fn askable(
    session: &mut Session<'_>,
    collection: CollectionKey,
    orders: BTreeSet<OrderKey>,
) -> Result<Option<(CollectionId, Vec<OrderKey>)>, StoreError> {
    let Some(id) = find(session, collection).await? else { return Ok(None) };
    if !is_live(session, id).await? {
        return Ok(None);
    }
    let queued: Vec<QueuedOrder> =
        session.keyed(id, with_keys("standing_queue", orders.iter().cloned())).await?;
    let queued: BTreeSet<OrderKey> = queued.into_iter().map(QueuedOrder::key).collect();
    let orders = orders.into_iter().filter(|order| !queued.contains(order));
    let known: Vec<(OrderFacts, IsSigned)> = session.keyed(id, with_keys("orders", orders)).await?;
    let is_open =
        |order: &OrderFacts| order.status == OrderStatus::Active && order.quantity_remaining != Amount::ZERO;
    let asked = known.iter().filter(|(order, IsSigned { is_signed })| *is_signed && is_open(order));
    Ok(Some((id, asked.map(|(order, _)| order.key()).collect())))
}

async fn settle(
    session: &mut Session<'_>,
    chain: ChainId,
    at: Block,
    settled: Vec<Settled>,
    changes_kept: u64,
) -> Result<bool, StoreError> {
    if hold(session, chain).await?.is_none() {
        return Ok(false);
    }
    let kept = blocks_from(session, chain, at.number).await?;
    if kept.first().is_none_or(|block| block.hash != at.hash) {
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
        settle_collection(session, id, at, settled, changes_kept).await?;
    }
    Ok(true)
}

async fn settle_collection(
    session: &mut Session<'_>,
    id: CollectionId,
    at: Block,
    mut settled: BTreeMap<OrderKey, Settled>,
    changes_kept: u64,
) -> Result<(), StoreError> {
    let before = collections::hold(session, id).await?;
    for key in stated_after(session, id, at.number).await? {
        settled.remove(&key);
    }
    put_off(session, id, at, &mut settled).await?;
    let (mut told, mut changed) = (Vec::new(), Changed::default());
    let mut undo = read_undo(session, id, at.number).await?;
    for known in read_known(session, id, settled.keys().cloned()).await? {
        let key = known.facts.key();
        let Some(settled) = settled.get(&key) else { continue };
        undo.add_asked(&known)?;
        let mut order = settled.applied_to(&known.as_stated());
        order.block_number = order.block_number.max(at.number);
        let Some(now) = known.state(&order) else { continue };
        if now.facts != known.facts {
            changed.orders.push(key);
        }
        told.push(now);
    }
    write_known(session, id, &told).await?;
    let row = (!told.is_empty()).then_some(UndoRow { number: at.number, before: undo });
    session.insert(Insert::owned(id, row)?, &or_replace::<UndoRow>(&[])).await?;
    leave_queue(session, id, at, &settled).await?;
    if changed.orders.is_empty() {
        return Ok(());
    }
    let authorship = Authorship::new(Author::Chain { block: Some(at.number) }, at.at);
    let next = NextVersion { before, changed: &changed, authorship: &authorship, changes_kept };
    raise_version(session, id, next).await.map(drop)
}

/// Takes orders out of the queue, but those that are to be asked about again, which come after all others.
async fn leave_queue(
    session: &mut Session<'_>,
    id: CollectionId,
    at: Block,
    settled: &BTreeMap<OrderKey, Settled>,
) -> Result<(), StoreError> {
    for (key, Settled { is_ahead, .. }) in settled {
        let key = args![id.0, key.marketplace.number(), key.order_id.as_str()];
        if *is_ahead {
            let sql = "UPDATE standing_queue SET queued_block = $4
                WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
            session.execute(sql, key.into_iter().chain(args![at.number]).collect()).await?;
        } else {
            let sql =
                "DELETE FROM standing_queue WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
            session.execute(sql, key).await?;
        }
    }
    Ok(())
}

/// The orders that blocks after one stated something of.
async fn stated_after(
    session: &mut Session<'_>,
    id: CollectionId,
    number: u64,
) -> Result<BTreeSet<OrderKey>, StoreError> {
    let sql = "FROM chain_undo WHERE collection_id = $1 AND number > $2";
    let rows: Vec<UndoRow> = session.select(sql, args![id.0, number]).await?;
    let mut undone = Undone::default();
    for UndoRow { before, .. } in rows {
        undone.add(before)?;
    }
    Ok(undone.orders.into_keys().collect())
}

/// How long an order may have a number that its maker has not come to, by the times of blocks. Whoever raises a number
/// signs with it at once, and the block is there soon.
const AHEAD_MAX_SECONDS: i128 = 600;

selection! {
    struct AheadSince {
        ahead_since: Option<Timestamp>,
    }
}

/// Leaves orders in the queue that have numbers which their makers have not come to. One that has been so for long is over.
async fn put_off(
    session: &mut Session<'_>,
    id: CollectionId,
    at: Block,
    settled: &mut BTreeMap<OrderKey, Settled>,
) -> Result<(), StoreError> {
    let is_ahead = |settled: &&mut Settled| settled.standing == Some(Standing::NotYet);
    let mut waiting = Vec::new();
    for settled in settled.values_mut().filter(is_ahead) {
        let key = args![id.0, settled.key.marketplace.number(), settled.key.order_id.as_str()];
        let sql = "FROM standing_queue WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
        let queued: Option<AheadSince> = session.select_first(sql, key.clone()).await?;
        let since = queued.and_then(|queued| queued.ahead_since).unwrap_or(at.at);
        if at.at.unix_nanos() - since.unix_nanos() >= AHEAD_MAX_SECONDS * 1_000_000_000 {
            settled.standing = Some(Standing::Cancelled);
            continue;
        }
        let sql = "UPDATE standing_queue SET queued_block = $4, ahead_since = $5
            WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
        session.execute(sql, key.into_iter().chain(args![at.number, since]).collect()).await?;
        waiting.push(settled.key.clone());
    }
    for key in waiting {
        settled.remove(&key);
    }
    Ok(())
}

/// What undoing a block takes so far.
async fn read_undo(session: &mut Session<'_>, id: CollectionId, number: u64) -> Result<Undo, StoreError> {
    let sql = "FROM chain_undo WHERE collection_id = $1 AND number = $2";
    let row: Option<UndoRow> = session.select_first(sql, args![id.0, number]).await?;
    Ok(row.map(|row| row.before).unwrap_or_default())
}

impl Settled {
    /// An order as the chain says it is. One that logs told the end of stays as it is.
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
            | Standing::NotYet
            | Standing::Uncovered
            | Standing::Absent
            | Standing::Refused => {}
        }
        told
    }
}

/// Has the chain asked about signed orders of a collection, after those that wait longer.
pub(crate) async fn enqueue(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: impl Iterator<Item = &OrderKey>,
) -> Result<(), StoreError> {
    let mut orders = orders.peekable();
    if orders.peek().is_none() {
        return Ok(());
    }
    let sql =
        "SELECT checkpoint_number FROM chains JOIN collections ON collections.chain_id = chains.chain_id
        WHERE collections.collection_id = $1";
    let queued_block = session.value(sql, args![id.0]).await?.unwrap_or(0);
    let queued = |key: &OrderKey| QueuedOrder {
        marketplace: key.marketplace,
        order_id: key.order_id.clone(),
        queued_block,
    };
    session.insert(Insert::owned(id, orders.map(queued))?, &or_nothing::<QueuedOrder>()).await
}

record! {
    struct QueuedOrder: "standing_queue" ("collection_id, marketplace, order_id") {
        marketplace: Marketplace,
        order_id: String,
        queued_block: u64,
    }
}

impl QueuedOrder {
    fn key(self) -> OrderKey {
        OrderKey { marketplace: self.marketplace, order_id: self.order_id }
    }
}

/// Has a chain asked again about the signed orders of which it told something in blocks after one.
pub(super) async fn enqueue_after(
    session: &mut Session<'_>,
    chain: ChainId,
    number: u64,
) -> Result<(), StoreError> {
    // One by one: on a cluster, nobody but the coordinator knows what is followed.
    let followed = "SELECT collection_id FROM followed_collections WHERE chain_id = $1";
    for id in session.values::<u64>(followed, args![chain]).await? {
        let sql = "INSERT INTO standing_queue (collection_id, marketplace, order_id)
            SELECT collection_id, marketplace, order_id FROM orders
            WHERE collection_id = $1 AND native IS NOT NULL AND block_number > $2
            ON CONFLICT DO NOTHING";
        session.execute(sql, args![id, number]).await?;
    }
    Ok(())
}

/// Has the chain asked again about all signed orders of a collection that are not over.
pub(super) async fn enqueue_open(session: &mut Session<'_>, id: CollectionId) -> Result<(), StoreError> {
    let sql = "INSERT INTO standing_queue (collection_id, marketplace, order_id)
        SELECT collection_id, marketplace, order_id FROM orders
        WHERE collection_id = $1 AND native IS NOT NULL AND status = $2
        ON CONFLICT DO NOTHING";
    session.execute(sql, args![id.0, OrderStatus::Active.number()]).await.map(drop)
}
