//! Sets as they are stored. What is stored stays readable: the coding of a set follows from its size alone, and neither
//! changes.
//!
//! Ascending numbers below a limit, in few bytes: two bits more for each than the best there is (Elias–Fano), or one bit
//! for each number below the limit when that is not much more: those are read many times faster. Which of the two follows
//! from how many there are.
#![expect(clippy::cast_possible_truncation, reason = "numbers have 16 bits, and bits are cut off on purpose")]

use crate::bytes::{Damaged, Reader, write_number};
use crate::part::{PART_NUMBERS, Part, PartBits};

/// Appends a set: how many numbers there are, the last of them, and all of them as numbers up to that one.
pub fn write(out: &mut Vec<u8>, numbers: &[u16]) {
    write_number(out, numbers.len() as u64);
    let Some(last) = numbers.last() else { return };
    write_number(out, u64::from(*last));
    write_ascending(out, numbers, usize::from(*last) + 1);
}

/// Reads what [`write()`] wrote. `scratch` is overwritten, and spares who reads much an allocation for each set.
pub fn read(reader: &mut Reader<'_>, scratch: &mut Vec<u16>) -> Result<Part, Damaged> {
    let count = reader.number_to(PART_NUMBERS)?;
    if count == 0 {
        return Ok(Part::EMPTY);
    }
    let limit = reader.number_to(PART_NUMBERS - 1)? + 1;
    if count > limit {
        return Err(Damaged("a set has more wallets than can be"));
    }
    if let Form::Bits { bytes } = Form::of(count, limit) {
        let part = Part::from_bits(PartBits::from_bytes(reader.take(bytes)?));
        let fits = part.len() == count && part.contains((limit - 1) as u16);
        return if fits { Ok(part) } else { Err(Damaged("a set is not what its length says")) };
    }
    read_ascending(reader, count, limit, scratch)?;
    Ok(Part::from_sorted(scratch))
}

/// Appends a set of which another, which ascends, has all numbers: how many there are, and their places in it. That
/// takes far fewer bits than the numbers themselves.
pub fn write_within(out: &mut Vec<u8>, part: &Part, whole: &[u16]) {
    write_number(out, part.len() as u64);
    let mut places = Vec::with_capacity(part.len());
    let mut rest = (0..=u16::MAX).zip(whole);
    part.for_each(|number| {
        places.extend(rest.find(|(_, other)| **other == number).map(|(place, _)| place));
    });
    write_ascending(out, &places, whole.len());
}

/// Reads what [`write_within`] wrote.
pub fn read_within(reader: &mut Reader<'_>, whole: &[u16], scratch: &mut Vec<u16>) -> Result<Part, Damaged> {
    let count = reader.number_to(whole.len())?;
    read_ascending(reader, count, whole.len(), scratch)?;
    for number in scratch.iter_mut() {
        *number = whole[usize::from(*number)];
    }
    Ok(Part::from_sorted(scratch))
}

/// How some numbers below a limit are stored.
#[derive(Clone, Copy)]
enum Form {
    /// Nothing needs to be: there are none, or it is all of them.
    Nothing,
    /// One bit for each number below the limit.
    Bits { bytes: usize },
    /// The low bits of each, packed; then for each its high bits, as so many zeros after the one before, and a one.
    Split { low_bits: u32, low_bytes: usize, high_bytes: usize },
}

impl Form {
    /// The form of so many numbers below a limit.
    fn of(count: usize, limit: usize) -> Self {
        if count == 0 || count >= limit {
            return Self::Nothing;
        }
        let low_bits = (limit / count).ilog2();
        let low_bytes = (count * low_bits as usize).div_ceil(8);
        let high_bytes = (count + ((limit - 1) >> low_bits)).div_ceil(8);
        let bytes = limit.div_ceil(8);
        if (low_bytes + high_bytes) * 4 < bytes * 3 {
            Self::Split { low_bits, low_bytes, high_bytes }
        } else {
            Self::Bits { bytes }
        }
    }
}

/// Appends ascending numbers below a limit.
fn write_ascending(out: &mut Vec<u8>, numbers: &[u16], limit: usize) {
    match Form::of(numbers.len(), limit) {
        Form::Nothing => {}
        Form::Bits { bytes } => {
            let start = out.len();
            out.resize(start + bytes, 0);
            for number in numbers {
                set(&mut out[start..], usize::from(*number));
            }
        }
        Form::Split { low_bits, high_bytes, .. } => {
            write_low(out, numbers, low_bits);
            let start = out.len();
            out.resize(start + high_bytes, 0);
            for (index, number) in numbers.iter().enumerate() {
                set(&mut out[start..], (usize::from(*number) >> low_bits) + index);
            }
        }
    }
}

fn set(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] |= 1 << (bit % 8);
}

fn write_low(out: &mut Vec<u8>, numbers: &[u16], low_bits: u32) {
    let (mut pending, mut width) = (0_u32, 0);
    for number in numbers {
        pending |= (u32::from(*number) & low_mask(low_bits)) << width;
        width += low_bits;
        while width >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            width -= 8;
        }
    }
    if width > 0 {
        out.push(pending as u8);
    }
}

fn low_mask(low_bits: u32) -> u32 {
    (1 << low_bits) - 1
}

