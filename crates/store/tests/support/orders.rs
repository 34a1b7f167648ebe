//! Orders to start from.

use bourse_store::Change;
use bourse_wire::{Address, Amount, Marketplace, OrderFacts, OrderSide, OrderStatus, Timestamp};

/// An active offer for any token, of which all remains.
pub(crate) fn offer(id: &str) -> OrderFacts {
    OrderFacts {
        order_id: id.to_owned(),
        marketplace: Marketplace::OwnV2,
        side: OrderSide::Offer,
        status: OrderStatus::Active,
        origin_name: String::new(),
        token_id: None,
        maker: Address::ZERO,
        price_amount: 1.into(),
        currency: Address::ZERO,
        quantity_initial: Amount::MAX,
        quantity_remaining: Amount::MAX,
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

/// The change to an order.
pub(crate) fn change(order: OrderFacts) -> Change {
    Change::Order(Box::new(order))
}
