//! A seeded generator: the demo looks random, yet every run of it writes the same lines.

use std::fmt::Write as _;

use bourse_random::Random;

/// Keyed by a topic and a number so that one token's data never depends on how many
/// numbers were drawn for the tokens before it.
pub(super) struct Rng(Random);

impl Rng {
    /// A generator for the `number`-th thing of a `topic`.
    pub(super) fn keyed(topic: &str, number: u64) -> Self {
        let hash = topic.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut rng = Self(Random::new(hash ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        // Neighbouring keys differ in few bits; one discarded step spreads them.
        rng.next();
        rng
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number in `0..bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// A number in `low..=high`.
    pub(super) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `permille` of a thousand draws.
    pub(super) fn chance(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    /// An index into something of `length` elements.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of `choices`, which must not be empty.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// One of `choices`, each as often as its weight says.
    pub(super) fn weighted<'a, T>(&mut self, choices: &'a [(T, u64)]) -> &'a T {
        let total = choices.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(total);
        for (choice, weight) in choices {
            if left < *weight {
                return choice;
            }
            left -= weight;
        }
        &choices[0].0
    }

    /// Random bytes.
    pub(super) fn bytes<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        std::array::from_fn(|_| self.next().to_le_bytes()[0])
    }

    /// `bytes` random bytes as lower-case hex with the usual prefix.
    pub(super) fn hex(&mut self, bytes: usize) -> String {
        let mut text = String::from("0x");
        while text.len() < 2 + bytes * 2 {
            // Writing to a string cannot fail.
            let _ = write!(text, "{:016x}", self.next());
        }
        text.truncate(2 + bytes * 2);
        text
    }
}
