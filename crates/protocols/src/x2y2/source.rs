//! What X2Y2's own service is asked, and what it answers.

use alloy_primitives::{Address as RawAddress, Bytes, U256};
use alloy_sol_types::{SolCall as _, SolValue as _};
use bourse_wire::{OrderSide, TokenId};
use serde_json::{Value, json};

use super::abi::{Order, OrderItem, RunInput, SettleDetail, runCall};
use super::{NAME, X2y2, X2y2Order};
use crate::logs::address;
use crate::native::{self, SourceFault, SourceRequest, member, same};
use crate::{Call, Fill, Permission, Plan, Refusal, Trade};

/// Fills a listing, in the words of the contract.
const COMPLETE_SELL_OFFER: u8 = 1;
/// Fills an offer.
const COMPLETE_BUY_OFFER: u8 = 2;

fn operation(side: OrderSide) -> u8 {
    match side {
        OrderSide::Listing => COMPLETE_SELL_OFFER,
        OrderSide::Offer | OrderSide::Unknown => COMPLETE_BUY_OFFER,
    }
}

/// Asks for the input of a call for each order.
pub(super) fn ask(trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
    if !trade.fees.is_empty() {
        return Err(Refusal::NoFees { protocol: NAME });
    }
    let mut requests = Vec::with_capacity(trade.fills.len());
    for fill in &trade.fills {
        let held: X2y2Order = native::read_stored(fill.stored())?;
        let mut item = json!({ "orderId": held.id, "currency": held.currency, "price": held.price });
        if trade.side != OrderSide::Listing {
            let any = || Refusal::AnyToken { order_id: fill.order.order_id.clone() };
            item["tokenId"] = json!(fill.token_id.ok_or_else(any)?);
        }
        let body = json!({ "caller": trade.taker, "op": operation(trade.side), "amountToEth": "0",
            "amountToWeth": "0", "check": false, "items": [item] });
        requests.push(SourceRequest::new("/api/orders/sign", body));
    }
    Ok(requests)
}

impl X2y2 {
    pub(super) fn plan(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        let mut calls = Vec::with_capacity(trade.fills.len());
        let mut is_multiple = false;
        let mut answers = answers.iter();
        for fill in &trade.fills {
            let held: X2y2Order = native::read_stored(fill.stored())?;
            is_multiple |= held.is_multiple();
            let order_id = || fill.order.order_id.clone();
            let answer = answers.next().ok_or_else(|| Refusal::Held { order_id: order_id() })?;
            let call = self.call(trade, fill, &held, answer);
            calls.push(call.map_err(|fault| Refusal::Source { order_id: order_id(), fault })?);
        }
        let permission = match trade.side {
            OrderSide::Listing => Permission::spend(trade.currency, self.contract, trade.total()?),
            OrderSide::Offer | OrderSide::Unknown => {
                let operator = self.delegate(is_multiple);
                Some(Permission::Move { collection: trade.collection, operator })
            }
        };
        // The contract wants the taker to send it.
        Ok(Plan { permissions: permission.into_iter().collect(), calls, ..Plan::default() })
    }

    /// The call that an answer is for, once it is sure that it fills this order, at its price, for the taker.
    fn call(
        &self,
        trade: &Trade<'_>,
        fill: &Fill<'_>,
        held: &X2y2Order,
        answer: &Value,
    ) -> Result<Call, SourceFault> {
        let is_refused = answer.get("success").is_some_and(|success| success == false);
        if let Some(reason) = answer.get("message").and_then(Value::as_str).filter(|_| is_refused) {
            return Err(SourceFault::Refused { reason: reason.to_owned() });
        }
        let missing = SourceFault::Missing { member: "/data/0/input" };
        let text = member(answer, "/data/0/input")?.as_str();
        let input = text.and_then(|text| alloy_primitives::hex::decode(text).ok());
        let mut data = runCall::SELECTOR.to_vec();
        data.extend(input.ok_or(missing.clone())?);
        let run = runCall::abi_decode(&data).map_err(|_| missing)?;
        check(trade, fill, held, &run.input)?;
        // Encoded again: nothing hides behind what was read.
        Ok(Call::of(self.contract, &run).paying(trade.currency, fill.price))
    }
}

/// The token that an item is, in the form of the contract that moves it.
fn token_of(data: &Bytes, held: &X2y2Order) -> Result<String, SourceFault> {
    let tokens = if held.is_multiple() {
        Vec::<(RawAddress, U256, U256)>::abi_decode(data)
    } else {
        let one = |(token, id): (RawAddress, U256)| (token, id, U256::ONE);
        Vec::<(RawAddress, U256)>::abi_decode(data).map(|tokens| tokens.into_iter().map(one).collect())
    };
    match tokens.as_deref() {
        Ok([(token, id, amount)]) => Ok(format!("{amount} of {id} of {}", address(*token))),
        _ => Err(SourceFault::Missing { member: "token" }),
    }
}

impl X2y2Order {
    /// The token that it is filled with, in words: its own, or for an offer for any the one that somebody sells.
    fn token(&self, fill: &Fill<'_>) -> String {
        let id = self.nft.token_id.map(|id| id.0).or(fill.token_id.map(TokenId::value)).unwrap_or_default();
        format!("{} of {id} of {}", self.amount, self.nft.token)
    }
}

/// What an item is for when it is settled: the contract puts in what the service tells where the maker has left bytes open,
/// and nowhere else.
fn settled(order: &Order, item: &OrderItem, detail: &SettleDetail) -> Result<Bytes, SourceFault> {
    let (mask, told) = (&order.dataMask, &detail.dataReplacement);
    if mask.is_empty() || told.is_empty() {
        return Ok(item.data.clone());
    }
    if mask.len() != item.data.len() || told.len() != item.data.len() {
        return Err(SourceFault::Missing { member: "replacement" });
    }
    let bytes = item.data.iter().zip(mask).zip(told);
    Ok(bytes.map(|((own, mask), told)| if *mask == 0 { *own } else { *told }).collect())
}

fn check(trade: &Trade<'_>, fill: &Fill<'_>, held: &X2y2Order, input: &RunInput) -> Result<(), SourceFault> {
    let [detail] = input.details.as_slice() else {
        return Err(SourceFault::Missing { member: "detail of one order" });
    };
    same("order", &detail.itemHash, &held.item_hash.0)?;
    same("operation", &detail.op, &operation(trade.side))?;
    same("price", &detail.price, &held.price.0)?;
    same("taker", &address(input.shared.user), &trade.taker)?;
    let place: usize = detail.orderIdx.saturating_to();
    let order = input.orders.get(place).ok_or(SourceFault::Missing { member: "order" })?;
    same("maker", &address(order.user), &held.maker)?;
    same("currency", &address(order.currency), &held.currency)?;
    let place: usize = detail.itemIdx.saturating_to();
    let item = order.items.get(place).ok_or(SourceFault::Missing { member: "item" })?;
    same("token", &token_of(&settled(order, item, detail)?, held)?, &held.token(fill))?;
    // Money is neither wrapped nor unwrapped on the way, as was asked for.
    same("amount to unwrap", &input.shared.amountToEth, &U256::ZERO)?;
    same("amount to wrap", &input.shared.amountToWeth, &U256::ZERO)
}
