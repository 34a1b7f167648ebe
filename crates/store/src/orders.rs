//! Orders: their facts, as makers and chains stated them.

use bourse_wire::{Marketplace, OrderFacts, OrderSide, OrderStatus};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::Store;
use crate::collections::CollectionId;
use crate::row::Row;
use crate::session::Session;

impl Store {
    /// Every order of a collection, by marketplace and order id.
    pub async fn orders(&self, id: CollectionId) -> Result<Vec<OrderFacts>, StoreError> {
        self.read(move |mut session| {
            Box::pin(
                async move { session.all(SELECT_ORDERS, args![id.0]).await?.iter().map(order).collect() },
            )
        })
        .await
    }
}

/// Writes orders, of which no two may be the same; tells which are different now.
pub(crate) async fn put(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: impl Iterator<Item = Box<OrderFacts>>,
) -> Result<Vec<(u8, String)>, StoreError> {
    let rows = orders.map(|order| order_row(id, &order)).collect::<Result<_, _>>()?;
    let changed = session.insert(INSERT_ORDERS, UPSERT_ORDERS, rows).await?;
    changed.iter().map(|row| Ok((small_number(row, 0, "marketplace")?, row.text(1)?))).collect()
}

const SELECT_ORDERS: &str = "SELECT marketplace, order_id, side, status, origin_name, token_id, maker, price_amount,
    currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
    valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at
    FROM orders WHERE collection_id = $1 ORDER BY marketplace, order_id";

const INSERT_ORDERS: &str = "INSERT INTO orders (collection_id, marketplace, order_id, side, status, origin_name,
    token_id, maker, price_amount, currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps,
    fee_breakdown, valid_from, valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at)";
const UPSERT_ORDERS: &str = "ON CONFLICT (collection_id, marketplace, order_id) DO UPDATE SET
    side = excluded.side, status = excluded.status, origin_name = excluded.origin_name, token_id = excluded.token_id,
    maker = excluded.maker, price_amount = excluded.price_amount, currency_address = excluded.currency_address,
    quantity_initial = excluded.quantity_initial, quantity_remaining = excluded.quantity_remaining,
    quantity_decimals = excluded.quantity_decimals, fee_bps = excluded.fee_bps,
    fee_breakdown = excluded.fee_breakdown, valid_from = excluded.valid_from, valid_until = excluded.valid_until,
    block_number = excluded.block_number, order_created_at = excluded.order_created_at,
    order_updated_at = excluded.order_updated_at, created_at = excluded.created_at, updated_at = excluded.updated_at
    WHERE (orders.side, orders.status, orders.origin_name, COALESCE(orders.token_id, ''), orders.maker,
        orders.price_amount, orders.currency_address, orders.quantity_initial, orders.quantity_remaining,
        orders.quantity_decimals, orders.fee_bps, orders.fee_breakdown, orders.valid_from, orders.valid_until,
        orders.block_number, orders.order_created_at, orders.order_updated_at, orders.created_at, orders.updated_at)
        <> (excluded.side, excluded.status, excluded.origin_name, COALESCE(excluded.token_id, ''), excluded.maker,
        excluded.price_amount, excluded.currency_address, excluded.quantity_initial, excluded.quantity_remaining,
        excluded.quantity_decimals, excluded.fee_bps, excluded.fee_breakdown, excluded.valid_from,
        excluded.valid_until, excluded.block_number, excluded.order_created_at, excluded.order_updated_at,
        excluded.created_at, excluded.updated_at)
    RETURNING marketplace, order_id";

fn order_row(id: CollectionId, order: &OrderFacts) -> Result<Vec<Arg>, StoreError> {
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

fn order(row: &Row) -> Result<OrderFacts, StoreError> {
    let unknown = |what: &'static str| move || StoreError::corrupt(what, "not a known number");
    Ok(OrderFacts {
        marketplace: Marketplace::from_number(small_number(row, 0, "marketplace")?)
            .ok_or_else(unknown("marketplace"))?,
        order_id: row.text(1)?,
        side: OrderSide::from_number(small_number(row, 2, "side")?).ok_or_else(unknown("side"))?,
        status: OrderStatus::from_number(small_number(row, 3, "status")?).ok_or_else(unknown("status"))?,
        origin_name: row.text(4)?,
        token_id: row.opt_parse(5, "token id")?,
        maker: row.parse(6, "maker")?,
        price_amount: row.parse(7, "price")?,
        currency: row.parse(8, "currency")?,
        quantity_initial: row.parse(9, "quantity")?,
        quantity_remaining: row.parse(10, "quantity")?,
        quantity_decimals: small_number(row, 11, "decimals")?,
        fee_bps: row.i64(12)?,
        fee_breakdown: row.json(13, "fees")?,
        valid_from: row.parse(14, "order time")?,
        valid_until: row.parse(15, "order time")?,
        block_number: row.u64(16, "block number")?,
        order_created_at: row.parse(17, "order time")?,
        order_updated_at: row.parse(18, "order time")?,
        created_at: row.parse(19, "order time")?,
        updated_at: row.parse(20, "order time")?,
    })
}

fn small_number(row: &Row, column: usize, what: &'static str) -> Result<u8, StoreError> {
    u8::try_from(row.u64(column, what)?).map_err(|error| StoreError::corrupt(what, error))
}
