//! Draws by a power law: the second is half as frequent as the first, the third a third of it.

use bourse_random::Random;

/// The weight of the first.
const FIRST_WEIGHT: u64 = 1 << 32;

/// So many things, of which few are drawn most of the time.
#[derive(Debug)]
pub(crate) struct Skew {
    /// The sum of the weights up to each.
    sums: Vec<u64>,
}

impl Skew {
    /// Of so many things.
    pub(crate) fn new(count: usize) -> Self {
        let mut sum = 0;
        let weight = |rank: u64| {
            sum += FIRST_WEIGHT / rank;
            sum
        };
        Self { sums: (1..).take(count).map(weight).collect() }
    }

    /// The place of one of them, the most frequent first.
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let drawn = random.below(self.sums.last().copied().unwrap_or(1));
        self.sums.partition_point(|sum| *sum <= drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::Skew;
    use bourse_random::Random;

    #[test]
    fn the_second_is_half_as_frequent_as_the_first() {
        let (skew, mut random, mut drawn) = (Skew::new(1_000), Random::new(1), [0_u32; 1_000]);
        for _ in 0..100_000 {
            drawn[skew.draw(&mut random)] += 1;
        }
        // One in 7.485, which is the sum of 1, a half, a third and so on.
        assert!(drawn[0].abs_diff(13_359) < 500, "{}", drawn[0]);
        assert!(drawn[1].abs_diff(6_679) < 400, "{}", drawn[1]);
    }
}
