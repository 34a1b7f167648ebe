//! What chains say at this moment, beyond what is stored of them.

mod nodes;

use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256};
use bourse_chain::{Played, Receipt, Rehearsal, Unplayed};
use bourse_protocols::native::{Inquiry, dealt};
use bourse_wire::{Address, ChainId};
use futures_util::future::{BoxFuture, FutureExt as _, ready};

pub use nodes::{NetworkNodes, Nodes, NodesError};

/// Why a chain says nothing. Whoever asked may read it, so that it tells nothing of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// Nobody can be asked.
    #[error("no node of the network is configured")]
    NoNode,
    /// No node said anything of use.
    #[error("no node of the network answered")]
    Silent,
}

/// Whom to ask about a chain. `None` says that nobody can be asked: no node is configured, or none answers. What depends
/// on it is then done in the way that is right in either case.
pub trait Chains: Send + Sync {
    /// What contracts answer to calls, in their order; nothing where a call fails.
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>>;

    /// Has a node play what a wallet would send, within so much time.
    fn play(
        &self,
        _chain: ChainId,
        _rehearsal: Rehearsal,
        _patience: Duration,
    ) -> BoxFuture<'_, Result<Played, Unplayed>> {
        ready(Err(Unplayed::NoNode)).boxed()
    }

    /// How much of the chain's own currency accounts have.
    fn funds(
        &self,
        _chain: ChainId,
        _accounts: Vec<Address>,
    ) -> BoxFuture<'_, Result<Vec<U256>, Unanswered>> {
        ready(Err(Unanswered::NoNode)).boxed()
    }

    /// The height of the newest block.
    fn head(&self, _chain: ChainId) -> BoxFuture<'_, Result<u64, Unanswered>> {
        ready(Err(Unanswered::NoNode)).boxed()
    }

    /// What became of a transaction; nothing of one that is in no block.
    fn receipt(
        &self,
        _chain: ChainId,
        _transaction: B256,
    ) -> BoxFuture<'_, Result<Option<Receipt>, Unanswered>> {
        ready(Err(Unanswered::NoNode)).boxed()
    }
}

impl dyn Chains {
    /// What contracts answer to calls, as far as there are any and somebody can be asked.
    pub(crate) async fn ask_some(&self, chain: ChainId, asked: Vec<Inquiry>) -> Vec<Option<Bytes>> {
        if asked.is_empty() { Vec::new() } else { self.ask_all(chain, asked).await.unwrap_or_default() }
    }

    /// What contracts answer to the inquiries about each of some things.
    pub(crate) async fn ask_each(
        &self,
        chain: ChainId,
        asked: Vec<Vec<Inquiry>>,
    ) -> Option<Vec<Vec<Option<Bytes>>>> {
        let all: Vec<Inquiry> = asked.iter().flatten().cloned().collect();
        let answers = if all.is_empty() { Vec::new() } else { self.ask_all(chain, all).await? };
        Some(dealt(&asked, answers))
    }
}
