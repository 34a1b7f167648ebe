//! Nodes for tests.

use alloy_primitives::Bytes;
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId};

use crate::node::{Call, CallResults, Failure, LogFilter, Node, Span, SpanLogs};
use crate::status::Status;

/// Takes that a node told a follower of its newest block.
pub fn know(status: &Status, head: Block) {
    status.set(|snapshot| snapshot.head = Some(head));
}

/// What contracts answer.
pub trait Answers: Send + Sync + 'static {
    /// What calls give at the end of a block, or of the newest one.
    fn answers(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure>;
}

/// A node that knows what contracts answer, and nothing else.
pub struct Contracts<A>(pub A);

fn nobody_asks<T>() -> Result<T, Failure> {
    Err(Failure::retry("nobody asks"))
}

impl<A: Answers> Node for Contracts<A> {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        nobody_asks()
    }

    async fn head(&self) -> Result<Block, Failure> {
        nobody_asks()
    }

    async fn blocks(&self, _: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        nobody_asks()
    }

    async fn logs(&self, _: Span, _: &[LogFilter]) -> Result<SpanLogs, Failure> {
        nobody_asks()
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.0.answers(calls, at)
    }

    async fn code(&self, contracts: &[Address]) -> Result<Vec<Bytes>, Failure> {
        Ok(contracts.iter().map(|_| Bytes::from_static(&[0])).collect())
    }
}
