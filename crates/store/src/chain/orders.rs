//! Orders that a chain states, with what only a chain states of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bourse_market::Nonces;
use bourse_market::facts::Fact;
use bourse_wire::{Address, Marketplace, OrderFacts, OrderKey, TokenId};

use super::BlockFacts;
use super::aside::{Reach, Within};
use super::undo::OrderBefore;
use crate::StoreError;
use crate::args::{Arg, args};
use crate::collections::CollectionId;
use crate::columns::selection;
use crate::order_parts::{Apart, KnownOrder, read_known, write_known};
use crate::orders::is_known;
use crate::session::{Keys, Session, list};

/// Takes back what blocks stated of orders that no longer count; returns the tokens of those that nobody tells of any more.
pub(super) async fn take_back(
    session: &mut Session<'_>,
    id: CollectionId,
    undone: BTreeMap<OrderKey, OrderBefore>,
) -> Result<BTreeSet<TokenId>, StoreError> {
    let known = read_known(session, id, undone.keys().cloned()).await?;
    let known: HashMap<OrderKey, KnownOrder> =
        known.into_iter().map(|order| (order.facts.key(), order)).collect();
    let (mut kept, mut orphans) = (Vec::new(), BTreeSet::new());
    for (key, before) in undone {
        let known = known.get(&key);
        if let Some(order) = before.restore(known) {
            kept.push(order);
            continue;
        }
        orphans.extend(known.and_then(|known| known.facts.token_id));
        // One by one: a rewind has few.
        let sql = "DELETE FROM orders WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
        session.execute(sql, args![id.0, key.marketplace.number(), key.order_id]).await?;
    }
    write_known(session, id, &kept).await?;
    Ok(orphans)
}

/// An order, and the numbers by which it can be taken back, if it is a signed one.
pub(super) type Numbered = (KnownOrder, Option<Nonces>);

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
    let keys = Keys { from: &open_orders(), columns: column, keys };
    let found: Vec<(OrderFacts, Apart, OrderNonces)> = session.keyed(id, keys).await?;
    let numbered = |(facts, apart, OrderNonces { nonces, is_signed })| {
        (KnownOrder::read(facts, &apart, is_signed), nonces)
    };
    Ok(found.into_iter().map(numbered).collect())
}

/// What orders are read from that a chain states and that may still be filled, as the indices have it.
fn open_orders() -> String {
    let from = "SELECT * FROM orders WHERE status = 1 AND operator IS NOT NULL";
    format!("({from} AND {}) AS orders", is_known())
}

selection! {
    struct OrderNonces {
        nonces: Option<Nonces> = "orders.nonces",
        is_signed: bool = "orders.native IS NOT NULL",
    }
}

selection! {
    struct MakerOf {
        collection_id: CollectionId,
        maker: Address,
    }
}

selection! {
    struct OrderOf {
        collection_id: CollectionId = "orders.collection_id",
    }
}

/// Who has signed orders in which collections, and which orders those are, of what facts name without a collection.
#[derive(Default)]
pub(super) struct Concerned {
    makers: HashSet<(CollectionId, Address)>,
    orders: HashSet<(CollectionId, OrderKey)>,
}

