//! What others than chains say of orders: putting them, and saying that they are over.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bourse_market::{Nonces, OrderParts, OrderState, first_seen};
use bourse_wire::{ActivityFacts, Amount, OrderFacts, OrderKey, OrderStatus, Timestamp, TokenId};

use crate::args::{Arg, args};
use crate::chain::{is_followed, standing};
use crate::collections::CollectionId;
use crate::columns::{
    self, Declared as _, Insert, Record as _, Value, or_replace, or_replace_only, position,
};
use crate::order_activities::{OrderBefore, activities_of};
use crate::order_parts::{Apart, IsSigned, KnownOrder, read_known, write_known};
use crate::orders::{Signature, values_of, with_keys};
use crate::row::{Cell, Row};
use crate::session::Session;
use crate::{StoreError, activities};

/// An order to be written, and what was signed of it.
pub(crate) struct NewOrder {
    pub(crate) facts: OrderFacts,
    pub(crate) signed: Option<(String, Nonces)>,
}

/// That an order is over otherwise than by being filled.
#[derive(Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) status: OrderStatus,
    pub(crate) at: Timestamp,
}

impl Ending {
    /// Ends an order, unless it is over already: what was filled does not become cancelled.
    pub(crate) fn end(self, order: &mut OrderFacts) {
        if !OrderState::of(order).is_over() && order.status != self.status {
            (order.status, order.updated_at) = (self.status, self.at);
        }
    }
}

const OPERATOR: usize = position(OrderFacts::COLUMNS, "operator");
const BACKING: usize = position(OrderFacts::COLUMNS, "backing");
const IS_WHOLE: usize = position(OrderFacts::COLUMNS, "is_whole");
const UPDATED_AT: usize = position(OrderFacts::COLUMNS, "updated_at");
/// Behind the columns of an order come those of [`Apart`] and [`IsSigned`].
const STATED: usize = OrderFacts::COLUMNS.len() + position(Apart::COLUMNS, "stated");
const IS_SIGNED: usize = OrderFacts::COLUMNS.len() + Apart::COLUMNS.len();

/// One column of a row that has those of an order.
macro_rules! order_column {
    ($row:expr, $column:literal) => {{
        const POSITION: usize = position(OrderFacts::COLUMNS, $column);
        Value::read(Cell { row: $row, position: POSITION, column: $column })
    }};
}

/// What became of orders that others told of.
#[derive(Default)]
pub(crate) struct PutOrders {
    /// Those that are different now, as they are stored.
    pub(crate) changed: BTreeMap<OrderKey, OrderFacts>,
    /// Those of which something was said that only what their makers signed can say. They are as they were.
    pub(crate) refused: Vec<OrderKey>,
    /// Tokens that orders were for which are for others now.
    pub(crate) left: BTreeSet<TokenId>,
}

/// Writes what is said of orders, and what happened to them. Operators and backings
/// stay as they are: only a chain states them, or what was signed. So does what a chain states of the orders. Of a signed
/// order that is known nobody can say anything but that it is over, or that it is not: what it is, its maker signed.
/// Whoever calls this holds the collection, so that what is read here is still so when it is replaced.
pub(crate) async fn put(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: BTreeMap<OrderKey, NewOrder>,
) -> Result<PutOrders, StoreError> {
    let mut put = Put::default();
    let known = read_rows(session, id, orders.keys().cloned()).await?;
    let backed = put_backed(session, id, &orders, &known).await?;
    for (key, NewOrder { facts, signed }) in orders {
        match (signed, known.get(&key)) {
            (Some(signed), row) => put.signed_order(&facts, signed, row)?,
            (None, Some(row)) if is_apart(row)? => put.plain_beside(facts, row)?,
            (None, row) => put.plain_order(facts, row)?,
        }
    }
    put.changed.extend(backed.into_iter().map(|order| (order.key(), order)));
    put.write(session, id).await
}

/// Writes that orders are over, as far as they are known. Whoever calls this holds the collection.
pub(crate) async fn end(
    session: &mut Session<'_>,
    id: CollectionId,
    endings: BTreeMap<OrderKey, Ending>,
) -> Result<PutOrders, StoreError> {
    let mut put = Put::default();
    for known in read_known(session, id, endings.keys().cloned()).await? {
        if let Some(ending) = endings.get(&known.facts.key()) {
            put.end(&known, *ending);
        }
    }
    put.write(session, id).await
}

