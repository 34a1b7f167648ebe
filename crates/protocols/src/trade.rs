//! What somebody fills: orders, how much of each, and who else gets a share.

use alloy_primitives::U256;
use bourse_market::share;
use bourse_wire::{Address, Amount, BPS_WHOLE, OrderFacts, OrderSide, TokenId};

use super::{Consent, Protocol, Refusal, Royalty, StoredOrder, royalty};

/// The most fees of one trade; each is a transfer of its own.
const FEES_MAX: usize = 10;

/// How much of an order is filled.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    /// The order.
    pub order: &'a OrderFacts,
    /// Its native form, where it has one.
    pub native: Option<&'a str>,
    /// How many units of it.
    pub quantity: Amount,
    /// The token; an offer may be for any.
    pub token_id: Option<TokenId>,
    /// What they cost, without fees on top.
    pub price: U256,
    /// What of their price goes to the makers of the tokens, by the order's own word.
    pub royalty: Amount,
    /// The same as the answer to [`Protocol::royalty_inquiry`] says.
    pub chain_royalty: Option<Royalty>,
}

/// A share for somebody else, as a caller asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedFee {
    /// How much.
    pub size: FeeSize,
    /// Who gets it.
    pub receiver: Address,
}

/// How much a share is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeeSize {
    /// Basis points of the price; the whole at most.
    Bps(u64),
    /// Base units of the currency.
    Units(Amount),
}

/// A share for somebody else: an amount of the currency, and never nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fee {
    /// How much.
    pub amount: U256,
    /// Who gets it.
    pub receiver: Address,
}

/// Orders of one side and one currency that are filled together.
#[derive(Clone, Debug)]
pub struct Trade<'a> {
    pub(super) fills: Vec<Fill<'a>>,
    pub(super) fees: Vec<Fee>,
    pub(super) taker: Address,
    pub(super) collection: Address,
    pub(super) side: OrderSide,
    pub(super) currency: Address,
    price: U256,
    consents: Vec<Consent>,
    /// Whether somebody else than the taker may send the calls.
    pub(super) is_sent_by_another: bool,
    /// The time of day, in seconds of Unix time; 0 before anybody told it.
    pub(super) now: u64,
}

impl<'a> Fill<'a> {
    /// So many units of an order, with the royalty that the order itself tells of.
    pub fn new(protocol: &dyn Protocol, stored: StoredOrder<'a>, quantity: Amount) -> Result<Self, Refusal> {
        let StoredOrder { facts: order, native } = stored;
        if quantity == Amount::ZERO || quantity > order.quantity_initial {
            let (order_id, units) = (order.order_id.clone(), order.quantity_initial);
            return Err(Refusal::Units { order_id, quantity, units });
        }
        let price = protocol.fill_price(stored, quantity)?;
        let royalty = share(price, u64::try_from(order.fee_bps).unwrap_or(0)).into();
        let token_id = order.token_id;
        Ok(Self { order, native, quantity, token_id, price, royalty, chain_royalty: None })
    }

    /// The order, and what is kept of it.
    pub(super) fn stored(&self) -> StoredOrder<'a> {
        StoredOrder { facts: self.order, native: self.native }
    }
}

/// What so many units cost.
pub fn price_of(unit: Amount, quantity: Amount) -> Result<U256, Refusal> {
    unit.value().checked_mul(quantity.value()).ok_or(Refusal::Overflow)
}

impl<'a> Trade<'a> {
    /// Puts a trade of one collection's tokens together. The taker gets the tokens, or for offers the money.
    pub fn new(
        collection: Address,
        fills: Vec<Fill<'a>>,
        asked: &[RequestedFee],
        taker: Address,
    ) -> Result<Self, Refusal> {
        let first = fills.first().ok_or(Refusal::Empty)?.order;
        let (side, currency) = (first.side, first.currency);
        if let Some(other) = fills.iter().find(|fill| fill.order.currency != currency) {
            return Err(Refusal::Currencies { first: currency, other: other.order.currency });
        }
        if fills.iter().any(|fill| fill.order.side != side) {
            return Err(Refusal::Sides);
        }
        let price = sum(fills.iter().map(|fill| fill.price))?;
        let fees = fees(price, asked)?;
        let consents = Vec::new();
        let trade = Self {
            fills,
            fees,
            taker,
            collection,
            side,
            currency,
            price,
            consents,
            is_sent_by_another: false,
            now: 0,
        };
        trade.total()?;
        Ok(trade)
    }

    /// The same at a time of day: what has ended by then is not used.
    pub fn at(self, now: u64) -> Self {
        Self { now, ..self }
    }

    /// The same where somebody else may send the calls: those that pay whoever sends them are not used where there are
    /// others.
    pub fn sent_by_another(self) -> Self {
        Self { is_sent_by_another: true, ..self }
    }

