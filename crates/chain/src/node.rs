//! What the follower asks of a node, and what its refusals mean.

use std::time::Duration;

use alloy_primitives::{B256, Bloom, Bytes, U256};
use bourse_market::facts::{Block, BlockHash, Log};
use bourse_protocols::native::Inquiry;
use bourse_wire::{Address, ChainId, Timestamp};

use crate::receipt::Receipt;
use crate::rehearsal::{Played, Rehearsal, Unable, Way};

/// Why a node did not answer, by what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It may answer later.
    #[error("{reason}")]
    Retry {
        /// How long it wants to be left alone, when it says so.
        after: Option<Duration>,
        /// What it said.
        reason: String,
    },
    /// It does not answer about so many blocks, or with so many logs, at once.
    #[error("{reason}")]
    SmallerRange {
        /// A number of blocks that it would answer about, when it says so.
        suggested: Option<u64>,
        /// What it said.
        reason: String,
    },
    /// What it says does not fit together: the chain changed while it was asked.
    #[error("{reason}")]
    PossibleReorg {
        /// What does not fit.
        reason: String,
    },
    /// Asking again is of no use.
    #[error("{reason}")]
    Stop {
        /// What is wrong.
        reason: String,
    },
}

impl Failure {
    /// A failure that may pass.
    pub fn retry(reason: impl Into<String>) -> Self {
        Self::Retry { after: None, reason: reason.into() }
    }

    /// Something that does not fit together.
    pub fn reorg(reason: impl Into<String>) -> Self {
        Self::PossibleReorg { reason: reason.into() }
    }
}

/// Which blocks logs are wanted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From one height to another, both included.
    Range {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// One block, by its name.
    Block(BlockHash),
}

/// Which logs of a span are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Who wrote them; anybody when empty.
    pub addresses: Vec<Address>,
    /// For each topic in order what it may be; anything when empty.
    pub topics: Vec<Vec<B256>>,
}

impl LogFilter {
    /// Whether a log is one of these.
    pub fn admits(&self, log: &Log) -> bool {
        let by = self.addresses.is_empty() || self.addresses.contains(&log.address);
        by && self.topics.iter().enumerate().all(|(place, allowed)| {
            allowed.is_empty() || log.topics.get(place).is_some_and(|topic| allowed.contains(topic))
        })
    }
}

/// A log, with the time of its block when the node tells it along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedLog {
    /// The log.
    pub log: Log,
    /// When its block was made.
    pub at: Option<Timestamp>,
}

/// A block, with what it says of the logs in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The block.
    pub block: Block,
    /// Who wrote logs in it and under which topics, as a filter that never says no wrongly; absent when the node does not
    /// tell it.
    pub bloom: Option<Box<Bloom>>,
}

impl From<Block> for Header {
    fn from(block: Block) -> Self {
        Self { block, bloom: None }
    }
}

/// What a node tells of a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanLogs {
    /// The logs.
    pub logs: Vec<TimedLog>,
    /// The last block of the span, where the node tells of it along.
    pub last: Option<Header>,
}

impl From<Vec<TimedLog>> for SpanLogs {
    fn from(logs: Vec<TimedLog>) -> Self {
        Self { logs, last: None }
    }
}

/// A call that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The contract.
    pub to: Address,
    /// The function and what it is given.
    pub data: Bytes,
    /// Who calls, where that matters to the contract.
    pub from: Option<Address>,
    /// The contract that what is answered depends on: itself, or one that it asks.
    pub about: Address,
}

impl Call {
    /// A call by nobody in particular.
    pub fn new(to: Address, data: Bytes) -> Self {
        Self::about(to, to, data)
    }

    /// A call of a contract that asks another one.
    pub fn about(about: Address, to: Address, data: Bytes) -> Self {
        Self { to, data, from: None, about }
    }
}

impl From<Inquiry> for Call {
    fn from(Inquiry { to, data, from }: Inquiry) -> Self {
        Self { to, data, from, about: to }
    }
}

/// The contract refused a call, or there is no such contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted;

/// What each of several calls gave.
pub type CallResults = Vec<Result<Bytes, Reverted>>;

/// Something that knows a chain.
pub trait Node: Send + Sync + 'static {
    /// Which chain it knows.
    fn chain_id(&self) -> impl Future<Output = Result<ChainId, Failure>> + Send;

    /// The newest block.
    fn head(&self) -> impl Future<Output = Result<Block, Failure>> + Send;

    /// The blocks at these heights, in the order asked; absent those that it does not know.
    fn blocks(&self, numbers: &[u64]) -> impl Future<Output = Result<Vec<Option<Block>>, Failure>> + Send;

    /// The same with what each block says of its logs, where the node tells that.
    fn headers(&self, numbers: &[u64]) -> impl Future<Output = Result<Vec<Option<Header>>, Failure>> + Send {
        async { Ok(self.blocks(numbers).await?.into_iter().map(|block| block.map(Header::from)).collect()) }
    }

    /// The logs of a span that any of `filters` lets through. Fails when the node does not know the last block of the
    /// span, so that silence never means "not there yet". A node alone may tell them in any order and twice, and leave some
    /// out; several behind one name ([`crate::rpc::Pool`]) tell them in the order of the chain.
    fn logs(
        &self,
        span: Span,
        filters: &[LogFilter],
    ) -> impl Future<Output = Result<SpanLogs, Failure>> + Send;

    /// All logs of a block, from the receipts of its transactions rather than from an index of logs.
    fn receipt_logs(&self, _block: BlockHash) -> impl Future<Output = Result<Vec<TimedLog>, Failure>> + Send {
        async { Err(Failure::retry("it does not tell receipts")) }
    }

    /// What calls give at the end of a block, or of the newest one.
    fn call(
        &self,
        calls: &[Call],
        at: Option<BlockHash>,
    ) -> impl Future<Output = Result<CallResults, Failure>> + Send;

    /// How much of the chain's own currency accounts have at the newest block.
    fn funds(&self, _accounts: &[Address]) -> impl Future<Output = Result<Vec<U256>, Failure>> + Send {
        async { Err(Failure::retry("it does not tell what accounts have")) }
    }

    /// What became of a transaction; nothing while it is in no block.
    fn receipt(&self, _transaction: B256) -> impl Future<Output = Result<Option<Receipt>, Failure>> + Send {
        async { Err(Failure::retry("it does not tell receipts")) }
    }

    /// Plays what a wallet would send, at the newest block.
    fn play(&self, _rehearsal: &Rehearsal, _way: Way) -> impl Future<Output = Result<Played, Unable>> + Send {
        async { Err(Unable::Unknown) }
    }

    /// The code of contracts at the newest block; empty where there is none.
    fn code(&self, addresses: &[Address]) -> impl Future<Output = Result<Vec<Bytes>, Failure>> + Send;

    /// Holds a block against what others say of its height, where there is anybody else to ask. Fails where most have
    /// another one, or where nobody can tell who is right.
    fn confirm(&self, _block: &Block) -> impl Future<Output = Result<(), Failure>> + Send {
        async { Ok(()) }
    }

    /// Takes that what was told of the newest blocks does not fit together, again and again: somebody else is to be asked.
    fn doubt(&self, _reason: &str) {}

    /// How it may be called in a status.
    fn names(&self) -> String {
        "the node".to_owned()
    }
}
