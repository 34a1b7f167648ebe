//! Random trades.

use std::sync::Arc;

use alloy_sol_types::SolCall as _;
use bourse_wire::{Address, Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::looks_rare::abi::{Maker, executeMultipleTakerBidsCall, executeTakerAskCall, executeTakerBidCall};
use crate::testing::family::{
    DrawnOrder, Family, MAKER, TokenMove, check, collection, drawn, fees, few, signature,
};
use crate::testing::newest;
use crate::{Call, Protocol, Refusal};

struct LooksRare;

impl Family for LooksRare {
    fn protocol(&self) -> Arc<dyn Protocol> {
        let marketplace = Marketplace::LooksRare;
        newest(marketplace)
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let native = json!({ "quoteType": u8::from(drawn.side == OrderSide::Listing), "globalNonce": 1, "subsetNonce": 2,
            "orderNonce": salt, "strategyId": 0, "collectionType": u8::from(drawn.is_multiple), "collection": collection(),
            "currency": drawn.currency(), "signer": MAKER, "startTime": 1, "endTime": 2, "price": drawn.whole(),
            "itemIds": [drawn.token], "amounts": [drawn.units], "additionalParameters": "0x" });
        json!({ "native": native, "signature": signature() })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        let makers: Vec<Maker> = if let Ok(one) = executeTakerBidCall::abi_decode(&call.data) {
            vec![one.makerAsk]
        } else if let Ok(one) = executeTakerAskCall::abi_decode(&call.data) {
            vec![one.makerBid]
        } else {
            executeMultipleTakerBidsCall::abi_decode(&call.data).unwrap().makerAsks
        };
        let moved = |maker: Maker| {
            assert_eq!(Address::from_bytes(maker.signer.into_array()), MAKER);
            TokenMove { token: maker.itemIds[0].to(), units: maker.amounts[0].to(), paid: maker.price }
        };
        makers.into_iter().map(moved).collect()
    }

    fn may_refuse(&self, refusal: &Refusal, drawn: &[DrawnOrder], fees: u64) -> bool {
        match refusal {
            Refusal::Whole { .. } => drawn.iter().any(|drawn| drawn.traded < drawn.units),
            Refusal::NoFees { protocol } => *protocol == "LooksRare" && fees > 0,
            _ => false,
        }
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees()) {
        check(&LooksRare, &drawn, &fees)?;
    }

    #[test]
    fn sales_add_up(drawn in drawn(OrderSide::Offer), fees in fees()) {
        check(&LooksRare, &drawn, &fees)?;
    }
}