async fn read_rows(
    session: &mut Session<'_>,
    id: CollectionId,
    keys: impl IntoIterator<Item = OrderKey>,
) -> Result<HashMap<OrderKey, Row>, StoreError> {
    let keys = with_keys("orders", keys);
    let rows = session.keyed_rows::<(OrderFacts, Apart, IsSigned)>(id, keys).await?;
    rows.into_iter().map(|row| Ok((key_in(&row)?, row))).collect()
}

fn known_order(row: &Row) -> Result<KnownOrder, StoreError> {
    let (facts, apart, IsSigned { is_signed }) = columns::read(row)?;
    Ok(KnownOrder::read(facts, &apart, is_signed))
}

/// What is to be written.
#[derive(Default)]
struct Put {
    /// Orders that no chain states anything of, as the values of their columns, by the columns that are different: an order
    /// of which only the price is new leaves the indices alone. Those that are new have none that would be replaced.
    plain: BTreeMap<BTreeSet<usize>, Vec<Vec<Arg>>>,
    signed: Vec<Vec<Arg>>,
    /// Those of the signed ones that are as they were: now somebody else tells of them as well.
    same: BTreeSet<OrderKey>,
    /// Those of the signed ones of which the chain is to be asked.
    asked: Vec<OrderKey>,
    /// Others, with who said what of them.
    known: Vec<KnownOrder>,
    activities: Vec<ActivityFacts>,
    changed: BTreeMap<OrderKey, OrderFacts>,
    refused: Vec<OrderKey>,
    left: BTreeSet<TokenId>,
}

impl Put {
    /// An order that no chain states anything of: what is said replaces all that was said.
    fn plain_order(&mut self, mut order: OrderFacts, row: Option<&Row>) -> Result<(), StoreError> {
        let before = row.map(before_in).transpose()?;
        if let Some(row) = row {
            order.created_at = first_seen(order_column!(row, "created_at")?, order.created_at);
        }
        (order.operator, order.backing) = (None, None);
        let values = values_of(&order)?;
        let mut replaced = BTreeSet::new();
        if let Some(row) = row {
            replaced = differing(row, &values)?;
            if replaced.is_empty() {
                return Ok(());
            }
            replaced.insert(UPDATED_AT);
            self.leave(order_column!(row, "token_id")?, &order);
            // What only a chain states, or what was signed, stays as it is stored.
            order.operator = order_column!(row, "operator")?;
            order.backing = order_column!(row, "backing")?;
            order.is_whole = order_column!(row, "is_whole")?;
        }
        self.activities.extend(activities_of(&order, before.as_ref()));
        self.plain.entry(replaced).or_default().push(values);
        self.changed.insert(order.key(), order);
        Ok(())
    }

    /// The same of an order that a chain states something of, or that its maker signed.
    fn plain_beside(&mut self, order: OrderFacts, row: &Row) -> Result<(), StoreError> {
        let known = known_order(row)?;
        let order = OrderFacts { created_at: first_seen(known.facts.created_at, order.created_at), ..order };
        if is_signed(row)? {
            if only_ends(&order, &known.facts) {
                self.end(&known, Ending { status: order.status, at: order.updated_at });
            } else if !differing(row, &values_of(&order)?)?.is_empty() {
                self.refused.push(order.key());
            }
            return Ok(());
        }
        let OrderFacts { operator, backing, is_whole, .. } = known.facts;
        let terms = OrderFacts { operator, backing, is_whole, ..order };
        // Whoever else tells of an order of our own contracts does so as its chain is not followed any more.
        let stated = known.parts.stated.filter(|_| !terms.marketplace.is_own());
        let parts = OrderParts { said: Some(OrderState::of(&terms)), stated };
        self.replace(&known, KnownOrder::of(&terms, parts));
        Ok(())
    }

