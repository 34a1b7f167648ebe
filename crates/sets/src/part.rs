//! A set within 65,536 numbers. The same set always has the same form, so that equal sets compare as equal.
#![expect(clippy::cast_possible_truncation, reason = "numbers of a part have 16 bits")]

use crate::bits::Bits;
use crate::list;
use crate::number::Words;
use crate::set::{Form, Set};
use crate::words;

/// Numbers of a part.
pub const PART_NUMBERS: usize = 1 << 16;
/// Words of the bits of a part.
const WORDS: usize = PART_NUMBERS / 64;
/// A longer list becomes bits: at most twice the memory, and many times faster to unite.
const LIST_MAX: usize = 2_048;

/// A set of numbers of 16 bits.
pub type Part = Set<u16>;

/// One bit for each number of a part. Of a length that is known, they are gone through without asking for it.
pub type PartBits = Bits<PartWords>;

/// The words of the bits of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartWords(Box<[u64; WORDS]>);

impl Words for PartWords {
    fn empty() -> Self {
        Self(Box::new([0; WORDS]))
    }

    #[inline]
    fn words(&self) -> &[u64] {
        &*self.0
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut *self.0
    }

    #[inline]
    fn reach(&mut self, _: usize) {}
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Part {}

impl PartBits {
    /// How many are in either.
    pub fn union_count(&self, other: &Self) -> usize {
        words::ones_of_either(self.0.words(), other.0.words())
    }

    /// The bits that these bytes are, eight numbers to a byte.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut bits = Self::default();
        for (word, bytes) in bits.0.words_mut().iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        bits
    }
}

impl Part {
    /// The set of these numbers, which ascend.
    pub fn from_sorted(numbers: &[u16]) -> Self {
        if numbers.len() <= LIST_MAX {
            return Self(Form::List(numbers.to_vec()));
        }
        let mut bits = PartBits::default();
        for number in numbers {
            bits.insert((*number).into());
        }
        Self(Form::Bits(bits, numbers.len()))
    }

    pub(crate) fn from_bits(bits: PartBits) -> Self {
        let len = bits.count();
        if len > LIST_MAX {
            return Self(Form::Bits(bits, len));
        }
        let mut list = Vec::with_capacity(len);
        bits.iter().for_each(|number| list.push(number as u16));
        Self(Form::List(list))
    }

    /// Bytes of memory.
    pub fn part_bytes(&self) -> usize {
        match &self.0 {
            Form::List(list) => list.capacity() * size_of::<u16>(),
            Form::Bits(..) => WORDS * size_of::<u64>(),
        }
    }

    fn to_bits(&self) -> PartBits {
        match &self.0 {
            Form::List(_) => {
                let mut bits = PartBits::default();
                self.add_to(&mut bits);
                bits
            }
            Form::Bits(bits, _) => bits.clone(),
        }
    }

    /// With these numbers, which ascend and may repeat or be in it already.
    pub fn with(&self, numbers: &[u16]) -> Self {
        match &self.0 {
            Form::List(list) if list.len() + numbers.len() <= LIST_MAX => {
                Self(Form::List(list::merge(list, numbers)))
            }
            _ => {
                let mut bits = self.to_bits();
                for number in numbers {
                    bits.insert((*number).into());
                }
                Self::from_bits(bits)
            }
        }
    }

    /// Without a number.
    pub fn without(&self, number: u16) -> Self {
        self.minus(&Self(Form::List(vec![number])))
    }

    /// Without what is in another.
    pub fn minus(&self, other: &Self) -> Self {
        if other.is_empty() {
            return self.clone();
        }
        match &self.0 {
            Form::List(list) => {
                Self(Form::List(list.iter().copied().filter(|number| !other.contains(*number)).collect()))
            }
            Form::Bits(bits, _) => {
                let mut bits = bits.clone();
                other.take_from(&mut bits);
                Self::from_bits(bits)
            }
        }
    }

    /// With what is in another.
    pub fn plus(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (_, Form::List(list)) => self.with(list),
            (Form::List(list), _) => other.with(list),
            (Form::Bits(bits, _), Form::Bits(others, _)) => {
                let mut bits = bits.clone();
                bits.union(others);
                Self::from_bits(bits)
            }
        }
    }

    /// Those that were not seen yet, which they are from now on.
    pub fn take_unseen(&self, seen: &mut PartBits) -> Self {
        match &self.0 {
            Form::List(list) => {
                let is_new = |number: &u16| seen.insert((*number).into());
                Self(Form::List(list.iter().copied().filter(is_new).collect()))
            }
            Form::Bits(bits, len) if bits.common(seen) == *len => Self::EMPTY,
            Form::Bits(bits, _) => {
                let mut unseen = bits.clone();
                unseen.subtract(seen);
                seen.union(bits);
                Self::from_bits(unseen)
            }
        }
    }
}
