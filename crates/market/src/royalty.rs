//! What of the price of an order goes to the makers of its token, as its marketplace charges it.

use alloy_primitives::U256;
use alloy_primitives::aliases::U320;
use bourse_wire::{Amount, BPS_WHOLE, FeeEntry};

use crate::share;

/// The royalty that filling an order on one of our own marketplaces would cost by now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoyaltyDue {
    /// What holds for its token; none when nobody gets anything.
    pub rate: Option<FeeEntry>,
    /// What the order is held to, where its contract keeps the royalty of when it was made. Contracts that charge whatever
    /// holds when an order is filled have none.
    pub cap: Option<RoyaltyCap>,
}

/// The most that what remains of an order may cost in royalties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoyaltyCap {
    /// How much, in base units of the order's currency.
    pub amount: U256,
    /// For how many units, together.
    pub units: U256,
}

impl RoyaltyDue {
    /// The shares of the price that go to others when all that remains of an order is filled.
    pub fn fees(&self, unit_price: Amount) -> Vec<FeeEntry> {
        let Some(rate) = &self.rate else { return Vec::new() };
        let Ok(bps) = i64::try_from(self.bps(unit_price)) else { return Vec::new() };
        let due = (bps > 0).then(|| FeeEntry { bps, ..rate.clone() });
        due.into_iter().collect()
    }

    /// What holds for the token, where the order is held to less.
    pub fn above_cap(&self, unit_price: Amount) -> Option<u64> {
        Some(self.rate_bps()).filter(|rate| self.bps(unit_price) < *rate)
    }

    /// The most units of an offer that funds pay for at once, with the royalty on top; `None` for one that costs nothing.
    /// The contract charges the rate up to the cap, so that whichever of the two lets more units be paid decides.
    pub fn units_paid(&self, funds: U256, unit_price: Amount) -> Option<Amount> {
        let by_rate = units_at(funds, unit_price, self.rate_bps())?;
        let left = self.cap.and_then(|cap| funds.checked_sub(cap.amount));
        let by_cap = left.and_then(|left| left.checked_div(unit_price.value())).unwrap_or_default();
        Some(by_rate.max(by_cap.into()))
    }

    fn rate_bps(&self) -> u64 {
        let bps = self.rate.as_ref().map_or(0, |rate| rate.bps);
        u64::try_from(bps).unwrap_or(0).min(BPS_WHOLE)
    }

    /// The rate, or the share that the cap is of the price where that is less. It is rounded up: nobody is promised more
    /// than they get.
    fn bps(&self, unit_price: Amount) -> u64 {
        let rate = self.rate_bps();
        let Some(cap) = self.cap else { return rate };
        let price = unit_price.value().saturating_mul(cap.units);
        if cap.amount >= share(price, rate) {
            return rate;
        }
        let capped = (U320::from(cap.amount) * U320::from(BPS_WHOLE)).div_ceil(U320::from(price));
        u64::try_from(capped).unwrap_or(rate).min(rate)
    }
}

/// The most units whose price, with so many basis points on top, is within funds; `None` for what costs nothing.
pub(crate) fn units_at(funds: U256, unit_price: Amount, bps: u64) -> Option<Amount> {
    let whole = U320::from(BPS_WHOLE);
    let unit = U320::from(unit_price.value()) * (whole + U320::from(bps));
    // A cost is within funds as long as its fraction, before it is rounded down, is below one base unit more.
    let below = (U320::from(funds) + U320::from(1)) * whole;
    let units = (below - U320::from(1)).checked_div(unit)?;
    Some(Amount::from(U256::from(units)))
}

#[cfg(test)]
mod tests {
    use bourse_wire::Address;
    use proptest::prelude::*;

    use super::*;

    fn due(bps: i64, cap: Option<(u64, u64)>) -> RoyaltyDue {
        let rate =
            FeeEntry { kind: "royalty".to_owned(), recipient_address: Address::from_bytes([1; 20]), bps };
        let cap =
            cap.map(|(amount, units)| RoyaltyCap { amount: U256::from(amount), units: U256::from(units) });
        RoyaltyDue { rate: Some(rate), cap }
    }

    fn shown(due: &RoyaltyDue, unit_price: u64) -> Vec<i64> {
        due.fees(unit_price.into()).iter().map(|fee| fee.bps).collect()
    }

    #[test]
    fn the_rate_counts_where_nothing_holds_it_down() {
        assert_eq!(shown(&due(1000, None), 100), [1000]);
        assert_eq!(shown(&due(0, None), 100), Vec::<i64>::new());
        assert_eq!(shown(&RoyaltyDue::default(), 100), Vec::<i64>::new());
    }

    /// Ten units at 100, of which 5 % were the royalty.
    #[test]
    fn a_cap_counts_where_it_is_less() {
        assert_eq!(shown(&due(500, Some((50, 10))), 100), [500]);
        assert_eq!(shown(&due(1000, Some((50, 10))), 100), [500], "it was raised");
        assert_eq!(due(1000, Some((50, 10))).above_cap(100.into()), Some(1000));
        assert_eq!(due(500, Some((50, 10))).above_cap(100.into()), None);
        assert_eq!(shown(&due(300, Some((50, 10))), 100), [300], "it was lowered");
        assert_eq!(shown(&due(1000, Some((0, 10))), 100), Vec::<i64>::new(), "there was none");
        assert_eq!(shown(&due(500, Some((1, 3))), 10), [500], "what was rounded down is no less");
    }

    /// What was raised is charged at the new rate, until what the order may cost is used up.
    #[test]
    fn money_pays_for_what_the_contract_would_let_be_filled() {
        let raised = due(1000, Some((50, 10)));
        for (funds, units) in
            [(109, 0), (110, 1), (439, 3), (440, 4), (549, 4), (550, 5), (650, 6), (1050, 10)]
        {
            assert_eq!(
                raised.units_paid(U256::from(funds), 100.into()),
                Some(Amount::from(units)),
                "{funds}"
            );
        }
        assert_eq!(due(1000, None).units_paid(U256::from(650), 100.into()), Some(Amount::from(5)));
        assert_eq!(due(1000, Some((5, 1))).units_paid(U256::from(5), Amount::ZERO), None);
    }

    proptest! {
        /// As the contract has it: the price of all units, and of its royalty no more than what is left.
        #[test]
        fn units_like_in_the_contract(
            price in 1_u64..=1_000_000, funds in 0_u64..=u64::from(u32::MAX), bps in 0_i64..=10_000, left in 0_u64..=10_000_000,
        ) {
            let due = due(bps, Some((left, 10)));
            let cost = |units: u128| {
                let whole = u128::from(price) * units;
                whole + (whole * u128::from(bps.unsigned_abs()) / 10_000).min(u128::from(left))
            };
            let units = due.units_paid(U256::from(funds), price.into()).unwrap();
            let units = u128::try_from(units.value()).unwrap();
            prop_assert!(units == 0 || cost(units) <= u128::from(funds));
            prop_assert!(cost(units + 1) > u128::from(funds));
        }
    }
}
