//! Orders: their facts, as makers and chains stated them.

use std::collections::{BTreeSet, HashMap, HashSet};

use bourse_market::Nonces;
use bourse_wire::{Address, Marketplace, OrderFacts, OrderKey, Timestamp};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::collections::CollectionId;
use crate::columns::{Declared, Record, record, selection};
use crate::order_parts::IsSigned;
use crate::session::{Keys, Session, list};

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
    is_whole,
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

/// One order of a collection that is signed, as the index over their blocks has them.
const ANY_SIGNED: &str =
    "SELECT block_number FROM orders WHERE collection_id = $1 AND native IS NOT NULL LIMIT 1";

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
                // Most collections have none, and whoever writes reads the orders themselves.
                if !session.has(ANY_SIGNED, args![id.0]).await? {
                    return Ok(HashSet::new());
                }
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

    /// Orders of one marketplace, whatever became of them, in the order of their names: so many at most, and those behind a name
    /// only.
    pub fn orders_behind(
        &self,
        id: CollectionId,
        marketplace: Marketplace,
        name: String,
        limit: u64,
    ) -> Pending<'_, Vec<OrderFacts>> {
        let sql = "FROM orders WHERE collection_id = $1 AND marketplace = $2 AND order_id > $3 ORDER BY order_id LIMIT $4";
        let args = args![id.0, marketplace.number(), name, limit];
        self.read(move |mut session| Box::pin(async move { session.select(sql, args).await }))
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

/// Which orders this version of the program can read: of those whose marketplace only a newer one knows it could not even tell
/// the name, and would write them down under another. Nearly all pass: behind the sign no index is looked through for it, which
/// SQLite would rather do than look up one maker or token.
pub(crate) fn is_known() -> String {
    format!("+orders.marketplace < {}", Marketplace::ALL.len())
}

pub(crate) fn with_keys(from: &str, keys: impl IntoIterator<Item = OrderKey>) -> Keys<'_> {
    let keys = keys.into_iter().map(|key| args![key.marketplace.number(), key.order_id]).collect();
    Keys { from, columns: "marketplace, order_id", keys }
}

/// The values of the columns of an order, in their order.
pub(crate) fn values_of(order: &OrderFacts) -> Result<Vec<Arg>, StoreError> {
    let mut values = Vec::with_capacity(OrderFacts::COLUMNS.len());
    order.bind(&mut values)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseUrl, OpenOptions};

    /// It is asked with every batch of orders, which a collection may have millions of.
    #[tokio::test]
    async fn whether_anything_is_signed_is_found_by_an_index() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let url = DatabaseUrl::Sqlite(path.clone());
        let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await.unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        let plan = |row: &rusqlite::Row<'_>| row.get::<_, String>("detail");
        let plan = connection.query_row(&format!("EXPLAIN QUERY PLAN {ANY_SIGNED}"), [1], plan).unwrap();
        assert!(plan.contains("INDEX signed_orders_of_block (collection_id=?)"), "{plan}");
        store.close().await;
    }
}
