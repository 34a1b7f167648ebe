//! Ranges of whole numbers over many tokens in two steps instead of one for each number.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::set::{Bits, Set};

/// Steps of a ladder: more make a range cheaper and take more memory.
const RUNGS: usize = 64;

/// The tokens at or below some of the numbers. Between two rungs the numbers themselves are gone through. Right only
/// while every token has one number.
#[derive(Debug, Default)]
pub(crate) struct Ladder {
    rungs: Vec<(i64, Bits)>,
}

impl Ladder {
    /// Puts the rungs so that about equally many tokens are between them.
    pub(crate) fn new(numbers: &BTreeMap<i64, Set>, universe: usize) -> Self {
        let tokens: usize = numbers.values().map(Set::len).sum();
        let (mut rungs, mut below) = (Vec::with_capacity(RUNGS), Bits::empty(universe));
        let mut since = 0;
        for (number, set) in numbers {
            set.add_to(&mut below);
            since += set.len();
            if since * RUNGS >= tokens {
                rungs.push((*number, below.clone()));
                since = 0;
            }
        }
        Self { rungs }
    }

    pub(crate) fn insert(&mut self, number: i64, ordinal: u32) {
        for (_, below) in self.rungs.iter_mut().filter(|(upper, _)| number <= *upper) {
            below.insert(ordinal);
        }
    }

    pub(crate) fn remove(&mut self, number: i64, ordinal: u32) {
        for (_, below) in self.rungs.iter_mut().filter(|(upper, _)| number <= *upper) {
            below.remove(ordinal);
        }
    }

    /// The tokens with a number from `min` to `max`.
    pub(crate) fn within(
        &self,
        numbers: &BTreeMap<i64, Set>,
        (min, max): (i64, i64),
        universe: usize,
    ) -> Bits {
        let (mut found, above) = match self.rung(max) {
            Some((upper, below)) => (below.clone(), Bound::Excluded(*upper)),
            None => (Bits::empty(universe), Bound::Unbounded),
        };
        between(numbers, above, max).for_each(|set| set.add_to(&mut found));
        let Some(last_below) = min.checked_sub(1) else { return found };
        let above = self.rung(last_below).map_or(Bound::Unbounded, |(upper, below)| {
            found.subtract(below);
            Bound::Excluded(*upper)
        });
        between(numbers, above, last_below).for_each(|set| set.take_from(&mut found));
        found
    }

    /// The highest rung that is not above a number.
    fn rung(&self, number: i64) -> Option<&(i64, Bits)> {
        self.rungs
            .partition_point(|(upper, _)| *upper <= number)
            .checked_sub(1)
            .map(|index| &self.rungs[index])
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rungs.iter().map(|(_, below)| below.bytes()).sum()
    }
}

/// The tokens of the numbers above one and up to another.
fn between(numbers: &BTreeMap<i64, Set>, above: Bound<i64>, to: i64) -> impl Iterator<Item = &Set> {
    // The tree refuses a range that ends before it begins.
    let is_some = !matches!(above, Bound::Excluded(above) if above >= to);
    let range = is_some.then(|| numbers.range((above, Bound::Included(to))));
    range.into_iter().flatten().map(|(_, set)| set)
}
