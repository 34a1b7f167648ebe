//! What facts make of a collection: balances, approvals and orders, what happened, and how to undo it.
//!
//! A [`Ledger`] holds only what some facts need, which [`Needs`] tells. All times come from blocks, so that the same
//! blocks always give the same records.

mod activities;
mod needs;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use alloy_primitives::U256;
use bourse_wire::{
    ActivityFacts, Address, Amount, FeeEntry, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus,
    TokenId,
};

pub use needs::Needs;

use crate::facts::{Block, Fact, OrderFilled, OrderMade, OrderPublished, OrderRef, StatedFact};
use crate::money::unit_price;
use crate::nonces::{Nonces, Revoked};
use table::Table;

/// The records of a collection that some facts need.
#[derive(Debug, Default)]
pub struct Ledger {
    balances: Table<(TokenId, Address), Amount>,
    tokens: Table<TokenId, ()>,
    orders: Table<OrderKey, OrderFacts>,
    /// Numbers of orders, which never change.
    nonces: HashMap<OrderKey, Nonces>,
    /// Signed orders that were told of.
    published: Vec<(OrderKey, String, Nonces)>,
    approvals: Table<(Address, Address), bool>,
    /// The zero address for none.
    token_approvals: Table<TokenId, Address>,
    /// Orders that were once of a maker, or for a token: one that is made again may be of another.
    by_maker: HashMap<Address, BTreeSet<OrderKey>>,
    by_token: HashMap<TokenId, BTreeSet<OrderKey>>,
    activities: Vec<ActivityFacts>,
    /// How many activities were there when the present block began.
    activities_before: usize,
    /// How often something happened in the present block, by what its name begins with.
    happened: HashMap<String, u64>,
    /// Whether it matters what was before the present block.
    remembers: bool,
    unknown_orders: u64,
    /// Listings of which facts do not tell whether they are covered.
    unsettled: BTreeSet<OrderKey>,
}

/// What the records that one block changed were before it. `None` for those that were not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// Balances: token and account.
    pub balances: BTreeMap<(TokenId, Address), Option<Amount>>,
    /// Tokens that were made.
    pub tokens: Vec<TokenId>,
    /// Orders.
    pub orders: BTreeMap<OrderKey, Option<OrderFacts>>,
    /// Approvals for all tokens: holder and operator.
    pub approvals: BTreeMap<(Address, Address), Option<bool>>,
    /// Approvals of single tokens.
    pub token_approvals: BTreeMap<TokenId, Option<Address>>,
    /// The names of what happened in this block.
    pub activities: Vec<String>,
}

/// What is different after facts were applied, each kind sorted by key but activities, which are as they happened.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    /// Balances: token and account.
    pub balances: Vec<((TokenId, Address), Amount)>,
    /// Tokens that were made.
    pub tokens: Vec<TokenId>,
    /// Orders.
    pub orders: Vec<OrderFacts>,
    /// What was signed of those of them that are new and signed, and the numbers by which they can be taken back.
    pub published: Vec<(OrderKey, String, Nonces)>,
    /// Approvals for all tokens: holder and operator.
    pub approvals: Vec<((Address, Address), bool)>,
    /// Approvals of single tokens; the zero address for none.
    pub token_approvals: Vec<(TokenId, Address)>,
    /// What happened.
    pub activities: Vec<ActivityFacts>,
    /// How many fills and cancellations were of orders that nobody knows: of before the collection was followed.
    pub unknown_orders: u64,
    /// Listings of which the chain is to be asked again, as facts tell one of the permissions that they need and nothing of
    /// another.
    pub unsettled: BTreeSet<OrderKey>,
}

impl Ledger {
    /// Takes over a balance as it was read.
    pub fn load_balance(&mut self, token: TokenId, account: Address, balance: Amount) {
        self.balances.load((token, account), balance);
    }

    /// Takes over that there is a token.
    pub fn load_token(&mut self, token: TokenId) {
        self.tokens.load(token, ());
    }

    /// Takes over an order as it was read.
    pub fn load_order(&mut self, order: OrderFacts) {
        self.index(&order);
        self.orders.load(order.key(), order);
    }

    /// Takes over the numbers of an order as they were read.
    pub fn load_nonces(&mut self, key: OrderKey, nonces: Nonces) {
        self.nonces.insert(key, nonces);
    }

