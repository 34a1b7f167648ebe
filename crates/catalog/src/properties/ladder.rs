//! Ranges of whole numbers over many tokens in two steps instead of one for each number.

use std::collections::BTreeMap;
use std::ops::Bound;

use bourse_sets::{Between, Bits, Set, Term, count_between};

use crate::sorted_list::SlotRelocation;

/// The tokens at or below some of the numbers. Between two rungs the numbers themselves are gone through. Right only
/// while every token has one number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    rungs: Vec<Rung>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rung {
    upper: i64,
    below: Bits,
    count: usize,
}

impl Ladder {
    /// Puts so many rungs at most that about equally many tokens are between them, one at every number where there are
    /// few. More make a range cheaper and take more memory.
    pub(crate) fn new(numbers: &BTreeMap<i64, Set>, universe: usize, rungs_max: usize) -> Self {
        let tokens: usize = numbers.values().map(Set::len).sum();
        let (mut rungs, mut below) = (Vec::new(), Bits::empty(universe));
        let (mut count, mut since) = (0, 0);
        for (number, set) in numbers {
            set.add_to(&mut below);
            count += set.len();
            since += set.len();
            if numbers.len() <= rungs_max || since * rungs_max >= tokens {
                rungs.push(Rung { upper: *number, below: below.clone(), count });
                since = 0;
            }
        }
        Self { rungs }
    }

    pub(crate) fn insert(&mut self, number: i64, ordinal: u32) {
        for rung in self.rungs.iter_mut().filter(|rung| number <= rung.upper) {
            rung.count += usize::from(rung.below.insert(ordinal));
        }
    }

    pub(crate) fn remove(&mut self, number: i64, ordinal: u32) {
        for rung in self.rungs.iter_mut().filter(|rung| number <= rung.upper) {
            rung.count -= usize::from(rung.below.remove(ordinal));
        }
    }

    /// Gives the slots that moved the numbers that they have by now.
    pub(crate) fn relocate(&mut self, relocation: &SlotRelocation) {
        for rung in &mut self.rungs {
            rung.below.relocate(relocation);
        }
    }

    /// The tokens with a number from `min` to `max`: those up to the rung nearest to `max` without those up to the rung
    /// nearest to what is below `min`, put right for the numbers that the rungs are away.
    pub(crate) fn within<'a>(
        &'a self,
        numbers: &'a BTreeMap<i64, Set>,
        min: i64,
        max: i64,
    ) -> LadderRange<'a> {
        let last = min.checked_sub(1);
        let (upper, lower) = (self.nearest(max), last.and_then(|last| self.nearest(last)));
        let (mut missing, mut wrong) = (Vec::new(), Vec::new());
        let below = last.into_iter().flat_map(|last| between(numbers, lower, last));
        for (number, set) in between(numbers, upper, max).chain(below) {
            let is_wanted = (min..=max).contains(number);
            let is_there = upper.is_some_and(|upper| *number <= upper.upper)
                && lower.is_none_or(|lower| *number > lower.upper);
            match (is_wanted, is_there) {
                (true, false) => missing.push(set),
                (false, true) => wrong.push(set),
                _ => {}
            }
        }
        LadderRange { upper, lower, missing, wrong }
    }

    /// The rung that is nearest to a bound; `None` for the ground.
    fn nearest(&self, bound: i64) -> Option<&Rung> {
        let above = self.rungs.partition_point(|rung| rung.upper <= bound);
        let below = &self.rungs[above.checked_sub(1)?];
        let above = self.rungs.get(above);
        Some(above.filter(|above| above.upper.abs_diff(bound) < below.upper.abs_diff(bound)).unwrap_or(below))
    }

    /// Whether an ordinal is on exactly the rungs that its number is at or below.
    pub(crate) fn has(&self, number: i64, ordinal: u32) -> bool {
        self.rungs.iter().all(|rung| rung.below.contains(ordinal) == (number <= rung.upper))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rungs.iter().map(|rung| rung.below.bytes()).sum()
    }
}

/// The tokens with a number within bounds, as the ladder has them.
pub(crate) struct LadderRange<'a> {
    upper: Option<&'a Rung>,
    lower: Option<&'a Rung>,
    /// Tokens that are not between the rungs, and belong there.
    missing: Vec<&'a Set>,
    /// Tokens that are, and do not.
    wrong: Vec<&'a Set>,
}

impl<'a> LadderRange<'a> {
    /// As one set.
    pub(crate) fn term(&self, universe: usize) -> Term<'a> {
        let mut flipped = Bits::default();
        if !self.missing.is_empty() || !self.wrong.is_empty() {
            flipped = Bits::empty(universe);
            // A token has one number, so that no two of these sets have one in common.
            self.missing.iter().chain(&self.wrong).for_each(|set| set.add_to(&mut flipped));
        }
        let count = |rung: Option<&Rung>| rung.map_or(0, |rung| rung.count);
        let between = count(self.upper).saturating_sub(count(self.lower)) + sum(&self.missing);
        let about = between.saturating_sub(sum(&self.wrong));
        let below = |rung: Option<&'a Rung>| rung.map(|rung| &rung.below);
        Term::between(Between { upper: below(self.upper), lower: below(self.lower), flipped }, about)
    }

    /// How many of them are in a set too, without making one of them all first.
    pub(crate) fn count(&self, term: &Term<'_>) -> usize {
        let lower = self.lower.map(|lower| &lower.below);
        let upper = self.upper.map(|upper| &upper.below);
        if let Some(list) = term.list()
            && self.missing.is_empty()
            && self.wrong.is_empty()
        {
            let bit = |bits: Option<&Bits>, ordinal: u32| bits.map_or(0, |bits| bits.bit(ordinal));
            return list.iter().map(|ordinal| bit(upper, *ordinal) & !bit(lower, *ordinal)).sum();
        }
        let bits = term.to_bits();
        let of = |sets: &[&Set]| -> usize { sets.iter().map(|set| set.common_with(&bits)).sum() };
        let between = upper.map_or(0, |upper| count_between(upper, lower, &bits));
        between + of(&self.missing) - of(&self.wrong)
    }
}

fn sum(sets: &[&Set]) -> usize {
    sets.iter().map(|set| set.len()).sum()
}

/// The numbers that lie between a rung, or the ground, and a bound, with their tokens.
fn between<'a>(
    numbers: &'a BTreeMap<i64, Set>,
    rung: Option<&Rung>,
    bound: i64,
) -> impl Iterator<Item = (&'a i64, &'a Set)> {
    numbers.range(match rung.map(|rung| rung.upper) {
        None => (Bound::Unbounded, Bound::Included(bound)),
        Some(upper) => (Bound::Excluded(upper.min(bound)), Bound::Included(upper.max(bound))),
    })
}
