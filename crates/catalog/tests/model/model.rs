//! The model: plain maps of what was said, and the rules that say which tokens and orders count.

use std::collections::BTreeMap;

use bourse_catalog::{Condition, OrderFilter, PropertyFilter, TokenFilter, Value};
use bourse_wire::{
    Address, Amount, Currency, OrderFacts, OrderKey, OrderSide, OrderStatus, Timestamp, TokenId,
};

use crate::exact_price::{ExactPrice, Wide, unit};
use crate::token::{Token, fold};

/// Everything that was said of a collection.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) now: Timestamp,
    pub(crate) tokens: BTreeMap<TokenId, Token>,
    pub(crate) balances: BTreeMap<(TokenId, Address), Amount>,
    pub(crate) orders: BTreeMap<OrderKey, OrderFacts>,
    pub(crate) currencies: BTreeMap<Address, Currency>,
    units: BTreeMap<Address, Wide>,
}

impl Model {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { now, ..Self::default() }
    }

    pub(crate) fn put_token(&mut self, id: TokenId, token: Token) {
        self.tokens.insert(id, token);
    }

    pub(crate) fn put_balance(&mut self, id: TokenId, account: Address, balance: Amount) {
        self.tokens.entry(id).or_default();
        self.balances.insert((id, account), balance);
    }

    pub(crate) fn put_order(&mut self, facts: OrderFacts) {
        if let Some(id) = facts.token_id {
            self.tokens.entry(id).or_default();
        }
        self.orders.insert(facts.key(), facts);
    }

    pub(crate) fn remove_order(&mut self, key: &OrderKey) {
        self.orders.remove(key);
    }

    pub(crate) fn put_currency(&mut self, currency: Currency) {
        let address = currency.contract_address;
        match unit(&currency) {
            Some(unit) => drop(self.units.insert(address, unit)),
            None => drop(self.units.remove(&address)),
        }
        self.currencies.insert(address, currency);
    }

    pub(crate) fn exact_price(&self, currency: Address, amount: Amount) -> ExactPrice {
        ExactPrice::new(currency, amount, self.units.get(&currency).copied())
    }

    fn balance(&self, id: TokenId, account: Address) -> Amount {
        self.balances.get(&(id, account)).copied().unwrap_or_default()
    }

    /// What can be filled of an order that is not over. Balances that nobody ever recorded are unknown, not empty.
    pub(crate) fn available(&self, facts: &OrderFacts) -> Amount {
        let held = match facts.token_id {
            Some(id) if facts.side == OrderSide::Listing && !self.balances.is_empty() => {
                self.balance(id, facts.maker)
            }
            _ => Amount::MAX,
        };
        let available = facts.quantity_remaining.min(held).min(facts.backing.unwrap_or(Amount::MAX));
        let is_short = facts.is_whole && available < facts.quantity_remaining;
        if is_short { Amount::ZERO } else { available }
    }

    pub(crate) fn status(&self, facts: &OrderFacts) -> OrderStatus {
        let ends = facts.valid_until != Timestamp::ZERO;
        if facts.status != OrderStatus::Active {
            facts.status
        } else if facts.quantity_remaining == Amount::ZERO {
            OrderStatus::Filled
        } else if ends && facts.valid_until <= self.now {
            OrderStatus::Expired
        } else if !self.currencies.contains_key(&facts.currency) {
            OrderStatus::DecimalsMissing
        } else if self.now < facts.valid_from || self.available(facts) == Amount::ZERO {
            OrderStatus::Inactive
        } else {
            OrderStatus::Active
        }
    }

    pub(crate) fn has_token(&self, filter: &TokenFilter, id: TokenId, token: &Token) -> bool {
        let holds = |account: &Address| self.balance(id, *account) > Amount::ZERO;
        has_text(&filter.text, id, token)
            && filter.properties.iter().all(|property| has_property(property, token))
            && (filter.in_accounts.is_empty() || filter.in_accounts.iter().any(holds))
            && !filter.not_in_accounts.iter().any(holds)
    }
}

fn has_text(text: &str, id: TokenId, token: &Token) -> bool {
    let text = text.trim();
    if text.is_empty() {
        return true;
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_whitespace().all(|word| token.folded.contains(&fold(word)))
        || (is_number && text.trim_start_matches('0') == digits(id))
}

fn digits(id: TokenId) -> String {
    id.to_string().trim_start_matches('0').to_owned()
}

fn has_property(filter: &PropertyFilter, token: &Token) -> bool {
    let holds = |value: &Value| match (&filter.condition, value) {
        (Condition::Any, _) => true,
        (Condition::Within { min, max }, Value::Int(number)) => {
            min.is_none_or(|min| min <= *number) && max.is_none_or(|max| *number <= max)
        }
        (Condition::Within { .. }, _) => false,
        (Condition::OneOf(values), value) => values.contains(value),
    };
    token.values.iter().any(|had| had.property == filter.name && holds(&had.value))
}

pub(crate) fn has_order(filter: &OrderFilter, facts: &OrderFacts) -> bool {
    let in_range = filter.prices.iter().any(|range| {
        range.currency == facts.currency
            && range.min.is_none_or(|min| min <= facts.price_amount)
            && range.max.is_none_or(|max| facts.price_amount <= max)
    });
    (filter.marketplaces.is_empty() || filter.marketplaces.contains(&facts.marketplace))
        && (filter.makers.is_empty() || filter.makers.contains(&facts.maker))
        && !filter.not_makers.contains(&facts.maker)
        && (filter.currencies.is_empty() || filter.currencies.contains(&facts.currency))
        && !filter.not_currencies.contains(&facts.currency)
        && (filter.prices.is_empty() || in_range)
}
