//! LooksRare, the second version of its protocol: orders for one collection at one price, with numbers to take them
//! back by.
//!
//! The contract takes its own share and royalties out of the price when an order is filled. They are not signed, and so
//! not known before.

mod abi;
mod fill;
mod logs;
mod order;
#[cfg(test)]
mod tests;
mod venues;

use alloy_primitives::{B256, U256};
use bourse_market::facts::Log;
use bourse_market::{Nonces, Series, Standing};
use bourse_wire::{Address, Amount, OrderSide};
use serde_json::Value;

use self::abi::{hasUserApprovedOperatorCall, userBidAskNoncesCall, userOrderNonceCall, userSubsetNonceCall};
use self::order::{LooksRareOrder, side_of};
pub(crate) use self::venues::FAMILY;
use super::native::{
    self, Answers, Data, Domain, Inquiry, NativeOrder, Number, OrderFault, SubmittedOrder, TypedData,
    by_counter, prove, returned,
};
use super::{
    Call, LogError, NewOrder, OrderMaking, OrderSeed, OrderSigning, OrderTerms, Permission, Plan, Protocol,
    Refusal, Statement, StoredOrder, Trade, price_of,
};

/// What the protocol is called in messages.
const NAME: &str = "LooksRare";

/// LooksRare on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooksRare {
    /// What orders are signed for.
    pub domain: Domain,
    /// The contract that moves tokens.
    pub transfer_manager: Address,
}

impl LooksRare {
    /// What whoever sells must allow.
    fn seller_permissions(&self, collection: Address) -> Vec<Permission> {
        let manager = self.transfer_manager;
        vec![
            Permission::Move { collection, operator: manager },
            Permission::Grant { manager, operator: self.domain.contract },
        ]
    }
}

impl Protocol for LooksRare {
    fn contract(&self) -> Address {
        self.domain.contract
    }

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let signed = LooksRareOrder::read(order, self.domain.contract)?;
        let facts = self.derive(&signed)?;
        let proof = prove(signed.signer, self.domain.digest(signed.signed_hash()), &signed.signature.0);
        let counter = match facts.side {
            OrderSide::Offer => Series::BidCounter,
            OrderSide::Listing | OrderSide::Unknown => Series::AskCounter,
        };
        let nonces = Nonces::new(
            self.domain.contract,
            [
                (counter, signed.global_nonce.0),
                (Series::Group, signed.subset_nonce.0),
                (Series::Nonce, signed.order_nonce.0),
            ],
        );
        Ok(NativeOrder { collection: signed.collection, facts, nonces, text: signed.to_text(), proof })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        let whole = stored.facts.quantity_initial;
        if quantity != whole {
            let order_id = stored.facts.order_id.clone();
            return Err(Refusal::Whole { order_id, quantity: whole.value() });
        }
        Ok(native::read_stored::<LooksRareOrder>(stored)?.price.0)
    }

    fn fill(&self, trade: &Trade<'_>, _answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade)
    }

    fn order_inquiries(&self, order: &NewOrder) -> Vec<Inquiry> {
        let call = userBidAskNoncesCall { user: order.maker.bytes().into() };
        vec![Inquiry::new(self.domain.contract, &call)]
    }

    fn make_order(&self, order: &NewOrder, seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        let counters = returned::<userBidAskNoncesCall>(seed.answers, 0);
        let counters = counters.ok_or(Refusal::Unknown { what: "the nonces of the maker" })?;
        let is_offer = order.side == OrderSide::Offer;
        if is_offer && order.currency == Address::ZERO {
            return Err(Refusal::Native);
        }
        let price = price_of(order.unit_price, order.quantity)?;
        let signed = LooksRareOrder {
            quote_type: u8::from(!is_offer),
            global_nonce: Number(if is_offer { counters.bidNonce } else { counters.askNonce }),
            subset_nonce: Number::default(),
            order_nonce: Number(seed.salt),
            strategy_id: Number::default(),
            collection_type: u8::from(order.is_multiple),
            collection: order.collection,
            currency: order.currency,
            signer: order.maker,
            start_time: Number(seed.start()),
            end_time: Number(order.expiry.value()),
            price: Number(price),
            item_ids: vec![Number(order.token_id.value())],
            amounts: vec![Number(order.quantity.value())],
            additional_parameters: Data::default(),
            merkle_root: None,
            merkle_proof: None,
            signature: Data::default(),
            protocol_address: self.domain.contract,
        };
        let permissions = if is_offer {
            Permission::spend(order.currency, self.domain.contract, price.into()).into_iter().collect()
        } else {
            self.seller_permissions(order.collection)
        };
        let Ok(Value::Object(mut native)) = serde_json::to_value(&signed) else {
            return Err(Refusal::Overflow);
        };
        native.remove("signature");
        let typed = TypedData::new::<abi::Maker>(self.domain.clone(), &native);
        Ok(OrderMaking::to_sign(permissions, OrderSigning { typed, native, price: price.into() }))
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let call = abi::cancelOrderNoncesCall {
            orderNonces: vec![native::read_stored::<LooksRareOrder>(stored)?.order_nonce.0],
        };
        Ok(Call::of(self.domain.contract, &call))
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let signed = native::read_stored::<LooksRareOrder>(stored)?;
        let (to, user) = (self.domain.contract, signed.signer.bytes().into());
        let mut inquiries = vec![
            Inquiry::new(to, &userBidAskNoncesCall { user }),
            Inquiry::new(to, &userSubsetNonceCall { user, subsetNonce: signed.subset_nonce.0 }),
            Inquiry::new(to, &userOrderNonceCall { user, orderNonce: signed.order_nonce.0 }),
        ];
        if side_of(signed.quote_type) == OrderSide::Listing {
            let call = hasUserApprovedOperatorCall { user, operator: to.bytes().into() };
            inquiries.push(Inquiry::new(self.transfer_manager, &call));
        }
        Ok(inquiries)
    }

    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed = native::read_stored::<LooksRareOrder>(stored).ok()?;
        let counters = returned::<userBidAskNoncesCall>(answers, 0)?;
        let is_group_over = returned::<userSubsetNonceCall>(answers, 1)?;
        let used = returned::<userOrderNonceCall>(answers, 2)?;
        let is_listing = side_of(signed.quote_type) == OrderSide::Listing;
        let counter = if is_listing { counters.askNonce } else { counters.bidNonce };
        if is_group_over || !used.is_zero() {
            return Some(Standing::Cancelled);
        }
        if let Some(standing) = by_counter(counter, signed.global_nonce.0) {
            return Some(standing);
        }
        if is_listing && !returned::<hasUserApprovedOperatorCall>(answers, 3)? {
            return Some(Standing::Uncovered);
        }
        Some(Standing::Open { remaining: stored.facts.quantity_initial })
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |signed: &LooksRareOrder| Ok((signed.collection, self.derive(signed)?)))
    }

    fn log_addresses(&self) -> Vec<Address> {
        vec![self.domain.contract, self.transfer_manager]
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        self.read_logs(logs)
    }
}
