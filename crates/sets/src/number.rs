//! What can be in a set: numbers of 16 bits, which have room for bits of a fixed length, and of 32 bits.
#![expect(
    clippy::cast_possible_truncation,
    reason = "what comes out of a set of 16 bits had 16 bits when it went in"
)]

use std::fmt::Debug;

use crate::part::PartWords;

/// A number that can be in a [`Set`](crate::Set).
pub trait Number: Copy + Debug + Ord + Into<u32> {
    /// What the bits of a set of such numbers are kept in.
    type Words: Words;

    /// A number that came out of such bits.
    fn of(bit: u32) -> Self;
}

impl Number for u16 {
    type Words = PartWords;

    #[inline]
    fn of(bit: u32) -> Self {
        bit as Self
    }
}

impl Number for u32 {
    type Words = Vec<u64>;

    #[inline]
    fn of(bit: u32) -> Self {
        bit
    }
}

/// Where the words of [`Bits`](crate::Bits) are.
pub trait Words: Clone + Debug + Eq {
    /// Words without a bit.
    fn empty() -> Self;

    /// The words there are.
    fn words(&self) -> &[u64];

    /// The words there are, to be changed.
    fn words_mut(&mut self) -> &mut [u64];

    /// Makes sure that there are so many words, where more can be.
    fn reach(&mut self, len: usize);
}

impl Words for Vec<u64> {
    fn empty() -> Self {
        Self::new()
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }

    #[inline]
    fn reach(&mut self, len: usize) {
        if len > self.len() {
            self.resize(len, 0);
        }
    }
}
