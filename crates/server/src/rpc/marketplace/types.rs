//! Records of the marketplace as answers show them. They document what is written text by text.

use bourse_wire::{
    Address, Amount, ChainId, FeeEntry, OrderSide, OrderStatus, Timestamp, TokenId, TokenMetadata,
};
use schemars::JsonSchema;

/// A listing or an offer.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Order {
    /// A number for the order, the same in every answer.
    id: u64,
    /// The collection's number.
    collection_id: u64,
    /// A number for the token, the same in every answer.
    collectible_id: u64,
    /// The marketplace's own name for the order.
    order_id: String,
    /// Where it can be filled.
    marketplace: String,
    /// Where it comes from.
    source: String,
    /// Selling or buying.
    side: OrderSide,
    /// State, as of the answer.
    status: OrderStatus,
    /// Chain.
    chain_id: ChainId,
    /// Always empty.
    slug: String,
    /// Where the order was first published.
    origin_name: String,
    /// Contract of the collection.
    collection_contract_address: Address,
    /// The token; null for an offer on any token of the collection.
    token_id: Option<TokenId>,
    /// The maker.
    created_by: Address,
    /// Price of one unit, in base units of the currency.
    price_amount: Amount,
    /// The same in whole units.
    price_amount_formatted: String,
    /// What of it the maker gets, after the order's own fees.
    price_amount_net: Amount,
    /// The same in whole units.
    price_amount_net_formatted: String,
    /// The currency; the zero address is the chain's own.
    price_currency_address: Address,
    /// Decimals of the currency.
    price_decimals: u8,
    /// The price in US dollars; 0 when the currency has no rate.
    #[schemars(rename = "priceUSD")]
    price_usd: f64,
    /// The same for people; empty when the currency has no rate.
    #[schemars(rename = "priceUSDFormatted")]
    price_usd_formatted: String,
    /// Quantity at creation.
    quantity_initial: Amount,
    /// The same in whole units.
    quantity_initial_formatted: String,
    /// Quantity not filled yet.
    quantity_remaining: Amount,
    /// The same in whole units.
    quantity_remaining_formatted: String,
    /// Quantity that can be filled right now.
    quantity_available: Amount,
    /// The same in whole units.
    quantity_available_formatted: String,
    /// Decimals of the quantities.
    quantity_decimals: u8,
    /// Fees inside the price, in basis points.
    fee_bps: i64,
    /// Who gets the fees.
    fee_breakdown: Vec<FeeEntry>,
    /// Valid from.
    valid_from: Timestamp,
    /// Valid until; the last time that can be written for ever.
    valid_until: Timestamp,
    /// Block of the order's last change, 0 when it is not on a chain.
    block_number: u64,
    /// When its maker made it; when it was first seen where that is not known.
    order_created_at: Timestamp,
    /// When its source last changed it; when the record last changed where that is not known.
    order_updated_at: Timestamp,
    /// When it was first seen.
    created_at: Timestamp,
    /// When the record last changed.
    updated_at: Timestamp,
    /// Always null: an order that is over is kept with its status.
    deleted_at: Option<Timestamp>,
}

/// A token with its best orders.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Collectible {
    /// The token.
    metadata: TokenMetadata,
    /// The best order of the side asked for, or null.
    order: Option<Order>,
    /// The lowest active listing, or null.
    listing: Option<Order>,
    /// The highest active offer, or null.
    offer: Option<Order>,
}
