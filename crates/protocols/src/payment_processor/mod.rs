//! Limit Break's Payment Processor: orders with numbers to take them back by, and fees as shares of the price. This is
//! the second version and 2.1, with one fee on top for each order; the first is another protocol altogether.

mod abi;
mod agreed;
mod fill;
mod logs;
mod order;
#[cfg(test)]
mod tests;
mod v1;
mod venues;

use alloy_primitives::aliases::U320;
use alloy_primitives::{B256, U256};
use alloy_sol_types::SolValue as _;
use bourse_market::facts::Log;
use bourse_market::{Nonces, Standing};
use bourse_wire::{Address, Amount, BPS_WHOLE, Marketplace, OrderSide};
use serde_json::Value;

use self::abi::{isNonceUsedCall, masterNoncesCall, remainingFillableQuantityCall};
use self::agreed::ask;
use self::order::{ONE, PARTS, ProcessorOrder, UNITS};
pub use self::v1::PaymentProcessorV1;
pub(crate) use self::venues::FAMILY;
use super::native::{
    self, Answers, Data, Domain, Inquiry, NativeOrder, Number, OrderFault, Share, ShareKind, SourceRequest,
    SubmittedOrder, TypedData, by_counter, prove, returned,
};
use super::{
    Call, Fill, LogError, NewOrder, OrderMaking, OrderSeed, OrderSigning, OrderTerms, Permission, Plan,
    Protocol, Refusal, Royalty, Statement, StoredOrder, Trade, price_of, royalty,
};

/// States of orders that are filled in parts.
const FILLED: u8 = 1;
const CANCELLED: u8 = 2;

/// Payment Processor, as one marketplace uses it on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentProcessor {
    /// The marketplace.
    pub marketplace: Marketplace,
    /// Its version.
    pub version: Version,
    /// What orders are signed for.
    pub domain: Domain,
}

/// A version of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 2: whoever calls it tells for which contract and chain an order was signed.
    V2,
    /// 2.1: the contract knows.
    V21,
}

impl Version {
    /// How it is written in what is signed.
    pub fn word(self) -> &'static str {
        match self {
            Self::V2 => "2",
            Self::V21 => "2.1",
        }
    }
}