    /// An order with what was signed. One that a chain told of is now somebody's word as well, and one that somebody said
    /// cannot be filled is good again.
    fn signed_order(
        &mut self,
        order: &OrderFacts,
        (native, nonces): (String, Nonces),
        row: Option<&Row>,
    ) -> Result<(), StoreError> {
        let known = row.map(known_order).transpose()?;
        let is_known = row.map_or(Ok(false), is_signed)?;
        let mut known_signed = known.clone().filter(|_| is_known);
        let said = known_signed.as_ref().map(|known| known.parts.said);
        // A server that knew nothing of it may have stored something else, and what was signed says it.
        if let Some(known) = &mut known_signed {
            known.facts.is_whole = order.is_whole;
        }
        if said.is_some_and(|said| said.is_some_and(|said| said.status != OrderStatus::Inactive)) {
            if let Some(before) = &known {
                self.replace(before, known_signed);
            }
            return Ok(());
        }
        let parts = signed_parts(order, known.as_ref());
        let terms = known_signed.as_ref().map_or(order, |known| &known.facts);
        let Some(now) = KnownOrder::of(terms, parts) else { return Ok(()) };
        let (key, is_new_word) = (now.facts.key(), said == Some(None));
        let mut values = values_of(&now.facts)?;
        Signature { native: Some(native), nonces: Some(nonces) }.bind(&mut values)?;
        Apart::of(&now).bind(&mut values)?;
        self.signed.push(values);
        if let Some(known) = &known {
            self.leave(known.facts.token_id, &now.facts);
        }
        if is_new_word && known.is_some_and(|known| is_same(&known.facts, &now.facts)) {
            self.same.insert(key);
            return Ok(());
        }
        let before = row.map(before_in).transpose()?;
        self.activities.extend(activities_of(&now.facts, before.as_ref()));
        self.asked.push(key);
        Ok(())
    }

    /// Says that an order is over. That may be known from its chain, which can take it back.
    fn end(&mut self, known: &KnownOrder, Ending { status, at }: Ending) {
        let KnownOrder { facts, parts } = known;
        let untouched = OrderState {
            status: OrderStatus::Active,
            remaining: facts.quantity_initial,
            ..OrderState::of(facts)
        };
        let said = parts.said.unwrap_or(untouched);
        if said.is_over() || said.status == status {
            return;
        }
        let said = Some(OrderState { status, updated_at: at, ..said });
        let ended = KnownOrder::of(facts, OrderParts { said, ..*parts });
        self.replace(known, ended);
    }

    /// Writes what is said now, and tells of it where that makes the order another.
    fn replace(&mut self, known: &KnownOrder, now: Option<KnownOrder>) {
        let Some(now) = now else { return };
        if is_same(&known.facts, &now.facts) && known.parts == now.parts {
            return;
        }
        if !is_same(&known.facts, &now.facts) {
            let OrderFacts { status, quantity_remaining, .. } = known.facts;
            self.activities
                .extend(activities_of(&now.facts, Some(&OrderBefore { status, quantity_remaining })));
            self.leave(known.facts.token_id, &now.facts);
            self.changed.insert(now.facts.key(), now.facts.clone());
        }
        self.known.push(now);
    }

    /// Notes the token that an order was for, when it is for another now.
    fn leave(&mut self, token: Option<TokenId>, now: &OrderFacts) {
        self.left.extend(token.filter(|_| token != now.token_id));
    }

    /// Writes all. What is handed on of signed orders is read from the rows that were written, as they have what was kept of
    /// them.
    async fn write(self, session: &mut Session<'_>, id: CollectionId) -> Result<PutOrders, StoreError> {
        for (replaced, plain) in self.plain {
            let names: Vec<&str> = replaced.iter().map(|column| OrderFacts::COLUMNS[*column]).collect();
            let replace = match names.as_slice() {
                // It was looked for, and is not there.
                [] => String::new(),
                names => or_replace_only::<OrderFacts>(names),
            };
            session.insert(Insert::values::<OrderFacts>(id, plain)?, &replace).await?;
        }
        let replace = or_replace::<SignedRow>(&[OrderFacts::COLUMNS[BACKING]]);
        let insert = Insert::values::<SignedRow>(id, self.signed)?;
        let stored: Vec<OrderFacts> = session.insert_returning(insert, &replace).await?;
        write_known(session, id, &self.known).await?;
        standing::enqueue(session, id, self.asked.iter()).await?;
        activities::add(session, id, self.activities).await?;
        let mut changed = self.changed;
        let stored = stored.into_iter().map(|order| (order.key(), order));
        changed.extend(stored.filter(|(key, _)| !self.same.contains(key)));
        Ok(PutOrders { changed, refused: self.refused, left: self.left })
    }
}

