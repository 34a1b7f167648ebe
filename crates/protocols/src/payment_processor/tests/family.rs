//! Random trades in both versions.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::{SolCall as _, SolValue as _};
use bourse_wire::{Address, ChainId, Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::payment_processor::Version;
use crate::payment_processor::abi::{
    Cosignature, FeeOnTop, Order, SignatureECDSA, TokenSetProof, acceptOfferCall, bulkBuyListingsCall,
    buyListingCall,
};
use crate::payment_processor::venues::later;
use crate::testing::family::{
    DrawnOrder, Family, MAKER, SHARER, TokenMove, check, collection, drawn, fees, few, signature,
};
use crate::{Call, Protocol, Refusal};

type One = (Order, SignatureECDSA, Cosignature, FeeOnTop);
type Many = (Vec<Order>, Vec<SignatureECDSA>, Vec<Cosignature>, Vec<FeeOnTop>);
type Offer = (bool, Order, SignatureECDSA, TokenSetProof, Cosignature, FeeOnTop);
type OlderOne = (B256, Order, SignatureECDSA, Cosignature, FeeOnTop);
type OlderMany = (B256, Vec<Order>, Vec<SignatureECDSA>, Vec<Cosignature>, Vec<FeeOnTop>);
type OlderOffer = (B256, bool, Order, SignatureECDSA, TokenSetProof, Cosignature, FeeOnTop);

struct Processor(Version);

impl Processor {
    fn one(&self, data: &Bytes) -> (Order, FeeOnTop) {
        match self.0 {
            Version::V2 => {
                let (_, order, _, _, fee) = OlderOne::abi_decode_params(data).unwrap();
                (order, fee)
            }
            Version::V21 => {
                let (order, _, _, fee) = One::abi_decode_params(data).unwrap();
                (order, fee)
            }
        }
    }

    fn many(&self, data: &Bytes) -> Vec<(Order, FeeOnTop)> {
        let (orders, fees) = match self.0 {
            Version::V2 => {
                let (_, orders, _, _, fees) = OlderMany::abi_decode_params(data).unwrap();
                (orders, fees)
            }
            Version::V21 => {
                let (orders, _, _, fees) = Many::abi_decode_params(data).unwrap();
                (orders, fees)
            }
        };
        orders.into_iter().zip(fees).collect()
    }

    fn offer(&self, data: &Bytes) -> Order {
        match self.0 {
            Version::V2 => OlderOffer::abi_decode_params(data).unwrap().2,
            Version::V21 => Offer::abi_decode_params(data).unwrap().1,
        }
    }
}

/// What the contract makes of an order, which divides the price first.
fn moved(order: &Order, fee: U256) -> TokenMove {
    assert_eq!(Address::from_bytes(order.maker.into_array()), MAKER);
    assert_eq!(order.requestedFillAmount, order.minimumFillAmount);
    let price = order.itemPrice / order.amount * order.requestedFillAmount;
    assert!(fee <= price, "the contract takes no larger fee");
    TokenMove { token: order.tokenId.to(), units: order.requestedFillAmount.to(), paid: price + fee }
}

impl Family for Processor {
    fn protocol(&self) -> Arc<dyn Protocol> {
        let mut known = later(Marketplace::PaymentProcessor, ChainId(1)).into_iter();
        Arc::new(known.find(|known| known.version == self.0).unwrap())
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let protocol = if drawn.is_multiple { 2 } else { 0 };
        let mut native = json!({ "protocol": protocol, "marketplace": SHARER, "paymentMethod": drawn.currency(),
            "tokenAddress": collection(), "tokenId": drawn.token, "amount": drawn.units, "itemPrice": drawn.whole(),
            "expiration": 9, "marketplaceFeeNumerator": drawn.unit_share * 10_000 / drawn.unit_price, "nonce": salt,
            "masterNonce": 0 });
        if drawn.side == OrderSide::Listing {
            native["seller"] = json!(MAKER);
        } else {
            (native["buyer"], native["beneficiary"]) = (json!(MAKER), json!(MAKER));
        }
        json!({ "native": native, "signature": signature() })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        if let Ok(call) = buyListingCall::abi_decode(&call.data) {
            let (order, fee) = self.one(&call.data);
            return vec![moved(&order, fee.amount)];
        }
        if let Ok(call) = acceptOfferCall::abi_decode(&call.data) {
            return vec![moved(&self.offer(&call.data), U256::ZERO)];
        }
        let call = bulkBuyListingsCall::abi_decode(&call.data).unwrap();
        self.many(&call.data).iter().map(|(order, fee)| moved(order, fee.amount)).collect()
    }

    fn may_refuse(&self, refusal: &Refusal, _drawn: &[DrawnOrder], fees: u64) -> bool {
        matches!(refusal, Refusal::FeeSum { .. } | Refusal::FeeSlots { .. }) && fees > 0
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees(), is_older: bool) {
        check(&Processor(if is_older { Version::V2 } else { Version::V21 }), &drawn, &fees)?;
    }

    #[test]
    fn sales_add_up(drawn in drawn(OrderSide::Offer), fees in fees(), is_older: bool) {
        check(&Processor(if is_older { Version::V2 } else { Version::V21 }), &drawn, &fees)?;
    }
}
