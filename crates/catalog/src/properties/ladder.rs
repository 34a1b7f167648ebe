//! Ranges of whole numbers over many tokens in two steps instead of one for each number.

use std::collections::BTreeMap;
use std::ops::Bound;

use bourse_sets::{Between, Bits, Set, Term};

use crate::kept::kept;
use crate::sorted_list::SlotRelocation;

/// The tokens at or below some of the numbers. Between two rungs the numbers themselves are gone through. Right only
/// while every token has one number.
///
/// Rungs are in flights of about as many as there are flights: a rung has the tokens of its own flight up to it, and each
/// flight those of all flights before it. So a token is on few of them, and what is up to a rung is two sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    rungs: Vec<Rung>,
    /// What is before each flight; nothing for the first.
    before: Vec<Bits>,
    /// How many tokens are between each rung and the one before it.
    steps: Vec<usize>,
    /// Rungs of a flight.
    flight: usize,
}

#[derive(Clone, Debug)]
struct Rung {
    upper: i64,
    /// The tokens at or below it that are above the last rung of the flight before.
    within: Bits,
}

kept!(Ladder { rungs, before, steps, flight });
kept!(Rung { upper, within });

/// What is at or below a rung.
#[derive(Clone, Copy)]
struct Height<'a> {
    upper: i64,
    flight: usize,
    before: &'a Bits,
    within: &'a Bits,
    count: usize,
}

impl Ladder {
    /// Puts so many rungs at most that about equally many tokens are between them, one at every number where there are
    /// few. More make a range cheaper and take more memory.
    pub(crate) fn new(numbers: &BTreeMap<i64, Set>, universe: usize, rungs_max: usize) -> Self {
        let tokens: usize = numbers.values().map(Set::len).sum();
        let flight = numbers.len().min(rungs_max).isqrt().max(1);
        let (before, steps) = (vec![Bits::default()], Vec::new());
        let mut ladder = Self { rungs: Vec::new(), before, steps, flight };
        let (mut within, mut since) = (Bits::empty(universe), 0);
        for (number, set) in numbers {
            set.add_to(&mut within);
            since += set.len();
            if numbers.len() <= rungs_max || since * rungs_max >= tokens {
                ladder.rungs.push(Rung { upper: *number, within: within.clone() });
                ladder.steps.push(std::mem::take(&mut since));
                if ladder.rungs.len().is_multiple_of(flight) {
                    let mut before = std::mem::replace(&mut within, Bits::empty(universe));
                    ladder.before.last().into_iter().for_each(|known| before.union(known));
                    ladder.before.push(before);
                }
            }
        }
        ladder
    }

    /// Its rungs from the first that is not below a number to the end of that one's flight, what is before the flights
    /// after that, and the first one's step, if there is one.
    fn above(&mut self, number: i64) -> (&mut [Rung], &mut [Bits], Option<&mut usize>) {
        let first = self.rungs.partition_point(|rung| rung.upper < number);
        let next = first / self.flight.max(1) + 1;
        let end = self.rungs.len().min(next * self.flight);
        let before = self.before.get_mut(next..).unwrap_or_default();
        (&mut self.rungs[first..end], before, self.steps.get_mut(first))
    }

    pub(crate) fn insert(&mut self, number: i64, ordinal: u32) {
        let (rungs, before, step) = self.above(number);
        let within = rungs.iter_mut().map(|rung| &mut rung.within);
        let is_new = within.chain(before).map(|bits| usize::from(bits.insert(ordinal))).sum::<usize>() > 0;
        if let Some(step) = step {
            *step += usize::from(is_new);
        }
    }

    pub(crate) fn remove(&mut self, number: i64, ordinal: u32) {
        let (rungs, before, step) = self.above(number);
        let within = rungs.iter_mut().map(|rung| &mut rung.within);
        let was_there = within.chain(before).map(|bits| usize::from(bits.remove(ordinal))).sum::<usize>() > 0;
        if let Some(step) = step {
            *step -= usize::from(was_there);
        }
    }

