//! One bit for each number.

use crate::number::Words;
use crate::words;

/// One bit for each number: of any length that grows with what is put in, or of the fixed length of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits<W = Vec<u64>>(pub(crate) W);

impl<W: Words> Default for Bits<W> {
    fn default() -> Self {
        Self(W::empty())
    }
}

impl<W: Words> Bits<W> {
    /// Whether a number is in it.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.bit(number) != 0
    }

    /// 1 when a number is in it, else 0: counting adds these up without a branch.
    #[inline]
    pub fn bit(&self, number: u32) -> usize {
        self.0
            .words()
            .get(number as usize / 64)
            .map_or(0, |word| usize::from((word >> (number % 64)) & 1 == 1))
    }

    /// The numbers from 64 × `index` on, one bit each.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        self.0.words().get(index).copied().unwrap_or_default()
    }

    /// Puts a number in. Whether it was not there before.
    #[inline]
    pub fn insert(&mut self, number: u32) -> bool {
        let index = number as usize / 64;
        self.0.reach(index + 1);
        let word = &mut self.0.words_mut()[index];
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes a number out. Whether it was there.
    #[inline]
    pub fn remove(&mut self, number: u32) -> bool {
        let Some(word) = self.0.words_mut().get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let was_there = *word & bit != 0;
        *word &= !bit;
        was_there
    }

    /// Takes all numbers out.
    pub fn clear(&mut self) {
        self.0.words_mut().fill(0);
    }

    /// Puts in what is in another.
    pub fn union(&mut self, other: &Self) {
        self.0.reach(other.0.words().len());
        words::unite(self.0.words_mut(), other.0.words());
    }

    /// Takes out what is not in another.
    pub fn intersect(&mut self, other: &Self) {
        words::intersect(self.0.words_mut(), other.0.words());
    }

    /// Takes out what is in another.
    pub fn subtract(&mut self, other: &Self) {
        words::subtract(self.0.words_mut(), other.0.words());
    }

    /// How many numbers are in it; all words are looked at.
    pub fn count(&self) -> usize {
        words::ones(self.0.words())
    }

    /// How many are in both.
    pub fn common(&self, other: &Self) -> usize {
        words::ones_of_both(self.0.words(), other.0.words())
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        words::numbers(0, self.0.words())
    }
}

impl Bits {
    /// Room for the numbers below `universe`, none of them in it.
    pub fn empty(universe: usize) -> Self {
        Self(vec![0; universe.div_ceil(64)])
    }

    /// All numbers below `universe`.
    pub fn full(universe: usize) -> Self {
        let mut words = vec![u64::MAX; universe.div_ceil(64)];
        if !universe.is_multiple_of(64)
            && let Some(last) = words.last_mut()
        {
            *last = (1 << (universe % 64)) - 1;
        }
        Self(words)
    }

    /// What is in both of two, and not in a third.
    pub fn of_both_but(one: &Self, two: &Self, except: &Self) -> Self {
        let mut common: Vec<u64> = one.0.iter().zip(&two.0).map(|(one, two)| one & two).collect();
        words::subtract(&mut common, &except.0);
        Self(common)
    }

    /// Gives the numbers that moved those that they have by now.
    pub fn relocate<const WORDS: usize>(&mut self, relocation: &Relocation<WORDS>) {
        let (from, to) = (relocation.from as usize / 64, relocation.to as usize / 64);
        for (index, places) in relocation.places.iter().enumerate() {
            let moving = self.word(from + index) & places;
            if moving != 0 {
                self.0[from + index] &= !moving;
                self.0.resize(self.0.len().max(to + index + 1), 0);
                self.0[to + index] |= moving;
            }
        }
    }

    /// The words, each of 64 numbers.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The words from 64 × `start` on.
    pub(crate) fn words_from(&self, start: usize) -> &[u64] {
        self.0.get(start..).unwrap_or_default()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}

impl From<Vec<u64>> for Bits {
    fn from(words: Vec<u64>) -> Self {
        Self(words)
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut bits = Self::default();
        for number in numbers {
            bits.insert(number);
        }
        bits
    }
}

/// Numbers of one block that moved to another, where they have the same places. Both blocks begin at multiples of 64.
#[derive(Debug)]
pub struct Relocation<const WORDS: usize> {
    /// First number of the block that they were in.
    pub from: u32,
    /// First number of the block that they are in by now.
    pub to: u32,
    /// Which places moved, one bit each.
    pub places: [u64; WORDS],
}

impl<const WORDS: usize> Relocation<WORDS> {
    /// What a number is by now.
    pub fn number(&self, number: u32) -> u32 {
        let is_moved = |place: u32| {
            self.places.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
        };
        match number.checked_sub(self.from) {
            Some(place) if is_moved(place) => self.to + place,
            _ => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_both_and_not_in_a_third_whatever_their_lengths() {
        let multiples = |of: u32, end: u32| (0..end).step_by(of as usize).collect::<Bits>();
        for ends in [[700, 700, 700], [700, 300, 100], [100, 700, 300], [300, 100, 700], [700, 700, 0]] {
            let [one, two, except] =
                [2, 3, 5].map(|of| (of, ends[usize::from(of > 2) + usize::from(of > 3)]));
            let is_in = |number: u32, (of, end): (u32, u32)| number < end && number.is_multiple_of(of);
            let expected = (0..1_000).filter(|n| is_in(*n, one) && is_in(*n, two) && !is_in(*n, except));
            let [a, b, c] = [one, two, except].map(|(of, end)| multiples(of, end));
            assert!(Bits::of_both_but(&a, &b, &c).iter().eq(expected), "{ends:?}");
        }
    }
}
