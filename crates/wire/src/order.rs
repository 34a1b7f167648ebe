//! Orders: what their makers and the chain said of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::TextError;
use crate::{
    Address, Amount, ChainRef, Marketplace, OrderSide, OrderStatus, ServiceName, Text, Timestamp, TokenId,
};

/// Basis points of the whole.
pub const BPS_WHOLE: u64 = 10_000;
/// The most shares of one price; orders have two or three in practice.
const FEE_ENTRIES_MAX: usize = 16;

/// What a fee may be for.
type FeeKind = Text<64>;

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
    /// Who moves the maker's tokens, or for an offer the maker's money, on a fill; absent when that is not known.
    pub operator: Option<Address>,
    /// How many units the maker's approvals, or for an offer the maker's funds, cover right now; absent when that is
    /// not known, which counts as enough.
    pub backing: Option<Amount>,
    /// Whether it is filled whole or not at all, by what was signed or as its marketplace has it.
    pub is_whole: bool,
}

/// What tells an order apart within its collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderKey {
    /// Where it can be filled.
    pub marketplace: Marketplace,
    /// The marketplace's own name for it.
    pub order_id: String,
}

impl OrderFacts {
    /// What tells it apart within its collection.
    pub fn key(&self) -> OrderKey {
        OrderKey { marketplace: self.marketplace, order_id: self.order_id.clone() }
    }

    /// An active order of which nothing else is stated yet. Whoever states something goes on from it, so that a new
    /// fact concerns only those who state it.
    pub fn unstated(key: OrderKey, side: OrderSide) -> Self {
        Self {
            is_whole: key.marketplace.fills_whole(),
            order_id: key.order_id,
            marketplace: key.marketplace,
            side,
            status: OrderStatus::Active,
            origin_name: String::new(),
            token_id: None,
            maker: Address::ZERO,
            price_amount: Amount::ZERO,
            currency: Address::ZERO,
            quantity_initial: Amount::ZERO,
            quantity_remaining: Amount::ZERO,
            quantity_decimals: 0,
            fee_bps: 0,
            fee_breakdown: Vec::new(),
            valid_from: Timestamp::ZERO,
            valid_until: Timestamp::ZERO,
            block_number: 0,
            order_created_at: Timestamp::ZERO,
            order_updated_at: Timestamp::ZERO,
            created_at: Timestamp::ZERO,
            updated_at: Timestamp::ZERO,
            operator: None,
            backing: None,
        }
    }

    /// An order for tests to start from: an active offer of the zero account to buy one of any token for 1.
    #[cfg(feature = "testing")]
    pub fn sample(order_id: &str) -> Self {
        let one = Amount::from(1);
        let key = OrderKey { marketplace: Marketplace::OwnV2, order_id: order_id.to_owned() };
        let unstated = Self::unstated(key, OrderSide::Offer);
        Self { price_amount: one, quantity_initial: one, quantity_remaining: one, ..unstated }
    }
}

/// Nothing: the form that was signed, which no order of this kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum NoNative {}

