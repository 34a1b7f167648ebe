//! Exact decimal numbers, digit by digit.

use std::cmp::Ordering;

use alloy_primitives::Uint;

/// An amount of 256 bits times a rate of at most 80 digits, which take 266 bits.
pub(crate) type Product = Uint<576, 9>;

/// The largest power of ten of 64 bits: a division by it yields as many digits at once as there can be.
const CHUNK: u64 = 10_u64.pow(19);
const CHUNK_DIGITS: usize = 19;
/// A product has at most 78 + 80 digits, which come in nine chunks.
const DIGITS_MAX: usize = 9 * CHUNK_DIGITS;

/// The number `0.d₁d₂d₃… × 10^point`, where neither the first digit nor the last one is zero. Zero has no digits.
/// On the stack, as answers are full of prices.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    buffer: [u8; DIGITS_MAX],
    start: usize,
    end: usize,
    point: isize,
}

impl Decimal {
    /// The number `product / 10^scale`.
    pub(crate) fn new(product: Product, scale: usize) -> Self {
        Self::of(&mut product.into_limbs(), scale)
    }

    /// The same of a small product.
    pub(crate) fn small(product: u128, scale: usize) -> Self {
        Self::of(&mut [low_half(product), low_half(product >> 64)], scale)
    }

    fn of(limbs: &mut [u64], scale: usize) -> Self {
        let mut limb_count = limbs.len();
        let mut number = Self { buffer: [b'0'; DIGITS_MAX], start: DIGITS_MAX, end: DIGITS_MAX, point: 0 };
        loop {
            while limb_count > 0 && limbs[limb_count - 1] == 0 {
                limb_count -= 1;
            }
            if limb_count == 0 {
                break;
            }
            let chunk = divide_by_chunk(&mut limbs[..limb_count]);
            number.start -= CHUNK_DIGITS;
            write_digits(&mut number.buffer[number.start..][..CHUNK_DIGITS], chunk);
        }
        number.start += number.digits().iter().take_while(|digit| **digit == b'0').count();
        if number.start < number.end {
            number.point = number.digits().len().cast_signed() - scale.cast_signed();
        }
        number.trim();
        number
    }

    /// The digits d₁d₂d₃….
    pub(crate) fn digits(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// How many digits stand before the point; less than none when zeros follow it.
    pub(crate) fn point(&self) -> isize {
        self.point
    }

    /// The same with so many digits at most, rounded half up.
    pub(crate) fn rounded(&self, digits_kept: usize) -> Self {
        let mut rounded = self.clone();
        rounded.round(digits_kept);
        rounded
    }

    fn round(&mut self, digits_kept: usize) {
        let Some(next) = self.digits().get(digits_kept) else { return };
        let up = *next >= b'5';
        self.end = self.start + digits_kept;
        if up {
            while self.end > self.start && self.buffer[self.end - 1] == b'9' {
                self.end -= 1;
            }
            if self.end == self.start {
                self.buffer[self.start] = b'1';
                self.end += 1;
                self.point += 1;
            } else {
                self.buffer[self.end - 1] += 1;
            }
        }
        self.trim();
    }

    fn trim(&mut self) {
        self.end = self.start + without_trailing_zeros(self.digits()).len();
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |number: &Self| (!number.digits().is_empty(), number.point);
        key(self).cmp(&key(other)).then_with(|| self.digits().cmp(other.digits()))
    }
}

/// Writes `0.d₁d₂d₃… × 10^point` with so many places after the point, and without a point when there are none.
pub(crate) fn write_plain(out: &mut Vec<u8>, digits: &[u8], point: isize, places: usize) {
    let whole = usize::try_from(point).unwrap_or(0);
    if whole > 0 {
        write_padded(out, digits, whole);
    } else {
        out.push(b'0');
    }
    if places > 0 {
        out.push(b'.');
        let zeros = point.min(0).unsigned_abs().min(places);
        out.resize(out.len() + zeros, b'0');
        write_padded(out, digits.get(whole..).unwrap_or_default(), places - zeros);
    }
}

/// Writes the first so many digits, with zeros in place of those that there are not.
fn write_padded(out: &mut Vec<u8>, digits: &[u8], count: usize) {
    let there = digits.len().min(count);
    out.extend_from_slice(&digits[..there]);
    out.resize(out.len() + count - there, b'0');
}

pub(crate) fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    &digits[..digits.len() - zeros]
}

/// Divides in place and returns the remainder.
fn divide_by_chunk(limbs: &mut [u64]) -> u64 {
    let mut remainder = 0;
    for limb in limbs.iter_mut().rev() {
        let quotient = quotient_by_chunk(remainder, *limb);
        // The difference is below 2^64, so its low half is all of it.
        remainder = limb.wrapping_sub(quotient.wrapping_mul(CHUNK));
        *limb = quotient;
    }
    remainder
}

/// The quotient is below 2^64, as `high` is below the divisor.
fn quotient_by_chunk(high: u64, low: u64) -> u64 {
    low_half(((u128::from(high) << 64) | u128::from(low)) / u128::from(CHUNK))
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
fn low_half(number: u128) -> u64 {
    number as u64
}

/// Puts a number at the end of a slice of zeros.
fn write_digits(zeros: &mut [u8], mut number: u64) {
    // Two at a time, as each division waits for the one before.
    for pair in zeros.rchunks_mut(2) {
        if number == 0 {
            break;
        }
        let two = (number % 100).to_le_bytes()[0];
        number /= 100;
        if let [tens, ones] = pair {
            (*tens, *ones) = (b'0' + two / 10, b'0' + two % 10);
        } else if let [ones] = pair {
            *ones = b'0' + two;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(product: u64, scale: usize) -> Decimal {
        Decimal::new(Product::from(product), scale)
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let ascending =
            [number(0, 3), number(1, 30), number(12, 4), number(2, 3), number(5, 1), number(10, 0)];
        assert!(ascending.is_sorted_by(|a, b| a < b));
        assert_eq!(number(0, 3), number(0, 0));
        assert_eq!(number(1_500, 4), number(15, 2));
    }

    #[test]
    fn rounding_carries_as_far_as_it_must() {
        for (product, digits_kept, digits, point) in [
            (1_249, 2, "12", 4),
            (1_250, 2, "13", 4),
            (1_995, 3, "2", 4),
            (9_996, 3, "1", 5),
            (42, 9, "42", 2),
        ] {
            let mut rounded = number(product, 0);
            rounded.round(digits_kept);
            assert_eq!((rounded.digits(), rounded.point()), (digits.as_bytes(), point), "{product}");
        }
    }
}