    /// Gives the slots that moved the numbers that they have by now.
    pub(crate) fn relocate(&mut self, relocation: &SlotRelocation) {
        let within = self.rungs.iter_mut().map(|rung| &mut rung.within);
        within.chain(&mut self.before).for_each(|bits| bits.relocate(relocation));
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
    fn nearest(&self, bound: i64) -> Option<Height<'_>> {
        let above = self.rungs.partition_point(|rung| rung.upper <= bound);
        let below = above.checked_sub(1)?;
        let distance = |rung: usize| self.rungs.get(rung).map_or(u64::MAX, |rung| rung.upper.abs_diff(bound));
        self.height(if distance(above) < distance(below) { above } else { below })
    }

    fn height(&self, rung: usize) -> Option<Height<'_>> {
        let flight = rung / self.flight.max(1);
        let (Rung { upper, within }, before) = (self.rungs.get(rung)?, self.before.get(flight)?);
        let count = self.steps[..=rung].iter().sum();
        Some(Height { upper: *upper, flight, before, within, count })
    }

    /// Whether an ordinal is on exactly the rungs that its number is at or below.
    pub(crate) fn has(&self, number: i64, ordinal: u32) -> bool {
        let before = |rung: usize| self.before.get(rung / self.flight.max(1));
        let is_before = |rung: usize| before(rung).is_some_and(|before| before.contains(ordinal));
        self.rungs.iter().enumerate().all(|(index, rung)| {
            (rung.within.contains(ordinal) || is_before(index)) == (number <= rung.upper)
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rungs.iter().map(|rung| &rung.within).chain(&self.before).map(Bits::bytes).sum()
    }
}

/// The tokens with a number within bounds, as the ladder has them.
pub(crate) struct LadderRange<'a> {
    upper: Option<Height<'a>>,
    lower: Option<Height<'a>>,
    /// Tokens that are not between the rungs, and belong there.
    missing: Vec<&'a Set>,
    /// Tokens that are, and do not.
    wrong: Vec<&'a Set>,
}

impl<'a> LadderRange<'a> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let count = |height: Option<Height<'_>>| height.map_or(0, |height| height.count);
        let known = count(self.upper) + sum(&self.missing);
        known.saturating_sub(count(self.lower) + sum(&self.wrong))
    }

    /// As one set.
    pub(crate) fn term(&self, universe: usize) -> Term<'a> {
        let mut between = self.between();
        if !self.missing.is_empty() || !self.wrong.is_empty() {
            between.flipped = Bits::empty(universe);
            // A token has one number, so that no two of these sets have one in common.
            self.missing.iter().chain(&self.wrong).for_each(|set| set.add_to(&mut between.flipped));
        }
        Term::between(between, self.len())
    }

    /// What is between the rungs. What is before the flight of both of them is not looked at.
    fn between(&self) -> Between<'a> {
        let is_one_flight =
            self.upper.zip(self.lower).is_some_and(|(upper, lower)| upper.flight == lower.flight);
        let sets = |height: Option<Height<'a>>| {
            let before = height.filter(|height| height.flight > 0 && !is_one_flight);
            [before.map(|height| height.before), height.map(|height| height.within)]
        };
        Between { upper: sets(self.upper), lower: sets(self.lower), flipped: Bits::default() }
    }

    /// How many of them are in a set too, without making one of them all first.
    pub(crate) fn count(&self, term: &Term<'_>) -> usize {
        let between = self.between();
        if let Some(list) = term.list()
            && self.missing.is_empty()
            && self.wrong.is_empty()
        {
            return list.iter().filter(|ordinal| between.contains(**ordinal)).count();
        }
        let bits = term.to_bits();
        let of = |sets: &[&Set]| -> usize { sets.iter().map(|set| set.common_with(&bits)).sum() };
        between.common(&bits) + of(&self.missing) - of(&self.wrong)
    }
}

fn sum(sets: &[&Set]) -> usize {
    sets.iter().map(|set| set.len()).sum()
}

/// The numbers that lie between a rung, or the ground, and a bound, with their tokens.
fn between<'a>(
    numbers: &'a BTreeMap<i64, Set>,
    rung: Option<Height<'_>>,
    bound: i64,
) -> impl Iterator<Item = (&'a i64, &'a Set)> {
    numbers.range(match rung.map(|rung| rung.upper) {
        None => (Bound::Unbounded, Bound::Included(bound)),
        Some(upper) => (Bound::Excluded(upper.min(bound)), Bound::Included(upper.max(bound))),
    })
}
