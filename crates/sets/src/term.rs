//! Sets as queries find them, and what is in all of several.

use std::borrow::Cow;

use crate::bits::Bits;
use crate::list;
use crate::words::{flip, intersect, ones, subtract, unite};

/// A set as a query finds it in the index: borrowed, and made of others only where somebody looks.
#[derive(Clone, Debug)]
pub struct Term<'a> {
    form: Form<'a>,
    /// How many there are, about.
    pub about: usize,
}

#[derive(Clone, Debug)]
enum Form<'a> {
    /// Ascending.
    List(&'a [u32]),
    Bits(Cow<'a, Bits>),
    Between(Between<'a>),
}

/// What is in any of some sets and in none of others, but the other way round for some.
#[derive(Clone, Debug, Default)]
pub struct Between<'a> {
    /// In any of these.
    pub upper: [Option<&'a Bits>; 2],
    /// In none of these.
    pub lower: [Option<&'a Bits>; 2],
    /// Those for which it is the other way round.
    pub flipped: Bits,
}

impl Between<'_> {
    /// Whether a number is in it.
    pub fn contains(&self, number: u32) -> bool {
        let any = |sets: &[Option<&Bits>; 2]| sets.iter().flatten().any(|bits| bits.contains(number));
        (any(&self.upper) && !any(&self.lower)) != self.flipped.contains(number)
    }

    /// How many of it are in a set, too.
    pub fn common(&self, bits: &Bits) -> usize {
        let blocks = (0..bits.0.len().min(self.words_end())).step_by(BLOCK_WORDS);
        let count = |start: usize| {
            let end = bits.0.len().min(start + BLOCK_WORDS);
            let mut block = [0; BLOCK_WORDS];
            block[..end - start].copy_from_slice(&bits.0[start..end]);
            self.intersect(&mut block, start);
            ones(&block)
        };
        blocks.map(count).sum()
    }

    /// Every word from here on is empty.
    fn words_end(&self) -> usize {
        let ends = self.upper.iter().flatten().map(|upper| upper.0.len());
        ends.max().unwrap_or_default().max(self.flipped.0.len())
    }

    fn intersect(&self, block: &mut [u64], start: usize) {
        for (start, block) in (start..).step_by(BLOCK_WORDS).zip(block.chunks_mut(BLOCK_WORDS)) {
            // Set by set, each of which is gone through several words at a time.
            let mut between = [0; BLOCK_WORDS];
            let between = &mut between[..block.len()];
            self.upper.iter().flatten().for_each(|bits| unite(between, bits.words_from(start)));
            self.lower.iter().flatten().for_each(|bits| subtract(between, bits.words_from(start)));
            flip(between, self.flipped.words_from(start));
            intersect(block, between);
        }
    }
}

impl<'a> Term<'a> {
    /// What is in a list, which ascends.
    pub(crate) fn of_list(list: &'a [u32]) -> Self {
        Self { form: Form::List(list), about: list.len() }
    }

    /// What is in a set of so many.
    pub(crate) fn of_bits(bits: &'a Bits, len: usize) -> Self {
        Self { form: Form::Bits(Cow::Borrowed(bits)), about: len }
    }

    /// What is in bits, of which about so many are set.
    pub fn new(bits: Bits, about: usize) -> Self {
        Self { form: Form::Bits(Cow::Owned(bits)), about }
    }

    /// What is between two sets, about so many.
    pub fn between(between: Between<'a>, about: usize) -> Self {
        Self { form: Form::Between(between), about }
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: u32) -> bool {
        match &self.form {
            Form::List(list) => list::contains(list, number),
            Form::Bits(bits) => bits.contains(number),
            Form::Between(between) => between.contains(number),
        }
    }

    /// The numbers from 64 × `index` on, one bit each.
    pub fn word(&self, index: usize) -> u64 {
        let mut word = [u64::MAX];
        self.intersect(&mut word, index);
        word[0]
    }

    /// Its numbers, where they are a list.
    pub fn list(&self) -> Option<&'a [u32]> {
        match self.form {
            Form::List(list) => Some(list),
            _ => None,
        }
    }

    /// Its bits, where it has them.
    pub fn bits(&self) -> Option<&Bits> {
        match &self.form {
            Form::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// The same with one bit for each number, for whoever asks often.
    pub fn to_bits(&self) -> Cow<'_, Bits> {
        match &self.form {
            Form::Bits(bits) => Cow::Borrowed(bits),
            Form::List(list) => {
                let mut bits = Bits(vec![0; self.words_end()]);
                for number in *list {
                    bits.insert(*number);
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
            Form::Between(between) => between.words_end(),
        }
    }

    /// Leaves of words, of which the first is at this index, what is in the set.
    fn intersect(&self, block: &mut [u64], start: usize) {
        match &self.form {
            Form::Bits(bits) => intersect(block, bits.words_from(start)),
            Form::Between(between) => between.intersect(block, start),
            Form::List(list) => {
                let bound = |index: usize| list.partition_point(|number| (*number as usize) < index * 64);
                let mut rest = &list[bound(start)..];
                for (start, block) in (start..).step_by(BLOCK_WORDS).zip(block.chunks_mut(BLOCK_WORDS)) {
                    // Number by number rather than word by word, which of a long list are empty or not as it happens.
                    let mut listed = [0; BLOCK_WORDS];
                    let end = (start + block.len()) * 64;
                    while let [number, others @ ..] = rest
                        && (*number as usize) < end
                    {
                        listed[*number as usize / 64 - start] |= 1 << (number % 64);
                        rest = others;
                    }
                    intersect(block, &listed);
                }
            }
        }
    }
}

/// Words that are gone through together: few enough to stay in the processor's own memory.
const BLOCK_WORDS: usize = 64;

/// Goes through what is in all of some sets, words at a time, each time with the index of the first.
pub fn for_words_of_all(terms: &[Term<'_>], also: Option<&Bits>, mut take: impl FnMut(usize, &[u64])) {
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
pub fn count_of_all(terms: &[Term<'_>]) -> usize {
    if let [Term { form: Form::List(a), .. }, Term { form: Form::List(b), .. }] = terms {
        return list::common(a, b);
    }
    let shortest = terms.iter().enumerate().filter_map(|(index, term)| Some((index, term.list()?)));
    if let Some((listed, list)) = shortest.min_by_key(|(_, list)| list.len()) {
        let others = |number: u32| {
            terms.iter().enumerate().all(|(index, term)| index == listed || term.contains(number))
        };
        return list.iter().filter(|number| others(**number)).count();
    }
    if let [Term { form: Form::Bits(a), .. }, Term { form: Form::Bits(b), .. }] = terms {
        return a.common(b);
    }
    let mut count = 0;
    for_words_of_all(terms, None, |_, words| count += ones(words));
    count
}

/// The numbers from a multiple of 64 on that are in all of some sets, one bit each.
pub fn words_of_all<const WORDS: usize>(terms: &[Term<'_>], from: u32) -> [u64; WORDS] {
    let mut words = [u64::MAX; WORDS];
    for term in terms {
        term.intersect(&mut words, from as usize / 64);
    }
    words
}
