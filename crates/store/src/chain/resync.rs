//! Starting over.

use bourse_wire::{ChainId, Timestamp};

use super::standing;
use super::state::{hold, read_followed};
use crate::args::args;
use crate::attributions::{Author, Authorship};
use crate::audit::{self, Act, Actor, Entry};
use crate::collections::{self, CollectionId};
use crate::commit::{Changed, NextVersion, forget_changes, raise_version};
use crate::session::Session;
use crate::{Pending, Store, StoreError, feed, market_projects};

impl Store {
    /// Forgets how far a chain is followed and everything it stated, so that its collections are read anew. Tokens stay,
    /// with what was fetched of them.
    pub fn resync_chain(&self, chain: ChainId, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| Box::pin(async move { resync(&mut session, chain, actor).await }))
    }
}

async fn resync(session: &mut Session<'_>, chain: ChainId, actor: Actor) -> Result<(), StoreError> {
    audit::put(session, &actor, Entry::new(Act::ChainResynced, format!("chain {chain}"))).await?;
    hold(session, chain).await?;
    standing::enqueue_after(session, chain, 0).await?;
    let sql = "UPDATE followed_collections SET next_block = from_block, live = $2 WHERE chain_id = $1";
    session.execute(sql, args![chain, false]).await?;
    for followed in read_followed(session, chain, None).await? {
        forget(session, followed.id, actor.at).await?;
    }
    session.execute("DELETE FROM chain_blocks WHERE chain_id = $1", args![chain]).await?;
    session.execute("DELETE FROM chains WHERE chain_id = $1", args![chain]).await.map(drop)
}

/// Forgets what a chain stated of a collection. Orders of the service's own marketplaces are stated by chains only, and
/// the name of an activity that a log told of begins with its transaction. What happened to orders of others is not told
/// again.
pub(super) async fn forget(
    session: &mut Session<'_>,
    id: CollectionId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let before = collections::hold(session, id).await?;
    market_projects::keep_counted(session, id).await?;
    for what in [
        "chain_undo WHERE collection_id = $1",
        "approvals WHERE collection_id = $1",
        "token_approvals WHERE collection_id = $1",
        "balances WHERE collection_id = $1",
        "orders WHERE collection_id = $1 AND marketplace IN (1, 2)",
        "activities WHERE collection_id = $1 AND marketplace IN (0, 1, 2)
            AND tx_hash <> '' AND unique_hash LIKE tx_hash || ':%'",
    ] {
        session.execute(format!("DELETE FROM {what}"), args![id.0]).await?;
    }
    feed::retract(session, id, None).await?;
    let (changed, authorship) = (Changed::default(), Authorship::new(Author::Operator, at));
    let next = NextVersion { before, changed: &changed, authorship: &authorship, changes_kept: 0 };
    raise_version(session, id, next).await?;
    forget_changes(session, id).await
}
