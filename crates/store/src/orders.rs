//! Orders: their facts, as makers and chains stated them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bourse_market::Nonces;
use bourse_wire::{Marketplace, OrderFacts, OrderSide, OrderStatus};

use crate::args::{Arg, args};
use crate::backend::Store;
use crate::chain::standing;
use crate::collections::CollectionId;
use crate::order_activities::{Known, activities_of};
use crate::row::Row;
use crate::session::Session;
use crate::{StoreError, activities};

/// What tells an order apart within its collection: the marketplace's number and the order id.
pub(crate) type OrderKey = (u8, String);

/// An order that is signed and kept outside of chains.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedOrder {
    /// What it is. Who moves the maker's tokens or money follows from what was signed.
    pub facts: OrderFacts,
    /// What was signed, and the signature.
    pub native: String,
    /// The numbers by which it can be taken back.
    pub nonces: Nonces,
}

/// An order to be written, and what was signed of it.
pub(crate) struct Given {
    pub(crate) facts: OrderFacts,
    pub(crate) signed: Option<(String, Nonces)>,
}

impl Store {
    /// What was signed of those of these orders that are signed.
    pub async fn natives_by_key(
        &self,
        id: CollectionId,
        keys: Vec<(Marketplace, String)>,
    ) -> Result<HashMap<(Marketplace, String), String>, StoreError> {
        let keys: BTreeSet<OrderKey> =
            keys.into_iter().map(|(marketplace, order_id)| (marketplace.number(), order_id)).collect();
        self.read(move |mut session| Box::pin(async move { read_natives(&mut session, id, keys).await }))
            .await
    }

    /// Those of these orders that there are, in no order.
    pub async fn orders_by_key(
        &self,
        id: CollectionId,
        keys: Vec<(Marketplace, String)>,
    ) -> Result<Vec<OrderFacts>, StoreError> {
        let keys: BTreeSet<OrderKey> =
            keys.into_iter().map(|(marketplace, order_id)| (marketplace.number(), order_id)).collect();
        self.read(move |mut session| Box::pin(async move { read_orders(&mut session, id, keys).await })).await
    }
}

async fn read_natives(
    session: &mut Session<'_>,
    id: CollectionId,
    keys: BTreeSet<OrderKey>,
) -> Result<HashMap<(Marketplace, String), String>, StoreError> {
    let mut natives = HashMap::with_capacity(keys.len());
    for row in keyed(session, "SELECT marketplace, order_id, native FROM orders", id, keys).await? {
        let key = (row.number(0, "marketplace", Marketplace::from_number)?, row.text(1)?);
        natives.extend(row.opt_text(2)?.map(|native| (key, native)));
    }
    Ok(natives)
}

/// Those of these orders that there are.
pub(crate) async fn read_orders(
    session: &mut Session<'_>,
    id: CollectionId,
    keys: impl IntoIterator<Item = OrderKey>,
) -> Result<Vec<OrderFacts>, StoreError> {
    keyed(session, SELECT_ORDERS, id, keys).await?.iter().map(order).collect()
}

async fn keyed(
    session: &mut Session<'_>,
    select: &str,
    id: CollectionId,
    keys: impl IntoIterator<Item = OrderKey>,
) -> Result<Vec<Row>, StoreError> {
    let keys = keys.into_iter().map(|(marketplace, order_id)| args![marketplace, order_id]).collect();
    session.keyed(select, id, "marketplace, order_id", keys).await
}

/// Writes orders and what happened to them; returns those that are different now. Operators and backings stay as they
/// are: only a chain states them, or what was signed. A signed order that is known stays as it is: it cannot be another,
/// and what became of it is known better. Only one that somebody said cannot be filled is good again. Whoever calls this holds the collection, so that what is read here is still so
/// when it is replaced.
pub(crate) async fn put(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: BTreeMap<OrderKey, Given>,
) -> Result<Vec<OrderFacts>, StoreError> {
    let natives = known_natives(session, id, &orders).await?;
    let known = keyed(session, SELECT_ORDERS, id, orders.keys().cloned()).await?;
    let known: HashMap<OrderKey, &Row> =
        known.iter().map(|row| Ok((order_key(row)?, row))).collect::<Result<_, StoreError>>()?;
    let (mut rows, mut signed_rows, mut signed_keys) =
        (Vec::with_capacity(orders.len()), Vec::new(), Vec::new());
    let (mut activities, mut changed) = (Vec::new(), Vec::with_capacity(orders.len()));
    for (key, Given { facts: mut order, signed }) in orders {
        let known = known.get(&key).copied();
        let was = known.map(known_of).transpose()?;
        if let Some(was) = &was {
            if signed.is_some() && natives.contains(&key) {
                if was.status != OrderStatus::Inactive {
                    continue;
                }
                order.quantity_remaining = order.quantity_remaining.min(was.quantity_remaining);
            }
            order.created_at = was.first_seen(order.created_at);
        }
        let mut args = stored_row(id, &order)?;
        if let (None, Some(row)) = (&signed, known)
            && !is_different(row, &args)?
        {
            continue;
        }
        activities.extend(activities_of(&order, was.as_ref()));
        match signed {
            Some((native, nonces)) => {
                args.extend(args![order.operator, native, nonces_text(&nonces)?]);
                signed_rows.push(args);
                signed_keys.push(key);
            }
            None => rows.push(args),
        }
        changed.push(order);
    }
    session.insert(INSERT_ORDERS, UPSERT_ORDERS, rows).await?;
    let head = format!("{}, operator, native, nonces)", INSERT_ORDERS.trim_end_matches(')'));
    let tail = format!(
        "{UPSERT_ORDERS}, operator = excluded.operator, native = excluded.native, nonces = excluded.nonces"
    );
    session.insert(&head, &tail, signed_rows).await?;
    standing::enqueue(session, id, signed_keys.iter()).await?;
    activities::put(session, id, activities).await?;
    Ok(changed)
}