/// An order as it is imported: the wire record, of which the derived members are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderInput {
    /// What was signed is read in another way: an order that has it is none of these.
    #[serde(default)]
    #[schemars(skip)]
    pub native: Option<NoNative>,
    /// The marketplace's own name for the order.
    pub order_id: Text<256>,
    /// Where it can be filled.
    pub marketplace: Text<64>,
    /// Selling or buying.
    pub side: OrderSide,
    /// State as its source says; active when absent.
    pub status: Option<OrderStatus>,
    /// Chain; may be left out where something around the record names it.
    pub chain_id: Option<ChainRef>,
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
    /// Fees inside the price, in basis points; ignored when there is a breakdown, whose sum it is.
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
    /// Nobody sells or buys for nothing; a price of zero is a price that was lost.
    #[error("priceAmount: must not be zero")]
    ZeroPrice,
    /// It would be over before it begins.
    #[error("validFrom: {from} is after validUntil {until}")]
    Validity {
        /// Valid from.
        from: Timestamp,
        /// Valid until.
        until: Timestamp,
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
    /// More shares than an order has.
    #[error("feeBreakdown: {entries} entries where at most {FEE_ENTRIES_MAX} are allowed")]
    FeeEntries {
        /// How many were given.
        entries: usize,
    },
    /// What a fee is for is too long or cannot be stored.
    #[error("feeBreakdown.kind: {reason}")]
    FeeKind {
        /// What is wrong with it.
        reason: TextError,
    },
    /// A share is no share of the price.
    #[error("feeBreakdown.bps: {bps} is not between 0 and 10000")]
    FeeShare {
        /// The share given.
        bps: i64,
    },
    /// The shares are more than the price.
    #[error("feeBreakdown: the bps add up to {sum}, which is more than 10000")]
    FeeSum {
        /// Sum of the shares.
        sum: i64,
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
        let fee_bps = self.checked_fee_bps()?;
        let (from, until) = (self.valid_from, self.valid_until);
        match () {
            () if self.side == OrderSide::Unknown => return Err(OrderFactsError::Side),
            () if self.side == OrderSide::Listing && self.token_id.is_none() => {
                return Err(OrderFactsError::ListingWithoutToken);
            }
            () if remaining > initial => return Err(OrderFactsError::Quantity { remaining, initial }),
            () if self.price_amount == Amount::ZERO => return Err(OrderFactsError::ZeroPrice),
            // The zero time is no end.
            () if until != Timestamp::ZERO && from > until => {
                return Err(OrderFactsError::Validity { from, until });
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
            fee_bps,
            fee_breakdown: self.fee_breakdown,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            block_number: self.block_number,
            order_created_at: self.order_created_at,
            order_updated_at: self.order_updated_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
            operator: None,
            backing: None,
            is_whole: marketplace.fills_whole(),
        })
    }

    /// The fees inside the price: the sum of the breakdown, or what is given when there is none.
    fn checked_fee_bps(&self) -> Result<i64, OrderFactsError> {
        let whole = BPS_WHOLE.cast_signed();
        let shares = 0..=whole;
        if self.fee_breakdown.is_empty() {
            let bps = self.fee_bps;
            return if shares.contains(&bps) { Ok(bps) } else { Err(OrderFactsError::Fee { bps }) };
        }
        let entries = self.fee_breakdown.len();
        if entries > FEE_ENTRIES_MAX {
            return Err(OrderFactsError::FeeEntries { entries });
        }
        let mut sum = 0;
        for fee in &self.fee_breakdown {
            fee.kind.parse::<FeeKind>().map_err(|reason| OrderFactsError::FeeKind { reason })?;
            if !shares.contains(&fee.bps) {
                return Err(OrderFactsError::FeeShare { bps: fee.bps });
            }
            sum += fee.bps;
        }
        if sum > whole { Err(OrderFactsError::FeeSum { sum }) } else { Ok(sum) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ADDRESS: &str = "0x1111111111111111111111111111111111111111";

    fn fee(kind: &str, bps: i64) -> Value {
        json!({ "kind": kind, "recipientAddress": ADDRESS, "bps": bps })
    }

    fn fee_bps(given: i64, breakdown: &[Value]) -> Result<i64, String> {
        let order = json!({ "orderId": "1", "marketplace": "opensea", "side": "listing", "chainId": 1,
            "collectionContractAddress": ADDRESS, "tokenId": "1", "createdBy": ADDRESS, "priceAmount": "1",
            "priceCurrencyAddress": ADDRESS, "validUntil": "2030-01-01T00:00:00Z", "feeBps": given,
            "feeBreakdown": breakdown });
        let order: OrderInput = crate::from_value(order).unwrap();
        order.facts(&ServiceName::new("bourse")).map(|facts| facts.fee_bps).map_err(|error| error.to_string())
    }

    #[test]
    fn the_breakdown_is_the_fee_and_what_is_given_counts_without_one() {
        assert_eq!(fee_bps(250, &[]), Ok(250));
        assert_eq!(fee_bps(10_000, &[]), Ok(10_000));
        assert_eq!(fee_bps(0, &[fee("royalty", 500), fee("marketplace", 250)]), Ok(750));
        assert_eq!(fee_bps(-1, &[fee("royalty", 500)]), Ok(500));
        assert_eq!(fee_bps(300, &[fee("royalty", 0)]), Ok(0));
        assert_eq!(fee_bps(0, &vec![fee(&"k".repeat(64), 625); 16]), Ok(10_000));
    }

    #[test]
    fn fees_that_are_no_shares_of_the_price_are_refused() {
        let refused = |given, breakdown: &[Value]| fee_bps(given, breakdown).unwrap_err();
        assert_eq!(refused(-1, &[]), "feeBps: -1 is not between 0 and 10000");
        assert_eq!(refused(10_001, &[]), "feeBps: 10001 is not between 0 and 10000");
        let offset = [fee("a", 100), fee("b", -1)];
        assert_eq!(refused(99, &offset), "feeBreakdown.bps: -1 is not between 0 and 10000");
        assert_eq!(
            refused(0, &[fee("a", i64::MAX)]),
            format!("feeBreakdown.bps: {} is not between 0 and 10000", i64::MAX)
        );
        let both = [fee("a", 10_000), fee("b", 1)];
        assert_eq!(refused(0, &both), "feeBreakdown: the bps add up to 10001, which is more than 10000");
    }

    #[test]
    fn breakdowns_are_bounded() {
        let refused = |breakdown: &[Value]| fee_bps(0, breakdown).unwrap_err();
        assert_eq!(refused(&vec![fee("a", 1); 17]), "feeBreakdown: 17 entries where at most 16 are allowed");
        let long = refused(&[fee(&"k".repeat(65), 1)]);
        assert_eq!(long, "feeBreakdown.kind: 65 bytes of text where at most 64 are allowed");
        let nul = refused(&[fee("\0", 1)]);
        assert_eq!(nul, "feeBreakdown.kind: text with the character U+0000, which is not allowed");
    }
}
