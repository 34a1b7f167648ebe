//! Orders: their facts, as makers and chains stated them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bourse_market::Nonces;
use bourse_wire::{ActivityFacts, Address, Amount, OrderFacts, OrderKey, OrderStatus, Timestamp};

use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::chain::{is_followed, standing};
use crate::collections::CollectionId;
use crate::columns::{self, Declared, Insert, Record, Value, or_replace, position, record, selection};
use crate::order_activities::{OrderBefore, activities_of};
use crate::row::{Cell, Row};
use crate::session::{Keys, Session, list};
use crate::{StoreError, activities};

// What blocks replaced is kept with its values in this order: new columns come last.
record! { OrderFacts: "orders" ("collection_id, marketplace, order_id") {
    marketplace,
    order_id,
    side,
    status,
    origin_name,
    token_id,
    maker,
    price_amount,
    currency = "currency_address",
    quantity_initial,
    quantity_remaining,
    quantity_decimals,
    fee_bps,
    fee_breakdown,
    valid_from,
    valid_until,
    block_number,
    order_created_at,
    order_updated_at,
    created_at,
    updated_at,
    operator,
    backing,
} }

record! {
    /// What was signed of an order that is kept outside of chains.
    #[derive(Default)]
    pub(crate) struct Signature: "orders" ("collection_id, marketplace, order_id") {
        native: Option<String>,
        nonces: Option<Nonces>,
    }
}

record! { OrderKey: "orders" ("collection_id, marketplace, order_id") { marketplace, order_id } }

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

/// How many signed orders of a collection are open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenSignedOrders {
    /// Those of each maker that was asked about.
    pub of_makers: HashMap<Address, u64>,
    /// Those whose makers are not known to have what they sell, or the money that they offer.
    pub unbacked: u64,
}

/// How an order ends otherwise than by being filled.
#[derive(Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) status: OrderStatus,
    pub(crate) at: Timestamp,
}

impl Ending {
    /// Ends an order, unless it is over already: what was filled does not become cancelled. Whether it ended now.
    pub(crate) fn end(self, order: &mut OrderFacts) -> bool {
        let over =
            matches!(order.status, OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Expired);
        let ends = !over && order.quantity_remaining != Amount::ZERO && order.status != self.status;
        if ends {
            (order.status, order.updated_at) = (self.status, self.at);
        }
        ends
    }
}

/// An order to be written, and what was signed of it.
pub(crate) struct NewOrder {
    pub(crate) facts: OrderFacts,
    pub(crate) signed: Option<(String, Nonces)>,
}

impl Store {
    /// What was signed of those of these orders that are signed.
    pub fn natives_by_key(
        &self,
        id: CollectionId,
        keys: Vec<OrderKey>,
    ) -> Pending<'_, HashMap<OrderKey, String>> {
        let keys: BTreeSet<OrderKey> = keys.into_iter().collect();
        self.read(move |mut session| Box::pin(async move { read_natives(&mut session, id, keys).await }))
    }

    /// Those of these orders that are signed.
    pub fn signed_of(&self, id: CollectionId, keys: Vec<OrderKey>) -> Pending<'_, HashSet<OrderKey>> {
        let keys: BTreeSet<OrderKey> = keys.into_iter().collect();
        self.read(move |mut session| {
            Box::pin(async move {
                let found: Vec<(OrderKey, IsSigned)> = session.keyed(id, with_keys("orders", keys)).await?;
                Ok(found.into_iter().filter(|(_, is)| is.is_signed).map(|(key, _)| key).collect())
            })
        })
    }

    /// How many signed orders of a collection are open, by what bounds them.
    pub fn open_signed_orders(
        &self,
        id: CollectionId,
        makers: Vec<Address>,
        now: Timestamp,
    ) -> Pending<'_, OpenSignedOrders> {
        self.read(move |mut session| {
            Box::pin(async move { count_open_signed(&mut session, id, makers, now).await })
        })
    }

    /// Those of these orders that there are, in no order.
    pub fn orders_by_key(&self, id: CollectionId, keys: Vec<OrderKey>) -> Pending<'_, Vec<OrderFacts>> {
        let keys: BTreeSet<OrderKey> = keys.into_iter().collect();
        self.read(move |mut session| Box::pin(async move { read_orders(&mut session, id, keys).await }))
    }
}

