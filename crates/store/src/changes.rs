//! Reading what changed in a collection.

use bourse_wire::OrderFacts;

use crate::StoreError;
use crate::args::args;
use crate::backend::Store;
use crate::collections::{
    CollectionId, StoredToken, read_balances, read_contract, read_tokens, read_version,
};
use crate::commit::Changed;
use crate::load::Balance;
use crate::orders::read_orders;
use crate::session::Session;

/// The present state of everything that changed after a version. Nothing is ever deleted, so this is all there is to
/// take over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The version this leads to.
    pub version: u64,
    /// Contract information as JSON text, when it changed.
    pub contract: Option<String>,
    /// Tokens that changed.
    pub tokens: Vec<StoredToken>,
    /// Balances that changed.
    pub balances: Vec<Balance>,
    /// Orders that changed.
    pub orders: Vec<OrderFacts>,
}

impl Store {
    /// What changed after a version, read from one state of the database; `None` when the change log no longer has
    /// all of it and everything must be loaded.
    pub async fn changes(&self, id: CollectionId, since: u64) -> Result<Option<Changes>, StoreError> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let version = read_version(&mut session, id).await?;
                match changed_between(&mut session, id, since, version).await? {
                    None => Ok(None),
                    Some(changed) => read(&mut session, id, version, changed).await.map(Some),
                }
            })
        })
        .await
    }
}

/// What changed after one version and up to another, or `None` when the log no longer has all of it.
async fn changed_between(
    session: &mut Session<'_>,
    id: CollectionId,
    since: u64,
    version: u64,
) -> Result<Option<Changed>, StoreError> {
    let sql =
        "SELECT changed FROM collection_changes WHERE collection_id = $1 AND version > $2 ORDER BY version";
    let rows = session.all(sql, args![id.0, since]).await?;
    if rows.len() as u64 != version.saturating_sub(since) {
        return Ok(None);
    }
    let mut all = Changed::default();
    for row in &rows {
        all.merge(row.json(0, "change")?);
    }
    Ok(Some(all))
}

async fn read(
    session: &mut Session<'_>,
    id: CollectionId,
    version: u64,
    changed: Changed,
) -> Result<Changes, StoreError> {
    Ok(Changes {
        version,
        contract: if changed.contract { read_contract(session, id).await? } else { None },
        tokens: read_tokens(session, id, changed.tokens).await?,
        balances: read_balances(session, id, changed.balances).await?,
        orders: read_orders(session, id, changed.orders).await?,
    })
}
