//! Tokens in the order of their best prices, or orders in the order of theirs, with an index of the tokens' properties in that
//! order.

use std::cmp::Ordering;

use bourse_sets::{Term, count_of_all, words_of_all};

use super::order_sets::Said;
use super::said_slots::{AskedSaid, SaidSlots};
use crate::filter::PropertyFilter;
use crate::kept::kept;
use crate::properties::{IndexedMetadata, Properties, SlotsOfTokens};
use crate::sorted_list::{Cursor, PLACE_WORDS, Run, SortedList};

/// Entries below which an index is not worth making anew when their number doubles.
const INDEX_ANEW_MIN: usize = 4_096;

/// A list of tokens or of orders, and which slots of it have which properties of their tokens, currencies and marketplaces:
/// walking it under a filter on these skips whole blocks, and counting needs no look at the list at all. Whoever changes it tells
/// the token of each entry, and what its order says.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriceList {
    list: SortedList,
    index: Properties,
    /// Which slots have which orders.
    said: SaidSlots,
    /// Entries that there were when the index was made.
    indexed: usize,
}

kept!(PriceList { list, index, said, indexed });

impl PriceList {
    /// Takes entries that are sorted already, with their hints, of so many tokens in all.
    pub(super) fn new(
        entries: &[(u32, f64)],
        (properties, tokens): (&Properties, usize),
        said_of: impl Fn(u32) -> Option<Said>,
    ) -> Self {
        let mut price_list = Self { list: SortedList::from_sorted(entries), ..Self::default() };
        price_list.make_index((properties, tokens), said_of);
        price_list
    }

    fn make_index(
        &mut self,
        (properties, tokens): (&Properties, usize),
        said_of: impl Fn(u32) -> Option<Said>,
    ) {
        let slots = self.list.blocks_from(Cursor::START).flat_map(Run::slots);
        let said: Vec<(u32, Said)> =
            slots.filter_map(|(entry, slot)| Some((slot, said_of(entry)?))).collect();
        let (of_tokens, end): (Vec<(u32, u32)>, usize) =
            (said.iter().map(|(slot, said)| (said.token, *slot)).collect(), self.list.slots_end());
        self.index = properties.project(&SlotsOfTokens::new(tokens, &of_tokens), end);
        self.said = SaidSlots::default();
        for (slot, said) in said {
            self.said.insert(slot, said, end);
        }
        self.said.settle(end);
        self.indexed = self.list.len();
    }

    /// Makes the index anew when it was made for far fewer entries: what few and many need is not the same.
    pub(super) fn settle(&mut self, around: (&Properties, usize), said_of: impl Fn(u32) -> Option<Said>) {
        if self.list.len() > INDEX_ANEW_MIN && self.list.len() > 2 * self.indexed {
            self.make_index(around, said_of);
        }
    }

    pub(super) fn insert(
        &mut self,
        entry: (u32, f64),
        (token, said): (&IndexedMetadata<'_>, Said),
        compare: impl Fn(u32, u32) -> Ordering,
    ) {
        let (slot, moved) = self.list.insert(entry, compare);
        self.index.add(slot, &token.properties);
        self.said.insert(slot, said, self.list.slots_end());
        if let Some(moved) = moved {
            self.index.relocate(&moved);
            self.said.relocate(&moved);
        }
    }

    /// Takes an entry out. The slot that it had, which must be forgotten before anything else is put in.
    pub(super) fn remove(
        &mut self,
        entry: (u32, f64),
        compare: impl Fn(u32, u32) -> Ordering,
    ) -> Option<u32> {
        self.list.remove(entry, compare)
    }

    /// Forgets which properties a slot had, and what its order said.
    pub(super) fn forget(&mut self, slot: u32, token: &IndexedMetadata<'_>, said: Said) {
        self.index.remove(slot, &token.properties);
        self.said.remove(slot, said);
    }

    /// Gives the token of these entries other properties.
    pub(super) fn retag(
        &mut self,
        entries: &[(u32, f64)],
        known: &IndexedMetadata<'_>,
        new: &IndexedMetadata<'_>,
        compare: impl Fn(u32, u32) -> Ordering,
    ) {
        let slots: Vec<u32> =
            entries.iter().filter_map(|entry| self.list.slot_of(*entry, &compare)).collect();
        self.index.remove_from_each(&slots, &known.properties);
        self.index.add_to_each(&slots, &new.properties);
    }

    pub(crate) fn list(&self) -> &SortedList {
        &self.list
    }

    /// The slots with each of some properties.
    pub(crate) fn terms(&self, properties: &[PropertyFilter]) -> Vec<Term<'_>> {
        properties.iter().map(|property| self.index.find(property, self.list.slots_end())).collect()
    }

