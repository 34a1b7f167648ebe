//! What somebody wants of a new order that few marketplaces have.

use alloy_primitives::U256;
use bourse_market::share;
use bourse_wire::{Address, BPS_WHOLE, OrderSide};

use super::native::OFFER_SHARES_BPS_MAX;
use super::{Fee, FeeSize, NewOrder, Refusal, RequestedFee, price_of};

/// The most that others get of a new order; whoever fills it pays for each transfer.
const FEES_MAX: usize = 10;

/// What is wanted of a new order beyond what every marketplace has. What one cannot do it refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderExtras {
    /// Whether it is an offer for any token of the collection.
    pub is_for_any: bool,
    /// Who gets a share of its price, instead of who sells.
    pub fees: Vec<Fee>,
}

impl OrderExtras {
    /// Shares as a caller asks for them. What comes to nothing is left out. Whoever fills a part of an order pays a part of every share, so that each is so
    /// much a unit.
    pub fn new(order: &NewOrder, is_for_any: bool, asked: &[RequestedFee]) -> Result<Self, Refusal> {
        if asked.len() > FEES_MAX {
            return Err(Refusal::FeeCount { count: asked.len(), most: FEES_MAX });
        }
        let (unit, quantity) = (order.unit_price.value(), order.quantity.value());
        let mut fees = Vec::with_capacity(asked.len());
        for (index, RequestedFee { size, receiver }) in asked.iter().copied().enumerate() {
            let amount = match size {
                FeeSize::Bps(bps) => {
                    share(unit, bps.min(BPS_WHOLE)).checked_mul(quantity).ok_or(Refusal::Overflow)?
                }
                FeeSize::Units(units) => units.value(),
            };
            if amount.is_zero() {
                continue;
            }
            if receiver == Address::ZERO {
                return Err(Refusal::FeeReceiver { index });
            }
            if order.side == OrderSide::Offer && receiver == order.maker {
                return Err(Refusal::FeeToMaker { index });
            }
            if !amount.checked_rem(quantity).unwrap_or_default().is_zero() {
                return Err(Refusal::FeeFraction { fee: amount, multiple: quantity });
            }
            fees.push(Fee { amount, receiver });
        }
        let extras = Self { is_for_any, fees };
        extras.rest(order)?;
        Ok(extras)
    }

    /// What of the price of an order is left for whoever sells: something, as contracts refuse to pay nothing, and of an offer
    /// as much as is wanted of everybody's.
    pub(crate) fn rest(&self, order: &NewOrder) -> Result<U256, Refusal> {
        let price = price_of(order.unit_price, order.quantity)?;
        let fees = crate::trade::sum(self.fees.iter().map(|fee| fee.amount))?;
        let most = match order.side {
            OrderSide::Offer => share(price, OFFER_SHARES_BPS_MAX),
            OrderSide::Listing | OrderSide::Unknown => price.saturating_sub(U256::from(1)),
        };
        let rest = price.checked_sub(fees).filter(|_| fees <= most);
        rest.ok_or(Refusal::FeeSum { fees, most })
    }

    /// Refuses what most marketplaces cannot do.
    pub(crate) fn refuse(&self) -> Result<(), Refusal> {
        if self.is_for_any {
            return Err(Refusal::NoAnyToken);
        }
        if self.fees.is_empty() { Ok(()) } else { Err(Refusal::NoShares) }
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Amount, TokenId};

    use super::*;
    use crate::testing::requested;

    const SHOP: Address = Address::from_bytes([7; 20]);

    fn order(quantity: u64, unit_price: u64) -> NewOrder {
        NewOrder {
            side: OrderSide::Listing,
            maker: SHOP,
            collection: SHOP,
            is_multiple: true,
            token_id: TokenId::from(1),
            quantity: quantity.into(),
            expiry: Amount::MAX,
            currency: SHOP,
            unit_price: unit_price.into(),
        }
    }

    fn amounts(order: &NewOrder, asked: &[u64]) -> Result<Vec<u64>, Refusal> {
        let asked: Vec<_> = asked.iter().map(|amount| requested((*amount).into(), SHOP)).collect();
        Ok(OrderExtras::new(order, false, &asked)?.fees.iter().map(|fee| fee.amount.to()).collect())
    }

    #[test]
    fn shares_are_so_much_a_unit() {
        assert_eq!(
            amounts(&order(3, 1_000_050), &[250, 0]),
            Ok(vec![25_001 * 3]),
            "rounded down for each unit"
        );
        assert_eq!(amounts(&order(3, 100_000), &[30_000]), Ok(vec![30_000]));
        let uneven = Refusal::FeeFraction { fee: U256::from(30_001), multiple: U256::from(3) };
        assert_eq!(amounts(&order(3, 100_000), &[30_001]), Err(uneven));
        assert_eq!(amounts(&order(3, 3), &[250]), Ok(vec![]), "what comes to nothing is left out");
    }

    #[test]
    fn shares_leave_something_for_who_sells() {
        let most = |fees: u64| Refusal::FeeSum { fees: U256::from(fees), most: U256::from(99_999) };
        assert_eq!(amounts(&order(1, 100_000), &[10_000]), Err(most(100_000)));
        assert_eq!(amounts(&order(1, 100_000), &[99_999, 1]), Err(most(100_009)));
        assert_eq!(amounts(&order(1, 100_000), &[99_999]), Ok(vec![99_999]));
        assert_eq!(amounts(&order(1, 100_000), &[1; 11]), Err(Refusal::FeeCount { count: 11, most: 10 }));
        let offer = NewOrder { side: OrderSide::Offer, maker: Address::ZERO, ..order(1, 100_001) };
        let half = Refusal::FeeSum { fees: U256::from(50_001), most: U256::from(50_000) };
        assert_eq!(amounts(&offer, &[50_001]), Err(half), "an offer pays at least half to who sells");
        assert_eq!(amounts(&offer, &[50_000]), Ok(vec![50_000]));
        let own = NewOrder { maker: SHOP, ..offer };
        assert_eq!(amounts(&own, &[250]), Err(Refusal::FeeToMaker { index: 0 }));
        let nobody = requested(5.into(), Address::ZERO);
        let refused = OrderExtras::new(&order(1, 100_000), false, &[nobody]);
        assert_eq!(refused, Err(Refusal::FeeReceiver { index: 0 }));
    }
}
