//! Taking the next blocks of a chain.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bourse_wire::{Address, ChainId};

use super::aside::{self, Lost, Reach};
use super::orders::Concerned;
use super::rewind::rewind;
use super::state::{Checkpoint, hold, keep_blocks, move_checkpoint, read_followed};
use super::write::Work;
use super::{BlockFacts, Blocks, BlocksCommitted, ChainError, Followed};
use crate::args::args;
use crate::collections::CollectionId;
use crate::session::Session;
use crate::{Pending, Store, StoreError};

impl Store {
    /// Takes the next blocks of a chain, after undoing those that are no longer part of it, in one transaction. What
    /// they state of collections that are not live is left to their history.
    ///
    /// On a cluster, collections that the blocks concern and that are on a node that is away are set aside in the same
    /// transaction: they are live no more, and what they lack is read as their history once the node is back.
    pub fn commit_blocks(&self, batch: Blocks) -> Pending<'_, BlocksCommitted> {
        let (chain, oldest) = (batch.chain, oldest_to_prune(&batch));
        Box::pin(async move {
            let committed = self.commit_within_reach(batch).await?;
            if let (BlocksCommitted::Done { .. }, Some(oldest)) = (&committed, oldest) {
                self.prune_undo(chain, oldest).await;
            }
            Ok(committed)
        })
    }

    /// The same where some collections are known to be out of reach, if any, as a node of the cluster is: nothing of them is read or
    /// written. Nothing is told of them where every node is there.
    pub fn commit_blocks_without(
        &self,
        batch: Blocks,
        lost: Option<BTreeSet<CollectionId>>,
    ) -> Pending<'_, BlocksCommitted> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move { commit(&mut session, batch, &lost, changes_kept).await })
        })
    }

    /// Forgets what it takes to undo blocks that never will be, of whichever collections. That asks all nodes of a cluster, so it is
    /// no part of what follows a chain: where one is away, it is forgotten later. Of a collection that is not live, blocks may be
    /// yet to be undone that were taken back while it could not be reached, however long ago.
    async fn prune_undo(&self, chain: ChainId, oldest: u64) {
        let pruning = self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM chain_undo WHERE number <= $2 AND collection_id IN
                    (SELECT collection_id FROM followed_collections WHERE chain_id = $1 AND live = $3)";
                session.execute(sql, args![chain, oldest, true]).await.map(drop)
            })
        });
        if let Err(error) = self.patiently(pruning).await {
            error.log("forgetting what blocks replaced that are settled");
        }
    }
}

/// Blocks after which it is looked for what of collections is to be forgotten that no block states anything of any more.
const PRUNE_BLOCKS: u64 = 32;

/// The block up to which a batch has it forgotten everywhere what blocks replaced; seldom is there one.
fn oldest_to_prune(batch: &Blocks) -> Option<u64> {
    let (first, newest) = (batch.blocks.first()?.block.number, batch.blocks.last()?.block.number);
    let is_due = first / PRUNE_BLOCKS != (newest + 1) / PRUNE_BLOCKS;
    is_due.then(|| newest.saturating_sub(batch.window))
}

async fn commit(
    session: &mut Session<'_>,
    batch: Blocks,
    lost: &Lost,
    changes_kept: u64,
) -> Result<BlocksCommitted, StoreError> {
    let Blocks { chain, expected, rewind_to, blocks, covered, window } = batch;
    let Some(mut checkpoint) = hold(session, chain).await?.filter(|held| held.hash == expected) else {
        return Ok(BlocksCommitted::Moved);
    };
    let mut followed = live(session, chain, checkpoint).await?;
    let covered: HashSet<Address> = covered.into_iter().collect();
    if followed.iter().any(|collection| !covered.contains(&collection.key.address)) {
        return Ok(BlocksCommitted::Uncovered);
    }
    let mut works: BTreeMap<CollectionId, Work> = BTreeMap::new();
    let rewind_to = rewind_to.filter(|to| *to != checkpoint.number);
    let set_aside = aside::concerned(&followed, &blocks, rewind_to.is_some(), lost);
    aside::set_aside(session, &set_aside, checkpoint.number + 1).await?;
    followed.retain(|collection| !set_aside.contains(&collection.id));
    let reach = Reach::without(session, chain, lost).await?;
    if let Some(to) = rewind_to {
        checkpoint = rewind(session, chain, (to, &reach), &mut works).await?;
        followed = live(session, chain, checkpoint).await?;
    }
    let newest = follow_on(checkpoint, &blocks)?;
    let oldest = newest.number.saturating_sub(window);
    let headers = blocks.iter().map(|facts| facts.block).filter(|block| block.number >= oldest).collect();
    keep_blocks(session, chain, headers).await?;
    let ids = followed.iter().map(|collection| (collection.key.address, collection.id)).collect();
    let concerned = Concerned::by(session, &ids, &blocks, &reach).await?;
    for (id, blocks) in by_collection(&ids, &concerned, blocks) {
        works.entry(id).or_insert_with(|| Work::on(chain)).apply(session, id, blocks, oldest).await?;
    }
    move_checkpoint(session, chain, newest).await?;
    let sql = "DELETE FROM chain_blocks WHERE chain_id = $1 AND number < $2";
    session.execute(sql, args![chain, oldest]).await?;
    let mut changed = 0;
    for (id, work) in works {
        changed += work.finish(session, id, changes_kept).await?;
    }
    Ok(BlocksCommitted::Done { changed, set_aside: set_aside.len() })
}

/// The collections that move on with a chain.
async fn live(
    session: &mut Session<'_>,
    chain: ChainId,
    checkpoint: Checkpoint,
) -> Result<Vec<Followed>, StoreError> {
    let mut followed = read_followed(session, chain, Some(checkpoint)).await?;
    followed.retain(|collection| collection.live);
    Ok(followed)
}

/// The last of blocks that follow on a checkpoint, each on the one before it.
fn follow_on(checkpoint: Checkpoint, blocks: &[BlockFacts]) -> Result<Checkpoint, ChainError> {
    blocks.iter().try_fold(checkpoint, |last, BlockFacts { block, .. }| {
        if block.parent != last.hash || block.number != last.number + 1 {
            let (number, parent) = (block.number, block.parent);
            return Err(ChainError::NotAdjacent { number, parent, expected: last.hash });
        }
        Ok(block.into())
    })
}

/// What blocks state of each of these collections.
fn by_collection(
    ids: &HashMap<Address, CollectionId>,
    concerned: &Concerned,
    blocks: Vec<BlockFacts>,
) -> BTreeMap<CollectionId, Vec<BlockFacts>> {
    let mut all: BTreeMap<CollectionId, Vec<BlockFacts>> = BTreeMap::new();
    for BlockFacts { block, facts } in blocks {
        for stated in facts {
            let id = ids.get(&stated.collection).filter(|id| concerned.includes(**id, &stated.fact));
            let Some(id) = id else { continue };
            let of_collection = all.entry(*id).or_default();
            match of_collection.last_mut() {
                Some(last) if last.block.number == block.number => last.facts.push(stated),
                _ => of_collection.push(BlockFacts { block, facts: vec![stated] }),
            }
        }
    }
    all
}