    /// Takes over an approval as it was read.
    pub fn load_approval(&mut self, owner: Address, operator: Address, approved: bool) {
        self.approvals.load((owner, operator), approved);
    }

    /// Takes over the approval of a single token as it was read.
    pub fn load_token_approval(&mut self, token: TokenId, operator: Address) {
        self.token_approvals.load(token, operator);
    }

    /// Once approvals of single tokens are loaded: the tokens of which all listings are needed that may be filled.
    pub fn listed_tokens(&self, needs: &Needs) -> BTreeSet<TokenId> {
        let approved = needs.token_approvals.iter().filter(|token| self.approved_for(token).is_some());
        approved.chain(&needs.approved_tokens).copied().collect()
    }

    /// Once orders are loaded: the approvals that decide which of them are covered.
    pub fn deciding_approvals(&self) -> (BTreeSet<(Address, Address)>, BTreeSet<TokenId>) {
        let keys = self.by_maker.values().flatten();
        let listings = keys.filter_map(|key| self.orders.get(key)).filter(|order| is_open_listing(order));
        let keys = |order: &OrderFacts| Some(((order.maker, order.operator?), order.token_id?));
        listings.filter_map(keys).unzip()
    }

    /// Applies what a log of a block states.
    pub fn apply(&mut self, block: &Block, stated: &StatedFact) {
        match &stated.fact {
            Fact::Transfer { token_id, from, to, quantity, single } => {
                if self.move_token(*token_id, (*from, *to), *quantity) {
                    if *single {
                        self.approve_token(*token_id, Address::ZERO);
                    }
                    self.happen(activities::transfer(block, stated, *token_id, (*from, *to), *quantity));
                }
            }
            Fact::Paid { from, to, amount } => {
                if self.move_token(Fact::MONEY, (*from, *to), *amount) {
                    self.happen(activities::transfer(block, stated, Fact::MONEY, (*from, *to), *amount));
                }
            }
            Fact::Approval { owner, operator, approved } => self.approve(*owner, *operator, *approved),
            Fact::TokenApproval { token_id, operator } => self.approve_token(*token_id, *operator),
            Fact::OrderMade(made) => self.make(block, stated, made),
            Fact::OrderPublished(published) => self.publish(block, stated, published),
            Fact::OrderFilled(filled) => self.fill(block, stated, filled),
            Fact::OrderCancelled { marketplace, order_id } => {
                let key = OrderKey { marketplace: *marketplace, order_id: order_id.clone() };
                if self.orders.get(&key).is_some() {
                    self.cancel(block, stated, key);
                } else {
                    self.unknown_orders += 1;
                }
            }
            Fact::OrdersInvalidated { marketplace, maker, below } => {
                for key in self.invalidated(*marketplace, *maker, *below) {
                    self.cancel(block, stated, key);
                }
            }
            Fact::OrdersRevoked { marketplace, maker, revoked } => {
                for key in self.revoked(*marketplace, *maker, revoked) {
                    self.cancel(block, stated, key);
                }
            }
            Fact::Grant { owner, manager, granted } => self.grant(*owner, *manager, *granted),
            // Whoever asks for royalties, or fetches what is said of tokens, looks at this.
            Fact::RoyaltiesChanged | Fact::MetadataChanged { .. } => {}
        }
    }

    /// Begins a block, and tells whether it matters what was before it.
    pub fn begin_block(&mut self, can_be_undone: bool) {
        self.happened.clear();
        self.remembers = can_be_undone;
        self.balances.remember(can_be_undone);
        self.tokens.remember(can_be_undone);
        self.orders.remember(can_be_undone);
        self.approvals.remember(can_be_undone);
        self.token_approvals.remember(can_be_undone);
    }

    /// Ends a block: what was before it.
    pub fn end_block(&mut self) -> Before {
        let made = self.tokens.take_before().into_iter().filter(|(_, before)| before.is_none());
        let of_block = self.activities.iter().skip(self.activities_before).filter(|_| self.remembers);
        let activities = of_block.map(|activity| activity.unique_hash.clone()).collect();
        self.activities_before = self.activities.len();
        Before {
            balances: self.balances.take_before(),
            tokens: made.map(|(token, _)| token).collect(),
            orders: self.orders.take_before(),
            approvals: self.approvals.take_before(),
            token_approvals: self.token_approvals.take_before(),
            activities,
        }
    }

