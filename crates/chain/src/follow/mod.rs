//! Following a chain.
//!
//! ```text
//!            lease held by another                 the store failed
//!   Standby <----------------------+   +-------------------------------------+
//!      |  lease free               |   v                                     |
//!      +------------------------> Load: checkpoint, window, collections      |
//!                                  |  (no checkpoint: start at head - window)|
//!                                  v                                         |
//!   +---------------------------> Turn ------------------------------------->+
//!   |                              |
//!   |   1. live: the node's newest block, seen from the window, unless nobody tells of a newer one
//!   |        known ------------------------------> nothing to do
//!   |        ahead, on the checkpoint -----------> headers, logs by block, commit
//!   |        ahead, on another block ------------> search the fork, rewind and commit in one transaction
//!   |        elsewhere, three times in a row ----> the same: the chain became shorter
//!   |        everything kept differs, three times > Stopped: `bourse chain resync`
//!   |   2. history: ranges below the window, read side by side, committed in order, collection by collection
//!   |   3. join: blocks of the window for collections that arrived there, by their names; they are live then
//!   |   4. look back, where all collections are wanted: a range of the blocks before the first that was followed
//!   |                              |
//!   +-- wait for word of a block,    +
//!       or for the next poll
//! ```
//!
//! One task does all commits of a chain, one after another; reading ahead happens in tasks beside it. Every commit says
//! what it was prepared for, and the store refuses it when that is no longer so: a kill at any instant leaves facts and
//! checkpoint as one transaction left them, and the next start goes on from there.
//!
//! A collection that the store cannot reach, as the node of a cluster that it is on is away, keeps nobody back: the store sets it
//! aside, so that it is live no more, and it takes the way of 2 and 3 again once it can be reached.

mod away;
mod books;
mod facts;
mod history;
mod join;
mod lease;
mod live;
mod look_back;
mod ranges;
mod times;
mod window;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bourse_protocols::Protocol;
use bourse_store::{Followed, LeaseHolder, Migration, StoreError};
use bourse_wire::{Address, ChainId};
use futures_util::future::{Either, select};
use tokio::sync::watch;

use away::Away;
pub use books::Books;
use facts::Reading;
use history::Pipeline;
use lease::Lease;
use look_back::LookBack;
use ranges::{RangeSize, Ranges};
use window::Window;

use crate::calls::{Caller, MULTICALL3};
use crate::decode::Decoder;
use crate::node::{Failure, Node};
use crate::pace::Pace;
use crate::royalties::Royalties;
use crate::status::{Phase, Progress, Status};
use crate::word::{Ear, Word};

/// How a chain is followed.
#[derive(Clone, Debug)]
pub struct FollowOptions {
    /// Which chain.
    pub chain: ChainId,
    /// Who follows, among the processes that could.
    pub holder: LeaseHolder,
    /// How many blocks the chain may take back.
    pub window: u64,
    /// How long to wait for the next block.
    pub poll: Duration,
    /// For how long whoever has the right to follow may be silent before another takes it.
    pub lease: Duration,
    /// How the marketplaces are spoken with whose logs are read.
    pub protocols: Vec<Arc<dyn Protocol>>,
    /// From which block on collections are read that nobody registered; none leaves them alone.
    pub discover_from: Option<u64>,
    /// How many blocks of history are asked about first; it adapts to the node.
    pub range_blocks_first: u64,
    /// The most blocks of history that are asked about at once.
    pub range_blocks_max: u64,
    /// How many logs of history are held for one commit.
    pub range_logs_max: usize,
    /// How many ranges are read at the same time.
    pub ranges_at_once: usize,
    /// How many collections are read at the same time.
    pub collections_at_once: usize,
    /// The most new blocks in one commit.
    pub live_blocks_max: u64,
    /// The most contracts that a node is asked about by name; beyond that it is asked about all.
    pub addresses_max: usize,
    /// Where many calls go at once.
    pub multicall: Option<Address>,
}

