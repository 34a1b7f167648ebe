//! Which tokens have orders in which currency, on which marketplace and by which maker: a filter on orders is then a
//! matter of sets of tokens, and no order has to be looked at.

use bourse_sets::Set;
use bourse_wire::Marketplace;
use hashbrown::HashMap;

use crate::kept::kept;

/// Numbers from which on a set takes its better form whenever they double.
const SETTLED_MIN: usize = 1_024;

/// Tokens by what some of their orders say: all active ones of a side, or the best of each token.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderSets {
    /// By the number of the currency.
    currencies: HashMap<u32, Set>,
    marketplaces: HashMap<Marketplace, Set>,
    /// By the number of the maker's account.
    makers: HashMap<u32, Set>,
}

kept!(OrderSets { currencies, marketplaces, makers });

/// What an order says that its token is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) token: u32,
    /// The number of its currency.
    pub(super) currency: u32,
    pub(super) marketplace: Marketplace,
    /// The number of its maker's account.
    pub(super) maker: u32,
}

/// What of an order another order of the same token says too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repeated {
    currency: bool,
    marketplace: bool,
    maker: bool,
}

impl Repeated {
    /// Takes in another order of the token.
    pub(super) fn note(&mut self, said: Said, other: Said) {
        self.currency |= other.currency == said.currency;
        self.marketplace |= other.marketplace == said.marketplace;
        self.maker |= other.maker == said.maker;
    }

    /// What of something one other says too, if there is one.
    fn by(said: Said, other: Option<Said>) -> Self {
        let mut repeated = Self::default();
        if let Some(other) = other {
            repeated.note(said, other);
        }
        repeated
    }
}

impl OrderSets {
    /// The tokens with an order in a currency.
    pub(crate) fn of_currency(&self, number: u32) -> Option<&Set> {
        self.currencies.get(&number)
    }

    /// The tokens with an order on a marketplace.
    pub(crate) fn of_marketplace(&self, marketplace: Marketplace) -> Option<&Set> {
        self.marketplaces.get(&marketplace)
    }

    /// The tokens with an order by a maker.
    pub(crate) fn of_maker(&self, account: u32) -> Option<&Set> {
        self.makers.get(&account)
    }

    /// The numbers of the currencies that there are orders in.
    pub(crate) fn currencies(&self) -> impl Iterator<Item = u32> {
        self.currencies.keys().copied()
    }

    /// Notes what an order says, of so many tokens in all.
    pub(super) fn insert(&mut self, said: Said, tokens: usize) {
        self.insert_new(said, Repeated::default(), tokens);
    }

    fn insert_new(&mut self, said: Said, known: Repeated, tokens: usize) {
        if !known.currency {
            insert_into(self.currencies.entry(said.currency).or_default(), said.token, tokens);
        }
        if !known.marketplace {
            insert_into(self.marketplaces.entry(said.marketplace).or_default(), said.token, tokens);
        }
        if !known.maker {
            insert_into(self.makers.entry(said.maker).or_default(), said.token, tokens);
        }
    }

    /// Forgets what an order said, but for what another order of the token says too.
    pub(super) fn remove(&mut self, said: Said, kept: Repeated) {
        if !kept.currency {
            remove_from(&mut self.currencies, &said.currency, said.token);
        }
        if !kept.marketplace {
            remove_from(&mut self.marketplaces, &said.marketplace, said.token);
        }
        if !kept.maker {
            remove_from(&mut self.makers, &said.maker, said.token);
        }
    }

    /// Notes what the one order of a token says that is noted here, in place of what was noted before.
    pub(super) fn replace(&mut self, old: Option<Said>, new: Option<Said>, tokens: usize) {
        if let Some(old) = old {
            self.remove(old, Repeated::by(old, new));
        }
        if let Some(new) = new {
            self.insert_new(new, Repeated::by(new, old), tokens);
        }
    }

    /// Whether the token of an order is found by all that the order says.
    pub(super) fn find(&self, said: Said) -> bool {
        let has = |set: Option<&Set>| set.is_some_and(|set| set.contains(said.token));
        has(self.of_currency(said.currency))
            && has(self.of_marketplace(said.marketplace))
            && has(self.of_maker(said.maker))
    }

    /// How many tokens are found by something, over all that there is to find them by.
    pub(crate) fn len(&self) -> usize {
        self.sets().map(Set::len).sum()
    }

    /// Takes the best form for so many tokens.
    pub(super) fn settle(&mut self, tokens: usize) {
        self.currencies.values_mut().for_each(|set| set.settle(tokens));
        self.marketplaces.values_mut().for_each(|set| set.settle(tokens));
        self.makers.values_mut().for_each(|set| set.settle(tokens));
    }

    fn sets(&self) -> impl Iterator<Item = &Set> {
        self.currencies.values().chain(self.marketplaces.values()).chain(self.makers.values())
    }

    pub(super) fn bytes(&self) -> usize {
        self.sets().map(Set::bytes).sum::<usize>() + self.makers.capacity() * size_of::<(u32, Set)>()
    }
}

pub(super) fn insert_into(set: &mut Set, token: u32, tokens: usize) {
    let before = set.len();
    set.insert(token);
    if set.len() > before && set.len() >= SETTLED_MIN && set.len().is_power_of_two() {
        set.settle(tokens);
    }
}

pub(super) fn remove_from<K: Eq + std::hash::Hash>(sets: &mut HashMap<K, Set>, key: &K, token: u32) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(token);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