selection! {
    struct OrdersOfMaker {
        maker: Address,
        count: u64 = "COUNT(*)",
    }
}

async fn count_open_signed(
    session: &mut Session<'_>,
    id: CollectionId,
    makers: Vec<Address>,
    now: Timestamp,
) -> Result<OpenSignedOrders, StoreError> {
    // As the indices have it. Signed orders always tell who moves what they are about.
    let is_open =
        "collection_id = $1 AND status = 1 AND native IS NOT NULL AND (valid_until > $2 OR valid_until = $3)";
    let sql = format!(
        "FROM orders WHERE {is_open} AND operator IS NOT NULL AND maker IN ({}) GROUP BY maker",
        list(makers.len(), 3)
    );
    let mut args = args![id.0, now, Timestamp::ZERO];
    args.extend(makers.into_iter().flat_map(|maker| args![maker]));
    let of_makers: Vec<OrdersOfMaker> = session.select(sql, args).await?;
    let sql = format!("SELECT COUNT(*) FROM orders WHERE {is_open} AND backing = '0'");
    let unbacked = session.value(sql, args![id.0, now, Timestamp::ZERO]).await?;
    let of_makers = of_makers.into_iter().map(|of| (of.maker, of.count)).collect();
    Ok(OpenSignedOrders { of_makers, unbacked: unbacked.unwrap_or_default() })
}

async fn read_natives(
    session: &mut Session<'_>,
    id: CollectionId,
    keys: BTreeSet<OrderKey>,
) -> Result<HashMap<OrderKey, String>, StoreError> {
    let found: Vec<(OrderKey, Signature)> = session.keyed(id, with_keys("orders", keys)).await?;
    Ok(found.into_iter().filter_map(|(key, signature)| Some((key, signature.native?))).collect())
}

/// Those of these orders that there are.
pub(crate) async fn read_orders(
    session: &mut Session<'_>,
    id: CollectionId,
    keys: impl IntoIterator<Item = OrderKey>,
) -> Result<Vec<OrderFacts>, StoreError> {
    session.keyed(id, with_keys("orders", keys)).await
}

fn with_keys(from: &str, keys: impl IntoIterator<Item = OrderKey>) -> Keys<'_> {
    let keys = keys.into_iter().map(|key| args![key.marketplace.number(), key.order_id]).collect();
    Keys { from, columns: "marketplace, order_id", keys }
}

const OPERATOR: usize = position(OrderFacts::COLUMNS, "operator");
const BACKING: usize = position(OrderFacts::COLUMNS, "backing");
const UPDATED_AT: usize = position(OrderFacts::COLUMNS, "updated_at");

/// Those of these orders that end, as they are then. What they are until then is read by whoever holds the collection and not before, as
/// others may fill them meanwhile.
pub(crate) async fn ended(
    session: &mut Session<'_>,
    id: CollectionId,
    endings: BTreeMap<OrderKey, Ending>,
) -> Result<BTreeMap<OrderKey, NewOrder>, StoreError> {
    let mut ended = BTreeMap::new();
    if endings.is_empty() {
        return Ok(ended);
    }
    for mut facts in read_orders(session, id, endings.keys().cloned()).await? {
        let key = facts.key();
        if endings.get(&key).is_some_and(|ending| ending.end(&mut facts)) {
            ended.insert(key, NewOrder { facts, signed: None });
        }
    }
    Ok(ended)
}

