//! What offers cost those who make them.

use alloy_primitives::U256;
use bourse_wire::{Amount, BPS_WHOLE, Marketplace, OrderFacts};

use crate::royalty::units_at;
use crate::share;

/// What so many units of an offer take of its maker's money: their price, and on our own marketplaces the royalty on top.
/// The contract rounds that once, on the price of all units; the largest number stands for all that are too large.
pub fn offer_cost(offer: &OrderFacts, units: Amount) -> U256 {
    cost_of(offer.price_amount, units, royalty_on_top(offer.marketplace, offer.fee_bps))
}

/// The most units of an offer whose [`offer_cost`] is within these funds; `None` for an offer that costs nothing.
pub fn units_paid(funds: U256, offer: &OrderFacts) -> Option<Amount> {
    units_at(funds, offer.price_amount, royalty_on_top(offer.marketplace, offer.fee_bps))
}

/// Offers that stand, of which a maker's money is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOffers {
    /// How many they are.
    pub count: usize,
    /// What all that remains of them takes.
    pub cost: U256,
}

/// An offer that stands, by what its maker's money is expected for.
#[derive(Clone, Copy, Debug)]
pub struct OpenOffer {
    /// Whose contract takes the money.
    pub marketplace: Marketplace,
    /// Price of one unit.
    pub price_amount: Amount,
    /// Units that nobody has filled yet.
    pub quantity_remaining: Amount,
    /// Fees, in basis points of the price.
    pub fee_bps: i64,
}

impl OpenOffers {
    /// Takes in one more.
    pub fn add(&mut self, offer: OpenOffer) {
        self.count += 1;
        self.cost = self.cost.saturating_add(offer.cost());
    }
}

impl OpenOffer {
    /// The most that what remains of it can take. The unit price of a signed offer was rounded down, so that all its units
    /// may take up to one base unit less than one more each.
    fn cost(self) -> U256 {
        let Self { marketplace, price_amount, quantity_remaining, fee_bps } = self;
        let royalty = royalty_on_top(marketplace, fee_bps);
        let cost = cost_of(price_amount, quantity_remaining, royalty);
        if marketplace.is_own() {
            return cost;
        }
        cost.saturating_add(quantity_remaining.value().saturating_sub(U256::from(1)))
    }
}

fn cost_of(price: Amount, units: Amount, royalty: u64) -> U256 {
    let price = price.value().saturating_mul(units.value());
    price.saturating_add(share(price, royalty))
}

/// Basis points of its price that the maker of an offer pays beside it.
fn royalty_on_top(marketplace: Marketplace, fee_bps: i64) -> u64 {
    let bps = if marketplace.is_own() { u64::try_from(fee_bps).unwrap_or(0) } else { 0 };
    bps.min(BPS_WHOLE)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::aliases::U320;
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
    fn what_remains_of_offers_is_summed_up() {
        let own = OpenOffer {
            marketplace: Marketplace::OwnV2,
            price_amount: 10.into(),
            quantity_remaining: 10.into(),
            fee_bps: 500,
        };
        let filled_in_part = OpenOffer { quantity_remaining: 3.into(), ..own };
        let signed = OpenOffer { marketplace: Marketplace::Opensea, ..own };
        let mut open = OpenOffers::default();
        for offer in [own, filled_in_part, own, signed] {
            open.add(offer);
        }
        assert_eq!(open, OpenOffers { count: 4, cost: U256::from(105 + 31 + 105 + 109) });
        open.add(OpenOffer { price_amount: Amount::MAX, ..own });
        assert_eq!(open, OpenOffers { count: 5, cost: U256::MAX });
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
