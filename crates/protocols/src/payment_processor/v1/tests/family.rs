//! Random purchases.

use std::sync::Arc;

use alloy_sol_types::SolCall as _;
use bourse_wire::{Address, ChainId, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::abi::{MatchedOrder, buyBatchOfListingsCall, buySingleListingCall};
use crate::payment_processor::venues::first;
use crate::testing::family::{
    DrawnOrder, Family, MAKER, SHARER, TokenMove, check, collection, drawn, fees, few, signature,
};
use crate::{Call, Protocol, Refusal};

struct First;

fn moved(order: &MatchedOrder) -> TokenMove {
    assert_eq!(Address::from_bytes(order.seller.into_array()), MAKER);
    assert_eq!(order.offerPrice, order.listingMinPrice);
    TokenMove { token: order.tokenId.to(), units: order.amount.to(), paid: order.offerPrice }
}

impl Family for First {
    fn protocol(&self) -> Arc<dyn Protocol> {
        Arc::new(first(ChainId(1)).unwrap())
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let native = json!({ "protocol": u8::from(drawn.is_multiple), "sellerAcceptedOffer": false, "marketplace": SHARER,
            "marketplaceFeeNumerator": drawn.unit_share * 10_000 / drawn.unit_price, "maxRoyaltyFeeNumerator": 0,
            "privateBuyer": Address::ZERO, "seller": MAKER, "tokenAddress": collection(), "tokenId": drawn.token,
            "amount": drawn.units, "minPrice": drawn.whole(), "expiration": 9, "nonce": salt, "masterNonce": 0,
            "coin": drawn.currency() });
        json!({ "native": native, "signature": signature() })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        if let Ok(one) = buySingleListingCall::abi_decode(&call.data) {
            return vec![moved(&one.saleDetails)];
        }
        let many = buyBatchOfListingsCall::abi_decode(&call.data).unwrap();
        assert_eq!(many.signedListings.len(), many.saleDetailsArray.len());
        assert_eq!(many.signedOffers.len(), many.saleDetailsArray.len());
        many.saleDetailsArray.iter().map(moved).collect()
    }

    fn may_refuse(&self, refusal: &Refusal, drawn: &[DrawnOrder], fees: u64) -> bool {
        match refusal {
            Refusal::Whole { .. } => drawn.iter().any(|drawn| drawn.traded < drawn.units),
            Refusal::NoFees { protocol } => *protocol == "Payment Processor 1" && fees > 0,
            _ => false,
        }
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees()) {
        check(&First, &drawn, &fees)?;
    }
}
