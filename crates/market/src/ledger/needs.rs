//! What must be known before facts can be applied.

use std::collections::BTreeSet;

use bourse_wire::{Address, OrderFacts, OrderKey, OrderSide, TokenId};

use crate::facts::{Fact, OrderMade, OrderRef, StatedFact};

/// Keys of the records that some facts may change, or that the change depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Balances: token and account.
    pub balances: BTreeSet<(TokenId, Address)>,
    /// Tokens, of which only matters whether there are such.
    pub tokens: BTreeSet<TokenId>,
    /// Orders by their names.
    pub orders: BTreeSet<OrderKey>,
    /// Makers of whom all orders are needed that may still be filled.
    pub makers: BTreeSet<Address>,
    /// Approvals for all tokens: holder and operator.
    pub approvals: BTreeSet<(Address, Address)>,
    /// Tokens whose own approval is needed.
    pub token_approvals: BTreeSet<TokenId>,
    /// Tokens that get an approval of their own, so that their listings are needed.
    pub(super) approved_tokens: BTreeSet<TokenId>,
}

impl Needs {
    /// What these facts need.
    pub fn of<'a>(facts: impl IntoIterator<Item = &'a StatedFact>) -> Self {
        let mut needs = Self::default();
        for stated in facts {
            needs.add(&stated.fact);
        }
        needs
    }

    fn add(&mut self, fact: &Fact) {
        match fact {
            Fact::Paid { from, to, .. } => self.add_moved(Fact::MONEY, (*from, *to)),
            Fact::Transfer { token_id, from, to, single, .. } => {
                self.add_moved(*token_id, (*from, *to));
                if *single {
                    self.token_approvals.insert(*token_id);
                }
            }
            Fact::Approval { owner, operator, .. } => {
                self.approvals.insert((*owner, *operator));
                self.makers.insert(*owner);
            }
            Fact::TokenApproval { token_id, operator } => {
                self.token_approvals.insert(*token_id);
                if *operator != Address::ZERO {
                    self.approved_tokens.insert(*token_id);
                }
            }
            Fact::OrderMade(made) => self.add_made(made),
            Fact::OrderPublished(published) => self.add_order(&published.facts),
            Fact::OrderFilled(filled) => match &filled.order_ref {
                OrderRef::Id(order_id) => {
                    self.orders
                        .insert(OrderKey { marketplace: filled.marketplace, order_id: order_id.clone() });
                }
                OrderRef::Numbered { maker, .. } | OrderRef::Priced { maker, .. } => {
                    self.makers.insert(*maker);
                }
            },
            Fact::OrderCancelled { marketplace, order_id } => {
                self.orders.insert(OrderKey { marketplace: *marketplace, order_id: order_id.clone() });
            }
            Fact::OrdersInvalidated { maker, .. } | Fact::OrdersRevoked { maker, .. } => {
                self.makers.insert(*maker);
            }
            Fact::Grant { owner, manager, .. } => {
                self.approvals.insert((*owner, *manager));
                self.makers.insert(*owner);
            }
            Fact::RoyaltiesChanged | Fact::MetadataChanged { .. } => {}
        }
    }

    fn add_moved(&mut self, token: TokenId, (from, to): (Address, Address)) {
        let holders = [from, to].into_iter().filter(|account| *account != Address::ZERO);
        self.balances.extend(holders.map(|account| (token, account)));
        if to != Address::ZERO {
            self.tokens.insert(token);
        }
    }

    fn add_order(&mut self, order: &OrderFacts) {
        self.orders.insert(order.key());
        if order.side == OrderSide::Listing {
            self.approvals.extend(order.operator.map(|operator| (order.maker, operator)));
            self.token_approvals.extend(order.token_id);
        }
    }

    fn add_made(&mut self, made: &OrderMade) {
        self.orders.insert(OrderKey { marketplace: made.marketplace, order_id: made.order_id.clone() });
        if made.side == OrderSide::Listing {
            self.approvals.insert((made.maker, made.operator));
            self.token_approvals.extend(made.token_id);
        }
    }
}