impl FollowOptions {
    /// The usual way to follow a chain.
    pub fn new(chain: ChainId, holder: impl Into<String>) -> Self {
        Self {
            chain,
            holder: LeaseHolder { name: holder.into(), schema: Migration::newest() },
            window: 128,
            poll: Duration::from_secs(1),
            lease: Duration::from_secs(30),
            protocols: Vec::new(),
            discover_from: None,
            range_blocks_first: 2_000,
            range_blocks_max: 100_000,
            range_logs_max: 10_000,
            ranges_at_once: 6,
            collections_at_once: 4,
            live_blocks_max: 64,
            addresses_max: 500,
            multicall: Some(MULTICALL3),
        }
    }
}

/// Why following could not go on.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// A node failed.
    #[error("{0}")]
    Node(#[from] Failure),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Somebody has to do something.
    #[error("{message}")]
    Stopped {
        /// What is wrong, and what to do.
        message: String,
    },
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Another process follows the chain.
    Standby,
    /// There is more to do at once.
    Busy,
    /// Everything that the node knows is read.
    Idle,
}

/// Follows one chain.
pub struct Follower<N, B, P> {
    options: FollowOptions,
    books: Arc<B>,
    reading: Arc<Reading<N, P>>,
    ranges: Arc<Ranges>,
    status: Status,
    /// What is known of the store; absent when it has to be asked.
    known: Option<FollowState>,
    lease: Lease,
    /// How often in a row the node was elsewhere, and beyond the window.
    elsewhere: u32,
    beyond: u32,
    /// How often in a row what nodes told did not fit together.
    unclear: u32,
    /// When the nodes were last asked whether they agree.
    confirmed_at: Option<Duration>,
    /// Hears of new blocks, where somebody tells of them.
    ear: Ear,
}

/// What the store said, kept up to date with what was committed.
struct FollowState {
    window: Window,
    followed: Vec<Followed>,
    /// Contracts that are not followed although something happens to them, where others are.
    left: Vec<Address>,
    /// When the collections were read; absent when they have to be read again.
    followed_at: Option<Duration>,
    pipelines: BTreeMap<Address, Pipeline>,
    /// Which blocks are to be looked through for collections, where all are wanted.
    look_back: Option<LookBack>,
    /// What of the store is out of reach.
    away: Away,
    /// Whether somebody else moved the checkpoint.
    is_outdated: bool,
}

