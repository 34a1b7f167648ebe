//! What a chain says: blocks, and the facts that their logs state of a collection.

use alloy_primitives::{B256, Bytes, U256};
use bourse_wire::{Address, Amount, FeeEntry, Marketplace, OrderFacts, OrderSide, Timestamp, TokenId};

use crate::nonces::{Nonces, Revoked, Series};

/// The name of a block.
pub type BlockHash = B256;

/// A block, as far as following a chain needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its height.
    pub number: u64,
    /// Its name.
    pub hash: BlockHash,
    /// The name of the one before it.
    pub parent: BlockHash,
    /// When it was made.
    pub at: Timestamp,
}

/// A log, as nodes tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The contract that wrote it.
    pub address: Address,
    /// What it is, and its indexed members.
    pub topics: Vec<B256>,
    /// Its other members.
    pub data: Bytes,
    /// Height of its block.
    pub block_number: u64,
    /// Name of its block.
    pub block_hash: BlockHash,
    /// Its transaction.
    pub tx_hash: B256,
    /// Its place among the logs of its block.
    pub index: u64,
}

/// Something that a log states of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedFact {
    /// Contract of the collection.
    pub collection: Address,
    /// Transaction in which it was stated.
    pub tx_hash: B256,
    /// Place of the log among those of its block.
    pub log_index: u64,
    /// Place among what one log states: a log may tell of several transfers.
    pub part: u32,
    /// What it states.
    pub fact: Fact,
}

/// What a log can state.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Tokens changed hands; the zero address makes and burns them.
    Transfer {
        /// Token id.
        token_id: TokenId,
        /// The former holder.
        from: Address,
        /// The new holder.
        to: Address,
        /// How many.
        quantity: Amount,
        /// Whether there is one of the token only (ERC-721), so that its own approval ends with this.
        single: bool,
    },
    /// Money of a currency (ERC-20) changed hands: all of it is the one token [`Fact::MONEY`].
    Paid {
        /// The former holder.
        from: Address,
        /// The new holder.
        to: Address,
        /// How much, in base units.
        amount: Amount,
    },
    /// Somebody lets an operator move all tokens of the collection, or no longer.
    Approval {
        /// Who holds the tokens.
        owner: Address,
        /// Who may move them.
        operator: Address,
        /// Whether it may.
        approved: bool,
    },
    /// The one operator, besides those for all tokens, that may move one token; the zero address for none.
    TokenApproval {
        /// Token id.
        token_id: TokenId,
        /// Who may move it.
        operator: Address,
    },
    /// An order was made.
    OrderMade(Box<OrderMade>),
    /// The maker of a signed order had the chain tell everybody of it.
    OrderPublished(Box<OrderPublished>),
    /// Some of an order was filled.
    OrderFilled(Box<OrderFilled>),
    /// An order was taken back.
    OrderCancelled {
        /// Where.
        marketplace: Marketplace,
        /// The marketplace's own name for the order.
        order_id: String,
    },
    /// A maker took all orders back that have numbers below one.
    OrdersInvalidated {
        /// Where.
        marketplace: Marketplace,
        /// Whose.
        maker: Address,
        /// The lowest number that is not concerned.
        below: U256,
    },
    /// A maker took orders back, or can no longer fill them, by a number that they have.
    OrdersRevoked {
        /// Where.
        marketplace: Marketplace,
        /// Whose.
        maker: Address,
        /// Which.
        revoked: Revoked,
    },
    /// Somebody lets a marketplace have tokens of any collection moved by a contract that moves them for several
    /// marketplaces, or no longer.
    Grant {
        /// Who holds the tokens.
        owner: Address,
        /// The contract that moves them.
        manager: Address,
        /// Whether the marketplace may ask it to.
        granted: bool,
    },
    /// A marketplace pays another royalty for the collection than before. Which one, for each of its tokens, is asked.
    RoyaltiesChanged,
    /// What is said of these tokens changed (ERC-4906).
    MetadataChanged {
        /// The first token.
        first: TokenId,
        /// The last token.
        last: TokenId,
    },
}

impl Fact {
    /// The token that all money of a currency is of.
    pub const MONEY: TokenId = TokenId::ZERO;
}

/// An order as a chain states it.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderMade {
    /// Where it can be filled.
    pub marketplace: Marketplace,
    /// The marketplace's own name for it.
    pub order_id: String,
    /// Selling or buying.
    pub side: OrderSide,
    /// The maker.
    pub maker: Address,
    /// Who moves the maker's tokens or money when the order is filled.
    pub operator: Address,
    /// The token; absent for an offer on any token of the collection.
    pub token_id: Option<TokenId>,
    /// How much.
    pub quantity: Amount,
    /// Price of one unit, in base units of the currency.
    pub price_amount: Amount,
    /// The currency.
    pub currency: Address,
    /// Valid until.
    pub valid_until: Timestamp,
    /// Who gets which share of the price.
    pub fees: Vec<FeeEntry>,
}

/// A signed order that a chain tells of, whose contract takes the maker's word for it instead of a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderPublished {
    /// What it is.
    pub facts: OrderFacts,
    /// Its native form.
    pub native: String,
    /// The numbers by which it can be taken back.
    pub nonces: Nonces,
}

/// A fill as a chain states it.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderFilled {
    /// Where.
    pub marketplace: Marketplace,
    /// Which order.
    pub order_ref: OrderRef,
    /// Who filled it.
    pub taker: Address,
    /// Who received the tokens, or for an offer the money; the zero address when that is not told.
    pub recipient: Address,
    /// The token, where that is told: an offer may be for any.
    pub token_id: Option<TokenId>,
    /// How much.
    pub quantity: Amount,
    /// How much remains; `None` when that is not told, and so much less remains than before.
    pub remaining: Option<Amount>,
}

/// How a chain tells which order it means.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderRef {
    /// By the marketplace's own name for it.
    Id(String),
    /// By a number that its maker gave it.
    Numbered {
        /// The contract that counts it.
        contract: Address,
        /// The maker.
        maker: Address,
        /// Selling or buying.
        side: OrderSide,
        /// The row of numbers.
        series: Series,
        /// The number.
        number: U256,
        /// Other numbers that it may have been, where several were used at once and not all in vain: the first of all
        /// these that is of an order for the token.
        others: Vec<U256>,
    },
    /// Not at all but by what it is for.
    Priced {
        /// The contract that filled it.
        contract: Address,
        /// The maker.
        maker: Address,
        /// Selling or buying.
        side: OrderSide,
        /// The currency.
        currency: Address,
        /// Price of what was filled of it.
        price: Amount,
    },
}
