//! Ranges of whole numbers over many tokens in two steps instead of one for each number.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::set::{Bits, Set, Term};

/// Steps of a ladder at most: more make a range cheaper and take more memory.
const RUNGS_MAX: usize = 128;

/// The tokens at or below some of the numbers. Between two rungs the numbers themselves are gone through. Right only
/// while every token has one number.
#[derive(Debug, Default)]
pub(crate) struct Ladder {
    rungs: Vec<Rung>,
}

#[derive(Debug)]
struct Rung {
    upper: i64,
    below: Arc<Bits>,
    count: usize,
}

impl Ladder {
    /// Puts the rungs so that about equally many tokens are between them, one at every number where there are few.
    pub(crate) fn new(numbers: &BTreeMap<i64, Set>, universe: usize) -> Self {
        let tokens: usize = numbers.values().map(Set::len).sum();
        let (mut rungs, mut below) = (Vec::new(), Bits::empty(universe));
        let (mut count, mut since) = (0, 0);
        for (number, set) in numbers {
            set.add_to(&mut below);
            count += set.len();
            since += set.len();
            if numbers.len() <= RUNGS_MAX || since * RUNGS_MAX >= tokens {
                rungs.push(Rung { upper: *number, below: Arc::new(below.clone()), count });
                since = 0;
            }
        }
        Self { rungs }
    }

    pub(crate) fn insert(&mut self, number: i64, ordinal: u32) {
        for rung in self.rungs.iter_mut().filter(|rung| number <= rung.upper) {
            rung.count += usize::from(Arc::make_mut(&mut rung.below).insert(ordinal));
        }
    }

    pub(crate) fn remove(&mut self, number: i64, ordinal: u32) {
        for rung in self.rungs.iter_mut().filter(|rung| number <= rung.upper) {
            rung.count -= usize::from(Arc::make_mut(&mut rung.below).remove(ordinal));
        }
    }

    /// The tokens with a number from `min` to `max`.
    pub(crate) fn within(
        &self,
        numbers: &BTreeMap<i64, Set>,
        (min, max): (i64, i64),
        universe: usize,
    ) -> Term {
        let (within, count) = self.up_to(numbers, max, universe);
        let excluded = min.checked_sub(1).map(|last| self.up_to(numbers, last, universe));
        let excluded_count = excluded.as_ref().map_or(0, |(_, count)| *count);
        let except = excluded.map(|(except, _)| except);
        Term { within, except, about: count.saturating_sub(excluded_count) }
    }

    /// The tokens with a number up to `max`, and how many they are: a rung as it is, or one with what is above it.
    fn up_to(&self, numbers: &BTreeMap<i64, Set>, max: i64, universe: usize) -> (Arc<Bits>, usize) {
        let position = self.rungs.partition_point(|rung| rung.upper <= max);
        let rung = position.checked_sub(1).map(|index| &self.rungs[index]);
        let above = rung.map_or(Bound::Unbounded, |rung| Bound::Excluded(rung.upper));
        let mut found = rung.map_or_else(|| Arc::new(Bits::empty(universe)), |rung| Arc::clone(&rung.below));
        let mut count = rung.map_or(0, |rung| rung.count);
        for set in between(numbers, above, max) {
            set.add_to(Arc::make_mut(&mut found));
            count += set.len();
        }
        (found, count)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rungs.iter().map(|rung| rung.below.bytes()).sum()
    }
}

/// The tokens of the numbers above one and up to another.
fn between(numbers: &BTreeMap<i64, Set>, above: Bound<i64>, to: i64) -> impl Iterator<Item = &Set> {
    // The tree refuses a range that ends before it begins.
    let is_some = !matches!(above, Bound::Excluded(above) if above >= to);
    let range = is_some.then(|| numbers.range((above, Bound::Included(to))));
    range.into_iter().flatten().map(|(_, set)| set)
}
