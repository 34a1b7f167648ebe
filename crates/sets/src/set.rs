//! A set of numbers: a sorted list while they are few, one bit each once they are many.

use crate::bits::{Bits, Relocation};
use crate::list;
use crate::number::Number;
use crate::term::Term;

/// One in how many of all numbers must be in a set for bits to be the better form.
const DENSE_SHARE: usize = 64;
/// A list this short stays a list whatever its share.
const SPARSE_MIN: usize = 1_024;

/// A set of numbers that knows its size. Of 32 bits they may be from a range of any length, which [`Set::settle`] is told;
/// of 16 bits they are a [`Part`](crate::Part).
#[derive(Clone, Debug)]
pub struct Set<N: Number = u32>(pub(crate) Form<N>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form<N: Number> {
    /// Ascending.
    List(Vec<N>),
    /// Bits, and how many of them are set.
    Bits(Bits<N::Words>, usize),
}

impl<N: Number> Default for Set<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<N: Number> Set<N> {
    /// The set that nothing is in.
    pub const EMPTY: Self = Self(Form::List(Vec::new()));

    /// How many numbers are in it.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::List(list) => list.len(),
            Form::Bits(_, len) => *len,
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: N) -> bool {
        match &self.0 {
            Form::List(list) => list::contains(list, number),
            Form::Bits(bits, _) => bits.contains(number.into()),
        }
    }

    /// Hands over the numbers, ascending.
    pub fn for_each(&self, mut take: impl FnMut(N)) {
        match &self.0 {
            Form::List(list) => list.iter().copied().for_each(take),
            Form::Bits(bits, _) => bits.iter().for_each(|number| take(N::of(number))),
        }
    }

    /// The numbers, ascending.
    pub fn to_list(&self) -> Vec<N> {
        let mut list = Vec::with_capacity(self.len());
        self.for_each(|number| list.push(number));
        list
    }

    /// Puts what is in it into bits.
    pub fn add_to(&self, bits: &mut Bits<N::Words>) {
        match &self.0 {
            Form::Bits(own, _) => bits.union(own),
            Form::List(list) => {
                for number in list {
                    bits.insert((*number).into());
                }
            }
        }
    }

    /// Takes what is in it out of bits.
    pub fn take_from(&self, bits: &mut Bits<N::Words>) {
        match &self.0 {
            Form::Bits(own, _) => bits.subtract(own),
            Form::List(list) => {
                for number in list {
                    bits.remove((*number).into());
                }
            }
        }
    }

    /// How many of its numbers are in bits.
    pub fn common_with(&self, bits: &Bits<N::Words>) -> usize {
        match &self.0 {
            // Added up without a branch.
            Form::List(list) => list.iter().map(|number| bits.bit((*number).into())).sum(),
            Form::Bits(own, _) => own.common(bits),
        }
    }

    /// How many are in both.
    pub fn common(&self, other: &Self) -> usize {
        match (&self.0, &other.0) {
            (_, Form::Bits(bits, _)) => self.common_with(bits),
            (Form::Bits(bits, _), _) => other.common_with(bits),
            (Form::List(one), Form::List(two)) => list::common(one, two),
        }
    }
}

