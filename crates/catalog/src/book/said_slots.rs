//! Which slots of a list of prices have orders in which currency and on which marketplace.

use bourse_sets::{Bits, Set, Term};
use bourse_wire::Marketplace;
use hashbrown::HashMap;

use super::order_sets::{Said, insert_into, remove_from};
use crate::kept::kept;
use crate::sorted_list::SlotRelocation;

/// Slots by what their orders say, but for the makers: these are far too many for lists whose slots move.
#[derive(Clone, Debug, Default)]
pub(super) struct SaidSlots {
    /// By the number of the currency.
    currencies: HashMap<u32, Set>,
    marketplaces: HashMap<Marketplace, Set>,
}

kept!(SaidSlots { currencies, marketplaces });

/// What is asked of orders that these sets know.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedSaid {
    /// The numbers of the currencies; nothing where any will do.
    pub(crate) currencies: Option<Vec<u32>>,
    /// The marketplaces; none where any will do.
    pub(crate) marketplaces: Vec<Marketplace>,
}

impl SaidSlots {
    /// Notes what the order of a slot says, of so many slots in all.
    pub(super) fn insert(&mut self, slot: u32, said: Said, slots: usize) {
        insert_into(self.currencies.entry(said.currency).or_default(), slot, slots);
        insert_into(self.marketplaces.entry(said.marketplace).or_default(), slot, slots);
    }

    /// Forgets what the order of a slot said.
    pub(super) fn remove(&mut self, slot: u32, said: Said) {
        remove_from(&mut self.currencies, &said.currency, slot);
        remove_from(&mut self.marketplaces, &said.marketplace, slot);
    }

    /// Gives the slots that moved the numbers that they have by now.
    pub(super) fn relocate(&mut self, relocation: &SlotRelocation) {
        self.currencies.values_mut().for_each(|set| set.relocate(relocation));
        self.marketplaces.values_mut().for_each(|set| set.relocate(relocation));
    }

    /// Takes the best form for so many slots.
    pub(super) fn settle(&mut self, slots: usize) {
        self.currencies.values_mut().for_each(|set| set.settle(slots));
        self.marketplaces.values_mut().for_each(|set| set.settle(slots));
    }

    /// The slots with each of what is asked for.
    pub(super) fn terms(&self, asked: &AskedSaid, slots: usize) -> impl Iterator<Item = Term<'_>> {
        let currencies = asked
            .currencies
            .as_ref()
            .map(|numbers| union(numbers.iter().filter_map(|number| self.currencies.get(number)), slots));
        let marketplaces = (!asked.marketplaces.is_empty())
            .then(|| union(asked.marketplaces.iter().filter_map(|word| self.marketplaces.get(word)), slots));
        currencies.into_iter().chain(marketplaces)
    }

    /// Whether a slot is found by what its order says.
    pub(super) fn finds(&self, slot: u32, said: Said) -> bool {
        let has = |set: Option<&Set>| set.is_some_and(|set| set.contains(slot));
        has(self.currencies.get(&said.currency)) && has(self.marketplaces.get(&said.marketplace))
    }

    fn sets(&self) -> impl Iterator<Item = &Set> {
        self.currencies.values().chain(self.marketplaces.values())
    }

    /// How many slots are found by something, over all that there is to find them by.
    pub(super) fn len(&self) -> usize {
        self.sets().map(Set::len).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.sets().map(Set::bytes).sum()
    }
}

/// What is in any of some sets. Mostly there is one, of which nothing has to be made.
fn union<'a>(sets: impl Iterator<Item = &'a Set>, slots: usize) -> Term<'a> {
    let sets: Vec<&Set> = sets.collect();
    if let [set] = sets.as_slice() {
        return set.term();
    }
    let mut bits = Bits::empty(slots);
    for set in &sets {
        set.add_to(&mut bits);
    }
    // An order says one thing of each, so that no two of these sets have one in common.
    Term::new(bits, sets.iter().map(|set| set.len()).sum())
}
