//! Nodes that are not as they should be, each in its own way.

use std::sync::{Arc, Mutex};

use alloy_primitives::{Bytes, keccak256};
use bourse_chain::{Call, CallResults, Failure, Header, LogFilter, Node, Span, SpanLogs, TimedLog};
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId};

use crate::node::{Shared, WorldNode};

/// What is odd about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// Nothing.
    None,
    /// From a block on it has others, in which nothing happens.
    Lying { from: u64 },
    /// It tells of the newest block, and says "header not found" about the logs of every block.
    Lacking,
    /// It has blocks, and none of what contracts answer or wrote before the newest ones.
    Pruned,
    /// It is so many blocks behind.
    Lagging { blocks: u64 },
    /// It knows the newest block and no other.
    Empty,
    /// It does not answer.
    Silent,
    /// Every other block that it tells of follows on none.
    Broken,
    /// Every request reaches another one: good, behind, or one that knows nothing.
    Balanced,
    /// From a block on its index of logs lacks every other block, which its receipts have.
    Forgetful { from: u64 },
    /// It has the blocks from one on, and neither logs nor receipts of them.
    Hollow { from: u64 },
    /// It tells logs from the last to the first, twice, and others between that nobody asked about.
    Disordered,
    /// It tells two logs of one place.
    Ambiguous,
    /// It tells logs of another block along.
    Confused,
    /// It is too slow, or its answers are too large, for more than one block; and for a block in which much happens.
    Heavy,
}

/// A node that knows the made-up chain, and is odd.
pub struct OddNode {
    node: WorldNode,
    oddity: Arc<Mutex<Oddity>>,
}

impl OddNode {
    /// A node that is odd as long as nobody sets it right.
    pub fn new(shared: Arc<Shared>, oddity: Arc<Mutex<Oddity>>) -> Self {
        Self { node: WorldNode(shared), oddity }
    }

    /// What is odd about it for this one request.
    fn oddity(&self) -> Oddity {
        let oddity = *self.oddity.lock().unwrap();
        if oddity != Oddity::Balanced {
            return oddity;
        }
        match self.node.0.dice.lock().unwrap().below(4) {
            0 => Oddity::Lagging { blocks: 2 },
            1 => Oddity::Empty,
            _ => Oddity::None,
        }
    }

    /// A block as this node has it.
    fn told(block: Block, oddity: Oddity) -> Block {
        let other = |hash: BlockHash| keccak256(hash);
        match oddity {
            Oddity::Lying { from } if block.number > from => {
                Block { hash: other(block.hash), parent: other(block.parent), ..block }
            }
            Oddity::Lying { from } if block.number == from => Block { hash: other(block.hash), ..block },
            Oddity::Broken if block.number.is_multiple_of(2) => {
                Block { parent: other(block.parent), ..block }
            }
            _ => block,
        }
    }

    fn newest(&self) -> u64 {
        self.node.0.world().head().block.number
    }

    /// Logs as this node tells them.
    fn told_logs(oddity: Oddity, mut told: SpanLogs, others: Vec<TimedLog>) -> SpanLogs {
        match oddity {
            Oddity::Forgetful { from } => {
                let is_kept = |number: u64| number < from || number.is_multiple_of(2);
                told.logs.retain(|timed| is_kept(timed.log.block_number));
            }
            Oddity::Hollow { from } => told.logs.retain(|timed| timed.log.block_number < from),
            Oddity::Disordered => {
                let twice = told.logs.iter().rev().chain(&told.logs).cloned();
                told.logs = others.into_iter().chain(twice).collect();
            }
            Oddity::Ambiguous => {
                let first = told.logs.first().cloned();
                told.logs.extend(first.map(|mut timed| {
                    timed.log.tx_hash = keccak256(timed.log.tx_hash);
                    timed
                }));
            }
            Oddity::Confused => {
                let first = told.logs.first().cloned();
                told.logs.extend(first.map(|mut timed| {
                    timed.log.block_number += 1_000;
                    timed.log.block_hash = keccak256(timed.log.block_hash);
                    timed
                }));
            }
            _ => {}
        }
        told
    }
}