impl Protocol for PaymentProcessor {
    fn contract(&self) -> Address {
        self.domain.contract
    }

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let signed = ProcessorOrder::read(order, self.domain.contract)?;
        let facts = self.derive(&signed)?;
        let proof = prove(signed.maker(), self.domain.digest(signed.hash()), &signed.signature.0);
        let nonces = Nonces::new(self.domain.contract, signed.numbers());
        Ok(NativeOrder { collection: signed.token_address, facts, nonces, text: signed.to_text(), proof })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        fill::price(stored, &native::read_stored(stored)?, quantity)
    }

    fn royalty_inquiry(&self, collection: Address, fill: &Fill<'_>) -> Option<Inquiry> {
        let token = fill.token_id.filter(|_| fill.order.side == OrderSide::Offer)?;
        Some(royalty::ask(collection, token, fill.price))
    }

    fn source_requests(&self, trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
        ask(trade)
    }

    fn fill(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade, answers)
    }

    fn order_inquiries(&self, order: &NewOrder) -> Vec<Inquiry> {
        let call = masterNoncesCall { account: order.maker.bytes().into() };
        let master = Inquiry::new(self.domain.contract, &call);
        // A listing says how much of it may go to the makers of the token. With less than they ask for it is never filled.
        let is_listing = order.side == OrderSide::Listing;
        let price = price_of(order.unit_price, order.quantity).ok().filter(|_| is_listing);
        let royalty = price.map(|price| royalty::ask(order.collection, order.token_id, price));
        [master].into_iter().chain(royalty).collect()
    }

    fn make_order(&self, order: &NewOrder, seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        let master_nonce = returned::<masterNoncesCall>(seed.answers, 0);
        let master_nonce = master_nonce.ok_or(Refusal::Unknown { what: "the master nonce of the maker" })?;
        let is_offer = order.side == OrderSide::Offer;
        if is_offer && order.currency == Address::ZERO {
            return Err(Refusal::Native);
        }
        let price = price_of(order.unit_price, order.quantity)?;
        let royalty = royalty::paid(Royalty::read(seed.answers.get(1).and_then(Option::as_ref)));
        let royalty = bps_of(royalty.value(), price);
        let signed = ProcessorOrder {
            protocol: match () {
                () if !order.is_multiple => ONE,
                () if order.quantity == Amount::from(1) => UNITS,
                () => PARTS,
            },
            cosigner: Address::ZERO,
            seller: (!is_offer).then_some(order.maker),
            buyer: is_offer.then_some(order.maker),
            beneficiary: is_offer.then_some(order.maker),
            marketplace: Address::ZERO,
            fallback_royalty_recipient: Address::ZERO,
            payment_method: order.currency,
            token_address: order.collection,
            token_id: Some(Number(order.token_id.value())),
            amount: Number(order.quantity.value()),
            item_price: Number(price),
            expiration: Number(order.expiry.value()),
            marketplace_fee_numerator: Number::default(),
            max_royalty_fee_numerator: (!is_offer).then_some(Number(royalty)),
            nonce: Number(seed.salt),
            master_nonce: Number(master_nonce),
            signature: Data::default(),
            protocol_address: self.domain.contract,
        };
        let Ok(Value::Object(mut native)) = serde_json::to_value(&signed) else {
            return Err(Refusal::Overflow);
        };
        native.remove("signature");
        let typed = if is_offer {
            TypedData::new::<abi::ItemOfferApproval>(self.domain.clone(), &native)
        } else {
            TypedData::new::<abi::SaleApproval>(self.domain.clone(), &native)
        };
        let permission = Permission::of_maker(order, self.domain.contract, price.into());
        Ok(OrderMaking::to_sign(permission, OrderSigning { typed, native, price: price.into() }))
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let signed: ProcessorOrder = native::read_stored(stored)?;
        let to = self.domain.contract;
        Ok(if signed.is_partial() {
            let data = self.domain.digest(signed.hash()).abi_encode().into();
            Call::of(to, &abi::revokeOrderDigestCall { data })
        } else {
            Call::of(to, &abi::revokeSingleNonceCall { data: signed.nonce.0.abi_encode().into() })
        })
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let signed: ProcessorOrder = native::read_stored(stored)?;
        let (to, account) = (self.domain.contract, signed.maker().bytes().into());
        let master = Inquiry::new(to, &masterNoncesCall { account });
        let own = if signed.is_partial() {
            let digest = self.domain.digest(signed.hash());
            Inquiry::new(to, &remainingFillableQuantityCall { account, orderDigest: digest })
        } else {
            Inquiry::new(to, &isNonceUsedCall { account, nonce: signed.nonce.0 })
        };
        Ok(vec![master, own])
    }

    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed: ProcessorOrder = native::read_stored(stored).ok()?;
        let counter = returned::<masterNoncesCall>(answers, 0)?;
        if let Some(standing) = by_counter(counter, signed.master_nonce.0) {
            return Some(standing);
        }
        let whole = stored.facts.quantity_initial;
        if !signed.is_partial() {
            let is_used = returned::<isNonceUsedCall>(answers, 1)?;
            return Some(if is_used { Standing::Cancelled } else { Standing::Open { remaining: whole } });
        }
        let status = returned::<remainingFillableQuantityCall>(answers, 1)?;
        let remaining = U256::from(status.remainingFillableQuantity);
        Some(match status.state {
            FILLED => Standing::Filled,
            CANCELLED => Standing::Cancelled,
            // An order that nobody has touched has no rest yet.
            _ if remaining.is_zero() => Standing::Open { remaining: whole },
            _ => Standing::Open { remaining: remaining.into() },
        })
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |signed: &ProcessorOrder| Ok((signed.token_address, self.derive(signed)?)))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(self, logs)
    }
}

/// Who gets a share of a price, and how much in basis points of it.
struct FeeTerms {
    marketplace: Address,
    marketplace_bps: U256,
    artist: Address,
    royalty_bps: U256,
}

/// What of a price goes to others: the marketplace, and to the makers of the token at most what was
/// signed.
fn shares(price: U256, fees: &FeeTerms) -> Result<Vec<Share>, OrderFault> {
    let FeeTerms { marketplace, marketplace_bps: own, artist, royalty_bps: royalty } = *fees;
    let (whole, member) = (U256::from(BPS_WHOLE), "marketplaceFeeNumerator");
    let fees = own.checked_add(royalty).ok_or(OrderFault::Overflow { member })?;
    if fees > whole {
        return Err(OrderFault::FeesTooHigh { member, fees, price: whole });
    }
    let share = |kind, recipient, bps: U256| Share::of(kind, recipient, price, bps.saturating_to());
    let own = (marketplace != Address::ZERO).then(|| share(ShareKind::Marketplace, marketplace, own));
    Ok(own.into_iter().chain([share(ShareKind::Royalty, artist, royalty)]).collect())
}

/// A share of a price in basis points, rounded up so that it is never less.
fn bps_of(amount: U256, price: U256) -> U256 {
    let whole = U256::from(BPS_WHOLE);
    if amount >= price {
        return whole;
    }
    let share = U320::from(amount) * U320::from(BPS_WHOLE);
    U256::from(share.div_ceil(U320::from(price))).min(whole)
}
