//! Reading and writing stored bytes. What was stored may have been damaged: reading never panics.
#![expect(clippy::cast_possible_truncation, reason = "bits are cut off on purpose")]

/// Why stored bytes are not what they should be.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Damaged(pub &'static str);

const ENDED: Damaged = Damaged("they end too early");

/// Reads bytes from their beginning.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// All of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next so many bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(ENDED)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number in groups of seven bits, the lowest first.
    pub fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(ENDED)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged("a number is too long"))
    }

    /// A number up to a limit.
    pub fn number_to(&mut self, most: usize) -> Result<usize, Damaged> {
        let number = usize::try_from(self.number()?).ok().filter(|number| *number <= most);
        number.ok_or(Damaged("a number is too large"))
    }

    /// An error when there is something left.
    pub fn end(&self) -> Result<(), Damaged> {
        if self.0.is_empty() { Ok(()) } else { Err(Damaged("there is something behind the end")) }
    }
}

/// Writes a number as [`Reader::number`] reads it.
pub fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, number);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.number(), Ok(number));
            assert_eq!(reader.end(), Ok(()));
            assert_eq!(Reader::new(&bytes[1..]).number().is_ok(), bytes.len() > 1);
        }
        assert!(Reader::new(&[0x80; 11]).number().is_err());
        assert!(Reader::new(&[5]).number_to(4).is_err());
    }
}
