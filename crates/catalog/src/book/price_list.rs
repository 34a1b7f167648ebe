//! Tokens in the order of their best prices, with an index of their properties in that order.

use std::cmp::Ordering;

use bourse_sets::Term;

use crate::filter::PropertyFilter;
use crate::kept::kept;
use crate::properties::{IndexedMetadata, Properties};
use crate::sorted_list::{Cursor, SortedList};

/// Tokens below which an index is not worth making anew when their number doubles.
const INDEX_ANEW_MIN: usize = 4_096;

/// A list of tokens, and which slots of it have which properties: walking it under a filter on properties skips whole
/// blocks, and counting needs no look at the list at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriceList {
    list: SortedList,
    index: Properties,
    /// Tokens that there were when the index was made.
    indexed: usize,
}

kept!(PriceList { list, index, indexed });

impl PriceList {
    /// Takes tokens that are sorted already, with their hints, of so many tokens in all.
    pub(super) fn new(entries: &[(u32, f64)], properties: &Properties, tokens: usize) -> Self {
        let mut price_list =
            Self { list: SortedList::from_sorted(entries), index: Properties::default(), indexed: 0 };
        price_list.make_index(properties, tokens);
        price_list
    }

    fn make_index(&mut self, properties: &Properties, tokens: usize) {
        let mut slots = vec![None; tokens];
        for (token, slot) in self.list.blocks_from(Cursor::START).flat_map(crate::sorted_list::Run::slots) {
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
        token: &IndexedMetadata<'_>,
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
    pub(super) fn forget(&mut self, slot: u32, token: &IndexedMetadata<'_>) {
        self.index.remove(slot, &token.properties);
    }

    /// Gives a token other properties.
    pub(super) fn retag(
        &mut self,
        entry: (u32, f64),
        known: &IndexedMetadata<'_>,
        new: &IndexedMetadata<'_>,
        compare: impl Fn(u32, u32) -> Ordering,
    ) {
        if let Some(slot) = self.list.slot_of(entry, compare) {
            self.index.remove(slot, &known.properties);
            self.index.add(slot, &new.properties);
        }
    }

    pub(crate) fn list(&self) -> &SortedList {
        &self.list
    }

    /// The slots with each of some properties.
    pub(crate) fn terms(&self, properties: &[PropertyFilter]) -> Vec<Term<'_>> {
        properties.iter().map(|property| self.index.find(property, self.list.slots_end())).collect()
    }

    /// How many tokens have all of some properties.
    pub(crate) fn count(&self, properties: &[PropertyFilter]) -> usize {
        if properties.is_empty() {
            return self.list.len();
        }
        self.index.count(properties, self.list.slots_end())
    }

    /// What a slot is found by.
    pub(crate) fn digest_of(&self, slot: u32, token: &IndexedMetadata<'_>) -> u64 {
        self.index.digest_of(slot, &token.properties)
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.bytes() + self.index.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bourse_sets::{numbers, words_of_all};
    use proptest::prelude::*;

    use super::*;
    use crate::filter::{Condition, Value};
    use crate::properties::extract;
    use crate::sorted_list::PLACE_WORDS;

    const TOKENS: u32 = 12_000;

    /// Metadata of a token: a rare value, a common one, and one of many numbers.
    fn metadata(token: u32) -> String {
        let (rare, common) = (token % 97, token % 3);
        format!(r#"{{"properties":{{"rare":"r{rare}","common":"c{common}","number":{}}}}}"#, number(token))
    }

    fn number(token: u32) -> i64 {
        i64::from(token.wrapping_mul(2_654_435_761) >> 20)
    }

    fn one_of(name: &str, value: String) -> PropertyFilter {
        let condition = Condition::OneOf(vec![Value::Text(value.into())]);
        PropertyFilter { name: name.to_owned(), condition }
    }

    fn within(min: i64, max: i64) -> PropertyFilter {
        let condition = Condition::Within { min: Some(min), max: Some(max) };
        PropertyFilter { name: "number".to_owned(), condition }
    }

    /// The tokens of the price list that filters let through, block by block, as a walk finds them.
    fn walked(price_list: &PriceList, filters: &[PropertyFilter]) -> Vec<u32> {
        let terms = price_list.terms(filters);
        let runs = price_list.list().blocks_from(Cursor::START);
        let of_run = |run: crate::sorted_list::Run<'_>| {
            let places: Vec<u32> = numbers(0, &words_of_all::<PLACE_WORDS>(&terms, run.base)).collect();
            let slots = run.slots().filter(|(_, slot)| places.contains(&(slot - run.base)));
            slots.map(|(token, _)| token).collect::<Vec<_>>()
        };
        runs.flat_map(of_run).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Against a map from rank to token, while tokens come and go until blocks are split, emptied and used again.
        #[test]
        fn the_index_is_that_of_the_list(
            start in prop::collection::btree_set(0..TOKENS, 4_000..5_000),
            changes in prop::collection::vec((0_u32..500, 0..TOKENS), 0..5_000),
            (rare, common, bounds) in (0_u32..97, 0_u32..3, (0_i64..4_096, 0_i64..4_096)),
        ) {
            let metadata: Vec<String> = (0..TOKENS).map(metadata).collect();
            let extracted = |token: u32| extract(&metadata[token as usize]);
            let mut properties = Properties::default();
            for token in 0..TOKENS {
                properties.add(token, &extracted(token).properties);
            }
            properties.settle(TOKENS as usize);
            // Ranks change: a token that comes back has another, mostly among the first.
            let mut ranks: Vec<u32> = (0..TOKENS).map(|token| token * 7 % TOKENS).collect();
            let mut model: BTreeMap<(u32, u32), u32> =
                start.iter().map(|token| ((ranks[*token as usize], *token), *token)).collect();
            let entries: Vec<(u32, f64)> =
                model.iter().map(|((rank, _), token)| (*token, f64::from(*rank))).collect();
            let mut price_list = PriceList::new(&entries, &properties, TOKENS as usize);
            for (rank, token) in changes {
                let known = (ranks[token as usize], token);
                if model.remove(&known).is_some() {
                    let compare = |a: u32, b: u32| (ranks[a as usize], a).cmp(&(ranks[b as usize], b));
                    let slot = price_list.remove((token, f64::from(known.0)), compare).unwrap();
                    price_list.forget(slot, &extracted(token));
                } else {
                    ranks[token as usize] = rank;
                    model.insert((rank, token), token);
                    let compare = |a: u32, b: u32| (ranks[a as usize], a).cmp(&(ranks[b as usize], b));
                    price_list.insert((token, f64::from(rank)), &extracted(token), compare);
                    price_list.settle(&properties, TOKENS as usize);
                }
            }
            let (min, max) = (bounds.0.min(bounds.1), bounds.0.max(bounds.1));
            let filters = [
                one_of("rare", format!("r{rare}")),
                one_of("common", format!("c{common}")),
                within(min, max),
            ];
            let lets_through = |index: usize, token: u32| match index {
                0 => token % 97 == rare,
                1 => token % 3 == common,
                _ => (min..=max).contains(&number(token)),
            };
            for chosen in [&[0][..], &[1], &[2], &[0, 2], &[1, 2]] {
                let expected: Vec<u32> = model.values().copied()
                    .filter(|token| chosen.iter().all(|index| lets_through(*index, *token))).collect();
                let filters: Vec<PropertyFilter> = chosen.iter().map(|index| filters[*index].clone()).collect();
                prop_assert_eq!(price_list.count(&filters), expected.len());
                prop_assert_eq!(walked(&price_list, &filters), expected);
            }
        }
    }
}
