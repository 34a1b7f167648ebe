//! Reading what changed in a collection.

use std::collections::BTreeSet;

use bourse_wire::{Address, Amount, OrderFacts, OrderKey, TokenId};

use crate::StoreError;
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::collections::{
    CollectionId, Mark, StoredToken, read_balances, read_contract, read_tokens, read_version,
};
use crate::columns::selection;
use crate::commit::Changed;
use crate::load::Balance;
use crate::orders::read_orders;
use crate::session::Session;

/// The present state of everything that changed after a version. Balances that are gone are zero; when anything else than
/// an order is gone, everything must be loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The version this leads to.
    pub version: u64,
    /// The number that was drawn with it.
    pub stamp: u64,
    /// Contract information as JSON text, when it changed.
    pub contract: Option<String>,
    /// Tokens that changed.
    pub tokens: Vec<StoredToken>,
    /// Balances that changed.
    pub balances: Vec<Balance>,
    /// Orders that changed.
    pub orders: Vec<OrderFacts>,
    /// Orders that are gone: blocks that stated them are no longer part of their chain.
    pub gone_orders: Vec<OrderKey>,
}

impl Store {
    /// What changed after a version, read from one state of the database; `None` when the change log no longer has
    /// all of it, or the database was set back and has no such version, and everything must be loaded.
    pub fn changes(&self, id: CollectionId, since: Mark) -> Pending<'_, Option<Changes>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let until = read_version(&mut session, id).await?;
                match changed_between(&mut session, id, since, until).await? {
                    None => Ok(None),
                    Some(changed) => read(&mut session, id, until, changed).await.map(Some),
                }
            })
        })
    }
}

selection! {
    /// An entry of the change log: what a version changed, and the number drawn with the version before it.
    struct Entry {
        changed: Changed,
        follows: u64,
    }
}

/// What changed after one version and up to another, or `None` when the log no longer has all of it, or has it after another
/// version of the same number.
pub(crate) async fn changed_between(
    session: &mut Session<'_>,
    id: CollectionId,
    since: Mark,
    until: Mark,
) -> Result<Option<Changed>, StoreError> {
    let mut all = Changed::default();
    if since == until {
        return Ok(Some(all));
    }
    let sql = "FROM collection_changes WHERE collection_id = $1 AND version > $2 ORDER BY version";
    let entries: Vec<Entry> = session.select(sql, args![id.0, since.version]).await?;
    let is_whole = until.version.checked_sub(since.version) == Some(entries.len() as u64);
    if !is_whole || entries.first().is_none_or(|first| first.follows != since.stamp) {
        return Ok(None);
    }
    for entry in entries {
        all.merge(entry.changed);
    }
    Ok(Some(all))
}

async fn read(
    session: &mut Session<'_>,
    id: CollectionId,
    Mark { version, stamp }: Mark,
    changed: Changed,
) -> Result<Changes, StoreError> {
    let contract = if changed.contract { read_contract(session, id).await? } else { None };
    let tokens = read_tokens(session, id, changed.tokens).await?;
    let balances = present_balances(session, id, changed.balances).await?;
    let orders = read_orders(session, id, changed.orders.iter().cloned()).await?;
    let all_there = orders.len() == changed.orders.len();
    let gone_orders = if all_there { Vec::new() } else { gone_orders(&orders, changed.orders) };
    Ok(Changes { version, stamp, contract, tokens, balances, orders, gone_orders })
}

/// Balances that changed as they are by now: those that are gone are zero.
pub(crate) async fn present_balances(
    session: &mut Session<'_>,
    id: CollectionId,
    changed: Vec<(TokenId, Address)>,
) -> Result<Vec<Balance>, StoreError> {
    let mut balances = read_balances(session, id, changed.iter().copied()).await?;
    if balances.len() < changed.len() {
        let gone = gone_balances(&balances, changed);
        balances.extend(gone);
    }
    Ok(balances)
}

fn gone_balances(found: &[Balance], changed: Vec<(TokenId, Address)>) -> Vec<Balance> {
    let found: BTreeSet<(TokenId, Address)> =
        found.iter().map(|held| (held.token_id, held.account)).collect();
    let gone = changed.into_iter().filter(|key| !found.contains(key));
    gone.map(|(token_id, account)| Balance { token_id, account, balance: Amount::ZERO }).collect()
}

fn gone_orders(found: &[OrderFacts], changed: Vec<OrderKey>) -> Vec<OrderKey> {
    let found: BTreeSet<OrderKey> = found.iter().map(OrderFacts::key).collect();
    changed.into_iter().filter(|key| !found.contains(key)).collect()
}
