//! Orders: what their makers and the chain said of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Address, Amount, ChainRef, Marketplace, OrderSide, OrderStatus, ServiceName, Text, Timestamp, TokenId,
};

/// A share of the price that goes to somebody else than the maker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeeEntry {
    /// What it is for: royalty, marketplace.
    pub kind: String,
    /// Who gets it.
    pub recipient_address: Address,
    /// How much, in basis points.
    pub bps: i64,
}

/// The facts of an order: what does not follow from balances, rates and the time.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderFacts {
    /// The marketplace's own name for the order.
    pub order_id: String,
    /// Where it can be filled.
    pub marketplace: Marketplace,
    /// Selling or buying.
    pub side: OrderSide,
    /// What its source said of its state.
    pub status: OrderStatus,
    /// Where the order was first published.
    pub origin_name: String,
    /// The token; absent for an offer on any token of the collection.
    pub token_id: Option<TokenId>,
    /// The maker.
    pub maker: Address,
    /// Price of one unit, in base units of the currency.
    pub price_amount: Amount,
    /// The currency.
    pub currency: Address,
    /// Quantity at creation.
    pub quantity_initial: Amount,
    /// Quantity not filled yet.
    pub quantity_remaining: Amount,
    /// Decimals of the quantities.
    pub quantity_decimals: u8,
    /// Fees inside the price, in basis points.
    pub fee_bps: i64,
    /// Who gets the fees.
    pub fee_breakdown: Vec<FeeEntry>,
    /// Valid from.
    pub valid_from: Timestamp,
    /// Valid until.
    pub valid_until: Timestamp,
    /// Block of the order's last change, 0 when it is not on a chain.
    pub block_number: u64,
    /// When its maker made it; the zero time when that is not known.
    pub order_created_at: Timestamp,
    /// When its source last changed it; the zero time when that is not known.
    pub order_updated_at: Timestamp,
    /// When we first saw it.
    pub created_at: Timestamp,
    /// When our record last changed.
    pub updated_at: Timestamp,
}

/// An order as it is imported: the wire record, of which the derived members are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderInput {
    /// The marketplace's own name for the order.
    pub order_id: Text<256>,
    /// Where it can be filled.
    pub marketplace: Text<64>,
    /// Selling or buying.
    pub side: OrderSide,
    /// State as its source says; active when absent.
    pub status: Option<OrderStatus>,
    /// Chain.
    pub chain_id: ChainRef,
    /// Where the order was first published.
    #[serde(default)]
    pub origin_name: Text<256>,
    /// Contract of the collection.
    pub collection_contract_address: Address,
    /// The token; absent for an offer on any token of the collection.
    pub token_id: Option<TokenId>,
    /// The maker.
    pub created_by: Address,
    /// Price of one unit, in base units.
    pub price_amount: Amount,
    /// The currency.
    pub price_currency_address: Address,
    /// Quantity at creation; 1 when absent.
    pub quantity_initial: Option<Amount>,
    /// Quantity not filled yet; all of it when absent.
    pub quantity_remaining: Option<Amount>,
    /// Decimals of the quantities.
    #[serde(default)]
    pub quantity_decimals: u8,
    /// Fees inside the price, in basis points.
    #[serde(default)]
    pub fee_bps: i64,
    /// Who gets the fees.
    #[serde(default)]
    pub fee_breakdown: Vec<FeeEntry>,
    /// Valid from.
    #[serde(default)]
    pub valid_from: Timestamp,
    /// Valid until.
    pub valid_until: Timestamp,
    /// Block of the order's last change.
    #[serde(default)]
    pub block_number: u64,
    /// When its maker made it.
    #[serde(default)]
    pub order_created_at: Timestamp,
    /// When its source last changed it.
    #[serde(default)]
    pub order_updated_at: Timestamp,
    /// When it was first seen.
    #[serde(default)]
    pub created_at: Timestamp,
    /// When the record last changed.
    #[serde(default)]
    pub updated_at: Timestamp,
}

/// Why an imported order makes no sense.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OrderFactsError {
    /// The marketplace is not one we know.
    #[error("marketplace: `{word}` is not known")]
    Marketplace {
        /// The word given.
        word: String,
    },
    /// Neither a listing nor an offer.
    #[error("side: must be listing or offer")]
    Side,
    /// A listing sells a token.
    #[error("tokenId: is required for a listing")]
    ListingWithoutToken,
    /// More remains than there was.
    #[error("quantityRemaining: {remaining} is more than quantityInitial {initial}")]
    Quantity {
        /// Quantity not filled yet.
        remaining: Amount,
        /// Quantity at creation.
        initial: Amount,
    },
    /// The fees are not shares of the price.
    #[error("feeBps: {bps} is not between 0 and 10000")]
    Fee {
        /// The fee given.
        bps: i64,
    },
    /// No chain has so many blocks.
    #[error("blockNumber: {number} is not below 2^63")]
    BlockNumber {
        /// The number given.
        number: u64,
    },
    /// The breakdown does not add up.
    #[error("feeBreakdown: adds up to {sum} where feeBps is {bps}")]
    FeeBreakdown {
        /// Sum of the breakdown.
        sum: i64,
        /// The fee given.
        bps: i64,
    },
}

impl OrderInput {
    /// The facts of the order, when they make sense together.
    pub fn facts(self, service: &ServiceName) -> Result<OrderFacts, OrderFactsError> {
        let word = self.marketplace.as_str();
        let marketplace = Marketplace::parse(word, service)
            .ok_or_else(|| OrderFactsError::Marketplace { word: word.to_owned() })?;
        let initial = self.quantity_initial.unwrap_or(Amount::from(1));
        let remaining = self.quantity_remaining.unwrap_or(initial);
        let sum = self.fee_breakdown.iter().fold(0_i64, |sum, fee| sum.saturating_add(fee.bps));
        match () {
            () if self.side == OrderSide::Unknown => return Err(OrderFactsError::Side),
            () if self.side == OrderSide::Listing && self.token_id.is_none() => {
                return Err(OrderFactsError::ListingWithoutToken);
            }
            () if remaining > initial => return Err(OrderFactsError::Quantity { remaining, initial }),
            () if !(0..=10_000).contains(&self.fee_bps) => {
                return Err(OrderFactsError::Fee { bps: self.fee_bps });
            }
            () if !self.fee_breakdown.is_empty() && sum != self.fee_bps => {
                return Err(OrderFactsError::FeeBreakdown { sum, bps: self.fee_bps });
            }
            () if i64::try_from(self.block_number).is_err() => {
                return Err(OrderFactsError::BlockNumber { number: self.block_number });
            }
            () => {}
        }
        Ok(OrderFacts {
            order_id: self.order_id.into_string(),
            marketplace,
            side: self.side,
            status: self.status.unwrap_or(OrderStatus::Active),
            origin_name: self.origin_name.into_string(),
            token_id: self.token_id,
            maker: self.created_by,
            price_amount: self.price_amount,
            currency: self.price_currency_address,
            quantity_initial: initial,
            quantity_remaining: remaining,
            quantity_decimals: self.quantity_decimals,
            fee_bps: self.fee_bps,
            fee_breakdown: self.fee_breakdown,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            block_number: self.block_number,
            order_created_at: self.order_created_at,
            order_updated_at: self.order_updated_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
