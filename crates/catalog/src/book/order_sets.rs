//! Which tokens have orders in which currency, on which marketplace and by which maker: a filter on orders is then a
//! matter of sets of tokens, and no order has to be looked at.

use bourse_sets::Set;
use bourse_wire::Marketplace;
use hashbrown::HashMap;

use super::Order;

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

/// What of an order another order of the same token says too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repeated {
    pub(super) currency: bool,
    pub(super) marketplace: bool,
    pub(super) maker: bool,
}

impl Repeated {
    /// Takes in another order of the token.
    pub(super) fn note(&mut self, order: &Order, other: &Order) {
        self.currency |= other.price.currency == order.price.currency;
        self.marketplace |= other.marketplace == order.marketplace;
        self.maker |= other.maker == order.maker;
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

    /// Notes an order, of so many tokens in all.
    pub(super) fn insert(&mut self, order: &Order, tokens: usize) {
        let currency = self.currencies.entry(order.price.currency).or_default();
        let marketplace = self.marketplaces.entry(order.marketplace).or_default();
        let maker = self.makers.entry(order.maker).or_default();
        for set in [currency, marketplace, maker] {
            let before = set.len();
            set.insert(order.token);
            if set.len() > before && set.len() >= SETTLED_MIN && set.len().is_power_of_two() {
                set.settle(tokens);
            }
        }
    }

    /// Forgets an order, but for what another order of the token says too.
    pub(super) fn remove(&mut self, order: &Order, kept: Repeated) {
        if !kept.currency {
            remove_from(&mut self.currencies, &order.price.currency, order.token);
        }
        if !kept.marketplace {
            remove_from(&mut self.marketplaces, &order.marketplace, order.token);
        }
        if !kept.maker {
            remove_from(&mut self.makers, &order.maker, order.token);
        }
    }

    /// Whether the token of an order is found by all that the order says.
    pub(super) fn find(&self, order: &Order) -> bool {
        let has = |set: Option<&Set>| set.is_some_and(|set| set.contains(order.token));
        has(self.of_currency(order.price.currency))
            && has(self.of_marketplace(order.marketplace))
            && has(self.of_maker(order.maker))
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

fn remove_from<K: Eq + std::hash::Hash>(sets: &mut HashMap<K, Set>, key: &K, token: u32) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(token);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
