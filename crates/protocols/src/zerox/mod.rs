//! 0x, the orders for tokens of its fourth version: a price, and shares that come on top of it.

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
use serde_json::{Value, json};

use self::abi::{getERC721OrderStatusCall, getERC1155OrderInfoCall};
use self::order::{Order, ZeroxOrder, token_members};
pub(crate) use self::venues::FAMILY;
use super::native::{
    self, Answers, Domain, Inquiry, NativeOrder, Number, OrderFault, SubmittedOrder, TypedData, returned,
};
use super::{
    Call, LogError, NewOrder, OrderMaking, OrderSeed, OrderSigning, OrderTerms, Permission, Plan, Protocol,
    Refusal, Statement, StoredOrder, TopicFilter, Trade, price_of,
};

/// What the protocol is called in messages.
const NAME: &str = "0x";
/// The contract says that an order can be filled.
const FILLABLE: u8 = 1;
/// The contract says that an order was filled or taken back.
const UNFILLABLE: u8 = 2;
/// Units that the contract can count.
const UNITS_BITS: usize = 128;
/// How new orders write the chain's own currency.
const NATIVE: &str = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/// 0x on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zerox {
    /// What orders are signed for.
    pub domain: Domain,
}

impl Protocol for Zerox {
    fn contract(&self) -> Address {
        self.domain.contract
    }

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let signed = ZeroxOrder::read(order, self.domain.contract)?;
        let (collection, facts, hash) = self.derive(&signed)?;
        let proof = self.prove(&signed, hash)?;
        let nonces = self.nonces(&signed);
        Ok(NativeOrder { collection, facts, nonces, text: signed.to_text(), proof })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        fill::price(stored, &native::read_stored(stored)?, quantity)
    }

    fn fill(&self, trade: &Trade<'_>, _answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade)
    }

    fn make_order(&self, order: &NewOrder, seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        let is_offer = order.side == OrderSide::Offer;
        if is_offer && order.currency == Address::ZERO {
            return Err(Refusal::Native);
        }
        let quantity = order.quantity.value();
        if quantity.bit_len() > UNITS_BITS {
            return Err(Refusal::Uncountable { order_id: "to be made".to_owned(), quantity });
        }
        let price = price_of(order.unit_price, order.quantity)?;
        let currency = if order.currency == Address::ZERO { json!(NATIVE) } else { json!(order.currency) };
        let shared = json!({ "direction": u8::from(is_offer), "maker": order.maker, "taker": Address::ZERO,
            "expiry": Number(order.expiry.value()), "nonce": Number(seed.salt), "erc20Token": currency,
            "erc20TokenAmount": Number(price), "fees": [] });
        let token = token_members(order.is_multiple, order.collection, order.token_id.value(), quantity);
        let Value::Object(mut native) = shared else { return Err(Refusal::Overflow) };
        native.extend(token);
        native.insert("protocolAddress".to_owned(), json!(self.domain.contract));
        let typed = if order.is_multiple {
            TypedData::new::<abi::ERC1155Order>(self.domain.clone(), &native)
        } else {
            TypedData::new::<abi::ERC721Order>(self.domain.clone(), &native)
        };
        let permission = Permission::of_maker(order, self.domain.contract, price.into());
        Ok(OrderMaking::to_sign(permission, OrderSigning { typed, native, price: price.into() }))
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let signed: ZeroxOrder = native::read_stored(stored)?;
        let (to, nonce) = (self.domain.contract, signed.nonce.0);
        Ok(match signed.series() {
            Series::UnitsNonce => Call::of(to, &abi::cancelERC1155OrderCall { orderNonce: nonce }),
            _ => Call::of(to, &abi::cancelERC721OrderCall { orderNonce: nonce }),
        })
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let to = self.domain.contract;
        Ok(vec![match fill::order(stored, &native::read_stored(stored)?)? {
            Order::One(order) => Inquiry::new(to, &getERC721OrderStatusCall { order }),
            Order::Units(order) => Inquiry::new(to, &getERC1155OrderInfoCall { order }),
        }])
    }

    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed: ZeroxOrder = native::read_stored(stored).ok()?;
        let (status, remaining) = match signed.series() {
            Series::UnitsNonce => {
                let info = returned::<getERC1155OrderInfoCall>(answers, 0)?;
                (info.status, U256::from(info.remainingAmount))
            }
            _ => (returned::<getERC721OrderStatusCall>(answers, 0)?, U256::ONE),
        };
        match status {
            FILLABLE => Some(Standing::Open { remaining: remaining.into() }),
            UNFILLABLE if remaining.is_zero() => Some(Standing::Filled),
            UNFILLABLE => Some(Standing::Cancelled),
            _ => None,
        }
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |signed| self.derive(signed).map(|(collection, facts, _)| (collection, facts)))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn collection_topics(&self, _collection: Address) -> Vec<TopicFilter> {
        vec![vec![logs::PUBLISHING.to_vec()]]
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(self, logs)
    }
}

impl Zerox {
    /// The numbers by which an order can be taken back.
    fn nonces(&self, signed: &ZeroxOrder) -> Nonces {
        Nonces::new(self.domain.contract, [(signed.series(), signed.nonce.0)])
    }
}

impl ZeroxOrder {
    /// The row of numbers that the order's is of.
    fn series(&self) -> Series {
        if self.erc1155_token.is_some() { Series::UnitsNonce } else { Series::Nonce }
    }
}
