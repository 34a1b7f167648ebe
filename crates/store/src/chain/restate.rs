//! Writing what no log states of orders of a followed collection, and what was therefore asked of contracts.

use bourse_market::facts::Block;
use bourse_wire::OrderKey;

use super::state::is_followed;
use crate::StoreError;
use crate::args::{Arg, args};
use crate::attributions::{Author, Authorship};
use crate::collections::{CollectionKey, find, hold};
use crate::commit::{Changed, NextVersion, raise_version};
use crate::session::Session;

/// What contracts were found to state of orders.
pub(super) struct Restated {
    /// The block as of which.
    pub(super) at: Block,
    /// What is written of one whose statement is another now: its collection, marketplace and id are the first three arguments.
    pub(super) sql: &'static str,
    /// The orders, and the other arguments of each.
    pub(super) orders: Vec<(OrderKey, Vec<Arg>)>,
}

/// Writes it as one version of the collection; tells of how many orders something is different now.
pub(super) async fn restate(
    session: &mut Session<'_>,
    collection: CollectionKey,
    Restated { at, sql, orders }: Restated,
    changes_kept: u64,
) -> Result<u64, StoreError> {
    let Some(id) = find(session, collection).await? else { return Ok(0) };
    // Versions of one collection follow each other, whoever commits.
    let before = hold(session, id).await?;
    // Of a collection that was left nobody looks after its orders any more.
    if !is_followed(session, id).await? {
        return Ok(0);
    }
    let mut changed = Changed::default();
    for (key, others) in orders {
        let mut args = args![id.0, key.marketplace.number(), key.order_id.as_str()];
        args.extend(others);
        if session.execute(sql, args).await? > 0 {
            changed.orders.push(key);
        }
    }
    let count = changed.orders.len() as u64;
    if count > 0 {
        let authorship = Authorship::new(Author::Chain { block: Some(at.number) }, at.at);
        let next = NextVersion { before, changed: &changed, authorship: &authorship, changes_kept };
        raise_version(session, id, next).await?;
    }
    Ok(count)
}