    /// What is different now.
    pub fn finish(self) -> Outcome {
        Outcome {
            balances: self.balances.into_changed(),
            tokens: self.tokens.into_changed().into_iter().map(|(token, ())| token).collect(),
            orders: self.orders.into_changed().into_iter().map(|(_, order)| order).collect(),
            published: self.published,
            approvals: self.approvals.into_changed(),
            token_approvals: self.token_approvals.into_changed(),
            activities: self.activities,
            unknown_orders: self.unknown_orders,
            unsettled: self.unsettled,
        }
    }

    /// Moves so many of a token from one to another, and tells whether that is anything at all: anybody can have nothing moved in
    /// anybody's name.
    fn move_token(&mut self, token_id: TokenId, (from, to): (Address, Address), quantity: Amount) -> bool {
        if quantity == Amount::ZERO {
            return false;
        }
        // Somebody of whom nothing is known held it since before the collection was followed.
        if let Some(held) = self.balances.get(&(token_id, from)) {
            let left = held.value().saturating_sub(quantity.value());
            self.balances.set((token_id, from), left.into());
        }
        if to != Address::ZERO {
            let held = self.balances.get(&(token_id, to)).copied().unwrap_or_default();
            self.balances.set((token_id, to), held.value().saturating_add(quantity.value()).into());
            if self.tokens.get(&token_id).is_none() {
                self.tokens.set(token_id, ());
            }
        }
        true
    }

    fn approve(&mut self, owner: Address, operator: Address, approved: bool) {
        if self.approvals.get(&(owner, operator)) != Some(&approved) {
            self.approvals.set((owner, operator), approved);
        }
        for key in self.by_maker.get(&owner).cloned().unwrap_or_default() {
            let listing = self.open_listing(&key, operator).filter(|order| order.maker == owner);
            if let Some(token) = listing.and_then(|order| order.token_id) {
                self.allow(key, approved || self.approved_for(&token) == Some(operator));
            }
        }
    }

    /// Gives the approval of a single token to somebody else, or to nobody.
    fn approve_token(&mut self, token: TokenId, operator: Address) {
        let former = self.approved_for(&token);
        if former.unwrap_or_default() == operator {
            return;
        }
        self.token_approvals.set(token, operator);
        for key in self.by_token.get(&token).cloned().unwrap_or_default() {
            let listing = |by| self.open_listing(&key, by).filter(|order| order.token_id == Some(token));
            if listing(operator).is_some() {
                self.allow(key, true);
            } else if let Some(by) = former
                && let Some(order) = listing(by)
            {
                let for_all = self.approvals.get(&(order.maker, by)) == Some(&true);
                self.allow(key, for_all);
            }
        }
    }

    /// Who may move a token besides those who may move all.
    fn approved_for(&self, token: &TokenId) -> Option<Address> {
        self.token_approvals.get(token).copied().filter(|operator| *operator != Address::ZERO)
    }

    /// A listing that may still be filled, if this is one that this operator fills.
    fn open_listing(&self, key: &OrderKey, operator: Address) -> Option<&OrderFacts> {
        let order = self.orders.get(key)?;
        (order.operator == Some(operator) && is_open_listing(order)).then_some(order)
    }

    /// Whether the tokens of a listing may be moved by now. Where its maker must let the marketplace in as well, nobody
    /// knows of that here.
    fn allow(&mut self, key: OrderKey, allowed: bool) {
        if allowed && key.marketplace.has_grants() {
            self.ask(key);
        } else {
            self.cover(key, allowed);
        }
    }

    fn cover(&mut self, key: OrderKey, covered: bool) {
        let Some(order) = self.orders.get(&key) else { return };
        let backing = (!covered).then_some(Amount::ZERO);
        // A signed order counts as stated of where nothing changes too: what the chain was asked before is out of date.
        if order.backing != backing || !key.marketplace.is_own() {
            let order = OrderFacts { backing, ..order.clone() };
            self.orders.set(key, order);
        }
    }

    /// Leaves a listing as it is until the chain was asked again; what it was asked before is out of date.
    fn ask(&mut self, key: OrderKey) {
        let Some(order) = self.orders.get(&key).cloned() else { return };
        self.orders.set(key.clone(), order);
        self.unsettled.insert(key);
    }

    fn make(&mut self, block: &Block, stated: &StatedFact, made: &OrderMade) {
        self.add(block, stated, order_of(block, made));
    }