/// What became of orders that were put.
#[derive(Default)]
pub(crate) struct PutOrders {
    /// Those that are different now, as they are stored.
    pub(crate) changed: BTreeMap<OrderKey, OrderFacts>,
    /// Those of which something was said that only what their makers signed can say. They are as they were.
    pub(crate) refused: Vec<OrderKey>,
}

/// What is to be written of orders.
#[derive(Default)]
struct Writes {
    plain: Vec<Vec<Arg>>,
    signed: Vec<Vec<Arg>>,
    signed_keys: Vec<OrderKey>,
    activities: Vec<ActivityFacts>,
    refused: Vec<OrderKey>,
}

/// Writes orders and what happened to them. Operators and backings stay as they
/// are: only a chain states them, or what was signed. A signed order that is known stays as it is: it cannot be another,
/// and what became of it is known better. Only one that somebody said cannot be filled is good again. Nobody can say
/// anything of a signed order but that it is over: what it is, its maker signed. Whoever calls this holds the collection,
/// so that what is read here is still so when it is replaced. What is handed on is read from the rows that were written, as
/// they have what was kept of them.
pub(crate) async fn put(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: BTreeMap<OrderKey, NewOrder>,
) -> Result<PutOrders, StoreError> {
    let keys = with_keys("orders", orders.keys().cloned());
    let known = session.keyed_rows::<(OrderFacts, IsSigned)>(id, keys).await?;
    let known: HashMap<OrderKey, &Row> =
        known.iter().map(|row| Ok((key_in(row)?, row))).collect::<Result<_, StoreError>>()?;
    let mut stored = put_backed(session, id, &orders, &known).await?;
    let mut writes = Writes::default();
    for (key, order) in orders {
        writes.add(known.get(&key).copied(), key, order)?;
    }
    let [operator, backing] = [OPERATOR, BACKING].map(|column| OrderFacts::COLUMNS[column]);
    let replace = or_replace::<OrderFacts>(&[operator, backing]);
    stored.extend(session.insert_returning(Insert::values::<OrderFacts>(id, writes.plain)?, &replace).await?);
    let replace = or_replace::<(OrderFacts, Signature)>(&[backing]);
    let insert = Insert::values::<(OrderFacts, Signature)>(id, writes.signed)?;
    stored.extend(session.insert_returning(insert, &replace).await?);
    standing::enqueue(session, id, writes.signed_keys.iter()).await?;
    activities::put(session, id, writes.activities).await?;
    let changed = stored.into_iter().map(|order: OrderFacts| (order.key(), order)).collect();
    Ok(PutOrders { changed, refused: writes.refused })
}

impl Writes {
    /// Takes an order, given how it is stored, where it is; or leaves it as it is.
    fn add(
        &mut self,
        known: Option<&Row>,
        key: OrderKey,
        NewOrder { facts: mut order, signed }: NewOrder,
    ) -> Result<(), StoreError> {
        let before = known.map(OrderBefore::read).transpose()?;
        let known_signed = is_signed(known)?;
        if let Some(before) = &before {
            match &signed {
                Some(_) if known_signed && before.status != OrderStatus::Inactive => return Ok(()),
                Some(_) if known_signed => {
                    order.quantity_remaining = order.quantity_remaining.min(before.quantity_remaining);
                }
                Some(_) | None => {}
            }
            order.created_at = before.first_seen(order.created_at);
        }
        let mut values = values_of(&order)?;
        if let (None, Some(row)) = (&signed, known) {
            if !is_different(row, &values)? {
                return Ok(());
            }
            if known_signed && !only_ends(&order, row)? {
                self.refused.push(key);
                return Ok(());
            }
        }
        self.activities.extend(activities_of(&order, before.as_ref()));
        if let Some((native, nonces)) = signed {
            Signature { native: Some(native), nonces: Some(nonces) }.bind(&mut values)?;
            self.signed.push(values);
            self.signed_keys.push(key);
        } else {
            (values[OPERATOR], values[BACKING]) = (Arg::Text(None), Arg::Text(None));
            self.plain.push(values);
        }
        Ok(())
    }
}

