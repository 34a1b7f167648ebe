//! Which collections are followed, and how far.

use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{ChainId, Error, ProjectId, Timestamp};

use super::resync::forget;
use super::state::{
    FollowedRow, blocks_from, hold, hold_followed, is_followed, keep_blocks, read_checkpoint, read_followed,
    read_following, text,
};
use super::undo::{Undo, Undone};
use super::{ChainState, Followed, leave, standing, tokens};
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::collections::{self, find, find_or_create, read_contract};
use crate::columns::{Insert, or_nothing, record, selection};
use crate::metadata_queue::enqueue;
use crate::session::Session;
use crate::{
    CollectionId, CollectionKey, Pending, ProjectScope, Store, StoreError, market_projects, projects,
};

/// A collection that a project wants to be followed.
#[derive(Clone, Copy, Debug)]
pub struct ProjectFollow {
    /// Its contract and chain.
    pub key: CollectionKey,
    /// The first block to read.
    pub from: u64,
    /// The most collections that the project may follow; `None` where the operator asks on its behalf.
    pub most: Option<u64>,
}

record! {
    /// That a project asked for a collection to be followed.
    struct FollowerRow: "collection_followers" ("project_id, collection_id") {
        project_id: ProjectId,
        collection_id: CollectionId,
        followed_at: Timestamp,
    }
}

impl Store {
    /// Follows a collection from a block on, for the operator. Again, or from a later block, changes nothing. From an
    /// earlier one, it is read anew from there: what was read is applied in the order of blocks, so that nothing can be put
    /// before it.
    pub fn follow(&self, key: CollectionKey, from: u64, actor: Actor) -> Pending<'_, CollectionId> {
        self.write(move |mut session| {
            Box::pin(async move {
                let (id, is_new) = follow(&mut session, key, from, true, actor.at).await?;
                if is_new {
                    audit::put(&mut session, &actor, entry(key, from)).await?;
                }
                Ok(id)
            })
        })
    }

    /// The same for a project, into whose market the collection comes; tells how far it is. Refused when the project follows
    /// as many as it may.
    pub fn follow_for(
        &self,
        scope: ProjectScope,
        follow: ProjectFollow,
        actor: Actor,
    ) -> Pending<'_, Followed> {
        self.write(move |mut session| {
            Box::pin(async move { follow_for(&mut session, scope.project(), follow, &actor).await })
        })
    }

    /// Follows a collection that something happened to, as the settings of its network want it; unless the operator stopped
    /// following it.
    pub fn discover(&self, key: CollectionKey, from: u64, now: Timestamp) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                hold(&mut session, key.chain).await?;
                if let Some(id) = find(&mut session, key).await?
                    && (is_followed(&mut session, id).await? || leave::is_left(&mut session, id).await?)
                {
                    return Ok(());
                }
                // Such collections may be many, and nobody administers them: they are not in the audit log.
                follow(&mut session, key, from, true, now).await.map(drop)
            })
        })
    }

    /// The first block of a chain that was not looked through for collections, of those from one on; `None` before any was.
    pub fn looked_back(&self, chain: ChainId, from: u64) -> Pending<'_, Option<u64>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT revision FROM revisions WHERE name = $1";
                session.value(sql, args![look_back_name(chain, from)]).await
            })
        })
    }

    /// Keeps which block that is.
    pub fn set_looked_back(&self, chain: ChainId, from: u64, next: u64) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "INSERT INTO revisions (name, revision) VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET revision = excluded.revision";
                session.execute(sql, args![look_back_name(chain, from), next]).await.map(drop)
            })
        })
    }

    /// The collections of a chain that are followed, in the order of their ids.
    pub fn followed(&self, chain: ChainId) -> Pending<'_, Vec<Followed>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let checkpoint = read_checkpoint(&mut session, chain).await?;
                read_followed(&mut session, chain, checkpoint).await
            })
        })
    }

    /// The collections of all chains that are followed.
    pub fn followed_everywhere(&self) -> Pending<'_, Vec<CollectionKey>> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql = "FROM followed_collections followed
                    JOIN collections ON collections.collection_id = followed.collection_id";
                session.select(sql, args![]).await
            })
        })
    }

    /// How far one collection is followed; `None` when it is not.
    pub fn following(&self, key: CollectionKey) -> Pending<'_, Option<Followed>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let Some(id) = find(&mut session, key).await? else { return Ok(None) };
                let checkpoint = read_checkpoint(&mut session, key.chain).await?;
                read_following(&mut session, id, checkpoint).await
            })
        })
    }

    /// How far a chain is followed; `None` before it is started.
    pub fn chain_state(&self, chain: ChainId) -> Pending<'_, Option<ChainState>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let window = blocks_from(&mut session, chain, 0).await?;
                Ok(window.last().copied().map(|checkpoint| ChainState { checkpoint, window }))
            })
        })
    }

    /// Height and name of the newest block that is stored of a chain; `None` before it is started.
    pub fn checkpoint(&self, chain: ChainId) -> Pending<'_, Option<(u64, BlockHash)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let checkpoint = read_checkpoint(&mut session, chain).await?;
                Ok(checkpoint.map(|checkpoint| (checkpoint.number, checkpoint.hash)))
            })
        })
    }

    /// Starts to follow a chain at a block, unless that was done before.
    pub fn start_chain(&self, chain: ChainId, at: Block) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql =
                    "INSERT INTO chains (chain_id, checkpoint_number, checkpoint_hash) VALUES ($1, $2, $3)
                    ON CONFLICT (chain_id) DO NOTHING";
                if session.execute(sql, args![chain, at.number, text(at.hash)]).await? == 0 {
                    return Ok(());
                }
                keep_blocks(&mut session, chain, vec![at]).await
            })
        })
    }
}