/// A set as it is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetForm<'a> {
    /// The numbers, ascending.
    List(&'a [u32]),
    /// One bit for each number.
    Bits(&'a [u64]),
}

impl Set {
    /// The form that it has.
    pub fn form(&self) -> SetForm<'_> {
        match &self.0 {
            Form::List(list) => SetForm::List(list),
            Form::Bits(bits, _) => SetForm::Bits(&bits.0),
        }
    }

    /// Its bits, where it has them.
    pub fn bits(&self) -> Option<&Bits> {
        match &self.0 {
            Form::Bits(bits, _) => Some(bits),
            Form::List(_) => None,
        }
    }

    /// A set in the form of a list, which ascends.
    pub fn from_list(list: Vec<u32>) -> Self {
        Self(Form::List(list))
    }

    /// A set in the form of bits.
    pub fn from_bits(bits: Bits) -> Self {
        let len = bits.count();
        Self(Form::Bits(bits, len))
    }

    /// Puts a number in.
    pub fn insert(&mut self, number: u32) {
        match &mut self.0 {
            Form::Bits(bits, len) => *len += usize::from(bits.insert(number)),
            Form::List(list) => {
                // Numbers mostly come in their order; then it is known how many there are of how many.
                let is_last = list.last().is_none_or(|last| *last < number);
                list::insert(list, number);
                if is_last && list.len() > SPARSE_MIN && list.len() * DENSE_SHARE / 4 > number as usize {
                    self.settle(number as usize + 1);
                }
            }
        }
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: u32) {
        match &mut self.0 {
            Form::Bits(bits, len) => *len -= usize::from(bits.remove(number)),
            Form::List(list) => list::remove(list, number),
        }
    }

    /// Takes the better form for numbers below `universe`.
    pub fn settle(&mut self, universe: usize) {
        let dense = self.len() > SPARSE_MIN && self.len() * DENSE_SHARE > universe;
        match &mut self.0 {
            Form::List(list) if dense => {
                let mut bits = Bits::empty(universe);
                for number in &*list {
                    bits.insert(*number);
                }
                self.0 = Form::Bits(bits, list.len());
            }
            Form::Bits(bits, _) if !dense => self.0 = Form::List(bits.iter().collect()),
            Form::List(list) => list.shrink_to_fit(),
            Form::Bits(bits, _) => bits.0.shrink_to_fit(),
        }
    }

    /// Gives every number the one that a table has for it.
    pub fn renumber(&mut self, numbers: &[u32]) {
        match &mut self.0 {
            Form::List(list) => {
                for number in &mut *list {
                    *number = numbers[*number as usize];
                }
                list.sort_unstable();
            }
            Form::Bits(bits, _) => {
                let mut renumbered = Bits::empty(numbers.len());
                for number in bits.iter() {
                    renumbered.insert(numbers[number as usize]);
                }
                *bits = renumbered;
            }
        }
    }

    /// Gives the numbers that moved those that they have by now.
    pub fn relocate<const WORDS: usize>(&mut self, relocation: &Relocation<WORDS>) {
        match &mut self.0 {
            Form::Bits(bits, _) => bits.relocate(relocation),
            Form::List(list) => {
                let is_moved = |number: &u32| relocation.number(*number) != *number;
                if list.iter().any(is_moved) {
                    for number in &mut *list {
                        *number = relocation.number(*number);
                    }
                    list.sort_unstable();
                }
            }
        }
    }

    /// The same under other numbers, which are below `universe`: of each none, one or several, and no two have one in common.
    pub fn project<'n>(&self, numbers_of: impl Fn(u32) -> &'n [u32], universe: usize) -> Self {
        let mut projected = Self(match &self.0 {
            Form::List(list) => {
                let numbers = list.iter().flat_map(|number| numbers_of(*number)).copied();
                let mut projected: Vec<u32> = numbers.collect();
                projected.sort_unstable();
                Form::List(projected)
            }
            Form::Bits(bits, _) => {
                let mut projected = Bits::empty(universe);
                let numbers = bits.iter().flat_map(&numbers_of);
                let len = numbers.map(|number| projected.insert(*number)).count();
                Form::Bits(projected, len)
            }
        });
        projected.settle(universe);
        projected
    }

    /// The set as queries take it.
    pub fn term(&self) -> Term<'_> {
        match &self.0 {
            Form::Bits(bits, len) => Term::of_bits(bits, *len),
            Form::List(list) => Term::of_list(list),
        }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Form::List(list) => list.capacity() * size_of::<u32>(),
            Form::Bits(bits, _) => bits.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::term::{Between, count_of_all, for_words_of_all};
    use crate::words;

    fn bits_of(set: &Set) -> Bits {
        let mut bits = Bits::default();
        set.add_to(&mut bits);
        bits
    }

    proptest! {
        /// Both forms against a tree set, through the borders between them.
        #[test]
        fn sets_are_sets(
            added in prop::collection::vec(0_u32..6_000, 0..4_000),
            removed in prop::collection::vec(0_u32..6_000, 0..500),
            other in prop::collection::btree_set(0_u32..7_000, 0..600),
        ) {
            let (mut set, mut model) = (Set::default(), BTreeSet::new());
            for ordinal in added {
                set.insert(ordinal);
                model.insert(ordinal);
            }
            set.settle(6_000);
            for ordinal in removed {
                set.remove(ordinal);
                model.remove(&ordinal);
            }
            prop_assert_eq!(set.len(), model.len());
            prop_assert_eq!(bits_of(&set).iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            let others: Bits = other.iter().copied().collect();
            let mut both = others.clone();
            both.intersect(&bits_of(&set));
            prop_assert_eq!(both.iter().collect::<Vec<_>>(), other.intersection(&model).copied().collect::<Vec<_>>());
            let mut rest = others.clone();
            rest.subtract(&bits_of(&set));
            prop_assert_eq!(rest.iter().collect::<Vec<_>>(), other.difference(&model).copied().collect::<Vec<_>>());
            let common: Vec<u32> = other.intersection(&model).copied().collect();
            let mut found = Vec::new();
            let terms = [set.term(), Term::new(others.clone(), 0)];
            for_words_of_all(&terms, Some(&others), |start, block| found.extend(words::numbers(start, block)));
            prop_assert_eq!(&found, &common);
            prop_assert_eq!(count_of_all(&terms), common.len());
            prop_assert_eq!(set.common_with(&others), common.len());
            prop_assert_eq!(set.term().to_bits().iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            prop_assert!((0..7_000).all(|ordinal| set.term().contains(ordinal) == model.contains(&ordinal)));
            // Those of the model that are not among the others, but for the first hundred ordinals.
            let (whole, flipped) = (bits_of(&set), Bits::full(100));
            let (evens, mut odds) = (|number: &u32| number.is_multiple_of(2), whole.clone());
            let even: Bits = whole.iter().filter(evens).collect();
            odds.subtract(&even);
            let between =
                Between { upper: [Some(&even), Some(&odds)], lower: [None, Some(&others)], flipped };
            let odd: Bits = (0..7_000).filter(|ordinal| !evens(ordinal)).collect();
            let odd_of = |between: &Between<'_>| (0..7_000).filter(|number| !evens(number) && between.contains(*number)).count();
            prop_assert_eq!(between.common(&odd), odd_of(&between));
            let between = [Term::between(between, 0)];
            let expected: Vec<u32> = (0..7_000)
                .filter(|ordinal| (model.contains(ordinal) && !other.contains(ordinal)) != (*ordinal < 100))
                .collect();
            prop_assert_eq!(&(0..7_000).filter(|ordinal| between[0].contains(*ordinal)).collect::<Vec<_>>(), &expected);
            prop_assert_eq!(&between[0].to_bits().iter().collect::<Vec<_>>(), &expected);
            prop_assert_eq!(count_of_all(&between), expected.len());
            prop_assert_eq!(others.common(&bits_of(&set)), common.len());
        }
    }

    #[test]
    fn full_has_no_more_than_all() {
        for universe in [0, 1, 63, 64, 65, 200] {
            assert_eq!(Bits::full(universe).iter().collect::<Vec<_>>().len(), universe);
        }
    }
}
