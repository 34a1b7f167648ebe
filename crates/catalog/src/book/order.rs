//! One order as it is kept.

use bourse_market::Terms;
use bourse_wire::{
    Address, Amount, CollectionNumbers, Marketplace, OrderFacts, OrderStatus, Timestamp, TokenId,
};

use super::order_sets::Said;
use super::text::{OrderText, render};
use crate::arena::Span;
use crate::currencies::Price;

/// The token of an order that is for any token of the collection.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// An order in the book.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) price: Price,
    /// Ordinal of the token.
    pub(crate) token: u32,
    /// Number of the maker's account.
    pub(crate) maker: u32,
    pub(crate) marketplace: Marketplace,
    /// What it is by now.
    pub(crate) status: OrderStatus,
    /// Whether all that remains can be filled, as far as anybody knows.
    pub(crate) is_covered: bool,
    pub(crate) quantity_decimals: u8,
    pub(crate) terms: Terms,
    pub(crate) created_at: Timestamp,
    pub(crate) text: Span,
}

impl Order {
    pub(crate) fn new(prepared: &PreparedOrder, price: Price, token: u32, maker: u32, text: Span) -> Self {
        Self {
            price,
            token,
            maker,
            marketplace: prepared.marketplace,
            // Until it is looked at.
            status: OrderStatus::Unknown,
            is_covered: false,
            quantity_decimals: prepared.quantity_decimals,
            terms: prepared.terms,
            created_at: prepared.created_at,
            text,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.status == OrderStatus::Active
    }

    /// What it is found by.
    pub(super) fn said(&self) -> Said {
        let Self { token, maker, marketplace, .. } = *self;
        Said { token, currency: self.price.currency, marketplace, maker }
    }
}

/// An order with its text ready, which takes longer than putting it in the book and needs nothing of it.
#[derive(Debug)]
pub struct PreparedOrder {
    pub(crate) marketplace: Marketplace,
    pub(crate) token: Option<TokenId>,
    pub(crate) maker: Address,
    pub(crate) currency: Address,
    pub(crate) amount: Amount,
    pub(crate) quantity_decimals: u8,
    pub(crate) terms: Terms,
    pub(crate) created_at: Timestamp,
    pub(crate) text: Vec<u8>,
}

impl PreparedOrder {
    /// Makes the text of an order, which has numbers of its collection in it.
    pub fn new(numbers: CollectionNumbers, facts: &OrderFacts) -> Self {
        Self {
            marketplace: facts.marketplace,
            token: facts.token_id,
            maker: facts.maker,
            currency: facts.currency,
            amount: facts.price_amount,
            quantity_decimals: facts.quantity_decimals,
            terms: facts.into(),
            created_at: facts.created_at,
            text: render(numbers, facts),
        }
    }

    pub(crate) fn order_id(&self) -> &[u8] {
        OrderText::new(&self.text).order_id()
    }
}