/// That a collection is followed from a block on.
fn entry(key: CollectionKey, from: u64) -> Entry {
    Entry::new(Act::CollectionFollowed, key).with(format_args!("from block {from}"))
}

/// Follows a collection; tells whether it was not, or from a later block on.
async fn follow(
    session: &mut Session<'_>,
    key: CollectionKey,
    from: u64,
    by_operator: bool,
    now: Timestamp,
) -> Result<(CollectionId, bool), StoreError> {
    // Whoever follows the chain writes nothing meanwhile.
    hold(session, key.chain).await?;
    let id = find_or_create(session, key).await?;
    // And of those who come and go, one does at a time: a chain that nobody started cannot be held.
    collections::hold(session, id).await?;
    if let Some(row) = hold_followed(session, id).await? {
        if by_operator {
            let sql = "UPDATE followed_collections SET by_operator = $2 WHERE collection_id = $1";
            session.execute(sql, args![id.0, true]).await?;
        }
        return move_start(session, id, &row, from, now).await.map(|is_new| (id, is_new));
    }
    let sql = "INSERT INTO followed_collections
        (collection_id, chain_id, from_block, next_block, live, followed_at, by_operator)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    session.execute(sql, args![id.0, key.chain, from, from, false, now, by_operator]).await?;
    if leave::come_back(session, id).await? {
        // What others said of it since is not what its chain says.
        forget(session, id, now).await?;
        standing::enqueue_open(session, id).await?;
    }
    // What somebody else told of the contract is not replaced by what it says of itself.
    if read_contract(session, id).await?.is_none() {
        enqueue(session, id, &[None], now).await?;
    }
    Ok((id, true))
}

/// Has a collection that is followed be read from an earlier block on, if that is earlier; tells whether it is.
async fn move_start(
    session: &mut Session<'_>,
    id: CollectionId,
    row: &FollowedRow,
    from: u64,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if row.from_block <= from {
        return Ok(false);
    }
    let sql = "UPDATE followed_collections SET from_block = $2, next_block = $3, live = $4
        WHERE collection_id = $1";
    session.execute(sql, args![id.0, from, from, false]).await?;
    if row.live || row.next_block != row.from_block {
        unmake(session, id).await?;
        forget(session, id, now).await?;
        standing::enqueue_open(session, id).await?;
    }
    Ok(true)
}

/// Deletes the tokens that blocks made which may still be taken back: they are made again as those are read again, so that
/// they can be undone again.
async fn unmake(session: &mut Session<'_>, id: CollectionId) -> Result<(), StoreError> {
    selection! {
        struct UndoRow {
            before: Undo,
        }
    }
    let rows: Vec<UndoRow> = session.select("FROM chain_undo WHERE collection_id = $1", args![id.0]).await?;
    let mut undone = Undone::default();
    for UndoRow { before } in rows {
        undone.add(before)?;
    }
    for token in undone.tokens {
        tokens::unmake(session, id, token).await?;
    }
    Ok(())
}

async fn follow_for(
    session: &mut Session<'_>,
    project: ProjectId,
    ProjectFollow { key, from, most }: ProjectFollow,
    actor: &Actor,
) -> Result<Followed, StoreError> {
    // Of two requests of one project, the second counts what the first began to follow.
    projects::hold(session, project).await?;
    if let Some(most) = most {
        check_cap(session, project, key, most).await?;
    }
    let (id, is_new) = follow(session, key, from, false, actor.at).await?;
    if is_new || !leave::is_follower(session, project, id).await? {
        audit::put(session, actor, entry(key, from).of(project)).await?;
    }
    let row = FollowerRow { project_id: project, collection_id: id, followed_at: actor.at };
    session.insert(Insert::of([row])?, &or_nothing::<FollowerRow>()).await?;
    market_projects::join(session, project, id).await?;
    let checkpoint = read_checkpoint(session, key.chain).await?;
    let followed = read_following(session, id, checkpoint).await?;
    followed.ok_or_else(|| StoreError::corrupt("followed collection", "made and gone"))
}

/// Refuses one more collection than a project may follow.
async fn check_cap(
    session: &mut Session<'_>,
    project: ProjectId,
    key: CollectionKey,
    most: u64,
) -> Result<(), StoreError> {
    if let Some(id) = find(session, key).await?
        && leave::is_follower(session, project, id).await?
    {
        return Ok(());
    }
    let sql = "SELECT COUNT(*) FROM collection_followers WHERE project_id = $1";
    let count: u64 = session.value(sql, args![project]).await?.unwrap_or(0);
    if count < most {
        return Ok(());
    }
    let message = format!(
        "project {project} follows {count} collections, and {most} is the most: stop following one with \
        `Admin/DeleteCollection`, or have the operator raise `limits.followed_collections_max`"
    );
    Err(Error::conflict(message).into())
}

/// What it is kept under how far the blocks of a chain were looked through. Whoever wants earlier ones begins anew.
fn look_back_name(chain: ChainId, from: u64) -> String {
    format!("looked_back {chain} {from}")
}
