//! Random trades, with a service that signs what it is asked for.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall as _, SolValue as _};
use bourse_wire::{Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::testing::family::{DrawnOrder, Family, MAKER, TokenMove, check, collection, drawn, fees, few};
use crate::testing::newest;
use crate::x2y2::abi::{Order, OrderItem, RunInput, SettleDetail, SettleShared, Units, runCall};
use crate::{Call, Protocol, Refusal, Trade};

struct X2y2;

fn hash(place: usize) -> B256 {
    keccak256(place.to_be_bytes())
}

/// What the service gives for an order.
fn input(trade: &Trade<'_>, drawn: &DrawnOrder, place: usize) -> RunInput {
    let [token, amount, price] = [drawn.token, drawn.units, drawn.whole()].map(U256::from);
    let data = vec![Units { token: collection().bytes().into(), tokenId: token, amount }].abi_encode();
    let order = Order {
        salt: U256::ZERO,
        user: MAKER.bytes().into(),
        network: U256::ONE,
        intent: U256::ONE,
        delegateType: U256::from(2),
        deadline: U256::from(9),
        currency: drawn.currency().bytes().into(),
        dataMask: Bytes::new(),
        items: vec![OrderItem { price, data: data.into() }],
        r: B256::ZERO,
        s: B256::ZERO,
        v: 27,
        signVersion: 1,
    };
    let detail = SettleDetail {
        op: if drawn.side == OrderSide::Listing { 1 } else { 2 },
        orderIdx: U256::ZERO,
        itemIdx: U256::ZERO,
        price,
        itemHash: hash(place),
        executionDelegate: MAKER.bytes().into(),
        dataReplacement: Bytes::new(),
        bidIncentivePct: U256::ZERO,
        aucMinIncrementPct: U256::ZERO,
        aucIncDurationSecs: U256::ZERO,
        fees: Vec::new(),
    };
    let shared = SettleShared {
        salt: U256::ZERO,
        deadline: U256::from(9),
        amountToEth: U256::ZERO,
        amountToWeth: U256::ZERO,
        user: trade.taker().bytes().into(),
        canFail: false,
    };
    RunInput { orders: vec![order], details: vec![detail], shared, r: hash(1), s: hash(2), v: 27 }
}

impl Family for X2y2 {
    fn protocol(&self) -> Arc<dyn Protocol> {
        let marketplace = Marketplace::X2y2;
        newest(marketplace)
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let kind = if drawn.side == OrderSide::Listing { "sell" } else { "buy" };
        json!({ "native": { "id": salt, "type": kind, "currency": drawn.currency(), "price": drawn.whole(),
            "amount": drawn.units, "maker": MAKER, "deadline": 9, "itemHash": hash(salt).to_string(),
            "delegateType": if drawn.is_multiple { 2 } else { 1 },
            "nft": { "token": collection(), "tokenId": drawn.token } } })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        let input = runCall::abi_decode(&call.data).unwrap().input;
        let [detail] = input.details.as_slice() else { panic!("one order") };
        let units = <Vec<Units>>::abi_decode(&input.orders[0].items[0].data).unwrap();
        vec![TokenMove { token: units[0].tokenId.to(), units: units[0].amount.to(), paid: detail.price }]
    }

    fn answers(&self, trade: &Trade<'_>, drawn: &[DrawnOrder]) -> Vec<Value> {
        let answer = |(place, drawn): (usize, &DrawnOrder)| {
            let data = runCall { input: input(trade, drawn, place) }.abi_encode();
            json!({ "data": [{ "input": format!("0x{}", hex::encode(&data[4..])) }] })
        };
        drawn.iter().enumerate().map(answer).collect()
    }

    fn may_refuse(&self, refusal: &Refusal, drawn: &[DrawnOrder], fees: u64) -> bool {
        match refusal {
            Refusal::Whole { .. } => drawn.iter().any(|drawn| drawn.traded < drawn.units),
            Refusal::NoFees { protocol } => *protocol == "X2Y2" && fees > 0,
            _ => false,
        }
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees()) {
        check(&X2y2, &drawn, &fees)?;
    }

    #[test]
    fn sales_add_up(drawn in drawn(OrderSide::Offer), fees in fees()) {
        check(&X2y2, &drawn, &fees)?;
    }
}
