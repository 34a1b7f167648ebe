//! Activities: what happened to tokens and orders.

use alloy_primitives::B256;

use crate::{ActivityAction, Address, Amount, Marketplace, Timestamp, TokenId};

/// The facts of something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityFacts {
    /// What it was.
    pub action: ActivityAction,
    /// Where it happened; unknown when no marketplace had a part in it.
    pub marketplace: Marketplace,
    /// The token; absent for an offer on any token of the collection.
    pub token_id: Option<TokenId>,
    /// Transaction in which it happened; empty when it did not happen on a chain or that is not known.
    pub tx_hash: String,
    /// Who did it: the maker, the seller, the former holder; zero when that is not known.
    pub from: Address,
    /// Whom it went to, when somebody is known.
    pub to: Option<Address>,
    /// How much of the token.
    pub quantity: Amount,
    /// Decimals of the quantity.
    pub quantity_decimals: u8,
    /// Price of one unit, in base units of the currency.
    pub price_amount: Option<Amount>,
    /// The currency.
    pub currency: Option<Address>,
    /// When it happened.
    pub at: Timestamp,
    /// Position among the logs of its block, 0 when it did not happen on a chain.
    pub log_index: u64,
    /// Height of the block in which tokens changed hands; absent where that is not what happened, or no followed chain told it.
    pub block_number: Option<u64>,
    /// Name of that block.
    pub block_hash: Option<B256>,
    /// A name that nothing else in the collection has: the same activity again is not added again.
    pub unique_hash: String,
    /// When we saw it.
    pub created_at: Timestamp,
}
