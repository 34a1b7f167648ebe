//! How marketplaces are spoken with: which calls do what, and what their logs state. One module for each family.

mod approvals;
pub mod own;
mod trade;

use alloy_primitives::{B256, Bytes, U256};
use bourse_wire::{Address, Amount, Marketplace, OrderFacts, OrderSide, TokenId};

use crate::facts::{Fact, Log};
pub use approvals::{approve_currency, approve_tokens};
pub use trade::{AskedFee, Fee, Fill, Trade, price_of};

/// A family of marketplaces, as one contract of it is spoken with.
pub trait Protocol {
    /// The contract that moves the tokens and the money of those who trade: the one that they approve.
    fn operator(&self) -> Address;

    /// The calls that fill orders, in the order to be made, each paying for its own part.
    fn fill(&self, trade: &Trade<'_>) -> Result<Vec<Call>, Refusal>;

    /// The call that makes an order.
    fn make(&self, order: &NewOrder) -> Result<Call, Refusal>;

    /// The call by which its maker takes an order back.
    fn cancel(&self, order: &OrderFacts) -> Result<Call, Refusal>;

    /// Reads a log that its contract wrote; `None` when it is about something else than orders.
    fn decode(&self, log: &Log) -> Result<Option<Decoded>, LogError>;
}

/// A call of a contract, as a wallet sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The contract.
    pub to: Address,
    /// What it is asked to do.
    pub data: Bytes,
    /// How much of the chain's own currency goes with it.
    pub value: Amount,
    /// What it moves in the currency of the orders.
    pub price: Amount,
}

impl Call {
    /// A call that costs nothing but gas.
    fn free(to: Address, data: Vec<u8>) -> Self {
        Self { to, data: data.into(), value: Amount::ZERO, price: Amount::ZERO }
    }
}

/// An order to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// Selling or buying.
    pub side: OrderSide,
    /// Contract of the collection.
    pub collection: Address,
    /// Whether the collection has many of each token (ERC-1155), rather than one (ERC-721).
    pub is_multiple: bool,
    /// The token.
    pub token_id: TokenId,
    /// How many units.
    pub quantity: Amount,
    /// When it ends, in seconds since 1970.
    pub expiry: Amount,
    /// The currency.
    pub currency: Address,
    /// Price of one unit, in base units of the currency.
    pub unit_price: Amount,
}

/// Why there are no calls that do what is asked.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing to fill.
    #[error("there is no order to fill")]
    Empty,
    /// Listings and offers in one trade.
    #[error("listings and offers cannot be filled together")]
    Sides,
    /// Orders in several currencies: their prices have no sum.
    #[error("the orders ask for different currencies, {first} and {other}: fill those of each on their own")]
    Currencies {
        /// Currency of the first.
        first: Address,
        /// Another.
        other: Address,
    },
    /// A price that no contract can reckon with.
    #[error("the amounts add up to more than 2^256-1")]
    Overflow,
    /// More fees than a trade may have.
    #[error("{count} fees where at most {most} are allowed")]
    FeeCount {
        /// How many were asked for.
        count: usize,
        /// How many may be.
        most: usize,
    },
    /// A fee for nobody.
    #[error("fee {index} has the zero address as receiver")]
    FeeReceiver {
        /// Its place among those asked for.
        index: usize,
    },
    /// The fees are larger than the contract lets them be.
    #[error(
        "the fees add up to {fees}, which is more than the {most} that the price leaves without royalties"
    )]
    FeeSum {
        /// What they add up to.
        fees: U256,
        /// The most that they may be.
        most: U256,
    },
    /// The contract does not take the chain's own currency.
    #[error("the contract takes no native currency for this")]
    Native,
    /// The marketplace has no such names for orders.
    #[error("`{order_id}` is no number, as the names of orders are on this marketplace")]
    OrderId {
        /// The name.
        order_id: String,
    },
    /// The contract cannot remember a time that late.
    #[error("the end is too late: at most 2^96-1 seconds since 1970")]
    Expiry,
}

/// What a log of a marketplace states.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// Of which collections.
    pub concerns: Concerns,
    /// What.
    pub fact: Fact,
}

/// Which collections a log of a marketplace is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concerns {
    /// The one of this contract.
    Collection(Address),
    /// Every collection that has orders of that maker on that marketplace.
    EveryCollection,
}

/// Why a log states nothing, although it has the name of an event that does.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("log {index} of transaction {tx_hash} by {address} is no {event}: {reason}")]
pub struct LogError {
    /// The contract that wrote it.
    pub address: Address,
    /// Its transaction.
    pub tx_hash: B256,
    /// Its place among the logs of its block.
    pub index: u64,
    /// The event that it has the name of.
    pub event: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a log that the contract of a marketplace wrote; `None` when it is about something else than orders.
pub fn decode(log: &Log, marketplace: Marketplace) -> Result<Option<Decoded>, LogError> {
    match marketplace {
        Marketplace::OwnV1 | Marketplace::OwnV2 => own::decode(log, marketplace),
        _ => Ok(None),
    }
}