type SignedRow = ((OrderFacts, Signature), Apart);

/// Who says what of a signed order that is put. What remains of it is the chain's word, as far as anybody asked it: it is
/// asked again.
fn signed_parts(order: &OrderFacts, known: Option<&KnownOrder>) -> OrderParts {
    let whole = OrderState::of(order);
    let asked = OrderState { status: OrderStatus::Active, ..whole };
    let created_at =
        known.map_or(order.created_at, |known| first_seen(known.facts.created_at, order.created_at));
    let said = OrderState { remaining: order.quantity_initial, created_at, ..whole };
    let stated = match known.map(|known| known.parts) {
        None | Some(OrderParts { stated: None, .. }) => asked,
        // Logs tell what remains, and it was asked before.
        Some(OrderParts { said: None, stated: Some(stated) }) => stated,
        // While nobody could fill it, logs may have been about others that share its number.
        Some(OrderParts { said: Some(_), stated: Some(stated) }) => {
            OrderState { remaining: stated.remaining.min(asked.remaining), ..stated }
        }
    };
    OrderParts { said: Some(said), stated: Some(stated) }
}

/// Says of signed orders that are known, and whose makers were not known to have what they would give, what these have
/// now; returns those that are different, as they are stored. Where a chain is followed it says so itself.
async fn put_backed(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: &BTreeMap<OrderKey, NewOrder>,
    known: &HashMap<OrderKey, Row>,
) -> Result<Vec<OrderFacts>, StoreError> {
    let mut backed = Vec::new();
    for (key, NewOrder { facts, signed }) in orders {
        let Some(row) = known.get(key) else { continue };
        if signed.is_none() || facts.backing == Some(Amount::ZERO) || !is_signed(row)? {
            continue;
        }
        if columns::read::<OrderFacts>(row)?.backing == Some(Amount::ZERO) {
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

/// Whether what is told of an order differs from what is known only in that it is over.
fn only_ends(order: &OrderFacts, known: &OrderFacts) -> bool {
    let ended = OrderFacts {
        status: order.status,
        updated_at: order.updated_at,
        operator: order.operator,
        backing: order.backing,
        is_whole: order.is_whole,
        ..known.clone()
    };
    order.status != OrderStatus::Active && *order == ended
}

/// Whether an order is what it was. When a record last changed is no change by itself.
fn is_same(one: &OrderFacts, other: &OrderFacts) -> bool {
    *one == OrderFacts { updated_at: one.updated_at, ..other.clone() }
}

/// Whether something was signed of an order that is known.
fn is_signed(row: &Row) -> Result<bool, StoreError> {
    Value::read(Cell { row, position: IS_SIGNED, column: "is_signed" })
}

/// Whether others are not the only ones who tell of an order.
fn is_apart(row: &Row) -> Result<bool, StoreError> {
    let operator = Cell { row, position: OPERATOR, column: "operator" };
    let stated = Cell { row, position: STATED, column: "stated" };
    Ok(is_signed(row)? || !stated.is_null()? || !operator.is_null()?)
}

fn key_in(row: &Row) -> Result<OrderKey, StoreError> {
    Ok(OrderKey {
        marketplace: order_column!(row, "marketplace")?,
        order_id: order_column!(row, "order_id")?,
    })
}

fn before_in(row: &Row) -> Result<OrderBefore, StoreError> {
    Ok(OrderBefore {
        status: order_column!(row, "status")?,
        quantity_remaining: order_column!(row, "quantity_remaining")?,
    })
}

/// The columns in which an order as it is to be stored differs from how it is stored. When a record last changed is no change
/// by itself: an order that is sent again is the order that was there. What only a chain states, or what was signed, is not
/// written.
fn differing(row: &Row, values: &[Arg]) -> Result<BTreeSet<usize>, StoreError> {
    let mut differing = BTreeSet::new();
    for (position, (value, column)) in values.iter().zip(OrderFacts::COLUMNS).enumerate() {
        if ![UPDATED_AT, OPERATOR, BACKING, IS_WHOLE].contains(&position)
            && !(Cell { row, position, column }).is(value)?
        {
            differing.insert(position);
        }
    }
    Ok(differing)
}
