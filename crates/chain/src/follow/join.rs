//! The hand-over from history to live blocks: the blocks that the chain may still take back.

use std::collections::HashSet;

use bourse_market::facts::Block;
use bourse_store::{BlockFacts, Followed, History, HistoryCommitted};
use bourse_wire::Address;

use super::{Books, FollowError, FollowState, Follower};
use crate::node::Node;
use crate::pace::Pace;

/// How many collections are handed over together; they share the questions about blocks.
const COLLECTIONS_AT_ONCE: usize = 200;

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// Reads the blocks that are kept for collections that have come so far. Nothing else is committed meanwhile, and
    /// each block is asked for by its name: what is read is what was followed.
    pub(super) async fn join(&self, known: &mut FollowState) -> Result<(), FollowError> {
        let (oldest, newest) = (known.window.oldest(), known.window.checkpoint().number);
        let arrived = |followed: &&Followed| {
            !followed.live
                && (oldest..=newest).contains(&followed.next_block)
                && known.followed_at.is_some()
                && !known.away.lost.contains(&followed.id)
        };
        let arrived: Vec<Followed> =
            known.followed.iter().filter(arrived).take(COLLECTIONS_AT_ONCE).copied().collect();
        let Some(first) = arrived.iter().map(|followed| followed.next_block).min() else { return Ok(()) };
        let addresses: HashSet<Address> = arrived.iter().map(|followed| followed.key.address).collect();
        let blocks: Vec<Block> = known.window.from(first).copied().collect();
        let filter = self.reading.log_filter(&addresses, self.options.addresses_max);
        let logs = self.logs_by_block(&blocks, &filter).await?;
        let facts = self.reading.facts(&blocks, &logs, &addresses, true).await?;
        for followed in arrived {
            // With one that was lost on the way others are.
            if known.away.lost.contains(&followed.id) {
                continue;
            }
            let history = History {
                collection: followed.key,
                from: followed.next_block,
                to: newest,
                blocks: of_collection(&facts, &followed),
                window: self.options.window,
            };
            match self.commit_history(known, &followed, history).await? {
                None => {}
                Some(HistoryCommitted::Done { live, .. }) => {
                    let entry = known.followed.iter_mut().find(|entry| entry.id == followed.id);
                    if let Some(entry) = entry {
                        (entry.next_block, entry.live) = (newest + 1, live);
                    }
                }
                Some(HistoryCommitted::Stale | HistoryCommitted::Forked) => known.followed_at = None,
            }
        }
        Ok(())
    }
}

/// What blocks state of one collection. Blocks that state nothing go along: the store compares their names too.
fn of_collection(facts: &[BlockFacts], followed: &Followed) -> Vec<BlockFacts> {
    let of_it = |entry: &BlockFacts| {
        let facts = entry.facts.iter().filter(|stated| stated.collection == followed.key.address);
        BlockFacts { block: entry.block, facts: facts.cloned().collect() }
    };
    facts.iter().filter(|entry| entry.block.number >= followed.next_block).map(of_it).collect()
}
