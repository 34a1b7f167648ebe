//! Orders that a chain states, with what only a chain states of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use bourse_market::Nonces;
use bourse_market::facts::Fact;
use bourse_wire::{Address, Marketplace, OrderFacts, TokenId};

use super::BlockFacts;
use crate::StoreError;
use crate::args::{Arg, args};
use crate::collections::CollectionId;
use crate::orders::{INSERT_ORDERS, SELECT_ORDERS, UPSERT_ORDERS, key_of, order, stored_row};
use crate::row::Row;
use crate::session::{Session, list};

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

/// An order, and the numbers by which it can be taken back, if it is a signed one.
pub(super) type Numbered = (OrderFacts, Option<Nonces>);

/// The orders of these makers that a chain states and that may still be filled.
pub(super) async fn read_of_makers(
    session: &mut Session<'_>,
    id: CollectionId,
    makers: &BTreeSet<Address>,
) -> Result<Vec<Numbered>, StoreError> {
    read_open(session, id, "maker", makers.iter().map(|maker| args![*maker]).collect()).await
}

/// The orders for these tokens that a chain states and that may still be filled.
pub(super) async fn read_of_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: &BTreeSet<TokenId>,
) -> Result<Vec<Numbered>, StoreError> {
    read_open(session, id, "token_id", tokens.iter().map(|token| args![*token]).collect()).await
}

async fn read_open(
    session: &mut Session<'_>,
    id: CollectionId,
    column: &str,
    keys: Vec<Vec<Arg>>,
) -> Result<Vec<Numbered>, StoreError> {
    // As the indices have it.
    let open = ", nonces FROM (SELECT * FROM orders WHERE status = 1 AND operator IS NOT NULL) AS orders";
    let select = SELECT_ORDERS.replace("FROM orders", open);
    let rows = session.keyed(&select, id, column, keys).await?;
    rows.iter().map(|row| Ok((order(row)?, nonces(row)?))).collect()
}

/// The column behind those of an order.
const NONCES: usize = 23;

fn nonces(row: &Row) -> Result<Option<Nonces>, StoreError> {
    let text = row.opt_text(NONCES)?;
    let read = |text: String| serde_json::from_str(&text);
    text.map(read).transpose().map_err(|error| StoreError::corrupt("nonces", error))
}

/// Who has signed orders in which collections, and which orders those are, of what facts name without a collection.
#[derive(Default)]
pub(super) struct Concerned {
    makers: HashSet<(CollectionId, Address)>,
    orders: HashSet<(CollectionId, u8, String)>,
}

impl Concerned {
    /// Looks up who is concerned by what blocks state of no collection in particular: who has orders by now, or by what
    /// these blocks tell of.
    pub(super) async fn by(
        session: &mut Session<'_>,
        followed: &HashMap<Address, CollectionId>,
        blocks: &[BlockFacts],
    ) -> Result<Self, StoreError> {
        let (mut makers, mut names) = (BTreeSet::new(), BTreeSet::new());
        let mut concerned = Self::default();
        for stated in blocks.iter().flat_map(|block| &block.facts) {
            if let (Fact::OrderPublished(order), Some(id)) = (&stated.fact, followed.get(&stated.collection))
            {
                let (marketplace, order_id) = key_of(&order.facts);
                concerned.makers.insert((*id, order.facts.maker));
                concerned.orders.insert((*id, marketplace, order_id));
            }
            match signed_fact(&stated.fact) {
                Some(Named::Maker(maker)) => drop(makers.insert(maker)),
                Some(Named::Order(_, order_id)) => drop(names.insert(order_id.to_owned())),
                None => {}
            }
        }
        for makers in makers.into_iter().collect::<Vec<Address>>().chunks(NAMES_PER_READ) {
            let sql = format!(
                "SELECT DISTINCT collection_id, maker FROM orders
                WHERE maker IN ({}) AND status = 1 AND operator IS NOT NULL",
                list(makers.len(), 0)
            );
            for row in session.all(sql, makers.iter().flat_map(|maker| args![*maker]).collect()).await? {
                let id = CollectionId(row.u64(0, "collection id")?);
                concerned.makers.insert((id, row.parse(1, "account")?));
            }
        }
        for names in names.into_iter().collect::<Vec<String>>().chunks(NAMES_PER_READ) {
            let sql = format!(
                "SELECT collection_id, marketplace, order_id FROM orders
                WHERE order_id IN ({}) AND status = 1 AND native IS NOT NULL",
                list(names.len(), 0)
            );
            for row in session.all(sql, names.iter().flat_map(|name| args![name.as_str()]).collect()).await? {
                let id = CollectionId(row.u64(0, "collection id")?);
                concerned.orders.insert((id, row.u8(1, "marketplace")?, row.text(2)?));
            }
        }
        Ok(concerned)
    }

    /// Whether a fact does something in a collection, as far as signed orders are concerned.
    pub(super) fn includes(&self, id: CollectionId, fact: &Fact) -> bool {
        match signed_fact(fact) {
            Some(Named::Maker(maker)) => self.makers.contains(&(id, maker)),
            Some(Named::Order(marketplace, order_id)) => {
                self.orders.contains(&(id, marketplace.number(), order_id.to_owned()))
            }
            None => true,
        }
    }
}

/// Names that one statement looks up.
const NAMES_PER_READ: usize = 500;

/// Whom a fact names that names no collection.
enum Named<'a> {
    Maker(Address),
    Order(Marketplace, &'a str),
}

/// Whom a fact of a marketplace of signed orders names instead of a collection.
fn signed_fact(fact: &Fact) -> Option<Named<'_>> {
    match fact {
        Fact::OrdersRevoked { maker, .. } => Some(Named::Maker(*maker)),
        Fact::Grant { owner, .. } => Some(Named::Maker(*owner)),
        Fact::OrderCancelled { marketplace, order_id } if !marketplace.is_own() => {
            Some(Named::Order(*marketplace, order_id))
        }
        _ => None,
    }
}
