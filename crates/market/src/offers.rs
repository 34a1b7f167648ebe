//! What offers cost those who make them.

use alloy_primitives::U256;
use bourse_wire::{Amount, BPS_WHOLE, OrderFacts, Timestamp};

use crate::royalty::units_at;
use crate::{Terms, share};

/// What so many units of an offer take of its maker's money: their price, and on our own marketplaces the royalty on top.
/// The contract rounds that once, on the price of all units; the largest number stands for all that are too large.
pub fn offer_cost(offer: &OrderFacts, units: Amount) -> U256 {
    let price = offer.price_amount.value().saturating_mul(units.value());
    price.saturating_add(share(price, royalty_on_top(offer)))
}

/// The most units of an offer whose [`offer_cost`] is within these funds; `None` for an offer that costs nothing.
pub fn units_paid(funds: U256, offer: &OrderFacts) -> Option<Amount> {
    units_at(funds, offer.price_amount, royalty_on_top(offer))
}

/// Offers that stand, of which a maker's money is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOffers {
    /// How many they are.
    pub count: usize,
    /// What all that remains of them takes.
    pub cost: U256,
}

impl OpenOffers {
    /// Those of some offers that stand, or will when their time comes. An offer that nothing covers any more is none of
    /// them: whoever took the permission back did not ask for the offer to come alive with the next one.
    pub fn among(offers: &[OrderFacts], now: Timestamp) -> Self {
        let open = offers.iter().filter(|offer| {
            let terms = Terms::from(*offer);
            !terms.is_over(now) && terms.available(None) != Amount::ZERO
        });
        open.fold(Self::default(), |sum, offer| Self {
            count: sum.count + 1,
            cost: sum.cost.saturating_add(most(offer)),
        })
    }
}

/// The most that what remains of an offer can take. The unit price of a signed offer was rounded down, so that all its
/// units may take up to one base unit less than one more each.
fn most(offer: &OrderFacts) -> U256 {
    let remaining = offer.quantity_remaining;
    let cost = offer_cost(offer, remaining);
    if offer.marketplace.is_own() {
        return cost;
    }
    cost.saturating_add(remaining.value().saturating_sub(U256::from(1)))
}

/// Basis points of its price that the maker of an offer pays beside it.
fn royalty_on_top(offer: &OrderFacts) -> u64 {
    let bps = if offer.marketplace.is_own() { u64::try_from(offer.fee_bps).unwrap_or(0) } else { 0 };
    bps.min(BPS_WHOLE)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::aliases::U320;
    use bourse_wire::{Marketplace, OrderStatus};
    use proptest::prelude::*;

    use super::*;

    fn offer(price: U256, fee_bps: i64, marketplace: Marketplace) -> OrderFacts {
        OrderFacts {
            marketplace,
            price_amount: price.into(),
            fee_bps,
            quantity_initial: 10.into(),
            quantity_remaining: 10.into(),
            ..OrderFacts::sample("1")
        }
    }

    #[test]
    fn funds_pay_for_whole_units_with_the_royalty_on_top() {
        let own = offer(U256::from(1000), 500, Marketplace::OwnV2);
        for (funds, expected) in [(0, 0), (1049, 0), (1050, 1), (2099, 1), (2100, 2)] {
            assert_eq!(units_paid(U256::from(funds), &own), Some(Amount::from(expected)), "{funds}");
        }
        let other = offer(U256::from(1000), 500, Marketplace::Opensea);
        assert_eq!(units_paid(U256::from(2000), &other), Some(Amount::from(2)));
        assert_eq!(units_paid(U256::from(5), &offer(U256::ZERO, 0, Marketplace::OwnV1)), None);
        assert_eq!(units_paid(U256::MAX, &offer(U256::from(1), 0, Marketplace::OwnV1)), Some(Amount::MAX));
    }

    /// 5 % of 10 is nothing, and 5 % of three times 10 is 1: a unit at a time the royalty would be 0.
    #[test]
    fn the_royalty_of_several_units_is_rounded_once() {
        let cheap = offer(U256::from(10), 500, Marketplace::OwnV2);
        assert_eq!(offer_cost(&cheap, 1.into()), U256::from(10));
        assert_eq!(offer_cost(&cheap, 3.into()), U256::from(31));
        assert_eq!(units_paid(U256::from(30), &cheap), Some(Amount::from(2)));
        assert_eq!(units_paid(U256::from(31), &cheap), Some(Amount::from(3)));
    }

    #[test]
    fn offers_that_stand_are_summed_up() {
        let now = Timestamp::from_unix_seconds(1000);
        let own = |order_id: &str| OrderFacts {
            order_id: order_id.to_owned(),
            ..offer(U256::from(10), 500, Marketplace::OwnV2)
        };
        let filled_in_part = OrderFacts { quantity_remaining: 3.into(), ..own("2") };
        let sleeping = OrderFacts { valid_from: Timestamp::from_unix_seconds(2000), ..own("3") };
        let signed = offer(U256::from(10), 500, Marketplace::Opensea);
        let offers = [own("1"), filled_in_part, sleeping, signed];
        assert_eq!(
            OpenOffers::among(&offers, now),
            OpenOffers { count: 4, cost: U256::from(105 + 31 + 105 + 109) }
        );
        let over = [
            OrderFacts { status: OrderStatus::Cancelled, ..own("1") },
            OrderFacts { quantity_remaining: Amount::ZERO, ..own("2") },
            OrderFacts { valid_until: now, ..own("3") },
            OrderFacts { backing: Some(Amount::ZERO), ..own("4") },
        ];
        assert_eq!(OpenOffers::among(&over, now), OpenOffers::default());
    }

    proptest! {
        /// As the contract has it: the price of all units, and a share of that, in numbers that cannot overflow.
        #[test]
        fn costs_are_what_the_contract_takes(price: u128, units: u64, bps in 0_u64..=10_000) {
            let order = offer(U256::from(price), bps.cast_signed(), Marketplace::OwnV2);
            let all = U320::from(price) * U320::from(units);
            let cost = all + all * U320::from(bps) / U320::from(10_000);
            prop_assert_eq!(U320::from(offer_cost(&order, units.into())), cost);
        }

        #[test]
        fn as_many_units_as_the_contract_would_let_pay(
            price in 1_u64..=u64::MAX, funds: u128, bps in 0_u64..=10_000,
        ) {
            let order = offer(U256::from(price), bps.cast_signed(), Marketplace::OwnV2);
            let funds = U256::from(funds);
            let units = units_paid(funds, &order).unwrap();
            prop_assert!(offer_cost(&order, units) <= funds);
            prop_assert!(offer_cost(&order, (units.value() + U256::from(1)).into()) > funds);
        }
    }
}
