//! Words with a bit for each number, the lowest first: whatever is done with bits is done here.

/// How many bits of words are set.
pub fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// How many bits are set in both.
pub(crate) fn ones_of_both(words: &[u64], others: &[u64]) -> usize {
    words.iter().zip(others).map(|(word, other)| (word & other).count_ones() as usize).sum()
}

/// How many bits are set in either of two that are equally long.
pub(crate) fn ones_of_either(words: &[u64], others: &[u64]) -> usize {
    words.iter().zip(others).map(|(word, other)| (word | other).count_ones() as usize).sum()
}

/// Sets what is set in others, of which there are no more.
pub(crate) fn unite(words: &mut [u64], others: &[u64]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
}

/// Clears what is set in others.
pub(crate) fn subtract(words: &mut [u64], others: &[u64]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word &= !other);
}

/// Makes of what is set in others the opposite.
pub(crate) fn flip(words: &mut [u64], others: &[u64]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word ^= other);
}

/// Clears what is not set in others.
pub(crate) fn intersect(words: &mut [u64], others: &[u64]) {
    let common = words.len().min(others.len());
    words.iter_mut().zip(others).for_each(|(word, other)| *word &= other);
    words[common..].fill(0);
}

/// The numbers of words, of which the first begins at 64 × `start`, ascending.
pub fn numbers(start: usize, words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    // Numbers have 32 bits.
    let base = u32::try_from(start).unwrap_or(u32::MAX / 64);
    (base..).zip(words).flat_map(|(index, word)| NumbersOfWord(*word).map(move |bit| index * 64 + bit))
}

struct NumbersOfWord(u64);

impl Iterator for NumbersOfWord {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
