//! Nodes that are not as they should be, each in its own way.

use std::sync::Arc;

use alloy_primitives::{Bytes, keccak256};
use bourse_chain::{Call, CallResults, Failure, LogFilter, Node, Span, TimedLog};
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
}

/// A node that knows the made-up chain, and is odd.
pub struct OddNode {
    node: WorldNode,
    oddity: Oddity,
}

impl OddNode {
    pub fn new(shared: Arc<Shared>, oddity: Oddity) -> Self {
        Self { node: WorldNode(shared), oddity }
    }

    /// What is odd about it for this one request.
    fn oddity(&self) -> Oddity {
        if self.oddity != Oddity::Balanced {
            return self.oddity;
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
        let (oddity, newest) = (self.oddity(), self.newest());
        let is_known = |number: u64| match oddity {
            Oddity::Empty => number == newest,
            Oddity::Lagging { blocks } => number + blocks <= newest,
            _ => true,
        };
        let blocks = self.node.blocks(numbers).await?;
        let known = blocks.into_iter().map(|block| block.filter(|block| is_known(block.number)));
        Ok(known.map(|block| block.map(|block| Self::told(block, oddity))).collect())
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<Vec<TimedLog>, Failure> {
        let (oddity, newest) = (self.oddity(), self.newest());
        match (oddity, span) {
            (Oddity::Lacking | Oddity::Empty, _) => Err(unknown()),
            (Oddity::Silent, _) => Err(Failure::retry("no answer")),
            (Oddity::Pruned, Span::Range { from, .. }) if from + 8 < newest => {
                Err(Failure::reorg("missing trie node"))
            }
            (Oddity::Lagging { blocks }, Span::Range { to, .. }) if to + blocks > newest => Err(unknown()),
            (Oddity::Lying { from }, Span::Range { from: first, to }) if to >= from => {
                let before = Span::Range { from: first, to: from.saturating_sub(1).max(first) };
                if first < from { self.node.logs(before, filters).await } else { Ok(Vec::new()) }
            }
            (Oddity::Lying { .. }, Span::Block(_)) => {
                // Of its own blocks it says that nothing happened in them.
                Ok(self.node.logs(span, filters).await.unwrap_or_default())
            }
            _ => self.node.logs(span, filters).await,
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
