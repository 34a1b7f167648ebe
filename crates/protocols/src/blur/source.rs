//! What Blur's own service is asked, and what it answers.

use std::fmt;

use alloy_primitives::U256;
use alloy_sol_types::SolCall as _;
use bourse_market::write_formatted;
use serde_json::{Value, json};

use super::abi::{Exchange, TradedOrder, takeAskCall, takeAskSingleCall};
use super::order::BlurOrder;
use super::{Blur, NAME, login};
use crate::logs::address;
use crate::native::{self, ProposedCall, SourceFault, SourceRequest, member, proposed, same};
use crate::{Call, Plan, Refusal, Trade};

/// Decimals of the currency that all prices are in.
const DECIMALS: u8 = 18;

/// Asks for the calls that fill listings of one collection.
pub(super) fn ask(trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
    if !trade.fees.is_empty() {
        return Err(Refusal::NoFees { protocol: NAME });
    }
    let token = trade.consent(login::SUBJECT).ok_or(Refusal::Consent { protocol: NAME })?;
    let mut prices = Vec::with_capacity(trade.fills.len());
    for fill in &trade.fills {
        let signed: BlurOrder = native::read_stored(fill.stored())?;
        let mut amount = Vec::new();
        write_formatted(&mut amount, signed.listing.price.0.to_string().as_bytes(), DECIMALS);
        let amount = String::from_utf8_lossy(&amount).into_owned();
        prices.push(json!({ "tokenId": signed.listing.token_id,
            "price": { "amount": amount, "unit": "ETH" } }));
    }
    let body = json!({ "userAddress": trade.taker, "tokenPrices": prices });
    let mut request = SourceRequest::new(format!("/v1/buy/{}", trade.collection), body);
    request.headers = vec![("authToken", token.to_owned()), ("walletAddress", trade.taker.to_string())];
    Ok(vec![request])
}

impl Blur {
    pub(super) fn plan(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        let first = trade.fills.first().ok_or(Refusal::Empty)?.order;
        let order_id = || first.order_id.clone();
        let [answer] = answers else { return Err(Refusal::Held { order_id: order_id() }) };
        let calls = self.calls(trade, answer);
        let calls = calls.map_err(|fault| Refusal::Source { order_id: order_id(), fault })?;
        // Blur agrees to one sender alone.
        Ok(Plan { calls, ..Plan::default() })
    }

    /// The calls of an answer, once it is sure that they buy what was asked for, at its price, for the taker.
    fn calls(&self, trade: &Trade<'_>, answer: &Value) -> Result<Vec<Call>, SourceFault> {
        if let Some(reason) = answer.pointer("/cancelReasons/0/reason").and_then(Value::as_str) {
            return Err(SourceFault::Refused { reason: reason.to_owned() });
        }
        let missing = SourceFault::Missing { member: "/buys" };
        let buys = member(answer, "/buys")?.as_array().ok_or(missing)?;
        let mut wanted: Vec<Bought> = trade
            .fills
            .iter()
            .map(|fill| Bought {
                token: fill.order.token_id.unwrap_or_default().value(),
                units: fill.quantity.value(),
                price: fill.price,
            })
            .collect();
        let mut calls = Vec::with_capacity(buys.len());
        for buy in buys {
            let sent = proposed(member(buy, "/txnData")?)?;
            let price = self.check(trade, &sent, &mut wanted)?;
            same("value", &sent.value, &price)?;
            let price = price.into();
            calls.push(Call { to: sent.to, data: sent.data, value: price, price });
        }
        if wanted.is_empty() { Ok(calls) } else { Err(SourceFault::Missing { member: "token" }) }
    }

    /// What a call costs. What it buys is taken off what is wanted.
    fn check(
        &self,
        trade: &Trade<'_>,
        sent: &ProposedCall,
        wanted: &mut Vec<Bought>,
    ) -> Result<U256, SourceFault> {
        same("contract", &sent.to, &self.domain.contract)?;
        let (orders, exchanges, recipient, fee) = take_arguments(sent)?;
        same("recipient", &address(recipient), &trade.taker)?;
        same("fee", &fee, &0)?;
        let mut total = U256::ZERO;
        for exchange in exchanges {
            let place: usize = exchange.index.saturating_to();
            let order = orders.get(place).ok_or(SourceFault::Missing { member: "order" })?;
            same("collection", &address(order.collection), &trade.collection)?;
            let price = exchange.listing.price.saturating_mul(exchange.taker.amount);
            let bought = Bought { token: exchange.taker.tokenId, units: exchange.taker.amount, price };
            let place = wanted.iter().position(|wanted| *wanted == bought);
            let asked = wanted.first().copied().unwrap_or_default();
            let (found, asked) = (bought.to_string(), asked.to_string());
            let other = SourceFault::Other { what: "token", found, wanted: asked };
            wanted.remove(place.ok_or(other)?);
            total = total.saturating_add(price);
        }
        Ok(total)
    }
}

/// What is bought of one listing.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Bought {
    token: U256,
    units: U256,
    price: U256,
}

impl fmt::Display for Bought {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, units, price } = self;
        write!(formatter, "{units} of token {token} for {price}")
    }
}

type TakeArguments = (Vec<TradedOrder>, Vec<Exchange>, alloy_primitives::Address, u16);

/// What a call takes, for whom, and the share that the taker would pay to somebody.
fn take_arguments(sent: &ProposedCall) -> Result<TakeArguments, SourceFault> {
    if let Ok(call) = takeAskSingleCall::abi_decode(&sent.data) {
        let inputs = call.inputs;
        let exchange = Exchange { index: U256::ZERO, ..inputs.exchange };
        return Ok((vec![inputs.order], vec![exchange], inputs.tokenRecipient, inputs.takerFee.rate));
    }
    let call = takeAskCall::abi_decode(&sent.data);
    let inputs = call.map_err(|_| SourceFault::Missing { member: "/buys/txnData/data" })?.inputs;
    Ok((inputs.orders, inputs.exchanges, inputs.tokenRecipient, inputs.takerFee.rate))
}
