//! Everything that the blocks of a chain made, as lines.

use std::fmt::Debug;

use bourse_wire::{ActivityFacts, Address, Amount, ChainId, OrderFacts, OrderSide, TokenId};

use crate::StoreError;
use crate::args::args;
use crate::chain::{Approval, Checkpoint, TokenApproval};
use crate::collections::{CollectionId, CollectionKey};
use crate::load::Balance;
use crate::session::Session;

/// The lines of the followed collections of a chain, in an order that does not depend on when what they tell was written.
/// Activities are in the order in which they were committed, which is that of the chain.
pub(super) async fn rows(session: &mut Session<'_>, chain: ChainId) -> Result<Vec<String>, StoreError> {
    let checkpoints: Vec<Checkpoint> =
        session.select("FROM chains WHERE chain_id = $1", args![chain]).await?;
    let mut lines: Vec<String> = checkpoints
        .iter()
        .map(|checkpoint| format!("checkpoint {} {}", checkpoint.number, checkpoint.hash))
        .collect();
    // By address: numbers are given out in the order in which collections came.
    let sql = "FROM followed_collections followed
        JOIN collections ON collections.collection_id = followed.collection_id
        WHERE followed.chain_id = $1 ORDER BY contract_address";
    let collections: Vec<(CollectionId, CollectionKey)> = session.select(sql, args![chain]).await?;
    for (id, key) in collections {
        lines
            .extend(collection(session, id).await?.into_iter().map(|line| format!("{} {line}", key.address)));
    }
    Ok(lines)
}

async fn collection(session: &mut Session<'_>, id: CollectionId) -> Result<Vec<String>, StoreError> {
    let id = args![id.0];
    let mut lines = Lines::default();
    let sql = "SELECT token_id FROM tokens WHERE collection_id = $1 ORDER BY token_id";
    lines.add("token", session.values::<TokenId>(sql, id.clone()).await?);
    let sql = "FROM balances WHERE collection_id = $1 ORDER BY token_id, account";
    let mut balances: Vec<Balance> = session.select(sql, id.clone()).await?;
    balances.retain(|held| held.balance != Amount::ZERO);
    lines.add("balance", balances);
    let sql = "FROM approvals WHERE collection_id = $1 ORDER BY owner, operator";
    lines.add("approval", session.select::<Approval>(sql, id.clone()).await?);
    let sql = "FROM token_approvals WHERE collection_id = $1 ORDER BY token_id";
    let mut approvals: Vec<TokenApproval> = session.select(sql, id.clone()).await?;
    approvals.retain(|approval| approval.operator != Address::ZERO);
    lines.add("token approval", approvals);
    let sql = "FROM orders WHERE collection_id = $1 ORDER BY marketplace, order_id";
    let orders: Vec<OrderFacts> = session.select(sql, id.clone()).await?;
    lines.add("order", orders.into_iter().map(as_stated));
    let sql = "FROM activities WHERE collection_id = $1 ORDER BY activity_id";
    lines.add("activity", session.select::<ActivityFacts>(sql, id).await?);
    Ok(lines.0)
}

/// An order without what no block states of it.
fn as_stated(order: OrderFacts) -> OrderFacts {
    let backing = order.backing.filter(|_| order.side == OrderSide::Listing);
    OrderFacts { backing, ..order }
}

#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn add(&mut self, what: &str, records: impl IntoIterator<Item = impl Debug>) {
        self.0.extend(records.into_iter().map(|record| format!("{what} {record:?}")));
    }
}
