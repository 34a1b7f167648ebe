//! Reading what older blocks state of one collection.

use std::collections::HashMap;

use bourse_market::facts::{Block, BlockHash};
use bourse_wire::ChainId;

use super::rewind::{has_missed, undo_missed};
use super::state::{Checkpoint, blocks_from, hold, hold_followed, oldest_kept, read_checkpoint};
use super::write::Work;
use super::{BlockFacts, ChainError, History, HistoryCommitted};
use crate::args::args;
use crate::collections::{CollectionId, find};
use crate::session::Session;
use crate::{Pending, Store, StoreError};

/// Versions of the change log that are kept while history is read: each has thousands of keys, and followers are never
/// far behind.
const CHANGES_KEPT: u64 = 64;

impl Store {
    /// Takes what a range of blocks up to the checkpoint states of a collection that is not live, in one transaction.
    pub fn commit_history(&self, batch: History) -> Pending<'_, HistoryCommitted> {
        let (changes_kept, collection) = (self.options.changes_kept.min(CHANGES_KEPT), batch.collection);
        let is_distributed = self.is_distributed();
        let committing = self.write(move |mut session| {
            Box::pin(async move { commit(&mut session, batch, (is_distributed, changes_kept)).await })
        });
        let is_lost = move || async move {
            let Ok(Some(id)) = self.collection(collection).await else { return false };
            self.out_of_reach(vec![id]).await.is_ok_and(|lost| !lost.is_empty())
        };
        Box::pin(self.unless(is_lost, committing))
    }
}

async fn commit(
    session: &mut Session<'_>,
    batch: History,
    (is_distributed, changes_kept): (bool, u64),
) -> Result<HistoryCommitted, StoreError> {
    check_order(&batch)?;
    let chain = batch.collection.chain;
    let Some((checkpoint, oldest)) = chain_at(session, chain, batch.to).await? else {
        return Ok(HistoryCommitted::Stale);
    };
    // Somebody may have stopped following it since it was asked about.
    let Some(id) = find(session, batch.collection).await? else { return Ok(HistoryCommitted::Stale) };
    let Some(progress) = hold_followed(session, id).await? else { return Ok(HistoryCommitted::Stale) };
    if progress.live || progress.next_block != batch.from || batch.to > checkpoint.number {
        return Ok(HistoryCommitted::Stale);
    }
    if !is_on_chain(session, chain, oldest, &batch.blocks).await? {
        return Ok(HistoryCommitted::Forked);
    }
    let undo_above = oldest.min(checkpoint.number.saturating_sub(batch.window));
    let live = batch.to == checkpoint.number;
    let mut work = Work::on(chain);
    // On a cluster there may be what its node does not show yet.
    if is_distributed || has_missed(session, id, batch.from).await? {
        undo_missed(session, id, (chain, batch.from), &mut work).await?;
    }
    work.apply(session, id, batch.blocks, undo_above).await?;
    move_on(session, id, batch.to + 1, live).await?;
    let changed = work.finish(session, id, changes_kept).await?;
    Ok(HistoryCommitted::Done { live, changed })
}

fn check_order(batch: &History) -> Result<(), ChainError> {
    let mut next = batch.from;
    for BlockFacts { block, .. } in &batch.blocks {
        if block.number < next || block.number > batch.to {
            return Err(ChainError::OutOfRange { number: block.number });
        }
        next = block.number + 1;
    }
    if batch.to < batch.from { Err(ChainError::OutOfRange { number: batch.to }) } else { Ok(()) }
}

/// How far the chain is followed, and the oldest block that is kept of it. When blocks that may still be undone are
/// concerned the chain is held; else collections need not wait for each other.
async fn chain_at(
    session: &mut Session<'_>,
    chain: ChainId,
    to: u64,
) -> Result<Option<(Checkpoint, u64)>, StoreError> {
    let Some(checkpoint) = read_checkpoint(session, chain).await? else { return Ok(None) };
    let oldest = oldest_kept(session, chain).await?;
    if to < oldest {
        return Ok(Some((checkpoint, oldest)));
    }
    let Some(checkpoint) = hold(session, chain).await? else { return Ok(None) };
    Ok(Some((checkpoint, oldest_kept(session, chain).await?)))
}

/// Whether those of the blocks that are kept are the same ones.
async fn is_on_chain(
    session: &mut Session<'_>,
    chain: ChainId,
    oldest: u64,
    blocks: &[BlockFacts],
) -> Result<bool, StoreError> {
    let younger: Vec<Block> =
        blocks.iter().map(|facts| facts.block).filter(|block| block.number >= oldest).collect();
    let Some(first) = younger.first() else { return Ok(true) };
    let kept = blocks_from(session, chain, first.number).await?;
    let kept: HashMap<u64, BlockHash> = kept.into_iter().map(|block| (block.number, block.hash)).collect();
    Ok(younger.iter().all(|block| kept.get(&block.number) == Some(&block.hash)))
}

async fn move_on(
    session: &mut Session<'_>,
    id: CollectionId,
    next: u64,
    live: bool,
) -> Result<(), StoreError> {
    let sql = "UPDATE followed_collections SET next_block = $2, live = $3 WHERE collection_id = $1";
    session.execute(sql, args![id.0, next, live]).await.map(drop)
}
