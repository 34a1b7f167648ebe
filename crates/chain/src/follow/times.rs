//! When blocks were made, for logs whose node does not tell it along.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use bourse_market::facts::{Block, BlockHash};
use bourse_wire::Timestamp;

use crate::node::{Failure, Node, TimedLog};

/// How many blocks are remembered; collections that are read side by side ask about the same ones.
const REMEMBERED_MAX: usize = 100_000;
/// How many headers are asked for at once.
const HEADERS_AT_ONCE: usize = 100;

/// The times of blocks that were asked for lately.
#[derive(Default)]
pub(crate) struct BlockTimes {
    known: Mutex<HashMap<BlockHash, Timestamp>>,
}

impl BlockTimes {
    /// The blocks of logs in ascending order, with their times. Their parents are not known, and nobody asks for
    /// them in history.
    pub(crate) async fn blocks_of<N: Node>(
        &self,
        node: &N,
        logs: &[TimedLog],
    ) -> Result<Vec<Block>, Failure> {
        let mut named: BTreeMap<u64, (BlockHash, Option<Timestamp>)> = BTreeMap::new();
        for timed in logs {
            let log = &timed.log;
            let entry = named.entry(log.block_number).or_insert((log.block_hash, timed.at));
            if entry.0 != log.block_hash {
                return Err(Failure::reorg(format!("block {} has two names", log.block_number)));
            }
            entry.1 = entry.1.or(timed.at);
        }
        let mut missing = Vec::new();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for (number, (hash, at)) in &mut named {
                *at = at.or_else(|| known.get(hash).copied());
                if at.is_none() {
                    missing.push(*number);
                }
            }
        }
        for numbers in missing.chunks(HEADERS_AT_ONCE) {
            let headers = node.blocks(numbers).await?;
            for (number, header) in numbers.iter().zip(headers) {
                let entry = named.get_mut(number).zip(header);
                let Some((entry, header)) = entry.filter(|(entry, header)| entry.0 == header.hash) else {
                    return Err(Failure::reorg(format!("block {number} is not the one of its logs")));
                };
                entry.1 = Some(header.at);
                self.remember(header.hash, header.at);
            }
        }
        let blocks = named.into_iter().map(|(number, (hash, at))| {
            let at = at.ok_or_else(|| Failure::retry(format!("block {number} has no time")))?;
            Ok(Block { number, hash, parent: BlockHash::ZERO, at })
        });
        blocks.collect()
    }

    fn remember(&self, hash: BlockHash, at: Timestamp) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(hash, at);
    }
}
