//! Orders to start from.

use bourse_store::Change;
use bourse_wire::{Amount, OrderFacts};

/// An active offer for any token, of which all remains.
pub(crate) fn offer(id: &str) -> OrderFacts {
    OrderFacts { quantity_initial: Amount::MAX, quantity_remaining: Amount::MAX, ..OrderFacts::sample(id) }
}

/// The change to an order.
pub(crate) fn change(order: OrderFacts) -> Change {
    Change::Order(Box::new(order))
}
