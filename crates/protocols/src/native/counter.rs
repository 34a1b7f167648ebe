//! Numbers of makers that only ever rise, and that orders are signed with.

use alloy_primitives::U256;
use bourse_market::Standing;

/// What the present number of a maker says of an order with a number of its own: it is over when the maker has gone on, and
/// comes from a later state of the chain when its number is higher. `None` while both are the same.
pub(crate) fn by_counter(present: U256, signed: U256) -> Option<Standing> {
    match signed.cmp(&present) {
        std::cmp::Ordering::Less => Some(Standing::Cancelled),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(Standing::NotYet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_of_a_higher_number_is_not_over() {
        let standing = |present: u64, signed: u64| by_counter(U256::from(present), U256::from(signed));
        assert_eq!(standing(3, 2), Some(Standing::Cancelled));
        assert_eq!(standing(3, 3), None);
        assert_eq!(standing(3, 4), Some(Standing::NotYet));
    }
}
