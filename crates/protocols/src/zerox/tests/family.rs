//! Random trades, of one of a kind and of units alike.

use std::sync::Arc;

use alloy_primitives::U256;
use alloy_sol_types::SolCall as _;
use bourse_wire::{Address, Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::testing::family::{
    DrawnOrder, Family, MAKER, SHARER, TokenMove, check, collection, drawn, fees, few,
};
use crate::testing::newest;
use crate::zerox::abi::{
    ERC721Order, ERC1155Order, Fee, batchBuyERC721sCall, batchBuyERC1155sCall, buyERC721Call, buyERC1155Call,
    sellERC721Call, sellERC1155Call,
};
use crate::{Call, Protocol, Refusal};

const NATIVE: &str = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

struct Zerox;

fn sum(price: U256, fees: &[Fee]) -> U256 {
    fees.iter().fold(price, |sum, fee| sum + fee.amount)
}

fn one(order: &ERC721Order, token: U256) -> TokenMove {
    assert_eq!(Address::from_bytes(order.maker.into_array()), MAKER);
    TokenMove { token: token.to(), units: 1, paid: sum(order.erc20TokenAmount, &order.fees) }
}

fn units(order: &ERC1155Order, token: U256, amount: u128) -> TokenMove {
    assert_eq!(Address::from_bytes(order.maker.into_array()), MAKER);
    // Prices and shares are drawn for each unit, so that everything divides.
    let whole = U256::from(order.erc1155TokenAmount);
    let paid = sum(order.erc20TokenAmount, &order.fees) * U256::from(amount) / whole;
    TokenMove { token: token.to(), units: u64::try_from(amount).unwrap(), paid }
}

impl Family for Zerox {
    fn protocol(&self) -> Arc<dyn Protocol> {
        let marketplace = Marketplace::Zerox;
        newest(marketplace)
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let share = drawn.unit_share * drawn.units;
        let currency = if drawn.is_native { json!(NATIVE) } else { json!(drawn.currency()) };
        let mut native = json!({ "direction": u8::from(drawn.side == OrderSide::Offer), "maker": MAKER,
            "taker": Address::ZERO, "expiry": 9, "nonce": salt, "erc20Token": currency,
            "erc20TokenAmount": (drawn.whole() - share).to_string(), "signatureType": 4,
            "fees": [{ "recipient": SHARER, "amount": share.to_string() }] });
        let token = if drawn.is_multiple { "erc1155Token" } else { "erc721Token" };
        native[token] = json!(collection());
        native[format!("{token}Id")] = json!(drawn.token);
        native[format!("{token}Properties")] = json!([]);
        if drawn.is_multiple {
            native["erc1155TokenAmount"] = json!(drawn.units);
        }
        json!({ "native": native })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        let data = &call.data;
        if let Ok(call) = buyERC721Call::abi_decode(data) {
            return vec![one(&call.sellOrder, call.sellOrder.erc721TokenId)];
        }
        if let Ok(call) = sellERC721Call::abi_decode(data) {
            return vec![one(&call.buyOrder, call.erc721TokenId)];
        }
        if let Ok(call) = batchBuyERC721sCall::abi_decode(data) {
            return call.sellOrders.iter().map(|order| one(order, order.erc721TokenId)).collect();
        }
        if let Ok(call) = buyERC1155Call::abi_decode(data) {
            return vec![units(&call.sellOrder, call.sellOrder.erc1155TokenId, call.erc1155BuyAmount)];
        }
        if let Ok(call) = sellERC1155Call::abi_decode(data) {
            return vec![units(&call.buyOrder, call.erc1155TokenId, call.erc1155SellAmount)];
        }
        let call = batchBuyERC1155sCall::abi_decode(data).unwrap();
        let orders = call.sellOrders.iter().zip(call.erc1155TokenAmounts);
        orders.map(|(order, amount)| units(order, order.erc1155TokenId, amount)).collect()
    }

    fn may_refuse(&self, refusal: &Refusal, _drawn: &[DrawnOrder], fees: u64) -> bool {
        matches!(refusal, Refusal::NoFees { protocol: "0x" }) && fees > 0
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees()) {
        check(&Zerox, &drawn, &fees)?;
    }

    #[test]
    fn sales_add_up(drawn in drawn(OrderSide::Offer), fees in fees()) {
        check(&Zerox, &drawn, &fees)?;
    }
}
