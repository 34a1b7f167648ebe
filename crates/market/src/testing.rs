//! Values that several tests draw.

use alloy_primitives::U256;
use bourse_wire::Amount;
use proptest::prelude::*;

/// Amounts of every length, half of them round.
pub(crate) fn amounts() -> impl Strategy<Value = Amount> {
    (any::<[u64; 4]>(), 0_usize..=256, any::<bool>()).prop_map(|(limbs, shift, round)| {
        let number = U256::from_limbs(limbs) >> shift;
        let rest = if round { number % U256::from(1_000_000_000_u64) } else { U256::ZERO };
        Amount::from(number - rest)
    })
}