/// The numbers of an order as they are stored.
pub(crate) fn nonces_text(nonces: &Nonces) -> Result<String, StoreError> {
    serde_json::to_string(nonces).map_err(|error| StoreError::corrupt("nonces", error))
}

/// Those of the signed orders that are known as such.
async fn known_natives(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: &BTreeMap<OrderKey, Given>,
) -> Result<HashSet<OrderKey>, StoreError> {
    let signed = orders.iter().filter(|(_, given)| given.signed.is_some()).map(|(key, _)| key.clone());
    let signed: BTreeSet<OrderKey> = signed.collect();
    if signed.is_empty() {
        return Ok(HashSet::new());
    }
    let natives = read_natives(session, id, signed).await?;
    Ok(natives.into_keys().map(|(marketplace, order_id)| (marketplace.number(), order_id)).collect())
}

/// What tells an order apart within its collection.
pub(crate) fn key_of(order: &OrderFacts) -> OrderKey {
    (order.marketplace.number(), order.order_id.clone())
}

fn known_of(row: &Row) -> Result<Known, StoreError> {
    Ok(Known {
        status: row.number(3, "status", OrderStatus::from_number)?,
        quantity_remaining: row.parse(10, "quantity")?,
        created_at: row.parse(19, "order time")?,
    })
}

/// Whether an order as it is to be stored differs from how it is stored. When a record last changed is no change by
/// itself: an order that is sent again is the order that was there.
fn is_different(row: &Row, args: &[Arg]) -> Result<bool, StoreError> {
    // The collection comes before what is selected, and when the record changed comes last.
    for (column, arg) in args.iter().skip(1).take(UPDATED_AT).enumerate() {
        if !row.is(column, arg)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The column of the time when the record last changed, the last one that is written here.
const UPDATED_AT: usize = 20;

pub(crate) const SELECT_ORDERS: &str = "SELECT marketplace, order_id, side, status, origin_name, token_id, maker, price_amount,
    currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
    valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at, operator, backing
    FROM orders";

pub(crate) const INSERT_ORDERS: &str = "INSERT INTO orders (collection_id, marketplace, order_id, side, status, origin_name,
    token_id, maker, price_amount, currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps,
    fee_breakdown, valid_from, valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at)";
pub(crate) const UPSERT_ORDERS: &str = "ON CONFLICT (collection_id, marketplace, order_id) DO UPDATE SET
    side = excluded.side, status = excluded.status, origin_name = excluded.origin_name, token_id = excluded.token_id,
    maker = excluded.maker, price_amount = excluded.price_amount, currency_address = excluded.currency_address,
    quantity_initial = excluded.quantity_initial, quantity_remaining = excluded.quantity_remaining,
    quantity_decimals = excluded.quantity_decimals, fee_bps = excluded.fee_bps,
    fee_breakdown = excluded.fee_breakdown, valid_from = excluded.valid_from, valid_until = excluded.valid_until,
    block_number = excluded.block_number, order_created_at = excluded.order_created_at,
    order_updated_at = excluded.order_updated_at, created_at = excluded.created_at, updated_at = excluded.updated_at";

/// An order as it is stored, without what only a chain states.
pub(crate) fn stored_row(id: CollectionId, order: &OrderFacts) -> Result<Vec<Arg>, StoreError> {
    let fees =
        serde_json::to_string(&order.fee_breakdown).map_err(|error| StoreError::corrupt("fees", error))?;
    Ok(args![
        id.0,
        order.marketplace.number(),
        order.order_id.as_str(),
        order.side.number(),
        order.status.number(),
        order.origin_name.as_str(),
        order.token_id,
        order.maker,
        order.price_amount,
        order.currency,
        order.quantity_initial,
        order.quantity_remaining,
        order.quantity_decimals,
        order.fee_bps,
        fees,
        order.valid_from,
        order.valid_until,
        order.block_number,
        order.order_created_at,
        order.order_updated_at,
        order.created_at,
        order.updated_at,
    ])
}

pub(crate) fn order(row: &Row) -> Result<OrderFacts, StoreError> {
    Ok(OrderFacts {
        marketplace: row.number(0, "marketplace", Marketplace::from_number)?,
        order_id: row.text(1)?,
        side: row.number(2, "side", OrderSide::from_number)?,
        status: row.number(3, "status", OrderStatus::from_number)?,
        origin_name: row.text(4)?,
        token_id: row.opt_parse(5, "token id")?,
        maker: row.parse(6, "maker")?,
        price_amount: row.parse(7, "price")?,
        currency: row.parse(8, "currency")?,
        quantity_initial: row.parse(9, "quantity")?,
        quantity_remaining: row.parse(10, "quantity")?,
        quantity_decimals: row.u8(11, "decimals")?,
        fee_bps: row.i64(12)?,
        fee_breakdown: row.json(13, "fees")?,
        valid_from: row.parse(14, "order time")?,
        valid_until: row.parse(15, "order time")?,
        block_number: row.u64(16, "block number")?,
        order_created_at: row.parse(17, "order time")?,
        order_updated_at: row.parse(18, "order time")?,
        created_at: row.parse(19, "order time")?,
        updated_at: row.parse(20, "order time")?,
        operator: row.opt_parse(21, "operator")?,
        backing: row.opt_parse(22, "backing")?,
    })
}

fn order_key(row: &Row) -> Result<OrderKey, StoreError> {
    Ok((row.u8(0, "marketplace")?, row.text(1)?))
}
