//! What somebody has to do to trade.

use std::fmt;

use alloy_primitives::Bytes;
use bourse_wire::{Address, Amount, JsonObject, OrderSide};

use super::native::{Inquiry, TypedData, is_true};
use super::{
    Call, NewOrder, allowance, approve_currency, approve_tokens, grant_approval, is_granted, is_operator,
    read_amount,
};

/// Calls that trade, and what must be allowed before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What whoever makes the calls must have allowed, in the order to be allowed.
    pub permissions: Vec<Permission>,
    /// The calls, in the order to be made, each paying for its own part.
    pub calls: Vec<Call>,
    /// Whether somebody else than the taker may send the calls: each names the taker as the one who gets what is bought,
    /// and no contract wants to see the taker send it.
    pub anybody_may_send: bool,
    /// What the calls assume, in words, where there is something to tell.
    pub note: Option<&'static str>,
}

/// Something that somebody lets a contract do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Taking so much of a currency.
    Spend {
        /// The currency.
        currency: Address,
        /// Who may.
        spender: Address,
        /// How much.
        amount: Amount,
    },
    /// Moving the tokens of a collection.
    Move {
        /// Contract of the collection.
        collection: Address,
        /// Who may.
        operator: Address,
    },
    /// Having them moved by a contract that moves them for several marketplaces.
    Grant {
        /// The contract that moves them.
        manager: Address,
        /// The marketplace that may ask it to.
        operator: Address,
    },
}

impl Permission {
    /// The call that allows it.
    pub fn call(&self) -> Call {
        match *self {
            Self::Spend { currency, spender, amount } => approve_currency(currency, spender, amount),
            Self::Move { collection, operator } => approve_tokens(collection, operator),
            Self::Grant { manager, operator } => grant_approval(manager, operator),
        }
    }

    /// Asks whether somebody has allowed it.
    pub fn inquiry(&self, owner: Address) -> Inquiry {
        match *self {
            Self::Spend { currency, spender, .. } => allowance(currency, owner, spender),
            Self::Move { collection, operator } => is_operator(collection, owner, operator),
            Self::Grant { manager, operator } => is_granted(manager, owner, operator),
        }
    }

    /// Whether it is allowed, by what was answered.
    pub fn is_given(&self, answer: Option<&Bytes>) -> bool {
        match *self {
            Self::Spend { amount, .. } => read_amount(answer).is_some_and(|allowed| allowed >= amount),
            Self::Move { .. } | Self::Grant { .. } => is_true(answer),
        }
    }

    /// How much money may be taken.
    fn amount(&self) -> Option<Amount> {
        match self {
            Self::Spend { amount, .. } => Some(*amount),
            Self::Move { .. } | Self::Grant { .. } => None,
        }
    }

    /// What the maker of a new order lets a contract move: tokens, or the money of an offer.
    pub(crate) fn of_maker(order: &NewOrder, mover: Address, price: Amount) -> Option<Self> {
        match order.side {
            OrderSide::Offer => Self::spend(order.currency, mover, price),
            OrderSide::Listing | OrderSide::Unknown => {
                Some(Self::Move { collection: order.collection, operator: mover })
            }
        }
    }

    /// Lets a contract take so much of a currency. What is native goes with the call.
    pub(crate) fn spend(currency: Address, spender: Address, amount: Amount) -> Option<Self> {
        let is_needed = currency != Address::ZERO && amount != Amount::ZERO;
        is_needed.then_some(Self::Spend { currency, spender, amount })
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spend { currency, spender, amount } => {
                write!(formatter, "{spender} take {amount} of currency {currency}")
            }
            Self::Move { collection, operator } => {
                write!(formatter, "{operator} move tokens of collection {collection}")
            }
            Self::Grant { manager, operator } => {
                write!(formatter, "{operator} have tokens moved by {manager}")
            }
        }
    }
}

/// How an order is made.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderMaking {
    /// What its maker must have allowed, in the order to be allowed.
    pub permissions: Vec<Permission>,
    /// What its maker must have of its currency, as far as that is known: without it, an offer is none.
    pub funds: Amount,
    /// How its maker makes it.
    pub act: Act,
}

impl OrderMaking {
    /// An order that its maker signs, once they allowed something.
    pub(crate) fn to_sign(permissions: impl IntoIterator<Item = Permission>, signing: OrderSigning) -> Self {
        let permissions: Vec<_> = permissions.into_iter().collect();
        let funds = permissions.iter().find_map(Permission::amount).unwrap_or_default();
        Self { permissions, funds, act: Act::Sign(Box::new(signing)) }
    }
}

/// How a maker makes an order.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// With a call.
    Call(Call),
    /// With a signature.
    Sign(Box<OrderSigning>),
}

/// An order to be signed.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderSigning {
    /// What is signed.
    pub typed: TypedData,
    /// The order as it is put once there is a signature.
    pub native: JsonObject,
    /// What it is for in its currency.
    pub price: Amount,
}
