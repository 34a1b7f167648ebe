//! Numbers that look random and are the same in every run, on every machine and with every version of every library:
//! for the demo's data, for the benchmark's, and for tests that can be repeated.

/// The `SplitMix64` generator of Steele, Lea and Flood.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator whose numbers depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    #[expect(clippy::should_implement_trait, reason = "there is always a next one")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound - 1`. The bias of the remainder is far below what anybody here can notice.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// The place of one of `length` things.
    pub fn index(&mut self, length: usize) -> usize {
        let bound = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(bound)).unwrap_or(0)
    }

    /// Whether something happens that happens once in so many times.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// One of some things, of which there must be one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// The place of one of the weights; a weight of 2 is drawn twice as often as one of 1.
    pub fn weighted(&mut self, weights: &[u64]) -> usize {
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

    /// The numbers from 0 to `length - 1`, each once, in any order.
    pub fn shuffled(&mut self, length: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..length).collect();
        self.shuffle(&mut numbers);
        numbers
    }

    /// Brings things into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
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
