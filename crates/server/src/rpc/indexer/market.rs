//! The service's own marketplaces as their contracts have them: which one a request names, and what an order is there.

use bourse_store::CollectionKey;
use bourse_wire::{
    Address, Amount, ChainRef, Error, Marketplace, OrderFacts, OrderSide, OrderStatus, Timestamp, TokenId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;

/// A collection's orders at a contract.
pub(super) struct Market {
    /// The collection.
    pub(super) key: CollectionKey,
    /// The marketplace that the contract is.
    pub(super) marketplace: Marketplace,
    contract: Address,
}

impl Market {
    /// The one that a request names, its contract by the member of this name.
    pub(super) fn of(
        call: &Call,
        chain: Option<&ChainRef>,
        (member, contract): (&str, Address),
        collection: Address,
    ) -> Result<Self, Failure> {
        let key = call.collection(chain, collection)?;
        let is_named = |marketplace: &&Marketplace| {
            let venue = call.app.registry.venue(key.chain, **marketplace);
            venue.is_some_and(|venue| venue.protocol_at(contract).is_some())
        };
        let own = [Marketplace::OwnV1, Marketplace::OwnV2];
        let Some(marketplace) = own.iter().find(is_named) else {
            let reason =
                format!("{contract} is none of the service's own marketplaces on chain {}", key.chain);
            return Err(Error::invalid(member, reason).into());
        };
        Ok(Self { key, marketplace: *marketplace, contract })
    }

    /// An order of it; nothing of one for any token, which its contract does not know.
    pub(super) fn order(&self, facts: OrderFacts) -> Option<MarketplaceOrder> {
        // Clients compare it with the time of day: what never ends must not look as if it were over.
        let ends = if facts.valid_until == Timestamp::ZERO { Timestamp::MAX } else { facts.valid_until };
        Some(MarketplaceOrder {
            token_contract: self.key.address,
            token_id: facts.token_id?,
            is_listing: facts.side == OrderSide::Listing,
            quantity: facts.quantity_initial,
            quantity_remaining: facts.quantity_remaining,
            currency_address: facts.currency,
            price_per_token: facts.price_amount,
            expiry: ends.unix_seconds().to_string(),
            order_status: OrderState::of(facts.status),
            created_by: facts.maker,
            block_number: facts.block_number,
            orderbook_contract_address: self.contract,
            created_at: made_at(&facts).unix_seconds().max(0),
            order_id: facts.order_id,
        })
    }
}

/// The side of an order that is a listing, or that is none.
pub(super) fn side(is_listing: bool) -> OrderSide {
    if is_listing { OrderSide::Listing } else { OrderSide::Offer }
}

/// When an order was made; when it was first seen where that is not known.
pub(super) fn made_at(facts: &OrderFacts) -> Timestamp {
    if facts.order_created_at == Timestamp::ZERO { facts.created_at } else { facts.order_created_at }
}

/// What became of an order at its contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "MarketplaceOrderStatus")]
pub(crate) enum OrderState {
    /// Something of it remains, whether its maker has what it takes or not.
    Open,
    /// Nothing of it remains.
    Closed,
    /// Its maker took it back.
    Cancelled,
}

impl OrderState {
    /// By what its source said of it.
    pub(super) fn of(status: OrderStatus) -> Self {
        match status {
            OrderStatus::Filled => Self::Closed,
            OrderStatus::Cancelled => Self::Cancelled,
            OrderStatus::Unknown
            | OrderStatus::Active
            | OrderStatus::Inactive
            | OrderStatus::Expired
            | OrderStatus::DecimalsMissing => Self::Open,
        }
    }
}

/// An order as the contract of a marketplace has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MarketplaceOrder {
    /// The contract's name for it.
    order_id: String,
    /// Contract of the collection.
    token_contract: Address,
    /// The token.
    token_id: TokenId,
    /// Whether its maker sells, rather than buys.
    is_listing: bool,
    /// How many units it was about.
    quantity: Amount,
    /// How many of them remain.
    quantity_remaining: Amount,
    /// The currency; the zero address for the chain's own.
    currency_address: Address,
    /// Price of one unit, in base units of the currency.
    price_per_token: Amount,
    /// When it ends, in seconds since 1970.
    expiry: String,
    /// What became of it.
    order_status: OrderState,
    /// Its maker.
    created_by: Address,
    /// Block in which it last changed.
    block_number: u64,
    /// Contract of the marketplace.
    orderbook_contract_address: Address,
    /// When it was made, in seconds since 1970; 0 where that is not known.
    created_at: i64,
}
