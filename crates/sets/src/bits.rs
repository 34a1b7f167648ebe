//! One bit for each ordinal.

use crate::ranked::Moved;

/// One bit for each ordinal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(pub(super) Vec<u64>);

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
    pub(super) fn words_from(&self, start: usize) -> &[u64] {
        self.0.get(start..).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
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
