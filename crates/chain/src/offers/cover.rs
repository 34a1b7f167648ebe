//! What funds cover of an offer. Pure.

use alloy_primitives::U256;
use bourse_market::Terms;
use bourse_store::Payer;
use bourse_wire::{Address, Amount, BPS_WHOLE, OrderFacts, Timestamp};

/// Whose funds an offer needs, when it is known who takes them. The chain's own currency has no allowances.
pub(crate) fn payer_of(order: &OrderFacts) -> Option<Payer> {
    let operator = order.operator?;
    (order.currency != Address::ZERO).then_some(Payer {
        maker: order.maker,
        currency: order.currency,
        operator,
    })
}

/// Whether nothing of an offer can be filled any more.
pub(super) fn is_over(order: &OrderFacts, now: Timestamp) -> bool {
    let terms = Terms {
        side: order.side,
        status: order.status,
        remaining: order.quantity_remaining,
        valid_from: order.valid_from,
        valid_until: order.valid_until,
        backing: None,
    };
    terms.is_over(now)
}

/// How many units funds pay for. On our own marketplaces royalties of offers come on top of the price.
pub(super) fn units(funds: U256, order: &OrderFacts) -> Option<Amount> {
    let price = order.price_amount.value();
    let bps = if order.marketplace.is_own() { u64::try_from(order.fee_bps).unwrap_or(0) } else { 0 };
    let (whole, bps) = (U256::from(BPS_WHOLE), U256::from(bps.min(BPS_WHOLE)));
    // Multiplying first could overflow.
    let (quotient, remainder) = price.div_rem(whole);
    let unit = price.saturating_add(quotient * bps + remainder * bps / whole);
    funds.checked_div(unit).map(Amount::from)
}

#[cfg(test)]
mod tests {
    use bourse_wire::Marketplace;

    use super::*;

    fn offer(price: U256, fee_bps: i64, marketplace: Marketplace) -> OrderFacts {
        OrderFacts {
            marketplace,
            maker: Address::from_bytes([1; 20]),
            price_amount: Amount::from(price),
            currency: Address::from_bytes([2; 20]),
            quantity_initial: Amount::from(10),
            quantity_remaining: Amount::from(10),
            fee_bps,
            block_number: 1,
            operator: Some(Address::from_bytes([3; 20])),
            ..OrderFacts::sample("1")
        }
    }

    #[test]
    fn funds_pay_for_whole_units_with_the_royalty_on_top() {
        let own = offer(U256::from(1000), 500, Marketplace::OwnV2);
        for (funds, expected) in [(0, 0), (1049, 0), (1050, 1), (2099, 1), (2100, 2)] {
            assert_eq!(units(U256::from(funds), &own), Some(Amount::from(expected)), "{funds}");
        }
        let other = offer(U256::from(1000), 500, Marketplace::Opensea);
        assert_eq!(units(U256::from(2000), &other), Some(Amount::from(2)));
        assert_eq!(units(U256::from(5), &offer(U256::ZERO, 0, Marketplace::OwnV1)), None);
        let dear = offer(U256::MAX, 10_000, Marketplace::OwnV1);
        assert_eq!(units(U256::MAX, &dear), Some(Amount::from(1)));
    }

    #[test]
    fn an_offer_needs_funds_that_somebody_may_take() {
        let mut order = offer(U256::from(1), 0, Marketplace::OwnV2);
        assert!(payer_of(&order).is_some());
        order.operator = None;
        assert!(payer_of(&order).is_none());
        let mut native = offer(U256::from(1), 0, Marketplace::OwnV2);
        native.currency = Address::ZERO;
        assert!(payer_of(&native).is_none());
    }
}
