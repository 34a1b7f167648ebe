//! The newest blocks.

use std::collections::HashSet;
use std::time::Duration;

use bourse_market::facts::{Block, BlockHash};
use bourse_store::{Blocks, BlocksCommitted, CollectionKey};
use bourse_wire::Address;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::window::{ForkSearch, Position, Searched, broken_link};
use super::{Books, FollowError, FollowState, Follower, PATIENCE};
use crate::node::{Failure, LogFilter, Node, Span, TimedLog};
use crate::pace::{Pace, between};

/// How often the nodes are asked whether they agree, and about which block before the checkpoint: the newest ones are not
/// known to all yet.
const CONFIRM_INTERVAL: Duration = Duration::from_secs(30);
const CONFIRM_DEPTH: u64 = 4;
/// How many blocks are asked about at the same time.
const BLOCKS_AT_ONCE: usize = 8;
/// How many headers are asked for at once.
const HEADERS_AT_ONCE: usize = 100;

/// What comes after the checkpoint, or instead of it.
struct Branch {
    /// The newest block that stays, when it is not the checkpoint.
    rewind_to: Option<u64>,
    blocks: Vec<Block>,
}

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// Takes the next blocks; tells whether there are more.
    pub(super) async fn live(&mut self, known: &mut FollowState) -> Result<bool, FollowError> {
        let head = self.reading.node.head().await?;
        self.status.set(|snapshot| snapshot.head = Some(head));
        let branch = match known.window.position(&head) {
            Position::FollowState => {
                (self.elsewhere, self.beyond) = (0, 0);
                return Ok(false);
            }
            Position::Below => {
                let (number, oldest) = (head.number, known.window.oldest());
                let reason = format!(
                    "the node's newest block is {number}, which is below {oldest}, the oldest that is kept: it is \
                    behind, or its chain began anew; then `bourse chain resync {}` is needed",
                    self.options.chain
                );
                return Err(Failure::retry(reason).into());
            }
            Position::Elsewhere => {
                self.elsewhere += 1;
                if self.elsewhere < PATIENCE {
                    return Ok(false);
                }
                self.other_branch(known, &head, head.number).await?
            }
            Position::Ahead => self.next_blocks(known, &head).await?,
        };
        self.confirm(known, &branch).await?;
        (self.elsewhere, self.beyond) = (0, 0);
        self.take(known, &head, branch).await
    }

    /// Asks all nodes before blocks are taken back, and now and then whether they have the blocks that were taken: a node
    /// alone may tell of a chain that nobody else knows.
    async fn confirm(&mut self, known: &FollowState, branch: &Branch) -> Result<(), FollowError> {
        if let (Some(_), Some(first)) = (branch.rewind_to, branch.blocks.first()) {
            return Ok(self.reading.node.confirm(first).await?);
        }
        let now = self.reading.pace.now();
        if self.confirmed_at.is_some_and(|at| between(at, now) < CONFIRM_INTERVAL) {
            return Ok(());
        }
        let number = known.window.checkpoint().number.saturating_sub(CONFIRM_DEPTH);
        let block = known.window.at(number.max(known.window.oldest())).copied();
        self.reading.node.confirm(&block.unwrap_or(known.window.checkpoint())).await?;
        self.confirmed_at = Some(now);
        Ok(())
    }

    /// The blocks after the checkpoint, or after the block where the node's chain leaves ours.
    async fn next_blocks(&mut self, known: &FollowState, head: &Block) -> Result<Branch, FollowError> {
        let checkpoint = known.window.checkpoint();
        let blocks = self.headers(checkpoint.number + 1, head).await?;
        if blocks.first().is_some_and(|first| first.parent != checkpoint.hash) {
            return self.other_branch(known, head, checkpoint.number).await;
        }
        linked(&checkpoint, &blocks)?;
        Ok(Branch { rewind_to: None, blocks })
    }

    /// The node's blocks after the newest one that both have, which is below a height.
    async fn other_branch(
        &mut self,
        known: &FollowState,
        head: &Block,
        differs: u64,
    ) -> Result<Branch, FollowError> {
        let mut search = ForkSearch::below(differs);
        let shared = loop {
            let theirs = self.reading.node.blocks(&search.next(&known.window)).await?;
            match search.learn(&known.window, &theirs) {
                Searched::Forked(number) => break number,
                Searched::Further => {}
                Searched::Unclear => {
                    return Err(Failure::reorg("the chain changed while the fork was searched").into());
                }
                Searched::Beyond => return Err(self.beyond_window(known).await),
            }
        };
        let base = known.window.at(shared).copied();
        let base = base.ok_or_else(|| Failure::reorg("the block before the fork is gone"))?;
        let blocks = self.headers(shared + 1, head).await?;
        linked(&base, &blocks)?;
        Ok(Branch { rewind_to: Some(shared), blocks })
    }

    async fn beyond_window(&mut self, known: &FollowState) -> FollowError {
        self.beyond += 1;
        let (oldest, chain) = (known.window.oldest(), self.options.chain);
        if self.beyond < PATIENCE {
            return Failure::reorg(format!(
                "the node has another block {oldest} than the one that was followed"
            ))
            .into();
        }
        // Where nodes disagree nobody is to read anything anew.
        let kept = known.window.at(oldest).copied().unwrap_or(known.window.checkpoint());
        if let Err(disagreement @ Failure::Retry { .. }) = self.reading.node.confirm(&kept).await {
            return disagreement.into();
        }
        let message = format!(
            "the chain took back more blocks than are kept: block {oldest} is another one now. What was read of it \
            cannot be undone; run `bourse chain resync {chain}` to read it anew"
        );
        FollowError::Stopped { message }
    }

    /// The node's blocks from a height on, as many as go into one commit.
    async fn headers(&self, from: u64, head: &Block) -> Result<Vec<Block>, Failure> {
        if head.number == from {
            return Ok(vec![*head]);
        }
        let last = head.number.min(from.saturating_add(self.options.live_blocks_max.max(1) - 1));
        let numbers: Vec<u64> = (from..=last).collect();
        let mut blocks = Vec::with_capacity(numbers.len());
        for numbers in numbers.chunks(HEADERS_AT_ONCE) {
            for (number, block) in numbers.iter().zip(self.reading.node.blocks(numbers).await?) {
                let block = block.filter(|block| block.number == *number);
                blocks.push(block.ok_or_else(|| Failure::reorg(format!("block {number} is not there")))?);
            }
        }
        Ok(blocks)
    }

    /// Reads the logs of new blocks and commits them.
    async fn take(
        &mut self,
        known: &mut FollowState,
        head: &Block,
        branch: Branch,
    ) -> Result<bool, FollowError> {
        let live: HashSet<Address> = known
            .followed
            .iter()
            .filter(|followed| followed.live)
            .map(|followed| followed.key.address)
            .collect();
        let Branch { rewind_to, mut blocks } = branch;
        let logs = if live.is_empty() && self.options.discover_from.is_none() {
            Vec::new()
        } else {
            let mut filter = self.reading.log_filter(&live, self.options.addresses_max);
            if self.options.discover_from.is_some() {
                filter.addresses.clear();
            }
            self.logs_of(&mut blocks, head, &filter).await?
        };
        self.discover(known, &logs).await?;
        let facts = self.reading.facts(&blocks, &logs, &live).await?;
        let batch = Blocks {
            chain: self.options.chain,
            expected: known.window.checkpoint().hash,
            rewind_to,
            blocks: facts,
            covered: live.into_iter().collect(),
            window: self.options.window,
        };
        match self.books.commit_blocks(batch).await? {
            BlocksCommitted::Done { .. } => {}
            BlocksCommitted::Moved => {
                known.is_outdated = true;
                return Err(Failure::reorg("another process followed the chain").into());
            }
            BlocksCommitted::Uncovered => {
                known.followed_at = None;
                return Ok(true);
            }
        }
        self.taken(known, rewind_to, blocks);
        Ok(known.window.checkpoint().number < head.number)
    }

    fn taken(&self, known: &mut FollowState, rewind_to: Option<u64>, blocks: Vec<Block>) {
        known.window.advance(rewind_to, blocks, self.options.window);
        let checkpoint = known.window.checkpoint();
        if let Some(number) = rewind_to {
            tracing::info!(chain = %self.options.chain, number, "the chain took back the blocks after this one");
            // Both at once: whoever sees that blocks were taken back sees none of them.
            self.status.set(|snapshot| {
                snapshot.reorgs += 1;
                snapshot.checkpoint = Some(checkpoint);
            });
            // Collections that are not live yet may have gone back with the chain.
            known.followed_at = None;
            known.pipelines.clear();
        }
        for followed in known.followed.iter_mut().filter(|followed| followed.live) {
            followed.next_block = checkpoint.number + 1;
        }
    }

    /// The logs of new blocks. Those that nobody takes back any more are asked for together, and the end of `blocks` is
    /// cut off when there are too many for one commit; the others by the name of their block.
    async fn logs_of(
        &self,
        blocks: &mut Vec<Block>,
        head: &Block,
        filter: &LogFilter,
    ) -> Result<Vec<TimedLog>, FollowError> {
        let settled = head.number.saturating_sub(self.options.window);
        let deep = blocks.iter().filter(|block| block.number <= settled).count();
        let Some(last) = deep.checked_sub(1).filter(|last| *last > 0) else {
            return Ok(self.logs_by_block(blocks, filter).await?);
        };
        let range = blocks[0].number..=blocks[last].number;
        let found = self.ranges.logs(&self.reading, range, std::slice::from_ref(filter)).await?;
        blocks.retain(|block| block.number <= found.to);
        let named: std::collections::HashMap<u64, BlockHash> =
            blocks.iter().map(|block| (block.number, block.hash)).collect();
        let is_other = |timed: &&TimedLog| named.get(&timed.log.block_number) != Some(&timed.log.block_hash);
        match found.logs.iter().find(is_other) {
            None => Ok(found.logs),
            Some(timed) => Err(other_block(timed).into()),
        }
    }

    /// The logs of blocks, each asked for by its name.
    pub(super) async fn logs_by_block(
        &self,
        blocks: &[Block],
        filter: &LogFilter,
    ) -> Result<Vec<TimedLog>, Failure> {
        let node = &self.reading.node;
        let of_blocks = blocks.iter().copied().map(|block| async move {
            let logs = node.logs(Span::Block(block.hash), std::slice::from_ref(filter)).await?;
            let is_other = |timed: &&TimedLog| {
                (timed.log.block_number, timed.log.block_hash) != (block.number, block.hash)
            };
            match logs.iter().find(is_other) {
                None => Ok(logs),
                Some(timed) => Err(other_block(timed)),
            }
        });
        let found: Vec<Vec<TimedLog>> =
            stream::iter(of_blocks).buffered(BLOCKS_AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Follows collections that appear in logs, when that is wanted.
    async fn discover(&self, known: &mut FollowState, logs: &[TimedLog]) -> Result<(), FollowError> {
        let Some(from) = self.options.discover_from else { return Ok(()) };
        let mut registered: HashSet<Address> =
            known.followed.iter().map(|followed| followed.key.address).collect();
        registered.extend(&known.left);
        for address in self.reading.strangers(logs, &registered) {
            let key = CollectionKey { chain: self.options.chain, address };
            self.books.discover(key, from, self.reading.pace.now()).await?;
            known.followed_at = None;
        }
        Ok(())
    }
}

fn linked(base: &Block, blocks: &[Block]) -> Result<(), Failure> {
    match broken_link(base.hash, base.number, blocks) {
        None => Ok(()),
        Some(number) => Err(Failure::reorg(format!("block {number} does not follow on the one before it"))),
    }
}

fn other_block(timed: &TimedLog) -> Failure {
    let (number, hash) = (timed.log.block_number, timed.log.block_hash);
    Failure::reorg(format!("a log is of block {number} {hash}, which was not asked about"))
}
