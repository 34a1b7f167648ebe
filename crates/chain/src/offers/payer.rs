//! Whose funds an offer needs. Pure.

use bourse_store::Payer;
use bourse_wire::{Address, OrderFacts};

/// Whose funds an offer needs, when it is known who takes them. The chain's own currency has no allowances.
pub(crate) fn payer_of(order: &OrderFacts) -> Option<Payer> {
    let operator = order.operator?;
    (order.currency != Address::ZERO).then_some(Payer {
        maker: order.maker,
        currency: order.currency,
        operator,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_needs_funds_that_somebody_may_take() {
        let somebody = Address::from_bytes([3; 20]);
        let offer = OrderFacts { currency: somebody, operator: Some(somebody), ..OrderFacts::sample("1") };
        assert!(payer_of(&offer).is_some());
        assert!(payer_of(&OrderFacts { operator: None, ..offer.clone() }).is_none());
        assert!(payer_of(&OrderFacts { currency: Address::ZERO, ..offer }).is_none());
    }
}