    /// Takes a signed order that the chain tells of, unless somebody has put it before.
    fn publish(&mut self, block: &Block, stated: &StatedFact, published: &OrderPublished) {
        let key = published.facts.key();
        if self.orders.get(&key).is_some() {
            return;
        }
        let (block_number, at) = (block.number, block.at);
        let order = OrderFacts {
            block_number,
            order_created_at: at,
            order_updated_at: at,
            created_at: at,
            updated_at: at,
            ..published.facts.clone()
        };
        self.nonces.insert(key.clone(), published.nonces.clone());
        self.published.push((key, published.native.clone(), published.nonces.clone()));
        self.add(block, stated, order);
    }

    /// Adds an order, which is covered as far as approvals are known.
    fn add(&mut self, block: &Block, stated: &StatedFact, mut order: OrderFacts) {
        if let (OrderSide::Listing, Some(operator)) = (order.side, order.operator) {
            // What was approved before the collection was followed is not known; the marketplace has looked.
            let for_all = self.approvals.get(&(order.maker, operator)).copied().unwrap_or(true);
            let for_token = order.token_id.and_then(|token| self.approved_for(&token)) == Some(operator);
            order.backing = (!for_all && !for_token).then_some(Amount::ZERO);
        }
        self.happen(activities::making(block, stated, &order));
        self.index(&order);
        self.orders.set(order.key(), order);
    }

    fn fill(&mut self, block: &Block, stated: &StatedFact, filled: &OrderFilled) {
        let found = self.find(filled);
        let Some((key, order)) = found.and_then(|key| Some((key.clone(), self.orders.get(&key)?))) else {
            self.unknown_orders += 1;
            return;
        };
        let sale = activities::sale(block, stated, order, filled);
        let less = order.quantity_remaining.value().saturating_sub(filled.quantity.value());
        let quantity_remaining = filled.remaining.unwrap_or(less.into());
        let order = OrderFacts { quantity_remaining, ..changed_in(block, order) };
        self.orders.set(key, order);
        self.happen(sale);
    }

    /// The order that was filled, as far as it is known.
    fn find(&self, filled: &OrderFilled) -> Option<OrderKey> {
        match &filled.order_ref {
            OrderRef::Id(order_id) => {
                return Some(OrderKey { marketplace: filled.marketplace, order_id: order_id.clone() });
            }
            OrderRef::Numbered { contract, maker, side, series, number, others } => {
                let of_number = |number: &U256| {
                    let mut keys = self.open_of(filled.marketplace, *maker);
                    keys.find(|(key, order)| {
                        let nonces = self.nonces.get(key).filter(|nonces| nonces.are_of(*contract));
                        is_for(order, *side, filled.token_id)
                            && nonces.is_some_and(|nonces| nonces.get(*series) == Some(*number))
                    })
                };
                std::iter::once(number).chain(others).find_map(of_number)
            }
            OrderRef::Priced { contract, maker, side, currency, price } => {
                let unit = unit_price(*side, price.value(), filled.quantity.value());
                let mut keys = self.open_of(filled.marketplace, *maker);
                keys.find(|(key, order)| {
                    is_for(order, *side, filled.token_id)
                        && self.nonces.get(key).is_some_and(|nonces| nonces.are_of(*contract))
                        && order.currency == *currency
                        && order.price_amount == unit
                        && order.quantity_remaining >= filled.quantity
                })
            }
        }
        .map(|(key, _)| key.clone())
    }

    /// The orders of a maker on a marketplace that may still be filled, by name.
    fn open_of(
        &self,
        marketplace: Marketplace,
        maker: Address,
    ) -> impl Iterator<Item = (&OrderKey, &OrderFacts)> {
        let keys = self.by_maker.get(&maker).into_iter().flatten();
        let orders = keys.filter_map(|key| Some((key, self.orders.get(key)?)));
        orders.filter(move |(key, order)| {
            key.marketplace == marketplace && order.maker == maker && is_open(order)
        })
    }

    /// The orders of a maker that are over by their numbers.
    fn revoked(&self, marketplace: Marketplace, maker: Address, revoked: &Revoked) -> Vec<OrderKey> {
        let open = self.open_of(marketplace, maker);
        let concerned =
            open.filter(|(key, _)| self.nonces.get(*key).is_some_and(|nonces| revoked.concerns(nonces)));
        concerned.map(|(key, _)| key.clone()).collect()
    }

