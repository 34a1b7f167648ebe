//! The calls that fill orders.

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::SolValue as _;
use bourse_wire::{Address, Amount, OrderSide, TokenId};
use serde_json::Value;

use super::abi::{
    Cosignature, FeeOnTop, Order, SignatureECDSA, TokenSetProof, acceptOfferCall, bulkBuyListingsCall,
    buyListingCall,
};
use super::order::ProcessorOrder;
use super::{PaymentProcessor, Version, bps_of};
use crate::native::{self, Signature};
use crate::trade::sum;
use crate::{Call, Fee, Fill, Permission, Plan, Refusal, StoredOrder, Trade};

/// An order that is filled, as the contract takes it.
struct FilledOrder {
    order: Order,
    signature: SignatureECDSA,
    cosignature: Cosignature,
    fee: FeeOnTop,
    /// Whether an offer is for any token.
    is_any: bool,
    price: U256,
}

/// What so many units cost.
pub(super) fn price(
    stored: StoredOrder<'_>,
    signed: &ProcessorOrder,
    quantity: Amount,
) -> Result<U256, Refusal> {
    let (part, whole) = (quantity.value(), signed.amount.0);
    let order_id = || stored.facts.order_id.clone();
    if part == whole {
        return Ok(signed.item_price.0);
    }
    if !signed.is_partial() {
        return Err(Refusal::Whole { order_id: order_id(), quantity: whole });
    }
    let (unit, rest) = signed.item_price.0.div_rem(whole.max(U256::ONE));
    // The contract divides the price first.
    if !rest.is_zero() {
        return Err(Refusal::Indivisible { order_id: order_id(), quantity: part });
    }
    unit.checked_mul(part).ok_or(Refusal::Overflow)
}

impl PaymentProcessor {
    pub(super) fn plan(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        let mut taken = Vec::with_capacity(trade.fills.len());
        let mut answers = answers.iter();
        let mut anybody_may_send = trade.side == OrderSide::Listing;
        for fill in &trade.fills {
            let signed: ProcessorOrder = native::read_stored(fill.stored())?;
            let mut one = take(fill, &signed, trade.taker)?;
            if signed.cosigner != Address::ZERO {
                // A cosigner names who may send it.
                anybody_may_send = false;
                let order_id = || fill.order.order_id.clone();
                let answer = answers.next().ok_or_else(|| Refusal::Held { order_id: order_id() })?;
                let cosignature = self.cosignature(&signed, trade, answer);
                one.cosignature =
                    cosignature.map_err(|fault| Refusal::Source { order_id: order_id(), fault })?;
            }
            taken.push(one);
        }
        carry(&mut taken, &trade.fees)?;
        let contract = self.domain.contract;
        if trade.side == OrderSide::Listing {
            let call = self.buy(taken).paying(trade.currency, trade.total()?.value());
            let spending = Permission::spend(trade.currency, contract, trade.total()?);
            let permissions = spending.into_iter().collect();
            return Ok(Plan { permissions, calls: vec![call], anybody_may_send, note: None });
        }
        let fees = sum(trade.fees.iter().map(|fee| fee.amount))?;
        let moving = Permission::Move { collection: trade.collection, operator: contract };
        // Whoever takes an offer pays fees out of what they have just got.
        let spending = Permission::spend(trade.currency, contract, fees.into());
        let permissions = [moving].into_iter().chain(spending).collect();
        let calls = taken.into_iter().map(|taken| self.sell(trade.currency, taken)).collect();
        Ok(Plan { permissions, calls, ..Plan::default() })
    }

    /// One call for all listings.
    fn buy(&self, taken: Vec<FilledOrder>) -> Call {
        let separator = self.domain.separator();
        if let [FilledOrder { order, signature, cosignature, fee, .. }] = taken.as_slice() {
            let (order, signature) = (order.clone(), signature.clone());
            let (cosignature, fee) = (cosignature.clone(), fee.clone());
            let data = match self.version {
                Version::V2 => (separator, order, signature, cosignature, fee).abi_encode_params(),
                Version::V21 => (order, signature, cosignature, fee).abi_encode_params(),
            };
            return Call::of(self.domain.contract, &buyListingCall { data: data.into() });
        }
        let (mut orders, mut signatures) = (Vec::new(), Vec::new());
        let (mut cosignatures, mut fees) = (Vec::new(), Vec::new());
        for FilledOrder { order, signature, cosignature, fee, .. } in taken {
            orders.push(order);
            signatures.push(signature);
            cosignatures.push(cosignature);
            fees.push(fee);
        }
        let data = match self.version {
            Version::V2 => (separator, orders, signatures, cosignatures, fees).abi_encode_params(),
            Version::V21 => (orders, signatures, cosignatures, fees).abi_encode_params(),
        };
        Call::of(self.domain.contract, &bulkBuyListingsCall { data: data.into() })
    }

