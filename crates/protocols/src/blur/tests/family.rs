//! Random purchases, with a service that answers what it is asked for.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall as _, SolValue as _};
use bourse_wire::{Address, Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::blur::abi::{
    Exchange, FeeRate, Listing, TakeAsk, Taker, TradedOrder, takeAskCall, takeAskSingleCall,
};
use crate::testing::family::{
    DrawnOrder, Family, MAKER, SHARER, TokenMove, check, collection, drawn, fees, few,
};
use crate::testing::{admit, newest, person, stored};
use crate::{Call, Fill, Protocol, Refusal, Trade};

struct Blur;

fn listing(drawn: &DrawnOrder) -> Listing {
    let [token, units, price] = [drawn.token, drawn.units, drawn.unit_price].map(U256::from);
    Listing { index: U256::ZERO, tokenId: token, amount: units, price }
}

/// The rate of a share, in basis points.
fn rate(drawn: &DrawnOrder) -> u16 {
    u16::try_from(drawn.unit_share * 10_000 / drawn.unit_price).unwrap()
}

fn moved(exchange: &Exchange) -> TokenMove {
    let units = exchange.taker.amount;
    TokenMove { token: exchange.taker.tokenId.to(), units: units.to(), paid: exchange.listing.price * units }
}

impl Family for Blur {
    fn protocol(&self) -> Arc<dyn Protocol> {
        let marketplace = Marketplace::Blur;
        newest(marketplace)
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let listing = listing(drawn);
        // The only leaf of its tree is the root.
        let root = keccak256((listing.index, listing.tokenId, listing.amount, listing.price).abi_encode());
        let native = json!({ "trader": MAKER, "collection": collection(), "listingsRoot": root.to_string(), "numberOfListings": 1,
            "expirationTime": 9, "assetType": u8::from(drawn.is_multiple),
            "makerFee": { "recipient": SHARER, "rate": rate(drawn) }, "salt": salt, "orderType": 0, "nonce": 0,
            "listing": { "index": 0, "tokenId": drawn.token, "amount": drawn.units, "price": drawn.unit_price },
            "proof": [] });
        json!({ "native": native })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        if let Ok(one) = takeAskSingleCall::abi_decode(&call.data) {
            return vec![moved(&one.inputs.exchange)];
        }
        takeAskCall::abi_decode(&call.data).unwrap().inputs.exchanges.iter().map(moved).collect()
    }

    fn answers(&self, trade: &Trade<'_>, drawn: &[DrawnOrder]) -> Vec<Value> {
        let fee = |drawn: &DrawnOrder| FeeRate { recipient: SHARER.bytes().into(), rate: rate(drawn) };
        let order = |drawn: &DrawnOrder| TradedOrder {
            trader: MAKER.bytes().into(),
            collection: collection().bytes().into(),
            listingsRoot: B256::ZERO,
            numberOfListings: U256::ONE,
            expirationTime: U256::from(9),
            assetType: u8::from(drawn.is_multiple),
            makerFee: fee(drawn),
            salt: U256::ZERO,
        };
        let exchange = |(place, drawn): (usize, &DrawnOrder)| Exchange {
            index: U256::from(place),
            proof: Vec::new(),
            listing: listing(drawn),
            taker: Taker { tokenId: U256::from(drawn.token), amount: U256::from(drawn.traded) },
        };
        let inputs = TakeAsk {
            orders: drawn.iter().map(order).collect(),
            exchanges: drawn.iter().enumerate().map(exchange).collect(),
            takerFee: FeeRate { recipient: Address::ZERO.bytes().into(), rate: 0 },
            signatures: Bytes::new(),
            tokenRecipient: trade.taker().bytes().into(),
        };
        let data = takeAskCall { inputs, oracleSignature: Bytes::new() }.abi_encode();
        let value = trade.total().unwrap();
        let sent = json!({ "to": self.protocol().contract(), "data": format!("0x{}", hex::encode(data)), "value": value });
        vec![json!({ "buys": [{ "txnData": sent }] })]
    }

    fn may_refuse(&self, refusal: &Refusal, _drawn: &[DrawnOrder], fees: u64) -> bool {
        matches!(refusal, Refusal::NoFees { protocol: "Blur" }) && fees > 0
    }
}

#[test]
fn fewer_units_for_the_same_money_are_refused() {
    let drawn = DrawnOrder {
        side: OrderSide::Listing,
        is_native: true,
        is_multiple: true,
        token: 5,
        units: 2,
        traded: 2,
        unit_price: 10,
        unit_share: 0,
    };
    let order = admit(&*Blur.protocol(), &Blur.order(&drawn, 0)).unwrap();
    let fill = Fill::new(&*Blur.protocol(), stored(&order), 2.into()).unwrap();
    let trade = Trade::new(collection(), vec![fill], &[], person(0xb0)).unwrap();
    let filled = |answered: DrawnOrder| {
        let answers = Blur.answers(&trade, &[answered]);
        Blur.protocol().fill(&trade, &answers).map(drop).map_err(|refusal| refusal.to_string())
    };
    let half = DrawnOrder { traded: 1, unit_price: 20, ..drawn };
    let refused = filled(half).unwrap_err();
    let told =
        "the answer is for another token: 1 of token 5 for 20, where 2 of token 5 for 20 was asked for";
    assert!(refused.ends_with(told), "{refused}");
    assert_eq!(filled(drawn), Ok(()));
}

proptest! {
    #![proptest_config(few())]

    /// All prices are in the chain's own currency.
    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees()) {
        let drawn: Vec<DrawnOrder> = drawn.into_iter().map(|drawn| DrawnOrder { is_native: true, ..drawn }).collect();
        check(&Blur, &drawn, &fees)?;
    }
}
