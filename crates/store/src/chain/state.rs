//! How far chains are followed: reading it, and holding it.

use alloy_primitives::B256;
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::ChainId;

use super::Followed;
use crate::StoreError;
use crate::args::args;
use crate::collections::{CollectionId, CollectionKey};
use crate::row::Row;
use crate::session::Session;

/// The newest block that is known of a chain.
#[derive(Clone, Copy)]
pub(super) struct Checkpoint {
    pub(super) number: u64,
    pub(super) hash: BlockHash,
}

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
    let sql = "UPDATE chains SET checkpoint_number = checkpoint_number WHERE chain_id = $1
        RETURNING checkpoint_number, checkpoint_hash";
    checkpoint(session.first(sql, args![chain]).await?)
}

/// How far a chain is followed, without holding it.
pub(super) async fn read_checkpoint(
    session: &mut Session<'_>,
    chain: ChainId,
) -> Result<Option<Checkpoint>, StoreError> {
    let sql = "SELECT checkpoint_number, checkpoint_hash FROM chains WHERE chain_id = $1";
    checkpoint(session.first(sql, args![chain]).await?)
}

fn checkpoint(row: Option<Row>) -> Result<Option<Checkpoint>, StoreError> {
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Checkpoint { number: row.u64(0, "block number")?, hash: row.parse(1, "block hash")? }))
}

/// The blocks that are kept from one on, oldest first.
pub(super) async fn blocks_from(
    session: &mut Session<'_>,
    chain: ChainId,
    from: u64,
) -> Result<Vec<Block>, StoreError> {
    let sql = "SELECT number, hash, parent, at FROM chain_blocks WHERE chain_id = $1 AND number >= $2
        ORDER BY number";
    session.all(sql, args![chain, from]).await?.iter().map(block).collect()
}

fn block(row: &Row) -> Result<Block, StoreError> {
    Ok(Block {
        number: row.u64(0, "block number")?,
        hash: row.parse(1, "block hash")?,
        parent: row.parse(2, "block hash")?,
        at: row.parse(3, "block time")?,
    })
}

/// The oldest block that is kept: a rewind may go back to it, and undo those after it.
pub(super) async fn oldest_kept(session: &mut Session<'_>, chain: ChainId) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MIN(number), 0) FROM chain_blocks WHERE chain_id = $1";
    session.first(sql, args![chain]).await?.map_or(Ok(0), |row| row.u64(0, "block number"))
}

/// Adds blocks to those that are kept.
pub(super) async fn keep_blocks(
    session: &mut Session<'_>,
    chain: ChainId,
    blocks: Vec<Block>,
) -> Result<(), StoreError> {
    let rows = blocks
        .into_iter()
        .map(|block| args![chain, block.number, text(block.hash), text(block.parent), block.at])
        .collect();
    let head = "INSERT INTO chain_blocks (chain_id, number, hash, parent, at)";
    session.insert(head, "", rows).await.map(drop)
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

const FOLLOWED: &str = "SELECT followed.collection_id, contract_address, from_block, next_block, live
    FROM followed_collections followed JOIN collections ON collections.collection_id = followed.collection_id";

/// The followed collections of a chain, in the order of their ids. Live ones stand where the chain does.
pub(super) async fn read_followed(
    session: &mut Session<'_>,
    chain: ChainId,
    checkpoint: Option<Checkpoint>,
) -> Result<Vec<Followed>, StoreError> {
    let sql = format!("{FOLLOWED} WHERE followed.chain_id = $1 ORDER BY followed.collection_id");
    let rows = session.all(sql, args![chain]).await?;
    rows.iter().map(|row| followed(row, chain, checkpoint.as_ref())).collect()
}

/// One followed collection.
pub(super) async fn read_following(
    session: &mut Session<'_>,
    (id, chain): (CollectionId, ChainId),
    checkpoint: Option<Checkpoint>,
) -> Result<Option<Followed>, StoreError> {
    let sql = format!("{FOLLOWED} WHERE followed.collection_id = $1");
    let row = session.first(sql, args![id.0]).await?;
    row.map(|row| followed(&row, chain, checkpoint.as_ref())).transpose()
}

fn followed(row: &Row, chain: ChainId, checkpoint: Option<&Checkpoint>) -> Result<Followed, StoreError> {
    let live = row.bool(4)?;
    let stored = row.u64(3, "block number")?;
    let after_checkpoint = checkpoint.map(|checkpoint| checkpoint.number + 1);
    Ok(Followed {
        id: CollectionId(row.u64(0, "collection id")?),
        key: CollectionKey { chain, address: row.parse(1, "contract address")? },
        from: row.u64(2, "block number")?,
        next_block: after_checkpoint.filter(|_| live).unwrap_or(stored),
        live,
    })
}

/// A hash as it is stored.
pub(super) fn text(hash: B256) -> String {
    hash.to_string()
}
