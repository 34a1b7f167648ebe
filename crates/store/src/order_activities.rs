//! What a change of an order says about what happened.

use bourse_market::known_or;
use bourse_wire::{ActivityAction, ActivityFacts, Address, Amount, OrderFacts, OrderSide, OrderStatus};

/// What was stored of an order before it changed.
#[derive(Clone, Copy)]
pub(crate) struct OrderBefore {
    pub(crate) status: OrderStatus,
    pub(crate) quantity_remaining: Amount,
}

/// What happened when an order became what it is, in the order it must have happened.
pub(crate) fn activities_of(order: &OrderFacts, before: Option<&OrderBefore>) -> Vec<ActivityFacts> {
    let (made, cancelled) = match order.side {
        OrderSide::Listing => (ActivityAction::Listing, ActivityAction::ListingCancel),
        OrderSide::Offer => (ActivityAction::Offer, ActivityAction::OfferCancel),
        OrderSide::Unknown => return Vec::new(),
    };
    let Some(before) = before else {
        return if is_over(order) { Vec::new() } else { vec![making(order, made)] };
    };
    let is_cancelled = before.status != OrderStatus::Cancelled && order.status == OrderStatus::Cancelled;
    // A source may write that nothing remains of what was taken back; that was not sold.
    let emptied = is_cancelled && order.quantity_remaining == Amount::ZERO;
    let sold = before.quantity_remaining.value().checked_sub(order.quantity_remaining.value());
    let sale = sold.map(Amount::from).filter(|sold| *sold > Amount::ZERO && !emptied);
    let sale = sale.map(|quantity| selling(order, quantity));
    let left = if emptied { before.quantity_remaining } else { order.quantity_remaining };
    let cancel = || ActivityFacts { quantity: left, ..happening(order, cancelled, "cancel") };
    sale.into_iter().chain(is_cancelled.then(cancel)).collect()
}

fn is_over(order: &OrderFacts) -> bool {
    let over = matches!(order.status, OrderStatus::Expired | OrderStatus::Cancelled | OrderStatus::Filled);
    over || order.quantity_remaining == Amount::ZERO
}

fn making(order: &OrderFacts, action: ActivityAction) -> ActivityFacts {
    ActivityFacts {
        quantity: order.quantity_initial,
        at: known_or(order.order_created_at, order.created_at),
        created_at: known_or(order.created_at, order.updated_at),
        ..happening(order, action, action.word())
    }
}

fn selling(order: &OrderFacts, quantity: Amount) -> ActivityFacts {
    let name = format!("sale:{}", order.quantity_remaining);
    let sale = ActivityFacts { quantity, ..happening(order, ActivityAction::Sale, &name) };
    // The other side of the trade is not known from the order.
    match order.side {
        OrderSide::Offer => ActivityFacts { from: Address::ZERO, to: Some(order.maker), ..sale },
        OrderSide::Listing | OrderSide::Unknown => sale,
    }
}

/// Something its maker did with an order when it last changed.
fn happening(order: &OrderFacts, action: ActivityAction, name: &str) -> ActivityFacts {
    ActivityFacts {
        action,
        marketplace: order.marketplace,
        token_id: order.token_id,
        tx_hash: String::new(),
        from: order.maker,
        to: None,
        quantity: order.quantity_remaining,
        quantity_decimals: order.quantity_decimals,
        price_amount: Some(order.price_amount),
        currency: Some(order.currency),
        at: known_or(order.order_updated_at, order.updated_at),
        log_index: 0,
        block_number: None,
        block_hash: None,
        unique_hash: format!("order:{}:{}:{name}", order.marketplace.number(), order.order_id),
        created_at: known_or(order.updated_at, order.created_at),
    }
}
