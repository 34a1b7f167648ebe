//! How far chains are followed: reading it, and holding it.

use alloy_primitives::B256;
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::ChainId;

use super::Followed;
use crate::StoreError;
use crate::args::args;
use crate::collections::{CollectionId, CollectionKey};
use crate::columns::{Insert, record, selection};
use crate::session::Session;

/// The newest block that is known of a chain.
#[derive(Clone, Copy)]
pub(crate) struct Checkpoint {
    pub(crate) number: u64,
    pub(crate) hash: BlockHash,
}

selection! { Checkpoint { number = "checkpoint_number", hash = "checkpoint_hash" } }

record! { Block: "chain_blocks" ("chain_id, number") { number, hash, parent, at } }

impl From<&Block> for Checkpoint {
    fn from(block: &Block) -> Self {
        Self { number: block.number, hash: block.hash }
    }
}

/// Holds a chain until the transaction ends, so that its blocks follow each other, whoever commits.
pub(super) async fn hold(
    session: &mut Session<'_>,
    chain: ChainId,
) -> Result<Option<Checkpoint>, StoreError> {
    let sql = "UPDATE chains SET checkpoint_number = checkpoint_number WHERE chain_id = $1";
    session.returning(sql, args![chain]).await
}

/// How far a chain is followed, without holding it.
pub(crate) async fn read_checkpoint(
    session: &mut Session<'_>,
    chain: ChainId,
) -> Result<Option<Checkpoint>, StoreError> {
    session.select_first("FROM chains WHERE chain_id = $1", args![chain]).await
}

/// The blocks that are kept from one on, oldest first.
pub(super) async fn blocks_from(
    session: &mut Session<'_>,
    chain: ChainId,
    from: u64,
) -> Result<Vec<Block>, StoreError> {
    let sql = "FROM chain_blocks WHERE chain_id = $1 AND number >= $2 ORDER BY number";
    session.select(sql, args![chain, from]).await
}

/// The oldest block that is kept: a rewind may go back to it, and undo those after it.
pub(super) async fn oldest_kept(session: &mut Session<'_>, chain: ChainId) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MIN(number), 0) FROM chain_blocks WHERE chain_id = $1";
    Ok(session.value(sql, args![chain]).await?.unwrap_or(0))
}

/// Adds blocks to those that are kept.
pub(super) async fn keep_blocks(
    session: &mut Session<'_>,
    chain: ChainId,
    blocks: Vec<Block>,
) -> Result<(), StoreError> {
    session.insert(Insert::owned(chain, blocks)?, "").await
}

/// Moves the checkpoint of a chain that is held.
pub(super) async fn move_checkpoint(
    session: &mut Session<'_>,
    chain: ChainId,
    to: Checkpoint,
) -> Result<(), StoreError> {
    let sql = "UPDATE chains SET checkpoint_number = $2, checkpoint_hash = $3 WHERE chain_id = $1";
    session.execute(sql, args![chain, to.number, text(to.hash)]).await.map(drop)
}

selection! {
    /// How far a collection is followed, as it is stored.
    pub(super) struct FollowedRow {
        from_block: u64,
        next_block: u64,
        live: bool,
    }
}

/// Holds how far a collection is followed until the transaction ends; `None` when it is not followed.
pub(super) async fn hold_followed(
    session: &mut Session<'_>,
    id: CollectionId,
) -> Result<Option<FollowedRow>, StoreError> {
    let sql = "UPDATE followed_collections SET next_block = next_block WHERE collection_id = $1";
    session.returning(sql, args![id.0]).await
}

/// How far a collection is followed, without holding it; `None` when it is not followed. The `next_block` of a live one is that
/// after the one it became live with.
pub(super) async fn read_progress(
    session: &mut Session<'_>,
    id: CollectionId,
) -> Result<Option<FollowedRow>, StoreError> {
    session.select_first("FROM followed_collections WHERE collection_id = $1", args![id.0]).await
}

/// Whether a collection is followed. Whoever calls this holds the collection or its chain.
pub(crate) async fn is_followed(session: &mut Session<'_>, id: CollectionId) -> Result<bool, StoreError> {
    let sql = "SELECT collection_id FROM followed_collections WHERE collection_id = $1";
    session.has(sql, args![id.0]).await
}

/// Whether a collection moves on with its chain. Whoever calls this holds the collection or its chain.
pub(crate) async fn is_live(session: &mut Session<'_>, id: CollectionId) -> Result<bool, StoreError> {
    let sql = "SELECT collection_id FROM followed_collections WHERE collection_id = $1 AND live = $2";
    session.has(sql, args![id.0, true]).await
}

const FOLLOWED: &str = "FROM followed_collections followed
    JOIN collections ON collections.collection_id = followed.collection_id";

type FollowedCollection = (CollectionId, CollectionKey, FollowedRow);

/// The followed collections of a chain, in the order of their ids. Live ones stand where the chain does.
pub(super) async fn read_followed(
    session: &mut Session<'_>,
    chain: ChainId,
    checkpoint: Option<Checkpoint>,
) -> Result<Vec<Followed>, StoreError> {
    let sql = format!("{FOLLOWED} WHERE followed.chain_id = $1 ORDER BY followed.collection_id");
    let found = session.select(sql, args![chain]).await?;
    Ok(found.into_iter().map(|found| followed(found, checkpoint.as_ref())).collect())
}

/// One followed collection.
pub(super) async fn read_following(
    session: &mut Session<'_>,
    id: CollectionId,
    checkpoint: Option<Checkpoint>,
) -> Result<Option<Followed>, StoreError> {
    let sql = format!("{FOLLOWED} WHERE followed.collection_id = $1");
    let found = session.select_first(sql, args![id.0]).await?;
    Ok(found.map(|found| followed(found, checkpoint.as_ref())))
}

fn followed((id, key, row): FollowedCollection, checkpoint: Option<&Checkpoint>) -> Followed {
    let after_checkpoint = checkpoint.map(|checkpoint| checkpoint.number + 1);
    Followed {
        id,
        key,
        from: row.from_block,
        next_block: after_checkpoint.filter(|_| row.live).unwrap_or(row.next_block),
        live: row.live,
    }
}

/// A hash as it is stored.
pub(super) fn text(hash: B256) -> String {
    hash.to_string()
}
