//! Orders to be signed.

use alloy_primitives::U256;
use bourse_wire::{Address, OrderSide};
use serde_json::Value;

use super::Seaport;
use super::abi::{OrderComponents, getCounterCall};
use super::order::{ConsiderationItem, Offered, PARTIAL, SeaportOrder};
use crate::native::{Data, Number, TypedData, Word, returned};
use crate::{
    Fee, NewOrder, OrderExtras, OrderMaking, OrderSeed, OrderSigning, Permission, Refusal, price_of,
};

/// How much further the kinds of things are that are any of a collection.
const ANY: u8 = 2;

impl Seaport {
    pub(super) fn sign(
        &self,
        order: &NewOrder,
        extras: &OrderExtras,
        seed: OrderSeed<'_>,
    ) -> Result<OrderMaking, Refusal> {
        let counter = returned::<getCounterCall>(seed.answers, 0);
        let counter = counter.ok_or(Refusal::Unknown { what: "the counter of the maker" })?;
        if order.side == OrderSide::Offer && order.currency == Address::ZERO {
            return Err(Refusal::Native);
        }
        let price = price_of(order.unit_price, order.quantity)?;
        let (key, mover) = self.usual_conduit();
        let (offer, consideration) = things(order, extras, price)?;
        let signed = SeaportOrder {
            offerer: order.maker,
            zone: Address::ZERO,
            offer: vec![offer],
            consideration,
            order_type: if order.is_multiple { PARTIAL } else { 0 },
            start_time: Number(seed.start()),
            end_time: Number(order.expiry.value()),
            zone_hash: Word::default(),
            salt: Number(seed.salt),
            conduit_key: Word(key),
            counter: Number(counter),
            extra_data: Data::default(),
            signature: Data::default(),
            is_published: false,
            protocol_address: self.domain.contract,
        };
        let permission = Permission::of_maker(order, mover, price.into());
        let native = match serde_json::to_value(&signed) {
            Ok(Value::Object(mut members)) => {
                members.remove("signature");
                members
            }
            _ => return Err(Refusal::Overflow),
        };
        let typed = TypedData::new::<OrderComponents>(self.domain.clone(), &native);
        Ok(OrderMaking::to_sign(permission, OrderSigning { typed, native, price: price.into() }))
    }
}

/// What the maker gives, and what they and others get.
fn things(
    order: &NewOrder,
    extras: &OrderExtras,
    price: U256,
) -> Result<(Offered, Vec<ConsiderationItem>), Refusal> {
    let money_type = u8::from(order.currency != Address::ZERO);
    let money = |amount: U256| (money_type, order.currency, U256::ZERO, amount);
    let single = if extras.is_for_any { ANY } else { 0 };
    let token_type = single + if order.is_multiple { 3 } else { 2 };
    // No criteria admit every token.
    let id = if extras.is_for_any { U256::ZERO } else { order.token_id.value() };
    let token = (token_type, order.collection, id, order.quantity.value());
    let (given, got) = match order.side {
        OrderSide::Offer => (money(price), token),
        OrderSide::Listing | OrderSide::Unknown => (token, money(extras.rest(order)?)),
    };
    let offered = Offered {
        item_type: given.0,
        token: given.1,
        identifier_or_criteria: Number(given.2),
        start_amount: Number(given.3),
        end_amount: Number(given.3),
    };
    let asked = |(item_type, token, id, amount): (u8, Address, U256, U256), recipient| ConsiderationItem {
        item_type,
        token,
        identifier_or_criteria: Number(id),
        start_amount: Number(amount),
        end_amount: Number(amount),
        recipient,
    };
    let fees = extras.fees.iter().map(|Fee { amount, receiver }| asked(money(*amount), *receiver));
    Ok((offered, [asked(got, order.maker)].into_iter().chain(fees).collect()))
}
