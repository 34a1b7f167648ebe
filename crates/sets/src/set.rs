//! Sets of ordinals: a sorted list while they are few, one bit each once they are many.

mod bits;
mod term;

pub(crate) use bits::{Bits, count_between, ones, ordinals};
pub(crate) use term::{Between, Term, count_of_all, for_words_of_all, places_of_all};

use crate::ranked::Moved;

/// One in how many of all ordinals must be in a set for bits to be the better form.
const DENSE_SHARE: usize = 64;
/// A list this short stays a list whatever its share.
const SPARSE_MIN: usize = 1_024;

/// A set of ordinals that knows its size.
#[derive(Clone, Debug)]
pub(crate) enum Set {
    /// Ascending.
    Sparse(Vec<u32>),
    /// Bits, and how many of them are set.
    Dense(Bits, usize),
}

impl Default for Set {
    fn default() -> Self {
        Self::Sparse(Vec::new())
    }
}

impl Set {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Sparse(ordinals) => ordinals.len(),
            Self::Dense(_, len) => *len,
        }
    }

    pub(crate) fn insert(&mut self, ordinal: u32) {
        match self {
            Self::Dense(bits, len) => *len += usize::from(bits.insert(ordinal)),
            // Tokens come in the order of their ordinals when a collection is loaded.
            Self::Sparse(ordinals) if ordinals.last().is_none_or(|last| *last < ordinal) => {
                ordinals.push(ordinal);
                if ordinals.len() > SPARSE_MIN && ordinals.len() * DENSE_SHARE / 4 > ordinal as usize {
                    self.settle(ordinal as usize + 1);
                }
            }
            Self::Sparse(ordinals) => {
                if let Err(position) = ordinals.binary_search(&ordinal) {
                    ordinals.insert(position, ordinal);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, ordinal: u32) {
        match self {
            Self::Dense(bits, len) => *len -= usize::from(bits.remove(ordinal)),
            Self::Sparse(ordinals) => {
                if let Ok(position) = ordinals.binary_search(&ordinal) {
                    ordinals.remove(position);
                }
            }
        }
    }

    /// Takes the better form for so many ordinals in all.
    pub(crate) fn settle(&mut self, universe: usize) {
        let dense = self.len() > SPARSE_MIN && self.len() * DENSE_SHARE > universe;
        match self {
            Self::Sparse(ordinals) if dense => {
                let mut bits = Bits::empty(universe);
                for ordinal in ordinals.iter() {
                    bits.insert(*ordinal);
                }
                *self = Self::Dense(bits, ordinals.len());
            }
            Self::Dense(bits, _) if !dense => *self = Self::Sparse(bits.iter().collect()),
            Self::Sparse(ordinals) => ordinals.shrink_to_fit(),
            Self::Dense(bits, _) => bits.0.shrink_to_fit(),
        }
    }

    /// Gives every ordinal the number that it has by now.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        match self {
            Self::Sparse(ordinals) => {
                for ordinal in &mut *ordinals {
                    *ordinal = numbers[*ordinal as usize];
                }
                ordinals.sort_unstable();
            }
            Self::Dense(bits, _) => {
                let mut renumbered = Bits::empty(numbers.len());
                for ordinal in bits.iter() {
                    renumbered.insert(numbers[ordinal as usize]);
                }
                *bits = renumbered;
            }
        }
    }

    /// Gives the slots that moved the numbers that they have by now.
    pub(crate) fn relocate(&mut self, moved: &Moved) {
        match self {
            Self::Dense(bits, _) => bits.relocate(moved),
            Self::Sparse(slots) => {
                let is_moved = |slot: &u32| moved.slot(*slot) != *slot;
                if slots.iter().any(is_moved) {
                    for slot in &mut *slots {
                        *slot = moved.slot(*slot);
                    }
                    slots.sort_unstable();
                }
            }
        }
    }

    /// The same under other numbers, without those that have none, of which there are so many.
    pub(crate) fn project(&self, numbers: &[Option<u32>], universe: usize) -> Self {
        let number = |ordinal: &u32| numbers.get(*ordinal as usize).copied().flatten();
        let mut projected = match self {
            Self::Sparse(ordinals) => {
                let mut projected: Vec<u32> = ordinals.iter().filter_map(number).collect();
                projected.sort_unstable();
                Self::Sparse(projected)
            }
            Self::Dense(bits, _) => {
                let mut projected = Bits::empty(universe);
                let len = bits
                    .iter()
                    .filter_map(|ordinal| number(&ordinal))
                    .map(|slot| projected.insert(slot))
                    .count();
                Self::Dense(projected, len)
            }
        };
        projected.settle(universe);
        projected
    }

    /// How many of its ordinals are in bits.
    pub(crate) fn common(&self, bits: &Bits) -> usize {
        match self {
            // Added up without a branch.
            Self::Sparse(ordinals) => ordinals.iter().map(|ordinal| bits.bit(*ordinal)).sum(),
            Self::Dense(own, _) => own.common(bits),
        }
    }

    /// The set as queries take it.
    pub(crate) fn term(&self) -> Term<'_> {
        match self {
            Self::Dense(bits, len) => Term::of_bits(bits, *len),
            Self::Sparse(ordinals) => Term::of_list(ordinals),
        }
    }

    /// Adds its ordinals to others.
    pub(crate) fn add_to(&self, others: &mut Bits) {
        match self {
            Self::Dense(bits, _) => others.union(bits),
            Self::Sparse(ordinals) => {
                for ordinal in ordinals {
                    others.insert(*ordinal);
                }
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Sparse(ordinals) => ordinals.capacity() * size_of::<u32>(),
            Self::Dense(bits, _) => bits.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

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
            let mut rest = others.clone();
            rest.subtract(&bits_of(&set));
            prop_assert_eq!(rest.iter().collect::<Vec<_>>(), other.difference(&model).copied().collect::<Vec<_>>());
            let common: Vec<u32> = other.intersection(&model).copied().collect();
            let mut found = Vec::new();
            let terms = [set.term(), Term::new(others.clone(), 0)];
            for_words_of_all(&terms, Some(&others), |start, words| found.extend(ordinals(start, words)));
            prop_assert_eq!(&found, &common);
            prop_assert_eq!(count_of_all(&terms), common.len());
            prop_assert_eq!(set.common(&others), common.len());
            prop_assert_eq!(set.term().to_bits().iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            prop_assert!((0..7_000).all(|ordinal| set.term().contains(ordinal) == model.contains(&ordinal)));
            // Those of the model that are not among the others, but for the first hundred ordinals.
            let (whole, flipped) = (bits_of(&set), Bits::full(100));
            let between = Between { upper: Some(&whole), lower: Some(&others), flipped };
            let between = [Term::between(between, 0)];
            let expected: Vec<u32> = (0..7_000)
                .filter(|ordinal| (model.contains(ordinal) && !other.contains(ordinal)) != (*ordinal < 100))
                .collect();
            prop_assert_eq!(&between[0].to_bits().iter().collect::<Vec<_>>(), &expected);
            prop_assert_eq!(count_of_all(&between), expected.len());
            let odd: Bits = (0..7_000).filter(|ordinal| ordinal % 2 == 1).collect();
            let only = model.difference(&other).filter(|ordinal| *ordinal % 2 == 1).count();
            prop_assert_eq!(count_between(&whole, Some(&others), &odd), only);
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
