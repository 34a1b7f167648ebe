//! Sets as queries find them, and what is in all of several.

use std::borrow::Cow;

use super::bits::{Bits, ones};
use crate::ranked::{PLACE_WORDS, Places};

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
    /// What is in a list, which ascends.
    pub(super) fn of_list(list: &'a [u32]) -> Self {
        Self { form: Form::List(list), about: list.len() }
    }

    /// What is in a set of so many.
    pub(super) fn of_bits(bits: &'a Bits, len: usize) -> Self {
        Self { form: Form::Bits(Cow::Borrowed(bits)), about: len }
    }

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
