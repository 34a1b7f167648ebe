//! What became of an order: what a chain states of it, what others say, and what follows from both.
//!
//! The two are kept apart, so that a block that no longer counts takes back what it stated and nothing else.

use bourse_wire::{Amount, OrderFacts, OrderStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// What changes of an order while its terms stay what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderState {
    /// Its status; active while nothing ended it.
    pub status: OrderStatus,
    /// Quantity not filled yet.
    pub remaining: Amount,
    /// Block of its last change, 0 when that was on no chain.
    pub block_number: u64,
    /// When its maker made it; the zero time when that is not known.
    pub order_created_at: Timestamp,
    /// When it last changed; the zero time when that is not known.
    pub order_updated_at: Timestamp,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When what is known of it last changed.
    pub updated_at: Timestamp,
}

impl OrderState {
    /// What became of an order.
    pub fn of(order: &OrderFacts) -> Self {
        Self {
            status: order.status,
            remaining: order.quantity_remaining,
            block_number: order.block_number,
            order_created_at: order.order_created_at,
            order_updated_at: order.order_updated_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
        }
    }

    /// An order of which this became.
    pub fn apply_to(&self, order: &OrderFacts) -> OrderFacts {
        OrderFacts {
            status: self.status,
            quantity_remaining: self.remaining,
            block_number: self.block_number,
            order_created_at: self.order_created_at,
            order_updated_at: self.order_updated_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
            ..order.clone()
        }
    }

    /// Whether nobody can fill it any more, whatever others do.
    pub fn is_over(&self) -> bool {
        let is_ended =
            matches!(self.status, OrderStatus::Expired | OrderStatus::Cancelled | OrderStatus::Filled);
        is_ended || self.remaining == Amount::ZERO
    }
}

/// What a chain states of an order, and what others say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderParts {
    /// What others than a chain say, if anybody does.
    pub said: Option<OrderState>,
    /// What its chain states, if it states anything.
    pub stated: Option<OrderState>,
}

impl OrderParts {
    /// What follows for an order: one that its chain says is over is over, whatever others say, and while the chain has it
    /// open others may end it. Of what remains the less counts. `None` when nobody tells of it any more.
    pub fn together(&self) -> Option<OrderState> {
        match (self.said, self.stated) {
            (None, None) => None,
            (Some(state), None) | (None, Some(state)) => Some(state),
            (Some(said), Some(stated)) => Some(agreed(&said, &stated)),
        }
    }

    /// The order as its chain has it: nothing happened to one of which the chain states nothing.
    pub fn as_stated(&self, order: &OrderFacts) -> OrderFacts {
        match &self.stated {
            Some(stated) => stated.apply_to(order),
            None => OrderFacts {
                status: OrderStatus::Active,
                quantity_remaining: order.quantity_initial,
                ..order.clone()
            },
        }
    }
}

fn agreed(said: &OrderState, stated: &OrderState) -> OrderState {
    let is_over = stated.status != OrderStatus::Active || stated.remaining == Amount::ZERO;
    OrderState {
        status: if is_over { stated.status } else { said.status },
        remaining: said.remaining.min(stated.remaining),
        block_number: if stated.block_number > 0 { stated.block_number } else { said.block_number },
        order_created_at: known_or(said.order_created_at, stated.order_created_at),
        order_updated_at: said.order_updated_at.max(stated.order_updated_at),
        created_at: first_seen(said.created_at, stated.created_at),
        updated_at: said.updated_at.max(stated.updated_at),
    }
}

/// When something was first seen that was seen twice. The zero time says that a time is not known.
pub fn first_seen(one: Timestamp, other: Timestamp) -> Timestamp {
    known_or(one, other).min(known_or(other, one))
}

/// A time, or another when it is not known.
pub fn known_or(time: Timestamp, other: Timestamp) -> Timestamp {
    if time == Timestamp::ZERO { other } else { time }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Marketplace, OrderKey, OrderSide};

    use super::*;

    fn order() -> OrderFacts {
        let key = OrderKey { marketplace: Marketplace::Opensea, order_id: "1".to_owned() };
        OrderFacts::unstated(key, OrderSide::Listing)
    }

    fn state(status: OrderStatus, remaining: u64) -> OrderState {
        OrderState::of(&OrderFacts { status, quantity_remaining: remaining.into(), ..order() })
    }

    fn together(said: OrderState, stated: OrderState) -> (OrderStatus, Amount) {
        let parts = OrderParts { said: Some(said), stated: Some(stated) };
        let state = parts.together().unwrap();
        (state.status, state.remaining)
    }

    #[test]
    fn an_order_is_over_when_either_says_so() {
        use OrderStatus::{Active, Cancelled, Inactive};
        let open = state(Active, 10);
        assert_eq!(together(open, state(Active, 4)), (Active, 4.into()));
        assert_eq!(together(state(Active, 3), open), (Active, 3.into()));
        assert_eq!(together(open, state(Cancelled, 10)), (Cancelled, 10.into()));
        assert_eq!(together(state(Cancelled, 10), open), (Cancelled, 10.into()));
        assert_eq!(together(state(Inactive, 10), state(Cancelled, 10)), (Cancelled, 10.into()));
        assert_eq!(together(state(Cancelled, 10), state(Active, 0)), (Active, 0.into()), "it was filled");
    }

    #[test]
    fn one_word_alone_counts() {
        let (said, stated) = (state(OrderStatus::Cancelled, 10), state(OrderStatus::Active, 4));
        let parts = |said, stated| OrderParts { said, stated };
        assert_eq!(parts(Some(said), None).together(), Some(said));
        assert_eq!(parts(None, Some(stated)).together(), Some(stated));
        assert_eq!(parts(None, None).together(), None);
    }

    #[test]
    fn a_chain_that_states_nothing_has_the_order_untouched() {
        let order = OrderFacts {
            status: OrderStatus::Cancelled,
            quantity_initial: 9.into(),
            quantity_remaining: 2.into(),
            ..order()
        };
        let untouched = OrderParts::default().as_stated(&order);
        assert_eq!((untouched.status, untouched.quantity_remaining), (OrderStatus::Active, 9.into()));
        let stated = Some(state(OrderStatus::Cancelled, 5));
        let stated = OrderParts { said: None, stated }.as_stated(&order);
        assert_eq!((stated.status, stated.quantity_remaining), (OrderStatus::Cancelled, 5.into()));
    }
}
