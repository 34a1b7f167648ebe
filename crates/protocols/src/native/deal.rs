//! What a signed order comes to, whichever family it is of.

use alloy_primitives::U256;
use alloy_primitives::aliases::U320;
use bourse_market::{share, unit_price};
use bourse_wire::{
    Address, BPS_WHOLE, FeeEntry, Marketplace, OrderFacts, OrderKey, OrderSide, Timestamp, TokenId,
};

use super::fault::{OrderFault, check_count};

/// The most shares that an order may have; real ones have two or three.
const FEES_MAX: usize = 16;
/// The most basis points of its price that an offer may pay to others than who sells. Offers are compared by what they pay
/// in all: one that keeps most of it from the seller would be the best of all, and worth the least.
pub(crate) const OFFER_SHARES_BPS_MAX: u64 = 5_000;

/// What a signed order comes to.
#[derive(Clone, Debug)]
pub(crate) struct Deal {
    pub(crate) marketplace: Marketplace,
    pub(crate) order_id: String,
    pub(crate) side: OrderSide,
    pub(crate) maker: Address,
    /// Absent for an offer on any token of the collection.
    pub(crate) token_id: Option<TokenId>,
    /// How many units.
    pub(crate) quantity: U256,
    /// Whether they are sold or bought together or not at all.
    pub(crate) is_whole: bool,
    /// What the buyer pays for all of them, with everything that goes to others.
    pub(crate) price: U256,
    pub(crate) currency: Address,
    pub(crate) shares: Vec<Share>,
    /// When it begins and ends, in seconds since 1970.
    pub(crate) time: (U256, U256),
    /// Who moves the maker's tokens, or for an offer the maker's money.
    pub(crate) operator: Address,
    /// The member that names the price.
    pub(crate) price_member: &'static str,
}

/// What of the price goes to somebody else than the seller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) kind: ShareKind,
    pub(crate) recipient: Address,
    pub(crate) amount: U256,
}

/// What a share is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareKind {
    Marketplace,
    Royalty,
}

impl Share {
    /// A share in basis points of a price.
    pub(crate) fn of(kind: ShareKind, recipient: Address, price: U256, bps: u64) -> Self {
        Self { kind, recipient, amount: share(price, bps) }
    }
}

impl Deal {
    /// The facts of the order, when they make sense together.
    pub(crate) fn facts(self) -> Result<OrderFacts, OrderFault> {
        let member = self.price_member;
        check_count(member, self.shares.len(), FEES_MAX)?;
        let (valid_from, valid_until) = (instant(self.time.0), instant(self.time.1));
        let fees = super::fault::total(member, self.shares.iter().map(|share| share.amount))?;
        match () {
            () if self.price.is_zero() => return Err(OrderFault::ZeroPrice { member }),
            () if fees > self.price => {
                return Err(OrderFault::FeesTooHigh { member, fees, price: self.price });
            }
            () if self.time.0 >= self.time.1 => {
                return Err(OrderFault::Times { from: valid_from, until: valid_until });
            }
            () => {}
        }
        if self.side == OrderSide::Offer {
            self.check_offer(fees)?;
        }
        let fee_breakdown = self.fee_breakdown();
        let key = OrderKey { marketplace: self.marketplace, order_id: self.order_id };
        Ok(OrderFacts {
            price_amount: unit_price(self.side, self.price, self.quantity),
            token_id: self.token_id,
            maker: self.maker,
            currency: self.currency,
            quantity_initial: self.quantity.into(),
            quantity_remaining: self.quantity.into(),
            fee_bps: fee_breakdown.iter().map(|fee| fee.bps).sum(),
            fee_breakdown,
            valid_from,
            valid_until,
            operator: Some(self.operator),
            is_whole: self.is_whole,
            ..OrderFacts::unstated(key, self.side)
        })
    }

    /// Refuses an offer that takes most of its price back from whoever sells.
    fn check_offer(&self, fees: U256) -> Result<(), OrderFault> {
        let (member, price, maker) = (self.price_member, self.price, self.maker);
        if self.shares.iter().any(|share| share.recipient == maker && !share.amount.is_zero()) {
            return Err(OrderFault::ShareOfMaker { member, maker });
        }
        let most = share(price, OFFER_SHARES_BPS_MAX);
        if fees > most { Err(OrderFault::SharesTooHigh { member, fees, price, most }) } else { Ok(()) }
    }

    fn fee_breakdown(&self) -> Vec<FeeEntry> {
        let entry = |share: &Share| FeeEntry {
            kind: share.kind.word().to_owned(),
            recipient_address: share.recipient,
            bps: bps(share.amount, self.price),
        };
        self.shares.iter().filter(|share| !share.amount.is_zero()).map(entry).collect()
    }
}

impl ShareKind {
    fn word(self) -> &'static str {
        match self {
            Self::Marketplace => "marketplace",
            Self::Royalty => "royalty",
        }
    }
}

fn instant(seconds: U256) -> Timestamp {
    Timestamp::from_unix_seconds(seconds.saturating_to())
}

/// A share of the price in basis points, rounded down so that all together are never more than the price.
fn bps(amount: U256, price: U256) -> i64 {
    let bps = U320::from(amount) * U320::from(BPS_WHOLE) / U320::from(price);
    i64::try_from(bps).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_pay_most_of_their_price_to_who_sells() {
        let [maker, shop] = [1, 2].map(|byte| Address::from_bytes([byte; 20]));
        let facts = |side, recipient, amount: u64| {
            let share = Share { kind: ShareKind::Royalty, recipient, amount: U256::from(amount) };
            let deal = Deal {
                marketplace: Marketplace::Zerox,
                order_id: "1".to_owned(),
                side,
                maker,
                token_id: None,
                quantity: U256::ONE,
                is_whole: true,
                price: U256::from(100),
                currency: shop,
                shares: vec![share, Share { amount: U256::from(10), ..share }],
                time: (U256::ZERO, U256::MAX),
                operator: shop,
                price_member: "price",
            };
            deal.facts().map(|facts| facts.fee_bps)
        };
        assert_eq!(facts(OrderSide::Offer, shop, 40), Ok(5000));
        let [fees, price, most] = [51, 100, 50].map(U256::from);
        let high = OrderFault::SharesTooHigh { member: "price", fees, price, most };
        assert_eq!(facts(OrderSide::Offer, shop, 41), Err(high));
        let own = OrderFault::ShareOfMaker { member: "price", maker };
        assert_eq!(facts(OrderSide::Offer, maker, 0), Err(own));
        assert_eq!(facts(OrderSide::Listing, shop, 80), Ok(9000), "sellers give away what they want");
    }

    #[test]
    fn shares_of_the_largest_price_are_exact() {
        assert_eq!(bps(U256::MAX, U256::MAX), 10_000);
        assert_eq!(bps(U256::MAX / U256::from(4), U256::MAX), 2_499, "rounded down");
        assert_eq!(bps(U256::from(25), U256::from(1000)), 250);
    }
}