fn unknown() -> Failure {
    Failure::reorg("header not found")
}

impl Node for OddNode {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        self.node.chain_id().await
    }

    async fn head(&self) -> Result<Block, Failure> {
        let oddity = self.oddity();
        let head = self.node.head().await?;
        match oddity {
            Oddity::Silent => Err(Failure::retry("no answer")),
            Oddity::Lagging { blocks } => {
                let number = head.number.saturating_sub(blocks);
                self.node.blocks(&[number]).await?.pop().flatten().ok_or_else(unknown)
            }
            _ => Ok(Self::told(head, oddity)),
        }
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        let headers = self.headers(numbers).await?;
        Ok(headers.into_iter().map(|header| header.map(|header| header.block)).collect())
    }

    async fn headers(&self, numbers: &[u64]) -> Result<Vec<Option<Header>>, Failure> {
        let (oddity, newest) = (self.oddity(), self.newest());
        let is_known = |number: u64| match oddity {
            Oddity::Empty => number == newest,
            Oddity::Lagging { blocks } => number + blocks <= newest,
            _ => true,
        };
        let headers = self.node.headers(numbers).await?;
        let known = headers.into_iter().map(|header| header.filter(|header| is_known(header.block.number)));
        let told = |header: Header| match Self::told(header.block, oddity) {
            block if block == header.block => header,
            other => Header::from(other),
        };
        Ok(known.map(|header| header.map(told)).collect())
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        let (oddity, newest) = (self.oddity(), self.newest());
        match (oddity, span) {
            (Oddity::Lacking | Oddity::Empty, _) => Err(unknown()),
            (Oddity::Silent, _) => Err(Failure::retry("no answer")),
            (Oddity::Pruned, Span::Range { from, .. }) if from + 8 < newest => {
                Err(Failure::reorg("missing trie node"))
            }
            (Oddity::Heavy, Span::Range { from, to }) if from < to => {
                Err(Failure::SmallerRange { suggested: None, reason: "too large or too slow".to_owned() })
            }
            (Oddity::Lagging { blocks }, Span::Range { to, .. }) if to + blocks > newest => Err(unknown()),
            (Oddity::Lying { from }, Span::Range { from: first, to }) if to >= from => {
                let before = Span::Range { from: first, to: from.saturating_sub(1).max(first) };
                let told =
                    if first < from { self.node.logs(before, filters).await? } else { SpanLogs::default() };
                Ok(told.logs.into())
            }
            (Oddity::Lying { .. }, Span::Block(_)) => {
                // Of its own blocks it says that nothing happened in them.
                Ok(self.node.logs(span, filters).await.unwrap_or_default())
            }
            (Oddity::Disordered, _) => {
                let told = self.node.logs(span, filters).await?;
                let others = self.node.logs(span, &[LogFilter::default()]).await?.logs;
                Ok(Self::told_logs(oddity, told, others))
            }
            _ => {
                let told = self.node.logs(span, filters).await?;
                if oddity == Oddity::Heavy && told.logs.len() > 2 {
                    let reason = "too large or too slow".to_owned();
                    return Err(Failure::SmallerRange { suggested: None, reason });
                }
                Ok(Self::told_logs(oddity, told, Vec::new()))
            }
        }
    }

    async fn receipt_logs(&self, block: BlockHash) -> Result<Vec<TimedLog>, Failure> {
        let oddity = self.oddity();
        let logs = self.node.receipt_logs(block).await?;
        match oddity {
            Oddity::Silent => Err(Failure::retry("no answer")),
            Oddity::Hollow { from } if logs.iter().any(|timed| timed.log.block_number >= from) => {
                Ok(Vec::new())
            }
            _ => Ok(logs),
        }
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        match self.oddity() {
            Oddity::Silent => Err(Failure::retry("no answer")),
            Oddity::Pruned | Oddity::Lacking => Err(Failure::reorg("missing trie node")),
            _ => self.node.call(calls, at).await,
        }
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        self.node.code(addresses).await
    }
}
