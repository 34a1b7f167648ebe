//! No longer following a collection.
//!
//! Its tokens, its history and what happened to orders that are over stay as they are. What only its chain can vouch for
//! goes, or is not offered any more: nobody would notice when it is no longer so.

use bourse_wire::{Address, Amount, ChainId, Code, Error, OrderStatus, ProjectId, Timestamp};

use super::state::hold;
use crate::args::args;
use crate::attributions::{Author, Authorship};
use crate::audit::{self, Act, Actor, Entry};
use crate::collections::{self, CollectionId, CollectionKey, find};
use crate::columns::{Insert, or_nothing, record, selection};
use crate::commit::{Changed, NextVersion, forget_changes, raise_version};
use crate::session::Session;
use crate::{Pending, ProjectScope, Store, StoreError};

record! {
    /// That a collection is left alone.
    struct LeftCollection: "left_collections" ("collection_id") {
        chain_id: ChainId,
        left_at: Timestamp,
        by_operator: bool,
    }
}

impl Store {
    /// Stops following a collection, whoever asked for it. It is followed again when somebody says so, not because something
    /// happens to it.
    pub fn unfollow(&self, key: CollectionKey, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                hold(&mut session, key.chain).await?;
                let id = find(&mut session, key).await?.ok_or_else(|| not_followed(key))?;
                collections::hold(&mut session, id).await?;
                let sql = "DELETE FROM followed_collections WHERE collection_id = $1";
                if session.execute(sql, args![id.0]).await? == 0 {
                    return Err(not_followed(key));
                }
                let sql = "DELETE FROM collection_followers WHERE collection_id = $1";
                session.execute(sql, args![id.0]).await?;
                audit::put(&mut session, &actor, entry(key)).await?;
                let left = LeftCollection { chain_id: key.chain, left_at: actor.at, by_operator: true };
                leave(&mut session, id, left).await
            })
        })
    }

    /// Stops following a collection for a project. It goes on being followed while another project asks for it, or the
    /// operator.
    pub fn unfollow_for(&self, scope: ProjectScope, key: CollectionKey, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move { unfollow_for(&mut session, scope.project(), key, &actor).await })
        })
    }

    /// The projects that asked for collections to be followed, with each of these.
    pub fn followers(&self) -> Pending<'_, Vec<(CollectionId, ProjectId)>> {
        self.read(|mut session| {
            Box::pin(async move {
                selection! {
                    struct Follower {
                        collection_id: CollectionId,
                        project_id: ProjectId,
                    }
                }
                let sql = "FROM collection_followers ORDER BY collection_id, project_id";
                let rows: Vec<Follower> = session.select(sql, args![]).await?;
                Ok(rows.into_iter().map(|row| (row.collection_id, row.project_id)).collect())
            })
        })
    }

    /// Whether a project asked for a collection to be followed.
    pub fn is_follower(&self, scope: ProjectScope, id: CollectionId) -> Pending<'_, bool> {
        self.read(move |mut session| {
            Box::pin(async move { is_follower(&mut session, scope.project(), id).await })
        })
    }

    /// The contracts of a chain that the operator no longer wants to be followed.
    pub fn left_collections(&self, chain: ChainId) -> Pending<'_, Vec<Address>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT contract_address FROM left_collections JOIN collections
                    ON collections.collection_id = left_collections.collection_id
                    WHERE left_collections.chain_id = $1 AND left_collections.by_operator = $2";
                session.values(sql, args![chain, true]).await
            })
        })
    }
}

fn not_followed(key: CollectionKey) -> StoreError {
    Error::new(Code::NotFound, format!("{key} is not followed")).into()
}

/// That a collection is no longer followed, or not for a project.
fn entry(key: CollectionKey) -> Entry {
    Entry::new(Act::CollectionLeft, key)
}

async fn unfollow_for(
    session: &mut Session<'_>,
    project: ProjectId,
    key: CollectionKey,
    actor: &Actor,
) -> Result<(), StoreError> {
    hold(session, key.chain).await?;
    let not_asked_for = || {
        let message = format!("project {project} does not follow {key}");
        StoreError::from(Error::new(Code::NotFound, message))
    };
    let id = find(session, key).await?.ok_or_else(not_asked_for)?;
    // Of the last two who ask for it, the second finds that it is the last. The collection is held and not what says that
    // it is followed: what is not there cannot be held.
    collections::hold(session, id).await?;
    let sql = "DELETE FROM collection_followers WHERE project_id = $1 AND collection_id = $2";
    if session.execute(sql, args![project, id.0]).await? == 0 {
        return Err(not_asked_for());
    }
    audit::put(session, actor, entry(key).of(project)).await?;
    let sql = "SELECT project_id FROM collection_followers WHERE collection_id = $1 LIMIT 1";
    if session.has(sql, args![id.0]).await? {
        return Ok(());
    }
    let sql = "DELETE FROM followed_collections WHERE collection_id = $1 AND by_operator = $2";
    if session.execute(sql, args![id.0, false]).await? == 0 {
        return Ok(());
    }
    leave(session, id, LeftCollection { chain_id: key.chain, left_at: actor.at, by_operator: false }).await
}

/// Lets go of a collection that is no longer followed: deletes what nobody keeps up to date any more, and takes signed
/// orders off the market, until it is followed again. Whoever calls this holds the chain.
async fn leave(session: &mut Session<'_>, id: CollectionId, left: LeftCollection) -> Result<(), StoreError> {
    let before = collections::hold(session, id).await?;
    for what in ["chain_undo", "approvals", "token_approvals", "balances", "standing_queue"] {
        session.execute(format!("DELETE FROM {what} WHERE collection_id = $1"), args![id.0]).await?;
    }
    let active = OrderStatus::Active.number();
    let sql = "DELETE FROM orders WHERE collection_id = $1 AND marketplace IN (1, 2) AND status = $2
        AND quantity_remaining <> $3";
    session.execute(sql, args![id.0, active, Amount::ZERO]).await?;
    let sql =
        "UPDATE orders SET backing = $3 WHERE collection_id = $1 AND status = $2 AND native IS NOT NULL";
    session.execute(sql, args![id.0, active, Amount::ZERO]).await?;
    let (changed, authorship) = (Changed::default(), Authorship::new(Author::Operator, left.left_at));
    session.insert(Insert::owned(id, [left])?, &or_nothing::<LeftCollection>()).await?;
    let next = NextVersion { before, changed: &changed, authorship: &authorship, changes_kept: 0 };
    raise_version(session, id, next).await?;
    forget_changes(session, id).await
}

/// Forgets that a collection was left; tells whether it was.
pub(super) async fn come_back(session: &mut Session<'_>, id: CollectionId) -> Result<bool, StoreError> {
    let sql = "DELETE FROM left_collections WHERE collection_id = $1";
    Ok(session.execute(sql, args![id.0]).await? > 0)
}

/// Whether the operator no longer wants a collection to be followed.
pub(super) async fn is_left(session: &mut Session<'_>, id: CollectionId) -> Result<bool, StoreError> {
    let sql = "SELECT collection_id FROM left_collections WHERE collection_id = $1 AND by_operator = $2";
    session.has(sql, args![id.0, true]).await
}

pub(super) async fn is_follower(
    session: &mut Session<'_>,
    project: ProjectId,
    id: CollectionId,
) -> Result<bool, StoreError> {
    let sql = "SELECT project_id FROM collection_followers WHERE project_id = $1 AND collection_id = $2";
    session.has(sql, args![project, id.0]).await
}
