//! Chance that is the same every time.

use bourse_random::Random;

/// Numbers that follow from a seed.
#[derive(Clone)]
pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d))
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Whether something happens that happens so often in a thousand.
    pub fn happens(&mut self, in_thousand: u64) -> bool {
        self.below(1000) < in_thousand
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.0.pick(from)
    }
}
