//! Tokens in the order of their best prices, with an index of their properties in that order.

use std::cmp::Ordering;

use crate::filter::PropertyFilter;
use crate::properties::{Extracted, Properties};
use crate::ranked::Ranked;
use crate::set::{Term, for_words_of_all, ones};

/// Tokens below which an index is not worth making anew when their number doubles.
const INDEX_ANEW_MIN: usize = 4_096;

/// A list of tokens, and which slots of it have which properties: walking it under a filter on properties skips whole
/// blocks, and counting needs no look at the list at all.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    list: Ranked,
    index: Properties,
    /// Tokens that there were when the index was made.
    indexed: usize,
}

impl Shelf {
    /// Takes tokens that are sorted already, with their hints, of so many tokens in all.
    pub(super) fn new(entries: &[(u32, f64)], properties: &Properties, tokens: usize) -> Self {
        let mut shelf = Self { list: Ranked::from_sorted(entries), index: Properties::default(), indexed: 0 };
        shelf.make_index(properties, tokens);
        shelf
    }

    fn make_index(&mut self, properties: &Properties, tokens: usize) {
        let mut slots = vec![None; tokens];
        for (token, slot) in self.list.blocks_from((0, 0)).flat_map(crate::ranked::Run::slots) {
            slots[token as usize] = Some(slot);
        }
        self.index = properties.project(&slots, self.list.slots_end());
        self.indexed = self.list.len();
    }

    /// Makes the index anew when it was made for far fewer tokens: what few and many need is not the same.
    pub(super) fn settle(&mut self, properties: &Properties, tokens: usize) {
        if self.list.len() > INDEX_ANEW_MIN && self.list.len() > 2 * self.indexed {
            self.make_index(properties, tokens);
        }
    }

    pub(super) fn insert(
        &mut self,
        entry: (u32, f64),
        token: &Extracted<'_>,
        compare: impl Fn(u32, u32) -> Ordering,
    ) {
        let (slot, moved) = self.list.insert(entry, compare);
        self.index.add(slot, &token.properties);
        if let Some(moved) = moved {
            self.index.relocate(&moved);
        }
    }

    /// Takes a token out. The slot that it had, which must be forgotten before any other token is put in.
    pub(super) fn remove(
        &mut self,
        entry: (u32, f64),
        compare: impl Fn(u32, u32) -> Ordering,
    ) -> Option<u32> {
        self.list.remove(entry, compare)
    }

    /// Forgets which properties a slot had.
    pub(super) fn forget(&mut self, slot: u32, token: &Extracted<'_>) {
        self.index.remove(slot, &token.properties);
    }

    /// Gives a token other properties.
    pub(super) fn retag(
        &mut self,
        entry: (u32, f64),
        (known, new): (&Extracted<'_>, &Extracted<'_>),
        compare: impl Fn(u32, u32) -> Ordering,
    ) {
        if let Some(slot) = self.list.slot_of(entry, compare) {
            self.index.remove(slot, &known.properties);
            self.index.add(slot, &new.properties);
        }
    }

    pub(crate) fn list(&self) -> &Ranked {
        &self.list
    }

    /// The slots with each of some properties.
    pub(crate) fn terms(&self, properties: &[PropertyFilter]) -> Vec<Term> {
        properties.iter().map(|property| self.index.find(property, self.list.slots_end())).collect()
    }

    /// How many tokens have all of some properties.
    pub(crate) fn count(&self, properties: &[PropertyFilter]) -> usize {
        if properties.is_empty() {
            return self.list.len();
        }
        let mut count = 0;
        for_words_of_all(&self.terms(properties), None, |_, words| count += ones(words));
        count
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.bytes() + self.index.bytes()
    }
}
