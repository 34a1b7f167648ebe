//! Sums of amounts by number: how much there is of each token, and how much each account holds.

use bourse_wire::Amount;
use hashbrown::HashMap;

use crate::kept::kept;

/// Stands for a sum that is kept beside the others.
const LARGE: u64 = u64::MAX;

/// A sum for each number, exact whatever the amounts: hardly any needs more than 64 bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    small: Vec<u64>,
    large: HashMap<u32, Wide>,
}

/// A sum that may be of more than 256 bits, since whoever states balances may state too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Wide {
    low: Amount,
    /// How often 2^256 is in it beside that.
    high: u64,
}

impl Sums {
    /// The sum of a number; the largest amount where it is more.
    pub(crate) fn get(&self, number: u32) -> Amount {
        let Wide { low, high } = self.wide(number);
        if high > 0 { Amount::MAX } else { low }
    }

    /// The numbers of which there is something.
    pub(crate) fn nonzero(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.small).filter(|(_, small)| **small != 0).map(|(number, _)| number)
    }

    /// Puts an amount of a sum in place of another.
    pub(crate) fn replace(&mut self, number: u32, before: Amount, after: Amount) {
        if before == after {
            return;
        }
        let index = number as usize;
        if index >= self.small.len() {
            self.small.resize(index + 1, 0);
        }
        let sum = self.wide(number).without(before).with(after);
        let small = u64::try_from(sum.low.value()).ok().filter(|small| sum.high == 0 && *small != LARGE);
        if let Some(small) = small {
            if self.small[index] == LARGE {
                self.large.remove(&number);
            }
            self.small[index] = small;
        } else {
            self.small[index] = LARGE;
            self.large.insert(number, sum);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.small.capacity() * size_of::<u64>() + self.large.capacity() * size_of::<(u32, Wide)>()
    }

    fn wide(&self, number: u32) -> Wide {
        match self.small.get(number as usize) {
            None => Wide::default(),
            Some(&LARGE) => self.large.get(&number).copied().unwrap_or_default(),
            Some(small) => Wide { low: Amount::from(*small), high: 0 },
        }
    }
}

impl Wide {
    fn with(self, amount: Amount) -> Self {
        let (low, carried) = self.low.value().overflowing_add(amount.value());
        Self { low: low.into(), high: self.high + u64::from(carried) }
    }

    /// Without an amount that is in it.
    fn without(self, amount: Amount) -> Self {
        let (low, borrowed) = self.low.value().overflowing_sub(amount.value());
        Self { low: low.into(), high: self.high.saturating_sub(u64::from(borrowed)) }
    }
}

kept!(Wide { low, high });
kept!(Sums { small, large });

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use alloy_primitives::U256;
    use proptest::prelude::*;

    use super::*;

    fn amount() -> impl Strategy<Value = Amount> {
        prop_oneof![
            Just(Amount::ZERO),
            (0..4_u64).prop_map(Amount::from),
            (u64::MAX - 3..=u64::MAX).prop_map(Amount::from),
            (0..3_u64).prop_map(|less| Amount::from(Amount::MAX.value() - U256::from(less))),
        ]
    }

    proptest! {
        /// Against adding everything up, while amounts come, change and go.
        #[test]
        fn a_sum_is_what_adding_up_gives(
            edits in prop::collection::vec((0..4_u32, 0..5_u8, amount()), 1..200),
        ) {
            let (mut sums, mut all) = (Sums::default(), BTreeMap::<(u32, u8), Amount>::new());
            for (number, of, after) in edits {
                let before = all.insert((number, of), after).unwrap_or_default();
                sums.replace(number, before, after);
                let parts = all.range((number, 0)..=(number, u8::MAX)).map(|(_, part)| part.value());
                let naive = parts.fold(U256::ZERO, U256::saturating_add);
                prop_assert_eq!(sums.get(number), Amount::from(naive));
                prop_assert_eq!(sums.large.len(), sums.small.iter().filter(|small| **small == LARGE).count());
            }
        }
    }
}
