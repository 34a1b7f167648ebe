//! Orders of outside marketplaces: signed by who makes them, for the contract of the demo's chain.

use alloy_primitives::{Bytes, U256};
use bourse_protocols::{Act, NewOrder, OrderExtras, OrderSeed};
use bourse_wire::OrderSide;
use serde_json::{Value, json};

use super::CHAIN_ID;
use super::currencies::{self, CURRENCIES};
use super::orders::Order;
use super::people;

/// The import line of a signed order from one time to another, in seconds since 1970; `None` of an order that the
/// marketplace does not know how to make.
pub(super) fn record(order: &Order<'_>, created: u64, valid_until: u64) -> Option<Value> {
    let protocol = order.venue.outside.as_ref()?.newest()?;
    let currency = &CURRENCIES[order.currency];
    let unit_price = U256::from(currencies::base_units(currency, order.price_micros));
    let new = NewOrder {
        side: if order.side == "offer" { OrderSide::Offer } else { OrderSide::Listing },
        maker: people::wallet(order.maker).parse().ok()?,
        collection: order.target.contract.parse().ok()?,
        is_multiple: !order.target.is_relic(),
        token_id: order.target.token_id.parse().ok()?,
        quantity: order.initial.into(),
        expiry: valid_until.into(),
        currency: currency.address.parse().ok()?,
        unit_price: unit_price.into(),
    };
    let fees = order.venue.requested_fees(order.target.rarity);
    let extras = OrderExtras::new(&new, false, &fees).ok()?;
    // Nobody of the demo ever took all orders back at once: the counter of each maker is zero.
    let answers = [Some(Bytes::from(vec![0; 32]))];
    let seed = OrderSeed { salt: U256::from(order.number + 1), now: created, answers: &answers };
    let Act::Sign(signing) = protocol.make_special_order(&new, &extras, seed).ok()?.act else { return None };
    let signature = people::sign(order.maker, signing.typed.digest()?)?;
    Some(json!({
        "type": "order",
        "chainId": CHAIN_ID,
        "marketplace": order.venue.word,
        "native": signing.native,
        "signature": signature,
    }))
}
