//! Sets of ordinals: a sorted list while they are few, one bit each once they are many.

use std::borrow::Cow;

use crate::ranked::{Moved, PLACE_WORDS, Places};

/// One in how many of all ordinals must be in a set for bits to be the better form.
const DENSE_SHARE: usize = 64;
/// A list this short stays a list whatever its share.
const SPARSE_MIN: usize = 1_024;

/// One bit for each ordinal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Room for so many ordinals, none of them in it.
    pub(crate) fn empty(universe: usize) -> Self {
        Self(vec![0; universe.div_ceil(64)])
    }

    /// All of so many ordinals.
    pub(crate) fn full(universe: usize) -> Self {
        let mut words = vec![u64::MAX; universe.div_ceil(64)];
        if !universe.is_multiple_of(64)
            && let Some(last) = words.last_mut()
        {
            *last = (1 << (universe % 64)) - 1;
        }
        Self(words)
    }

    pub(crate) fn contains(&self, ordinal: u32) -> bool {
        self.bit(ordinal) != 0
    }

    /// 1 when it is in the set, else 0: counting adds these up without a branch.
    pub(crate) fn bit(&self, ordinal: u32) -> usize {
        self.0.get(ordinal as usize / 64).map_or(0, |word| usize::from((word >> (ordinal % 64)) & 1 == 1))
    }

    /// The ordinals from 64 × `index` on, one bit each.
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// Whether it was not in the set before.
    pub(crate) fn insert(&mut self, ordinal: u32) -> bool {
        let index = ordinal as usize / 64;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        let bit = 1 << (ordinal % 64);
        let new = self.0[index] & bit == 0;
        self.0[index] |= bit;
        new
    }

    /// Whether it was in the set.
    pub(crate) fn remove(&mut self, ordinal: u32) -> bool {
        let Some(word) = self.0.get_mut(ordinal as usize / 64) else { return false };
        let bit = 1 << (ordinal % 64);
        let known = *word & bit != 0;
        *word &= !bit;
        known
    }

    pub(crate) fn union(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// Gives the slots that moved the numbers that they have by now.
    pub(crate) fn relocate(&mut self, moved: &Moved) {
        let (from, to) = (moved.from as usize / 64, moved.to as usize / 64);
        for (index, places) in moved.places.iter().enumerate() {
            let moving = self.word(from + index) & places;
            if moving != 0 {
                self.0[from + index] &= !moving;
                self.0.resize(self.0.len().max(to + index + 1), 0);
                self.0[to + index] |= moving;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        ones(&self.0)
    }

    /// How many are in both.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(word, other)| (word & other).count_ones() as usize).sum()
    }

    /// The ordinals, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        ordinals(0, &self.0)
    }

    /// The ordinals, 64 to a word, from 64 × `start` on.
    fn words_from(&self, start: usize) -> &[u64] {
        self.0.get(start..).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}

/// A set as a query finds it in the index: borrowed, and made of others only where somebody looks.
#[derive(Clone, Debug)]
pub(crate) struct Term<'a> {
    form: Form<'a>,
    /// How many there are, about.
    pub(crate) about: usize,
}

#[derive(Clone, Debug)]
enum Form<'a> {
    /// Ascending.
    List(&'a [u32]),
    Bits(Cow<'a, Bits>),
    Between(Between<'a>),
}

/// What is in one set and not in another, but the other way round for some.
#[derive(Clone, Debug)]
pub(crate) struct Between<'a> {
    pub(crate) upper: Option<&'a Bits>,
    pub(crate) lower: Option<&'a Bits>,
    pub(crate) flipped: Bits,
}

impl Between<'_> {
    fn intersect(&self, block: &mut [u64], start: usize) {
        let upper = self.upper.map(|upper| upper.words_from(start)).unwrap_or_default();
        let lower = self.lower.map(|lower| lower.words_from(start)).unwrap_or_default();
        let flipped = self.flipped.words_from(start);
        let at = |words: &[u64], index: usize| words.get(index).copied().unwrap_or_default();
        for (index, word) in block.iter_mut().enumerate() {
            *word &= (at(upper, index) & !at(lower, index)) ^ at(flipped, index);
        }
    }
}

impl<'a> Term<'a> {
    pub(crate) fn new(bits: Bits, about: usize) -> Self {
        Self { form: Form::Bits(Cow::Owned(bits)), about }
    }

    pub(crate) fn between(between: Between<'a>, about: usize) -> Self {
        Self { form: Form::Between(between), about }
    }

    pub(crate) fn contains(&self, ordinal: u32) -> bool {
        match &self.form {
            Form::List(list) => list.binary_search(&ordinal).is_ok(),
            Form::Bits(bits) => bits.contains(ordinal),
            Form::Between(_) => (self.word(ordinal as usize / 64) >> (ordinal % 64)) & 1 == 1,
        }
    }

    /// The ordinals from 64 × `index` on, one bit each.
    pub(crate) fn word(&self, index: usize) -> u64 {
        let mut word = [u64::MAX];
        self.intersect(&mut word, index);
        word[0]
    }

