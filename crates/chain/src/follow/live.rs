//! The newest blocks.

use std::collections::HashSet;
use std::time::Duration;

use bourse_market::facts::{Block, BlockHash};
use bourse_store::{Blocks, BlocksCommitted, CollectionKey, StoreError};
use bourse_wire::Address;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::window::{ForkSearch, Position, Searched, broken_link};
use super::{Books, FollowError, FollowState, Follower, PATIENCE};
use crate::bloom;
use crate::node::{Failure, Header, LogFilter, Node, Span, SpanLogs, TimedLog};
use crate::pace::Pace;

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
    /// The same blocks, with what each says of its logs where a node told that.
    headers: Vec<Header>,
}

impl Branch {
    /// These blocks after a block, unless they do not follow on it.
    fn after(base: &Block, rewind_to: Option<u64>, headers: Vec<Header>) -> Result<Self, Failure> {
        let blocks: Vec<Block> = headers.iter().map(|header| header.block).collect();
        match broken_link(base.hash, base.number, &blocks) {
            None => Ok(Self { rewind_to, blocks, headers }),
            Some(number) => {
                Err(Failure::reorg(format!("block {number} does not follow on the one before it")))
            }
        }
    }
}

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// Takes the next blocks, unless there is no reason to ask for any; tells whether there are more.
    pub(super) async fn look(&mut self, known: &mut FollowState) -> Result<bool, FollowError> {
        if !self.ear.is_due(self.reading.pace.passed(), self.options.poll, |block| known.window.knows(block))
        {
            return Ok(false);
        }
        self.ear.unsettle();
        let is_behind = self.live(known).await?;
        if !is_behind && self.elsewhere == 0 {
            self.ear.settle(self.reading.pace.passed(), |block| known.window.knows(block));
        }
        Ok(is_behind)
    }

    /// Takes the next blocks; tells whether there are more.
    async fn live(&mut self, known: &mut FollowState) -> Result<bool, FollowError> {
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
                self.other_branch(known, &head, head).await?
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
        let now = self.reading.pace.passed();
        if self.confirmed_at.is_some_and(|at| now.saturating_sub(at) < CONFIRM_INTERVAL) {
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
        let headers = self.headers(checkpoint.number + 1, head).await?;
        if let Some(first) = headers.first().filter(|first| first.block.parent != checkpoint.hash) {
            return self.other_branch(known, head, first.block).await;
        }
        Ok(Branch::after(&checkpoint, None, headers)?)
    }

    /// The node's blocks after the newest one that both have, which is below a block that only the node has.
    async fn other_branch(
        &mut self,
        known: &FollowState,
        head: &Block,
        theirs: Block,
    ) -> Result<Branch, FollowError> {
        let mut search = ForkSearch::below(&theirs);
        let shared = loop {
            let before = self.reading.node.blocks(&search.next(&known.window)).await?;
            match search.learn(&known.window, &before) {
                Searched::Forked(number) => break number,
                Searched::Further => {}
                Searched::Unclear => {
                    return Err(Failure::reorg(format!(
                        "block {} does not follow on the blocks that the node has before it",
                        theirs.number
                    ))
                    .into());
                }
                Searched::Beyond => return Err(self.beyond_window(known).await),
            }
        };
        let base = known.window.at(shared).copied();
        let base = base.ok_or_else(|| Failure::reorg("the block before the fork is gone"))?;
        let headers = self.headers(shared + 1, head).await?;
        Ok(Branch::after(&base, Some(shared), headers)?)
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
            "all blocks that are kept are others now at {}, down to block {oldest}. Either that is no node of this \
            chain: following goes on by itself once it tells of the right blocks. Or the chain took back more blocks \
            than are kept: what was read of them cannot be undone; run `bourse chain resync {chain}` to read it anew",
            self.reading.node.names()
        );
        FollowError::Stopped { message }
    }

    /// The node's blocks from a height on, as many as go into one commit.
    async fn headers(&self, from: u64, head: &Block) -> Result<Vec<Header>, Failure> {
        if head.number == from {
            return Ok(vec![Header::from(*head)]);
        }
        let last = head.number.min(from.saturating_add(self.options.live_blocks_max.max(1) - 1));
        let numbers: Vec<u64> = (from..=last).collect();
        let mut headers = Vec::with_capacity(numbers.len());
        for numbers in numbers.chunks(HEADERS_AT_ONCE) {
            for (number, header) in numbers.iter().zip(self.reading.node.headers(numbers).await?) {
                let header = header.filter(|header| header.block.number == *number);
                headers.push(header.ok_or_else(|| self.unknown_block(*number))?);
            }
        }
        Ok(headers)
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
        let Branch { rewind_to, mut blocks, headers } = branch;
        let logs = if live.is_empty() && self.options.discover_from.is_none() {
            Vec::new()
        } else {
            let mut filter = self.reading.log_filter(&live, self.options.addresses_max);
            if self.options.discover_from.is_some() {
                filter.addresses.clear();
            }
            self.logs_of(&mut blocks, &headers, head, &filter).await?
        };
        self.discover(known, &logs).await?;
        let facts = self.reading.facts(&blocks, &logs, &live, true).await?;
        let batch = Blocks {
            chain: self.options.chain,
            expected: known.window.checkpoint().hash,
            rewind_to,
            blocks: facts,
            covered: live.into_iter().collect(),
            window: self.options.window,
        };
        match self.books.commit_blocks(batch).await? {
            BlocksCommitted::Done { set_aside, .. } if set_aside > 0 => {
                (known.followed_at, known.away.is_suspected) = (None, true);
            }
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
        headers: &[Header],
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
            None => Ok(self.with_left_out(&headers[..blocks.len()], filter, found.logs).await?),
            Some(timed) => Err(other_block(timed).into()),
        }
    }

    /// Asks for blocks by their names that speak of logs while none came with those of their range.
    async fn with_left_out(
        &self,
        headers: &[Header],
        filter: &LogFilter,
        mut logs: Vec<TimedLog>,
    ) -> Result<Vec<TimedLog>, Failure> {
        let is_doubtful = |header: &&Header| bloom::is_doubtful(header, std::slice::from_ref(filter), &logs);
        let doubtful: Vec<Block> = headers.iter().filter(is_doubtful).map(|header| header.block).collect();
        if doubtful.is_empty() {
            return Ok(logs);
        }
        let asked = self.logs_by_block(&doubtful, filter).await?;
        logs.retain(|timed| doubtful.iter().all(|block| block.number != timed.log.block_number));
        logs.extend(asked);
        logs.sort_by_key(|timed| (timed.log.block_number, timed.log.index));
        Ok(logs)
    }

    /// The logs of blocks, each asked for by its name.
    pub(super) async fn logs_by_block(
        &self,
        blocks: &[Block],
        filter: &LogFilter,
    ) -> Result<Vec<TimedLog>, Failure> {
        let node = &self.reading.node;
        let of_blocks = blocks.iter().copied().map(|block| async move {
            let SpanLogs { logs, .. } =
                node.logs(Span::Block(block.hash), std::slice::from_ref(filter)).await?;
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
    pub(super) async fn discover(
        &self,
        known: &mut FollowState,
        logs: &[TimedLog],
    ) -> Result<(), FollowError> {
        if self.options.discover_from.is_none() {
            return Ok(());
        }
        let mut registered: HashSet<Address> =
            known.followed.iter().map(|followed| followed.key.address).collect();
        registered.extend(&known.left);
        registered.extend(&known.away.missed);
        for address in self.reading.strangers(logs, &registered) {
            self.discover_one(known, address).await?;
        }
        Ok(())
    }

    /// Follows a collection that something happened to. Where it is out of reach that waits, and whoever starts before looks
    /// through the blocks since then again.
    pub(super) async fn discover_one(
        &self,
        known: &mut FollowState,
        address: Address,
    ) -> Result<(), FollowError> {
        let Some(from) = self.options.discover_from else { return Ok(()) };
        let key = CollectionKey { chain: self.options.chain, address };
        match self.books.discover(key, from, self.reading.pace.now()).await {
            Ok(()) => known.followed_at = None,
            Err(StoreError::Unavailable(error)) => {
                tracing::debug!(collection = %key, %error, "it is followed when it can be reached");
                known.away.missed.insert(address);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

fn other_block(timed: &TimedLog) -> Failure {
    let (number, hash) = (timed.log.block_number, timed.log.block_hash);
    Failure::reorg(format!("a log is of block {number} {hash}, which was not asked about"))
}