/// Says of signed orders that are known, and whose makers were not known to have what they would give, what these have
/// now; returns those that are different, as they are stored. Where a chain is followed it says so itself.
async fn put_backed(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: &BTreeMap<OrderKey, NewOrder>,
    known: &HashMap<OrderKey, &Row>,
) -> Result<Vec<OrderFacts>, StoreError> {
    let mut backed = Vec::new();
    for (key, NewOrder { facts, signed }) in orders {
        let known = known.get(key).copied();
        if signed.is_none() || facts.backing == Some(Amount::ZERO) || !is_signed(known)? {
            continue;
        }
        let known = known.map(columns::read::<OrderFacts>).transpose()?;
        if known.is_some_and(|known| known.backing == Some(Amount::ZERO)) {
            backed.push((key, facts.backing));
        }
    }
    if backed.is_empty() || is_followed(session, id).await? {
        return Ok(Vec::new());
    }
    let mut stored = Vec::with_capacity(backed.len());
    for (OrderKey { marketplace, order_id }, backing) in backed {
        let sql =
            "UPDATE orders SET backing = $4 WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
        let args = args![id.0, marketplace.number(), order_id.as_str(), backing];
        stored.extend(session.returning::<OrderFacts>(sql, args).await?);
    }
    Ok(stored)
}

/// The values of the columns of an order, in their order.
pub(crate) fn values_of(order: &OrderFacts) -> Result<Vec<Arg>, StoreError> {
    let mut values = Vec::with_capacity(OrderFacts::COLUMNS.len());
    order.bind(&mut values)?;
    Ok(values)
}

selection! {
    /// Whether something was signed of an order.
    struct IsSigned {
        is_signed: bool = "native IS NOT NULL",
    }
}

/// Whether something was signed of an order that is known, by a row that says so behind its facts.
fn is_signed(known: Option<&Row>) -> Result<bool, StoreError> {
    let cell = |row| Cell { row, position: OrderFacts::COLUMNS.len(), column: "is_signed" };
    known.map_or(Ok(false), |row| Value::read(cell(row)))
}

/// Whether what is told of an order differs from what is known only in that it is over.
fn only_ends(order: &OrderFacts, known: &Row) -> Result<bool, StoreError> {
    let known = columns::read::<OrderFacts>(known)?;
    let ended = OrderFacts {
        status: order.status,
        updated_at: order.updated_at,
        operator: order.operator,
        backing: order.backing,
        ..known
    };
    Ok(order.status != OrderStatus::Active && *order == ended)
}

/// One column of a row that has those of an order.
macro_rules! order_column {
    ($row:expr, $column:literal) => {{
        const POSITION: usize = position(OrderFacts::COLUMNS, $column);
        Value::read(Cell { row: $row, position: POSITION, column: $column })
    }};
}

fn key_in(row: &Row) -> Result<OrderKey, StoreError> {
    Ok(OrderKey {
        marketplace: order_column!(row, "marketplace")?,
        order_id: order_column!(row, "order_id")?,
    })
}

impl OrderBefore {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            status: order_column!(row, "status")?,
            quantity_remaining: order_column!(row, "quantity_remaining")?,
            created_at: order_column!(row, "created_at")?,
        })
    }
}

/// Whether an order as it is to be stored differs from how it is stored. When a record last changed is no change by
/// itself: an order that is sent again is the order that was there. What only a chain states is not written.
fn is_different(row: &Row, values: &[Arg]) -> Result<bool, StoreError> {
    for (position, (value, column)) in values.iter().zip(OrderFacts::COLUMNS).enumerate() {
        if ![UPDATED_AT, OPERATOR, BACKING].contains(&position)
            && !(Cell { row, position, column }).is(value)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
