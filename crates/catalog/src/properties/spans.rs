//! Ranges of whole numbers of which tokens have several.

use std::collections::BTreeMap;

use bourse_sets::{Bits, Set};

use crate::kept::kept;

/// Spans of a property, at most: more make what is left over at either end of a range shorter, and take more memory.
const SPANS_MAX: usize = 16;

/// The tokens that have any of some numbers in a row, for all numbers there may be. A range is then few sets: those of the
/// spans that lie in it, and those of the numbers that are left over at either end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    /// The first number of each, of which the first is below all others.
    starts: Vec<i64>,
    pub(super) sets: Vec<Set>,
}

kept!(Spans { starts, sets });

impl Spans {
    /// Puts about equally many numbers into each.
    pub(super) fn new(numbers: &BTreeMap<i64, Set>, universe: usize) -> Self {
        let each = numbers.len().div_ceil(SPANS_MAX).max(1);
        let numbers: Vec<(&i64, &Set)> = numbers.iter().collect();
        let mut spans = Self::default();
        for span in numbers.chunks(each) {
            let mut bits = Bits::empty(universe);
            for (_, set) in span {
                set.add_to(&mut bits);
            }
            let mut set = Set::from_bits(bits);
            set.settle(universe);
            let start = span.first().map_or(i64::MIN, |(number, _)| **number);
            spans.starts.push(if spans.starts.is_empty() { i64::MIN } else { start });
            spans.sets.push(set);
        }
        spans
    }

    fn of(&mut self, number: i64) -> Option<&mut Set> {
        let after = self.starts.partition_point(|start| *start <= number);
        self.sets.get_mut(after.checked_sub(1)?)
    }

    pub(super) fn insert(&mut self, number: i64, ordinal: u32) {
        self.of(number).into_iter().for_each(|set| set.insert(ordinal));
    }

    /// Takes a token out that is losing all its numbers.
    pub(super) fn remove(&mut self, number: i64, ordinal: u32) {
        self.of(number).into_iter().for_each(|set| set.remove(ordinal));
    }

    /// The sets of all tokens with a number from `min` to `max`, which is not below it.
    pub(super) fn within<'a>(
        &'a self,
        numbers: &'a BTreeMap<i64, Set>,
        min: i64,
        max: i64,
    ) -> impl Iterator<Item = &'a Set> {
        let first = self.starts.partition_point(|start| *start < min);
        // Where a span ends is known by the next one: the last has all numbers that there may be.
        let whole = self.starts.partition_point(|start| *start <= max).saturating_sub(1);
        let last = if max == i64::MAX { self.starts.len() } else { whole };
        let spans = self.sets.get(first..last).unwrap_or_default();
        let (before, after) = if spans.is_empty() {
            (None, Some(min))
        } else {
            (Some(self.starts[first]), self.starts.get(last).copied())
        };
        let before = before.map(|before| numbers.range(min..before));
        let after = after.map(|after| numbers.range(after..=max));
        spans.iter().chain(before.into_iter().chain(after).flatten().map(|(_, set)| set))
    }

    pub(super) fn bytes(&self) -> usize {
        self.sets.iter().map(Set::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a scan of all numbers, with tokens that come and go once spans are there.
        #[test]
        fn a_range_has_whoever_has_any_of_its_numbers(
            first in prop::collection::vec(prop::collection::btree_set(-40_i64..40, 1..4), 0..60),
            later in prop::collection::vec(prop::collection::btree_set(-60_i64..60, 1..4), 0..20),
            gone in prop::collection::btree_set(0_usize..60, 0..20),
            bounds in prop::collection::vec((prop_oneof![Just(i64::MIN), -70_i64..70], prop_oneof![Just(i64::MAX), -70_i64..70]), 1..20),
        ) {
            let mut numbers: BTreeMap<i64, Set> = BTreeMap::new();
            for (ordinal, number) in (0..).zip(&first).flat_map(|(ordinal, own)| own.iter().map(move |n| (ordinal, n))) {
                numbers.entry(*number).or_default().insert(ordinal);
            }
            let mut spans = Spans::new(&numbers, first.len());
            let mut model = first;
            for ordinal in gone {
                for number in model.get_mut(ordinal).map(std::mem::take).unwrap_or_default() {
                    numbers.entry(number).or_default().remove(u32::try_from(ordinal).unwrap());
                    spans.remove(number, u32::try_from(ordinal).unwrap());
                }
            }
            for own in later {
                let ordinal = u32::try_from(model.len()).unwrap();
                for number in &own {
                    numbers.entry(*number).or_default().insert(ordinal);
                    spans.insert(*number, ordinal);
                }
                model.push(own);
            }
            for (min, max) in bounds.into_iter().filter(|(min, max)| min <= max) {
                let mut found = Bits::empty(model.len());
                spans.within(&numbers, min, max).for_each(|set| set.add_to(&mut found));
                let expected = (0..).zip(&model).filter(|(_, own)| own.range(min..=max).next().is_some());
                prop_assert_eq!(found.iter().collect::<Vec<u32>>(), expected.map(|(ordinal, _)| ordinal).collect::<Vec<_>>());
            }
        }
    }
}