    /// The same with what the taker has signed so that it can be made.
    pub fn with_consents(self, consents: Vec<Consent>) -> Self {
        Self { consents, ..self }
    }

    /// What shows that the taker has signed something.
    pub(super) fn consent(&self, subject: &str) -> Option<&str> {
        let found = self.consents.iter().find(|consent| consent.subject == subject);
        found.map(|consent| consent.proof.as_str())
    }

    /// What the trade moves in its currency: for listings what the buyer pays, with fees on top; for offers what their
    /// makers pay, of which the fees are taken.
    pub fn total(&self) -> Result<Amount, Refusal> {
        let fees = sum(self.fees.iter().map(|fee| fee.amount))?;
        match self.side {
            OrderSide::Listing => self.price.checked_add(fees).ok_or(Refusal::Overflow).map(Amount::from),
            OrderSide::Offer | OrderSide::Unknown => Ok(self.price.into()),
        }
    }

    /// What of the price goes to others than who sells, as far as orders and the chain tell: shares of the orders, and the
    /// fees of a sale. What offers of our own marketplaces pay to others they pay on top.
    pub fn shares(&self) -> Result<Amount, Refusal> {
        let shares = self.fills.iter().filter(|fill| !fill.order.marketplace.is_own());
        let shares = shares.flat_map(|fill| [fill.royalty, royalty::paid(fill.chain_royalty)]);
        let fees = self.fees.iter().map(|fee| fee.amount).filter(|_| self.side != OrderSide::Listing);
        sum(shares.map(Amount::value).chain(fees)).map(Amount::from)
    }

    /// Who fills the orders.
    pub fn taker(&self) -> Address {
        self.taker
    }

    /// The currency of all its orders.
    pub fn currency(&self) -> Address {
        self.currency
    }
}

pub(super) fn sum(mut amounts: impl Iterator<Item = U256>) -> Result<U256, Refusal> {
    amounts.try_fold(U256::ZERO, U256::checked_add).ok_or(Refusal::Overflow)
}

/// The fees of a trade at this price. What comes to nothing is left out.
fn fees(price: U256, asked: &[RequestedFee]) -> Result<Vec<Fee>, Refusal> {
    if asked.len() > FEES_MAX {
        return Err(Refusal::FeeCount { count: asked.len(), most: FEES_MAX });
    }
    let mut fees = Vec::with_capacity(asked.len());
    for (index, fee) in asked.iter().enumerate() {
        let amount = match fee.size {
            FeeSize::Bps(bps) => share(price, bps.min(BPS_WHOLE)),
            FeeSize::Units(units) => units.value(),
        };
        if amount.is_zero() {
            continue;
        }
        if fee.receiver == Address::ZERO {
            return Err(Refusal::FeeReceiver { index });
        }
        fees.push(Fee { amount, receiver: fee.receiver });
    }
    Ok(fees)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOMEBODY: Address = Address::from_bytes([7; 20]);

    fn fee(bps: u64) -> RequestedFee {
        RequestedFee { size: FeeSize::Bps(bps), receiver: SOMEBODY }
    }

    fn units(units: u64) -> RequestedFee {
        RequestedFee { size: FeeSize::Units(units.into()), receiver: SOMEBODY }
    }

    fn amounts(price: u64, asked: &[RequestedFee]) -> Vec<U256> {
        fees(U256::from(price), asked).unwrap().iter().map(|fee| fee.amount).collect()
    }

    #[test]
    fn fees_are_basis_points_or_amounts() {
        assert_eq!(amounts(1_000_000, &[fee(250), fee(10_000)]), [25_000, 1_000_000].map(U256::from));
        assert_eq!(amounts(1_000_000, &[units(250), units(10_001)]), [250, 10_001].map(U256::from));
        assert_eq!(amounts(39, &[fee(250)]), [U256::ZERO; 0], "rounds down to nothing");
        assert_eq!(amounts(40, &[fee(250), fee(0)]), [U256::from(1)]);
    }

    #[test]
    fn fees_have_bounds() {
        let nobody = RequestedFee { receiver: Address::ZERO, ..fee(1) };
        let refused = |asked: &[RequestedFee]| fees(U256::from(10_000), asked).unwrap_err();
        assert_eq!(refused(&[fee(1), nobody]), Refusal::FeeReceiver { index: 1 });
        assert_eq!(refused(&[fee(1); 11]), Refusal::FeeCount { count: 11, most: 10 });
        let nothing = RequestedFee { receiver: Address::ZERO, ..fee(0) };
        assert_eq!(amounts(10_000, &[nothing]), [U256::ZERO; 0]);
    }

    #[test]
    fn shares_of_the_largest_amounts_are_exact() {
        assert_eq!(share(U256::MAX, BPS_WHOLE), U256::MAX);
        assert_eq!(share(U256::MAX, 5000), U256::MAX / U256::from(2));
        assert_eq!(share(U256::from(19_999), 5000), U256::from(9_999));
    }
}