impl Concerned {
    /// Looks up who is concerned by what blocks state of no collection in particular: who has orders by now, or by what
    /// these blocks tell of. Where some collections are out of reach, only the others are looked through.
    pub(super) async fn by(
        session: &mut Session<'_>,
        followed: &HashMap<Address, CollectionId>,
        blocks: &[BlockFacts],
        reach: &Reach,
    ) -> Result<Self, StoreError> {
        let (mut makers, mut names) = (BTreeSet::new(), BTreeSet::new());
        let mut concerned = Self::default();
        for stated in blocks.iter().flat_map(|block| &block.facts) {
            if let (Fact::OrderPublished(order), Some(id)) = (&stated.fact, followed.get(&stated.collection))
            {
                concerned.makers.insert((*id, order.facts.maker));
                concerned.orders.insert((*id, order.facts.key()));
            }
            match signed_fact(&stated.fact) {
                Some(Subject::Maker(maker)) => drop(makers.insert(maker)),
                Some(Subject::Order(_, order_id)) => drop(names.insert(order_id.to_owned())),
                None => {}
            }
        }
        for makers in makers.into_iter().collect::<Vec<Address>>().chunks(NAMES_PER_READ) {
            for Within { sql: within, args } in reach.parts(makers.len()) {
                let sql = format!(
                    "FROM orders WHERE maker IN ({}) AND status = 1 AND operator IS NOT NULL {within}
                    GROUP BY collection_id, maker",
                    list(makers.len(), 0)
                );
                let args = makers.iter().flat_map(|maker| args![*maker]).chain(args).collect();
                let found: Vec<MakerOf> = session.select(sql, args).await?;
                concerned.makers.extend(found.into_iter().map(|found| (found.collection_id, found.maker)));
            }
        }
        for names in names.into_iter().collect::<Vec<String>>().chunks(NAMES_PER_READ) {
            for Within { sql: within, args } in reach.parts(names.len()) {
                let sql = format!(
                    "FROM orders WHERE order_id IN ({}) AND status = 1 AND native IS NOT NULL AND {} {within}",
                    list(names.len(), 0),
                    is_known()
                );
                let args = names.iter().flat_map(|name| args![name.as_str()]).chain(args).collect();
                let found: Vec<(OrderOf, OrderKey)> = session.select(sql, args).await?;
                concerned.orders.extend(found.into_iter().map(|(of, key)| (of.collection_id, key)));
            }
        }
        Ok(concerned)
    }

    /// Whether a fact does something in a collection, as far as signed orders are concerned.
    pub(super) fn includes(&self, id: CollectionId, fact: &Fact) -> bool {
        match signed_fact(fact) {
            Some(Subject::Maker(maker)) => self.makers.contains(&(id, maker)),
            Some(Subject::Order(marketplace, order_id)) => {
                self.orders.contains(&(id, OrderKey { marketplace, order_id: order_id.to_owned() }))
            }
            None => true,
        }
    }
}

/// Names that one statement looks up.
const NAMES_PER_READ: usize = 500;

/// Whom a fact names that names no collection.
enum Subject<'a> {
    Maker(Address),
    Order(Marketplace, &'a str),
}

/// Whom a fact of a marketplace of signed orders names instead of a collection.
fn signed_fact(fact: &Fact) -> Option<Subject<'_>> {
    match fact {
        Fact::OrdersRevoked { maker, .. } => Some(Subject::Maker(*maker)),
        Fact::Grant { owner, .. } => Some(Subject::Maker(*owner)),
        Fact::OrderCancelled { marketplace, order_id } if !marketplace.is_own() => {
            Some(Subject::Order(*marketplace, order_id))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::Timestamp;

    use super::*;
    use crate::{DatabaseUrl, OpenOptions, Store};

    /// Blocks look up many makers and tokens. Where one look goes through all orders of a collection, reading its history takes
    /// longer with every order.
    #[tokio::test]
    async fn open_orders_of_a_maker_and_of_a_token_are_found_by_their_indices() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let url = DatabaseUrl::Sqlite(path.clone());
        let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await.unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        for (column, index) in [("maker", "chain_orders_of_maker"), ("token_id", "chain_orders_of_token")] {
            let from = open_orders();
            let sql =
                format!("EXPLAIN QUERY PLAN SELECT * FROM {from} WHERE collection_id = ? AND {column} = ?");
            let plan: String = connection.query_row(&sql, ["1", "1"], |row| row.get("detail")).unwrap();
            assert!(plan.contains(&format!("{index} ({column}=? AND collection_id=?)")), "{plan}");
        }
        store.close().await;
    }
}
