//! What chains say at this moment, beyond what is stored of them.

mod nodes;

use alloy_primitives::Bytes;
use bourse_protocols::native::{Inquiry, dealt};
use bourse_wire::{Address, Amount, ChainId, TokenId};
use futures_util::future::BoxFuture;

pub use nodes::{NetworkNodes, Nodes, NodesError};

/// Whom to ask about a chain. `None` says that nobody can be asked: no node is configured, or none answers. What depends
/// on it is then done in the way that is right in either case.
pub trait Chains: Send + Sync {
    /// What contracts answer to calls, in their order; nothing where a call fails.
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>>;

    /// How much of a currency a contract may take from somebody.
    fn allowance(&self, chain: ChainId, asked: Allowance) -> BoxFuture<'_, Option<Amount>>;

    /// Whether a contract may move all tokens that somebody has of a collection.
    fn is_operator(&self, chain: ChainId, asked: Operator) -> BoxFuture<'_, Option<bool>>;

    /// What of a price a marketplace pays to the makers of a token.
    fn royalty(&self, chain: ChainId, asked: Royalty) -> BoxFuture<'_, Option<Amount>>;
}

impl dyn Chains {
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

/// Whose money, and who may take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The currency's contract.
    pub currency: Address,
    /// Whose money.
    pub owner: Address,
    /// Who may take it.
    pub spender: Address,
}

/// Whose tokens, and who may move them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Contract of the collection.
    pub collection: Address,
    /// Whose tokens.
    pub owner: Address,
    /// Who may move them.
    pub operator: Address,
}

/// What is sold where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Royalty {
    /// Contract of the marketplace, which knows royalties of collections that know of none.
    pub market: Address,
    /// Contract of the collection.
    pub collection: Address,
    /// The token.
    pub token_id: TokenId,
    /// For how much.
    pub price: Amount,
}