    /// The slots with each of what is asked of orders.
    pub(crate) fn terms_of_orders(&self, asked: &AskedSaid) -> impl Iterator<Item = Term<'_>> {
        self.said.terms(asked, self.list.slots_end())
    }

    /// How many of its orders are asked for, of tokens that have all of some properties.
    pub(crate) fn count_of_orders(&self, properties: &[PropertyFilter], asked: &AskedSaid) -> usize {
        let of_orders: Vec<Term<'_>> = self.terms_of_orders(asked).collect();
        match (properties, of_orders.as_slice()) {
            (_, []) => self.count(properties),
            // It is known how many there are.
            ([], [only]) => only.about,
            _ => count_of_all(&self.terms(properties).into_iter().chain(of_orders).collect::<Vec<_>>()),
        }
    }

    /// Whether any of its tokens has all of some properties.
    pub(crate) fn has_any(&self, properties: &[PropertyFilter]) -> bool {
        let terms = self.terms(properties);
        let mut runs = self.list.blocks_from(Cursor::START);
        runs.any(|run| words_of_all::<PLACE_WORDS>(&terms, run.base).iter().any(|word| *word != 0))
    }

    /// How many of its tokens, or of its orders, have all of some properties.
    pub(crate) fn count(&self, properties: &[PropertyFilter]) -> usize {
        if properties.is_empty() {
            return self.list.len();
        }
        self.index.count(properties, self.list.slots_end())
    }

    /// Whether a slot is found by what its order says.
    pub(super) fn finds(&self, slot: u32, said: Said) -> bool {
        self.said.finds(slot, said)
    }

    /// How many slots are found by what their orders say.
    pub(super) fn said_len(&self) -> usize {
        self.said.len()
    }

    /// What a slot is found by.
    pub(crate) fn digest_of(&self, slot: u32, token: &IndexedMetadata<'_>) -> u64 {
        self.index.digest_of(slot, &token.properties)
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.bytes() + self.index.bytes() + self.said.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bourse_sets::numbers;
    use bourse_wire::Marketplace;
    use proptest::prelude::*;

    use super::*;
    use crate::filter::{Condition, Value};
    use crate::properties::extract;

    const TOKENS: u32 = 12_000;

    /// Metadata of a token: a rare value, a common one, and one of many numbers.
    fn metadata(token: u32) -> String {
        let (rare, common) = (token % 97, token % 3);
        format!(r#"{{"properties":{{"rare":"r{rare}","common":"c{common}","number":{}}}}}"#, number(token))
    }

    /// An order of a token: in a common currency or a rare one, on one of few marketplaces.
    fn said(token: u32) -> Said {
        let currency = if token.is_multiple_of(89) { 7 } else { token % 2 };
        let marketplace = [Marketplace::OwnV2, Marketplace::Opensea, Marketplace::Blur][token as usize % 3];
        Said { token, currency, marketplace, maker: 0 }
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

    /// Counts what filters let through, which are the orders of these tokens, by what orders are asked beside that.
    fn check_counts_of_orders(price_list: &PriceList, filters: &[PropertyFilter], tokens: &[u32]) {
        for (currencies, marketplaces) in [
            (Some(vec![7]), Vec::new()),
            (Some(vec![1, 7]), Vec::new()),
            (Some(vec![]), Vec::new()),
            (None, vec![Marketplace::Opensea]),
            (Some(vec![0]), vec![Marketplace::OwnV2, Marketplace::Blur]),
        ] {
            let asked = AskedSaid { currencies, marketplaces };
            let is_asked = |said: &Said| {
                asked.currencies.as_ref().is_none_or(|currencies| currencies.contains(&said.currency))
                    && (asked.marketplaces.is_empty() || asked.marketplaces.contains(&said.marketplace))
            };
            let expected = tokens.iter().map(|token| said(*token)).filter(is_asked).count();
            assert_eq!(price_list.count_of_orders(filters, &asked), expected);
        }
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
            let mut price_list = PriceList::new(&entries, (&properties, TOKENS as usize), |token| Some(said(token)));
            for (rank, token) in changes {
                let known = (ranks[token as usize], token);
                if model.remove(&known).is_some() {
                    let compare = |a: u32, b: u32| (ranks[a as usize], a).cmp(&(ranks[b as usize], b));
                    let slot = price_list.remove((token, f64::from(known.0)), compare).unwrap();
                    price_list.forget(slot, &extracted(token), said(token));
                } else {
                    ranks[token as usize] = rank;
                    model.insert((rank, token), token);
                    let compare = |a: u32, b: u32| (ranks[a as usize], a).cmp(&(ranks[b as usize], b));
                    price_list.insert((token, f64::from(rank)), (&extracted(token), said(token)), compare);
                    price_list.settle((&properties, TOKENS as usize), |token| Some(said(token)));
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
            for chosen in [&[0_usize][..0], &[0], &[1], &[2], &[0, 2], &[1, 2]] {
                let expected: Vec<u32> = model.values().copied()
                    .filter(|token| chosen.iter().all(|index| lets_through(*index, *token))).collect();
                let filters: Vec<PropertyFilter> = chosen.iter().map(|index| filters[*index].clone()).collect();
                prop_assert_eq!(price_list.count(&filters), expected.len());
                check_counts_of_orders(&price_list, &filters, &expected);
                prop_assert_eq!(walked(&price_list, &filters), expected);
            }
        }
    }
}
