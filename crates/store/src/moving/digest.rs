//! What tells whether two tables have the same rows.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::args::Arg;

/// The rows of a table, in any order: how many, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    rows: u64,
    sum: [u64; 4],
}

impl Digest {
    /// How many rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes a row. What is missing, empty, a number or a text are all told apart, and so is where a value ends.
    pub(super) fn add(&mut self, row: &[Arg]) {
        let mut hash = Sha256::new();
        for value in row {
            let (kind, bytes): (u8, &[u8]) = match value {
                Arg::Int(None) | Arg::Text(None) => (0, &[]),
                Arg::Int(Some(number)) => (1, &number.to_be_bytes()),
                Arg::Text(Some(text)) => (2, text.as_bytes()),
                Arg::Bool(value) => (3, &[u8::from(*value)]),
                Arg::Bytes(bytes) => (4, bytes),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        self.rows += 1;
        let hash = hash.finalize();
        let (parts, _) = hash.as_slice().as_chunks::<8>();
        for (sum, part) in self.sum.iter_mut().zip(parts) {
            *sum = sum.wrapping_add(u64::from_be_bytes(*part));
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, ..] = self.sum;
        write!(f, "{} rows with digest {first:016x}", self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::args;

    fn of(rows: &[Vec<Arg>]) -> Digest {
        let mut digest = Digest::default();
        for row in rows {
            digest.add(row);
        }
        digest
    }

    #[test]
    fn rows_in_any_order_are_the_same() {
        let (one, other) = (args![1_i64, "a"], args![2_i64, "b"]);
        assert_eq!(of(&[one.clone(), other.clone()]), of(&[other.clone(), one.clone()]));
        assert_ne!(of(&[one.clone(), one.clone()]), of(&[one.clone(), other]));
        assert_ne!(of(&[one.clone(), one.clone()]), of(&[one]));
    }

    #[test]
    fn what_looks_alike_is_not() {
        let rows = [
            args!["ab", "c"],
            args!["a", "bc"],
            args!["", "abc"],
            vec![Arg::Text(None), Arg::from("abc")],
            args![0_i64, "abc"],
            args![false, "abc"],
            args![Vec::from("ab"), "c"],
        ];
        for (index, one) in rows.iter().enumerate() {
            for other in &rows[index + 1..] {
                assert_ne!(of(std::slice::from_ref(one)), of(std::slice::from_ref(other)));
            }
        }
    }
}
