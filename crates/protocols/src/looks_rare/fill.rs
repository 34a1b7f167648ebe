//! The calls that fill orders.

use alloy_primitives::{Address as RawAddress, Bytes};
use alloy_sol_types::SolValue as _;
use bourse_wire::OrderSide;

use super::abi::{Taker, executeMultipleTakerBidsCall, executeTakerAskCall, executeTakerBidCall};
use super::order::LooksRareOrder;
use super::{LooksRare, NAME};
use crate::native;
use crate::{Call, Fill, Permission, Plan, Refusal, Trade};

/// Nobody brought the buyer.
const AFFILIATE: RawAddress = RawAddress::ZERO;

impl LooksRare {
    pub(super) fn plan(&self, trade: &Trade<'_>) -> Result<Plan, Refusal> {
        if !trade.fees.is_empty() {
            return Err(Refusal::NoFees { protocol: NAME });
        }
        let mut orders = Vec::with_capacity(trade.fills.len());
        for fill in &trade.fills {
            orders.push((fill, native::read_stored::<LooksRareOrder>(fill.stored())?));
        }
        if trade.side == OrderSide::Listing {
            let total = trade.total()?;
            let call = self.buy(trade, &orders).paying(trade.currency, total.value());
            let spending = Permission::spend(trade.currency, self.domain.contract, total);
            let permissions = spending.into_iter().collect();
            return Ok(Plan { permissions, calls: vec![call], anybody_may_send: true, note: None });
        }
        let mut calls = Vec::with_capacity(orders.len());
        for (fill, signed) in &orders {
            calls.push(self.sell(trade, fill, signed)?);
        }
        Ok(Plan { permissions: self.seller_permissions(trade.collection), calls, ..Plan::default() })
    }

    /// One call for all listings: of several, all or none. A call that leaves out what fails would succeed with too
    /// little gas as well, and wallets find out by trying how much it takes.
    fn buy(&self, trade: &Trade<'_>, orders: &[(&Fill<'_>, LooksRareOrder)]) -> Call {
        let taker = Taker { recipient: trade.taker.bytes().into(), additionalParameters: Bytes::new() };
        if let [(_, signed)] = orders {
            let call = executeTakerBidCall {
                takerBid: taker,
                makerAsk: signed.maker(),
                makerSignature: signed.signature.0.clone(),
                merkleTree: signed.tree(),
                affiliate: AFFILIATE,
            };
            return Call::of(self.domain.contract, &call);
        }
        let call = executeMultipleTakerBidsCall {
            takerBids: vec![taker; orders.len()],
            makerAsks: orders.iter().map(|(_, signed)| signed.maker()).collect(),
            makerSignatures: orders.iter().map(|(_, signed)| signed.signature.0.clone()).collect(),
            merkleTrees: orders.iter().map(|(_, signed)| signed.tree()).collect(),
            affiliate: AFFILIATE,
            isAtomic: true,
        };
        Call::of(self.domain.contract, &call)
    }

    fn sell(&self, trade: &Trade<'_>, fill: &Fill<'_>, signed: &LooksRareOrder) -> Result<Call, Refusal> {
        let token = match (signed.is_for_any(), fill.token_id) {
            (false, _) => Bytes::new(),
            (true, Some(token)) => token.value().abi_encode().into(),
            (true, None) => return Err(Refusal::AnyToken { order_id: fill.order.order_id.clone() }),
        };
        let call = executeTakerAskCall {
            takerAsk: Taker { recipient: trade.taker.bytes().into(), additionalParameters: token },
            makerBid: signed.maker(),
            makerSignature: signed.signature.0.clone(),
            merkleTree: signed.tree(),
            affiliate: AFFILIATE,
        };
        // What an offer pays comes in, so that nothing goes with the call.
        Ok(Call::of(self.domain.contract, &call).paying(trade.currency, fill.price))
    }
}
