//! What facts say about what happened.

use std::fmt::Display;

use bourse_wire::{
    ActivityAction, ActivityFacts, Address, Amount, Marketplace, OrderFacts, OrderSide, TokenId,
};

use crate::facts::{Block, OrderFilled, StatedFact};

/// Tokens changed hands.
pub(super) fn transfer(
    block: &Block,
    stated: &StatedFact,
    token_id: TokenId,
    (from, to): (Address, Address),
    quantity: Amount,
) -> ActivityFacts {
    let action = if from == Address::ZERO { ActivityAction::Mint } else { ActivityAction::Transfer };
    ActivityFacts {
        action,
        marketplace: Marketplace::Unknown,
        token_id: Some(token_id),
        tx_hash: stated.tx_hash.to_string(),
        from,
        to: Some(to),
        quantity,
        quantity_decimals: 0,
        price_amount: None,
        currency: None,
        at: block.at,
        log_index: stated.log_index,
        block_number: Some(block.number),
        block_hash: Some(block.hash),
        unique_hash: name(stated, action, token_id),
        created_at: block.at,
    }
}

/// An order was made.
pub(super) fn making(block: &Block, stated: &StatedFact, order: &OrderFacts) -> ActivityFacts {
    let action = match order.side {
        OrderSide::Offer => ActivityAction::Offer,
        OrderSide::Listing | OrderSide::Unknown => ActivityAction::Listing,
    };
    of_order(block, stated, order, action)
}

/// Some of an order was filled: from whom the tokens went, and to whom.
pub(super) fn sale(
    block: &Block,
    stated: &StatedFact,
    order: &OrderFacts,
    filled: &OrderFilled,
) -> ActivityFacts {
    let (taker, recipient) = (filled.taker, filled.recipient);
    let (from, to) = match order.side {
        OrderSide::Offer => (taker, order.maker),
        OrderSide::Listing | OrderSide::Unknown if recipient == Address::ZERO => (order.maker, taker),
        OrderSide::Listing | OrderSide::Unknown => (order.maker, recipient),
    };
    ActivityFacts {
        token_id: order.token_id.or(filled.token_id),
        from,
        // Some marketplaces tell nobody.
        to: Some(to).filter(|to| *to != Address::ZERO),
        quantity: filled.quantity,
        ..of_order(block, stated, order, ActivityAction::Sale)
    }
}

/// An order was taken back.
pub(super) fn cancel(block: &Block, stated: &StatedFact, order: &OrderFacts) -> ActivityFacts {
    let action = match order.side {
        OrderSide::Offer => ActivityAction::OfferCancel,
        OrderSide::Listing | OrderSide::Unknown => ActivityAction::ListingCancel,
    };
    of_order(block, stated, order, action)
}

fn of_order(block: &Block, stated: &StatedFact, order: &OrderFacts, action: ActivityAction) -> ActivityFacts {
    ActivityFacts {
        action,
        marketplace: order.marketplace,
        token_id: order.token_id,
        tx_hash: stated.tx_hash.to_string(),
        from: order.maker,
        to: None,
        quantity: order.quantity_remaining,
        quantity_decimals: order.quantity_decimals,
        price_amount: Some(order.price_amount),
        currency: Some(order.currency),
        at: block.at,
        log_index: stated.log_index,
        block_number: None,
        block_hash: None,
        unique_hash: name(stated, action, format_args!("{}:{}", order.marketplace.number(), order.order_id)),
        created_at: block.at,
    }
}

/// What the name of an activity begins with: what happened to what in which transaction. It depends neither on the block
/// nor on the place of the log in it, so that what is included again is the same.
fn name(stated: &StatedFact, action: ActivityAction, what: impl Display) -> String {
    format!("{}:{}:{what}", stated.tx_hash, action.word())
}