    fn sell(&self, currency: Address, taken: FilledOrder) -> Call {
        let FilledOrder { order, signature, cosignature, fee, is_any, price } = taken;
        let set = TokenSetProof::default();
        let data: Bytes = match self.version {
            Version::V2 => {
                let separator: B256 = self.domain.separator();
                (separator, is_any, order, signature, set, cosignature, fee).abi_encode_params().into()
            }
            Version::V21 => (is_any, order, signature, set, cosignature, fee).abi_encode_params().into(),
        };
        Call::of(self.domain.contract, &acceptOfferCall { data }).paying(currency, price)
    }
}

/// So many units of an order, as the contract takes them.
fn take(fill: &Fill<'_>, signed: &ProcessorOrder, taker: Address) -> Result<FilledOrder, Refusal> {
    let order_id = || fill.order.order_id.clone();
    let damaged =
        |error: native::SignatureFault| Refusal::Damaged { order_id: order_id(), reason: error.to_string() };
    let Signature { r, s, v } = Signature::parse(&signed.signature.0).map_err(damaged)?;
    let is_listing = signed.side() == OrderSide::Listing;
    let token = signed.token_id.map(|id| id.0).or(fill.token_id.map(TokenId::value));
    // The most that goes to the makers of the token is signed with a listing, and told by whoever takes an offer: no more
    // than the token's own contract says, as the rest could go to somebody whom the offer names.
    let royalty = match signed.max_royalty_fee_numerator {
        Some(most) if is_listing => most.0,
        _ => bps_of(crate::royalty::paid(fill.chain_royalty).value(), fill.price),
    };
    let order = Order {
        protocol: U256::from(signed.protocol),
        maker: signed.maker().bytes().into(),
        beneficiary: if is_listing { taker } else { signed.maker() }.bytes().into(),
        marketplace: signed.marketplace.bytes().into(),
        fallbackRoyaltyRecipient: signed.fallback_royalty_recipient.bytes().into(),
        paymentMethod: signed.payment_method.bytes().into(),
        tokenAddress: signed.token_address.bytes().into(),
        tokenId: token.ok_or_else(|| Refusal::AnyToken { order_id: order_id() })?,
        amount: signed.amount.0,
        itemPrice: signed.item_price.0,
        nonce: signed.nonce.0,
        expiration: signed.expiration.0,
        marketplaceFeeNumerator: signed.marketplace_fee_numerator.0,
        maxRoyaltyFeeNumerator: royalty,
        requestedFillAmount: fill.quantity.value(),
        minimumFillAmount: fill.quantity.value(),
    };
    let signature = SignatureECDSA { v: U256::from(v), r, s };
    let is_any = signed.token_id.is_none();
    let (cosignature, fee) = (Cosignature::default(), FeeOnTop::default());
    Ok(FilledOrder { order, signature, cosignature, fee, is_any, price: fill.price })
}

/// Gives each fee to an order that can carry it: one for each order, of its price at most.
fn carry(taken: &mut [FilledOrder], fees: &[Fee]) -> Result<(), Refusal> {
    let mut merged: Vec<Fee> = Vec::with_capacity(fees.len());
    for fee in fees {
        match merged.iter_mut().find(|known| known.receiver == fee.receiver) {
            Some(known) => known.amount = sum([known.amount, fee.amount].into_iter())?,
            None => merged.push(*fee),
        }
    }
    // Large fees first: small ones fit anywhere.
    merged.sort_by_key(|fee| std::cmp::Reverse(fee.amount));
    if merged.len() > taken.len() {
        return Err(Refusal::FeeSlots { fees: merged.len(), slots: taken.len() });
    }
    for fee in merged {
        let free = taken.iter_mut().filter(|taken| taken.fee.amount.is_zero());
        let Some(carrier) = free.max_by_key(|taken| taken.price) else {
            return Err(Refusal::FeeSlots { fees: fees.len(), slots: taken.len() });
        };
        if carrier.price < fee.amount {
            return Err(Refusal::FeeSum { fees: fee.amount, most: carrier.price });
        }
        carrier.fee = FeeOnTop { recipient: fee.receiver.bytes().into(), amount: fee.amount };
    }
    Ok(())
}