    /// Its ordinals, where they are a list.
    pub(crate) fn list(&self) -> Option<&'a [u32]> {
        match self.form {
            Form::List(list) => Some(list),
            _ => None,
        }
    }

    /// Its bits, where it has them.
    pub(crate) fn bits(&self) -> Option<&Bits> {
        match &self.form {
            Form::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// The same with one bit for each ordinal, for whoever asks often.
    pub(crate) fn to_bits(&self) -> Cow<'_, Bits> {
        match &self.form {
            Form::Bits(bits) => Cow::Borrowed(bits),
            Form::List(list) => {
                let mut bits = Bits(vec![0; self.words_end()]);
                for ordinal in *list {
                    bits.insert(*ordinal);
                }
                Cow::Owned(bits)
            }
            Form::Between(_) => {
                let mut words = vec![u64::MAX; self.words_end()];
                self.intersect(&mut words, 0);
                Cow::Owned(Bits(words))
            }
        }
    }

    /// Every word from here on is empty.
    fn words_end(&self) -> usize {
        match &self.form {
            Form::List(list) => list.last().map_or(0, |last| *last as usize / 64 + 1),
            Form::Bits(bits) => bits.0.len(),
            Form::Between(Between { upper, flipped, .. }) => {
                upper.map_or(0, |upper| upper.0.len()).max(flipped.0.len())
            }
        }
    }

    /// Leaves of words, of which the first is at this index, what is in the set.
    fn intersect(&self, block: &mut [u64], start: usize) {
        match &self.form {
            Form::Bits(bits) => intersect(block, bits.words_from(start)),
            Form::Between(between) => between.intersect(block, start),
            Form::List(list) => {
                let from = list.partition_point(|ordinal| (*ordinal as usize) < start * 64);
                let mut rest = list[from..].iter().peekable();
                for (index, word) in (start..).zip(block) {
                    let mut listed = 0;
                    while let Some(ordinal) = rest.next_if(|ordinal| **ordinal as usize / 64 == index) {
                        listed |= 1 << (ordinal % 64);
                    }
                    *word &= listed;
                }
            }
        }
    }
}

/// Words that are gone through together: few enough to stay in the processor's own memory.
const BLOCK_WORDS: usize = 64;

/// Goes through what is in all of some sets, words at a time, each time with the index of the first.
pub(crate) fn for_words_of_all(terms: &[Term<'_>], also: Option<&Bits>, mut take: impl FnMut(usize, &[u64])) {
    let end = terms.iter().map(Term::words_end).min().unwrap_or(0);
    for start in (0..end).step_by(BLOCK_WORDS) {
        let mut block = [u64::MAX; BLOCK_WORDS];
        let block = &mut block[..BLOCK_WORDS.min(end - start)];
        for term in terms {
            term.intersect(block, start);
        }
        if let Some(also) = also {
            intersect(block, also.words_from(start));
        }
        take(start, block);
    }
}

/// How many are in all of some sets.
pub(crate) fn count_of_all(terms: &[Term<'_>]) -> usize {
    let shortest = terms.iter().enumerate().filter_map(|(index, term)| Some((index, term.list()?)));
    if let Some((listed, list)) = shortest.min_by_key(|(_, list)| list.len()) {
        let others = |ordinal: u32| {
            terms.iter().enumerate().all(|(index, term)| index == listed || term.contains(ordinal))
        };
        return list.iter().filter(|ordinal| others(**ordinal)).count();
    }
    if let [Term { form: Form::Bits(a), .. }, Term { form: Form::Bits(b), .. }] = terms {
        return a.common(b);
    }
    let mut count = 0;
    for_words_of_all(terms, None, |_, words| count += ones(words));
    count
}

/// How many are in two sets, and not in a third. In one go, as every word passes by only once.
pub(crate) fn count_between(upper: &Bits, lower: Option<&Bits>, bits: &Bits) -> usize {
    let Some(lower) = lower else { return upper.common(bits) };
    let both = |upper: &[u64], bits: &[u64]| -> usize {
        upper.iter().zip(bits).map(|(upper, bits)| (upper & bits).count_ones() as usize).sum()
    };
    let common = upper.0.len().min(bits.0.len()).min(lower.0.len());
    let words = upper.0[..common].iter().zip(&bits.0[..common]).zip(&lower.0[..common]);
    let first: usize =
        words.map(|((upper, bits), lower)| (upper & bits & !lower).count_ones() as usize).sum();
    first + both(&upper.0[common..], &bits.0[common..])
}

/// The places of a block, which begins at some slot, that are in all of some sets.
pub(crate) fn places_of_all(terms: &[Term<'_>], base: u32) -> Places {
    let mut places = [u64::MAX; PLACE_WORDS];
    for term in terms {
        term.intersect(&mut places, base as usize / 64);
    }
    places
}

fn intersect(block: &mut [u64], words: &[u64]) {
    let common = block.len().min(words.len());
    for (word, other) in block.iter_mut().zip(words) {
        *word &= other;
    }
    block[common..].fill(0);
}

/// How many bits of words are set.
pub(crate) fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// The ordinals of words, of which the first is at this index.
pub(crate) fn ordinals(start: usize, words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    // There are no more ordinals than 32 bits number.
    let base = u32::try_from(start).unwrap_or(u32::MAX / 64);
    (base..).zip(words).flat_map(|(index, word)| BitsOfWord(*word).map(move |bit| index * 64 + bit))
}

impl From<Vec<u64>> for Bits {
    fn from(words: Vec<u64>) -> Self {
        Self(words)
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(ordinals: I) -> Self {
        let mut bits = Self::default();
        for ordinal in ordinals {
            bits.insert(ordinal);
        }
        bits
    }
}

struct BitsOfWord(u64);

impl Iterator for BitsOfWord {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

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
            Self::Dense(bits, len) => Term { form: Form::Bits(Cow::Borrowed(bits)), about: *len },
            Self::Sparse(ordinals) => Term { form: Form::List(ordinals), about: ordinals.len() },
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
