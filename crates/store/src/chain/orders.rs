//! Orders that a chain states, with what only a chain states of them.

use std::collections::BTreeSet;

use bourse_wire::{Address, OrderFacts, TokenId};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::collections::CollectionId;
use crate::orders::{INSERT_ORDERS, SELECT_ORDERS, UPSERT_ORDERS, order, stored_row};
use crate::session::Session;

/// An order as it is stored.
pub(super) fn order_row(id: CollectionId, order: &OrderFacts) -> Result<Vec<Arg>, StoreError> {
    let mut row = stored_row(id, order)?;
    row.extend(args![order.operator, order.backing]);
    Ok(row)
}

/// Writes orders as they are.
pub(super) async fn write(session: &mut Session<'_>, rows: Vec<Vec<Arg>>) -> Result<(), StoreError> {
    let head = format!("{}, operator, backing)", INSERT_ORDERS.trim_end_matches(')'));
    let tail = format!("{UPSERT_ORDERS}, operator = excluded.operator, backing = excluded.backing");
    session.insert(&head, &tail, rows).await.map(drop)
}

/// The orders of these makers that a chain states and that may still be filled.
pub(super) async fn read_of_makers(
    session: &mut Session<'_>,
    id: CollectionId,
    makers: &BTreeSet<Address>,
) -> Result<Vec<OrderFacts>, StoreError> {
    read_open(session, id, "maker", makers.iter().map(|maker| args![*maker]).collect()).await
}

/// The orders for these tokens that a chain states and that may still be filled.
pub(super) async fn read_of_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: &BTreeSet<TokenId>,
) -> Result<Vec<OrderFacts>, StoreError> {
    read_open(session, id, "token_id", tokens.iter().map(|token| args![*token]).collect()).await
}

async fn read_open(
    session: &mut Session<'_>,
    id: CollectionId,
    column: &str,
    keys: Vec<Vec<Arg>>,
) -> Result<Vec<OrderFacts>, StoreError> {
    // As the indices have it.
    let open = "FROM (SELECT * FROM orders WHERE status = 1 AND operator IS NOT NULL) AS orders";
    let select = SELECT_ORDERS.replace("FROM orders", open);
    session.keyed(&select, id, column, keys).await?.iter().map(order).collect()
}