    /// Whether listings are covered that need a marketplace to be let in beside the approval of tokens.
    fn grant(&mut self, owner: Address, manager: Address, granted: bool) {
        let for_all = self.approvals.get(&(owner, manager)).copied();
        for key in self.by_maker.get(&owner).cloned().unwrap_or_default() {
            let listing = self.open_listing(&key, manager).filter(|order| order.maker == owner);
            let Some(token) = listing.and_then(|order| order.token_id) else { continue };
            let for_token = self.approved_for(&token) == Some(manager);
            match for_all {
                // What was approved before the collection was followed is not known, nor what a block did that is taken back.
                None if granted && !for_token => self.ask(key),
                _ => self.cover(key, granted && (for_all == Some(true) || for_token)),
            }
        }
    }

    fn cancel(&mut self, block: &Block, stated: &StatedFact, key: OrderKey) {
        let Some(order) = self.orders.get(&key) else { return };
        let cancel = activities::cancel(block, stated, order);
        let order = OrderFacts { status: OrderStatus::Cancelled, ..changed_in(block, order) };
        self.orders.set(key, order);
        self.happen(cancel);
    }

    /// Adds something that happened. The same may happen several times in a transaction, of which each has a name of its own.
    fn happen(&mut self, mut activity: ActivityFacts) {
        let nth = self.happened.entry(activity.unique_hash.clone()).or_default();
        activity.unique_hash = format!("{}:{nth}", activity.unique_hash);
        *nth += 1;
        self.activities.push(activity);
    }

    /// The orders of a maker that may still be filled and have numbers below one, by number.
    fn invalidated(&self, marketplace: Marketplace, maker: Address, below: U256) -> Vec<OrderKey> {
        let open = self.open_of(marketplace, maker);
        let numbered = open.filter_map(|(key, _)| Some((key.order_id.parse::<U256>().ok()?, key.clone())));
        let mut below: Vec<(U256, OrderKey)> = numbered.filter(|(number, _)| *number < below).collect();
        below.sort_unstable();
        below.into_iter().map(|(_, key)| key).collect()
    }

    /// Orders that a chain states are found by their makers and tokens.
    fn index(&mut self, order: &OrderFacts) {
        if order.operator.is_none() {
            return;
        }
        self.by_maker.entry(order.maker).or_default().insert(order.key());
        if let (OrderSide::Listing, Some(token)) = (order.side, order.token_id) {
            self.by_token.entry(token).or_default().insert(order.key());
        }
    }
}

fn is_open(order: &OrderFacts) -> bool {
    order.status == OrderStatus::Active && order.quantity_remaining != Amount::ZERO
}

fn is_open_listing(order: &OrderFacts) -> bool {
    order.side == OrderSide::Listing && is_open(order)
}

/// Whether an order is for a token, or for any.
fn is_for(order: &OrderFacts, side: OrderSide, token: Option<TokenId>) -> bool {
    order.side == side && (order.token_id.is_none() || token.is_none() || order.token_id == token)
}

/// The order as something else of a block leaves it.
fn changed_in(block: &Block, order: &OrderFacts) -> OrderFacts {
    OrderFacts {
        block_number: block.number,
        order_updated_at: block.at,
        updated_at: block.at,
        ..order.clone()
    }
}

fn order_of(block: &Block, made: &OrderMade) -> OrderFacts {
    let key = OrderKey { marketplace: made.marketplace, order_id: made.order_id.clone() };
    OrderFacts {
        token_id: made.token_id,
        maker: made.maker,
        price_amount: made.price_amount,
        currency: made.currency,
        quantity_initial: made.quantity,
        quantity_remaining: made.quantity,
        fee_bps: fee_bps(&made.fees),
        fee_breakdown: made.fees.clone(),
        valid_from: block.at,
        valid_until: made.valid_until,
        block_number: block.number,
        order_created_at: block.at,
        order_updated_at: block.at,
        created_at: block.at,
        updated_at: block.at,
        operator: Some(made.operator),
        ..OrderFacts::unstated(key, made.side)
    }
}

fn fee_bps(fees: &[FeeEntry]) -> i64 {
    fees.iter().map(|fee| fee.bps).sum()
}

#[cfg(test)]
mod tests;
