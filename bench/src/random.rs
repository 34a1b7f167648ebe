//! Numbers that look random and are the same in every run, on every machine and with every version of every
//! library, so that figures of different days are about the same requests.

/// The `SplitMix64` generator of Steele, Lea and Flood.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator whose numbers depend on `seed` alone.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound - 1`. The bias of the remainder is far below what a benchmark can notice.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// The place of one of `length` things.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        let bound = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(bound)).unwrap_or(0)
    }

    /// The place of one of the weights; a weight of 2 is drawn twice as often as one of 1.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut drawn = self.below(weights.iter().sum());
        let chosen = weights.iter().position(|weight| match drawn.checked_sub(*weight) {
            Some(rest) => {
                drawn = rest;
                false
            }
            None => true,
        });
        chosen.unwrap_or(0)
    }

    /// The numbers from 0 to `length - 1`, each once.
    pub(crate) fn shuffled(&mut self, length: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..length).collect();
        for last in (1..length).rev() {
            numbers.swap(last, self.index(last + 1));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn gives_the_published_sequence() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn weights_are_shares() {
        let mut random = Random::new(1);
        let mut drawn = [0_u32; 3];
        for _ in 0..10_000 {
            drawn[random.weighted(&[70, 0, 30])] += 1;
        }
        assert!(drawn[0].abs_diff(7_000) < 200 && drawn[1] == 0, "{drawn:?}");
    }

    #[test]
    fn a_shuffle_keeps_every_number() {
        let mut numbers = Random::new(1).shuffled(1_000);
        assert_ne!(numbers, (0..1_000).collect::<Vec<_>>());
        numbers.sort_unstable();
        assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
    }
}
