//! What to look for.

use bourse_wire::{Address, Amount, Marketplace};

/// Which tokens. Everything that is given must hold; what is empty restricts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenFilter {
    /// Words that are all in the name, in any order and letter case, each as a part of it; or the token's number.
    pub text: String,
    /// Properties, all of which must hold.
    pub properties: Vec<PropertyFilter>,
    /// Accounts one of which must hold the token.
    pub in_accounts: Vec<Address>,
    /// Accounts none of which may hold the token.
    pub not_in_accounts: Vec<Address>,
    /// Whether nobody at all may hold the token, as far as anybody is known to.
    pub held_by_nobody: bool,
}

impl TokenFilter {
    /// The words of the text, each once.
    pub(crate) fn words(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.text.split_whitespace().collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Whether it restricts nothing but properties.
    pub(crate) fn is_of_properties(&self) -> bool {
        self.text.trim().is_empty()
            && self.in_accounts.is_empty()
            && self.not_in_accounts.is_empty()
            && !self.held_by_nobody
    }
}

/// A property that a token must have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PropertyFilter {
    /// Its name.
    pub name: String,
    /// What must be so of its value.
    pub condition: Condition,
}

/// What must be so of a property's value; of a list, or of several values, it suffices for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Any value.
    Any,
    /// A whole number within bounds, both included.
    Within {
        /// Lower bound.
        min: Option<i64>,
        /// Upper bound.
        max: Option<i64>,
    },
    /// One of these.
    OneOf(Vec<Value>),
}

/// A value of a property.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A whole number of 64 bits.
    Int(i64),
    /// A text.
    Text(Box<str>),
    /// Anything else, as compact JSON text.
    Other(Box<str>),
}

/// Which orders. Everything that is given must hold; what is empty restricts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Marketplaces, one of which the order must be on.
    pub marketplaces: Vec<Marketplace>,
    /// Makers, one of which the order must be by.
    pub makers: Vec<Address>,
    /// Makers that the order must not be by.
    pub not_makers: Vec<Address>,
    /// Currencies, one of which the order must be in.
    pub currencies: Vec<Address>,
    /// Currencies that the order must not be in.
    pub not_currencies: Vec<Address>,
    /// Prices, within one of which the order's must be.
    pub prices: Vec<PriceRange>,
}

impl OrderFilter {
    /// Whether it lets every order through.
    pub fn is_empty(&self) -> bool {
        self.marketplaces.is_empty()
            && self.makers.is_empty()
            && self.not_makers.is_empty()
            && self.currencies.is_empty()
            && self.not_currencies.is_empty()
            && self.prices.is_empty()
    }

    /// Whether it lets orders in some currencies through only.
    pub(crate) fn restricts_currencies(&self) -> bool {
        !self.currencies.is_empty() || !self.not_currencies.is_empty() || !self.prices.is_empty()
    }

    /// Whether it lets orders in this currency through.
    pub(crate) fn allows_currency(&self, currency: &Address) -> bool {
        allows(&self.currencies, &self.not_currencies, currency)
            && (self.prices.is_empty() || self.prices.iter().any(|range| range.currency == *currency))
    }

    /// Whether it lets orders at this price through.
    pub(crate) fn allows_price(&self, currency: &Address, amount: Amount) -> bool {
        let within = |range: &PriceRange| {
            range.currency == *currency
                && range.min.is_none_or(|min| min <= amount)
                && range.max.is_none_or(|max| amount <= max)
        };
        self.prices.is_empty() || self.prices.iter().any(within)
    }
}

fn allows(only: &[Address], never: &[Address], address: &Address) -> bool {
    (only.is_empty() || only.contains(address)) && !never.contains(address)
}

/// Prices of one unit in a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceRange {
    /// The currency.
    pub currency: Address,
    /// Lower bound, included.
    pub min: Option<Amount>,
    /// Upper bound, included.
    pub max: Option<Amount>,
}