/// How often in a row a node has to say so before blocks are taken back for fewer, another node is asked, or following
/// stops: one of several nodes may be behind, or wrong.
const PATIENCE: u32 = 3;
/// How long to wait at most before trying again.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// The same where it is the store that cannot be reached, or a part of it: it may be back at any moment.
const UNAVAILABLE_WAIT_MAX: Duration = Duration::from_secs(2);
/// How long to wait before trying again what somebody has to do something about.
const STOPPED_WAIT: Duration = Duration::from_secs(30);

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// A follower of one chain. `status` tells others how it goes.
    pub fn new(options: FollowOptions, node: Arc<N>, books: Arc<B>, pace: Arc<P>, status: Status) -> Self {
        let royalties = Royalties::new(Caller::new(options.multicall));
        let decoder = Decoder::new(options.protocols.clone());
        let reading = Reading { node, pace, decoder, royalties, status: status.clone() };
        let size =
            RangeSize::new(options.range_blocks_first, options.range_blocks_max, options.range_logs_max);
        let ranges = Ranges { size, times: times::BlockTimes::default() };
        Self {
            options,
            books,
            reading: Arc::new(reading),
            ranges: Arc::new(ranges),
            status,
            known: None,
            lease: Lease::default(),
            elsewhere: 0,
            beyond: 0,
            unclear: 0,
            confirmed_at: None,
            ear: Ear::default(),
        }
    }

    /// The same, which asks for blocks when it hears of them, and less often in between.
    pub fn hearing(self, word: watch::Receiver<Word>) -> Self {
        Self { ear: Ear::new(word), ..self }
    }

    /// Follows until `shutdown` is ready.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let pace = Arc::clone(&self.reading.pace);
        let mut failures = 0;
        loop {
            let wait = {
                let turn = pin!(self.turn());
                match select(turn, shutdown.as_mut()).await {
                    Either::Left((turn, _)) => Some(turn),
                    Either::Right(_) => None,
                }
            };
            let Some(turn) = wait else { break };
            let is_idle = matches!(turn, Ok(Turn::Idle));
            let wait = match turn {
                Ok(Turn::Busy) => Duration::ZERO,
                Ok(Turn::Idle) => self.options.poll,
                Ok(Turn::Standby) => self.look_interval(),
                Err(error) => self.wait_after(&error, failures),
            };
            failures = if wait <= self.options.poll { 0 } else { failures + 1 };
            let rest = async { if is_idle { self.rest(wait).await } else { pace.sleep(wait).await } };
            if let Either::Right(_) = select(pin!(rest), shutdown.as_mut()).await {
                break;
            }
        }
        // What was read ahead is of no use any more.
        self.known = None;
        if let Err(error) = self.books.release_lease(self.options.chain, &self.options.holder).await {
            tracing::debug!(%error, "the lease of a chain was not given back; others see it end");
        }
    }

    /// How long to wait after a failure, which is told to whoever watches.
    fn wait_after(&self, error: &FollowError, failures: u32) -> Duration {
        let doubled = (self.options.poll * 2).saturating_mul(1 << failures.min(8)).min(WAIT_MAX);
        let (chain, now) = (self.options.chain, self.reading.pace.now());
        match error {
            // Blocks change while they are asked about; it is no failure unless it goes on.
            FollowError::Node(Failure::PossibleReorg { reason }) => {
                tracing::debug!(%chain, reason, "the chain changed while it was asked about");
                return if failures == 0 { self.options.poll } else { doubled };
            }
            FollowError::Stopped { message } | FollowError::Node(Failure::Stop { reason: message }) => {
                let phase = Phase::Stopped { message: message.clone() };
                let is_new = self.status.get().phase != phase;
                self.status.set(|snapshot| snapshot.phase = phase);
                if is_new {
                    tracing::error!(%chain, message, "following a chain stopped");
                }
                self.status.failed(now, message.clone());
                return STOPPED_WAIT;
            }
            // As soon as it is back: the log was told, and asking costs nothing meanwhile.
            FollowError::Store(StoreError::Away) => {
                self.status.failed(now, error.to_string());
                return self.options.poll;
            }
            // So is a node of its cluster.
            FollowError::Store(error) if error.is_unavailable() => {
                tracing::warn!(%chain, %error, "following a chain failed; it is tried again");
                self.status.failed(now, error.to_string());
                return doubled.min(UNAVAILABLE_WAIT_MAX.max(self.options.poll));
            }
            other => tracing::warn!(%chain, error = %other, "following a chain failed; it is tried again"),
        }
        self.status.failed(now, error.to_string());
        match error {
            FollowError::Node(Failure::Retry { after: Some(after), .. }) => doubled.max(*after),
            _ => doubled,
        }
    }

    /// Does what there is to do, for about as long as a poll lasts.
    pub async fn turn(&mut self) -> Result<Turn, FollowError> {
        if !self.hold_lease().await? {
            self.known = None;
            self.status.set(|snapshot| snapshot.phase = Phase::Standby);
            return Ok(Turn::Standby);
        }
        let mut known = match self.known.take() {
            Some(known) => known,
            None => self.load().await?,
        };
        let result = self.go(&mut known).await;
        // Whatever the store failed at may have been done or not: it is asked.
        let is_unclear = matches!(result, Err(FollowError::Store(_) | FollowError::Stopped { .. }));
        if !is_unclear && !known.is_outdated {
            self.publish(&known);
            self.known = Some(known);
        }
        self.note_unclear(&result);
        result
    }

    /// Blocks change while they are asked about. When that goes on it is no chain that changes, but a node that tells what
    /// is not so: that is said, and another node asked.
    fn note_unclear(&mut self, result: &Result<Turn, FollowError>) {
        let Err(FollowError::Node(Failure::PossibleReorg { reason })) = result else {
            self.unclear = 0;
            return;
        };
        self.unclear += 1;
        if self.unclear >= PATIENCE {
            let reason =
                format!("what nodes tell does not fit together ({}): {reason}", self.reading.node.names());
            tracing::warn!(chain = %self.options.chain, reason, "following a chain does not get on");
            self.status.failed(self.reading.pace.now(), reason.clone());
            self.reading.node.doubt(&reason);
        }
    }

    async fn go(&mut self, known: &mut FollowState) -> Result<Turn, FollowError> {
        self.refresh(known).await?;
        let is_behind = self.look(known).await?;
        let is_reading = self.history(known).await?;
        self.join(known).await?;
        let is_looking = self.look_back(known).await?;
        let phase = if is_behind { Phase::CatchingUp } else { Phase::Live };
        self.status.set(|snapshot| snapshot.phase = phase);
        Ok(if is_behind || is_reading || is_looking { Turn::Busy } else { Turn::Idle })
    }

    /// Reads how far the chain was followed, and starts it when it was not.
    async fn load(&mut self) -> Result<FollowState, FollowError> {
        self.ear.unsettle();
        let chain = self.options.chain;
        let mut state = self.books.chain_state(chain).await?;
        if state.is_none() {
            self.start().await?;
            state = self.books.chain_state(chain).await?;
        }
        let state = state.ok_or_else(|| Failure::retry("the chain was started, but is not there"))?;
        let look_back = self.left_to_look_at(state.checkpoint.number).await?;
        Ok(FollowState {
            window: Window::new(state.checkpoint, state.window),
            followed: Vec::new(),
            left: Vec::new(),
            followed_at: None,
            pipelines: BTreeMap::new(),
            look_back,
            away: Away::unknown(),
            is_outdated: false,
        })
    }

    /// Starts the chain at the newest block that it does not take back any more.
    async fn start(&self) -> Result<(), FollowError> {
        let head = self.reading.node.head().await?;
        let number = head.number.saturating_sub(self.options.window);
        let first = self.reading.node.blocks(&[number]).await?.pop().flatten();
        let first = first.ok_or_else(|| self.unknown_block(number))?;
        self.reading.node.confirm(&first).await?;
        self.books.start_chain(self.options.chain, first).await?;
        Ok(())
    }

    /// Nobody knows a block that is before one that somebody told of.
    fn unknown_block(&self, number: u64) -> Failure {
        Failure::reorg(format!("block {number} is not known to {}", self.reading.node.names()))
    }

    /// Reads which collections are followed, when that is some time ago.
    async fn refresh(&self, known: &mut FollowState) -> Result<(), FollowError> {
        let now = self.reading.pace.passed();
        if known.followed_at.is_none_or(|at| now.saturating_sub(at) >= self.options.poll) {
            known.followed = self.books.followed(self.options.chain).await?;
            if self.options.discover_from.is_some() {
                known.left = self.books.left(self.options.chain).await?;
            }
            known.followed_at = Some(now);
            if known.away.is_any() {
                self.look_for_lost(known).await?;
            }
        }
        Ok(())
    }

    fn publish(&self, known: &FollowState) {
        let progress = known.followed.iter().map(|followed| Progress {
            address: followed.key.address,
            from: followed.from,
            next_block: followed.next_block,
            live: followed.live,
        });
        let (collections, checkpoint) = (Arc::new(progress.collect()), known.window.checkpoint());
        self.status.set(|snapshot| {
            snapshot.checkpoint = Some(checkpoint);
            snapshot.collections = collections;
        });
    }
}