/// Reads so many ascending numbers below a limit, in place of what was in the list.
fn read_ascending(
    reader: &mut Reader<'_>,
    count: usize,
    limit: usize,
    numbers: &mut Vec<u16>,
) -> Result<(), Damaged> {
    numbers.clear();
    let ones = match Form::of(count, limit) {
        Form::Nothing => {
            numbers.extend((0..=u16::MAX).take(count));
            count
        }
        Form::Bits { bytes } => {
            numbers.resize(count, 0);
            for_ones(reader.take(bytes)?, numbers, |number, bit, _| *number = bit as u16)
        }
        Form::Split { low_bits, low_bytes, high_bytes } => {
            numbers.resize(count, 0);
            read_low(reader.take(low_bytes)?, low_bits, numbers);
            let high = |number: &mut u16, bit, index| *number |= ((bit - index) << low_bits) as u16;
            for_ones(reader.take(high_bytes)?, numbers, high)
        }
    };
    // All pairs are looked at, also after one that does not ascend: without a way out it is several times faster.
    let pairs = numbers.iter().zip(numbers.get(1..).unwrap_or_default());
    let ascend = pairs.map(|(a, b)| u32::from(a >= b)).sum::<u32>() == 0;
    if ones == count && ascend && numbers.last().is_none_or(|last| usize::from(*last) < limit) {
        Ok(())
    } else {
        Err(Damaged("a set is not what its length says"))
    }
}

/// Reads the packed low bits of numbers.
fn read_low(low: &[u8], low_bits: u32, numbers: &mut [u16]) {
    // With the width known, eight numbers are taken out of their bytes without a loop. Numbers with wider low bits are few.
    match low_bits {
        1 => read_eights::<1>(low, numbers),
        2 => read_eights::<2>(low, numbers),
        3 => read_eights::<3>(low, numbers),
        4 => read_eights::<4>(low, numbers),
        5 => read_eights::<5>(low, numbers),
        6 => read_eights::<6>(low, numbers),
        7 => read_eights::<7>(low, numbers),
        _ => read_one_by_one(low, low_bits, numbers),
    }
}

fn read_eights<const BITS: usize>(low: &[u8], numbers: &mut [u16]) {
    let (eights, rest) = numbers.as_chunks_mut::<8>();
    let (groups, rest_low) = low.split_at(eights.len() * BITS);
    for (eight, bytes) in eights.iter_mut().zip(groups.as_chunks::<BITS>().0) {
        let mut word = [0; 8];
        word[..BITS].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        *eight = std::array::from_fn(|index| (word >> (index * BITS)) as u16 & ((1 << BITS) - 1));
    }
    read_one_by_one(rest_low, BITS as u32, rest);
}

fn read_one_by_one(low: &[u8], low_bits: u32, numbers: &mut [u16]) {
    for (index, number) in numbers.iter_mut().enumerate() {
        let bit = index * low_bits as usize;
        let bytes = low.iter().skip(bit / 8).take(4).rev();
        let word = bytes.fold(0, |word, byte| word << 8 | u32::from(*byte));
        *number = (word >> (bit % 8) & low_mask(low_bits)) as u16;
    }
}

/// Tells each number the index of its one among the bits of bytes, and its own; returns how many ones there are.
fn for_ones(bytes: &[u8], numbers: &mut [u16], take: impl Fn(&mut u16, usize, usize)) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut index = 0;
    for (begin, word) in (0..).step_by(64).zip(words.iter().chain([&last])) {
        let mut ones = u64::from_le_bytes(*word);
        let Some(numbers) = numbers.get_mut(index..index + ones.count_ones() as usize) else {
            return usize::MAX;
        };
        for number in numbers {
            take(number, begin + ones.trailing_zeros() as usize, index);
            index += 1;
            ones &= ones.wrapping_sub(1);
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(numbers: &[u16], limit: usize) -> Vec<u8> {
        let mut out = Vec::new();
        write_ascending(&mut out, numbers, limit);
        out
    }

    fn back(bytes: &[u8], count: usize, limit: usize) -> Result<Vec<u16>, Damaged> {
        let (mut reader, mut numbers) = (Reader::new(bytes), vec![9]);
        read_ascending(&mut reader, count, limit, &mut numbers)?;
        reader.end()?;
        Ok(numbers)
    }

    /// Numbers with about so many between two.
    fn numbers(gap: usize, limit: usize) -> Vec<u16> {
        let all = (0..limit).filter(|number| number.wrapping_mul(0x9e37_79b9) >> 7 & 0xffff < 65_536 / gap);
        all.map(|number| number as u16).collect()
    }

    #[test]
    fn numbers_come_back() {
        for limit in [1, 2, 63, 64, 65, 1_000, 4_099, 65_535, 65_536] {
            for gap in [1, 2, 3, 4, 7, 13, 50, 999, 30_000] {
                let numbers = numbers(gap, limit);
                let bytes = bytes(&numbers, limit);
                assert_eq!(back(&bytes, numbers.len(), limit), Ok(numbers), "{gap} {limit}");
            }
        }
        assert_eq!(back(&bytes(&[65_535], 65_536), 1, 65_536), Ok(vec![65_535]));
    }

    #[test]
    fn few_bytes_for_each() {
        let numbers = numbers(13, 65_536);
        let bits = bytes(&numbers, 65_536).len() * 8;
        assert!(bits < numbers.len() * 6, "{bits} bits for {}", numbers.len());
    }

    #[test]
    fn damage_is_an_error() {
        let numbers = numbers(13, 65_536);
        let good = bytes(&numbers, 65_536);
        assert!(back(&good[1..], numbers.len(), 65_536).is_err());
        assert!(back(&good, numbers.len() - 1, 65_536).is_err());
        assert!(back(&vec![0xff; good.len()], numbers.len(), 65_536).is_err());
        assert!(back(&vec![0; good.len()], numbers.len(), 65_536).is_err());
    }
}
