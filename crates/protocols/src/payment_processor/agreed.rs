//! Orders that somebody must cosign: asking for it, and finding the cosignature in the answer.

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::{SolCall as _, SolStruct as _, SolValue as _};
use bourse_wire::Address;
use serde_json::Value;

use super::abi::{
    Cosignature, FeeOnTop, Order, SignatureECDSA, TokenSetProof, acceptOfferCall, bulkBuyListingsCall,
    buyListingCall,
};
use super::order::ProcessorOrder;
use super::{PaymentProcessor, Version};
use crate::logs::address;
use crate::native::{self, Signature, SourceFault, SourceRequest, ask_reservoir, read_reservoir, same};
use crate::{Refusal, Trade};

/// What a cosigner signs, under the name that it has there.
mod typed {
    alloy_sol_types::sol! {
        struct Cosignature {
            uint8 v;
            bytes32 r;
            bytes32 s;
            uint256 expiration;
            address taker;
        }
    }
}

/// An order in a call, with the cosignature for it.
type CosignedOrder = (Order, Cosignature);

/// What to ask so that all orders of a trade can be filled.
pub(super) fn ask(trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
    let mut requests = Vec::new();
    for fill in &trade.fills {
        let signed: ProcessorOrder = native::read_stored(fill.stored())?;
        if signed.cosigner != Address::ZERO {
            requests.push(ask_reservoir(fill, trade.collection, trade.taker));
        }
    }
    Ok(requests)
}

impl PaymentProcessor {
    /// The cosignature for an order of a trade and its taker. Nothing else of an answer is used: who puts other shares,
    /// fees or tokens into its call gains nothing by it.
    pub(super) fn cosignature(
        &self,
        signed: &ProcessorOrder,
        trade: &Trade<'_>,
        answer: &Value,
    ) -> Result<Cosignature, SourceFault> {
        let mut cosigned = Vec::new();
        for call in read_reservoir(answer)? {
            same("contract", &call.to, &self.domain.contract)?;
            cosigned.extend(self.cosigned(&call.data));
        }
        let is_it = |order: &Order| order.nonce == signed.nonce.0 && address(order.maker) == signed.maker();
        let found = cosigned.into_iter().find(|(order, _)| is_it(order));
        let (_, cosignature) = found.ok_or(SourceFault::Missing { member: "cosignature" })?;
        same("cosigner", &address(cosignature.signer), &signed.cosigner)?;
        same("taker", &address(cosignature.taker), &trade.taker)?;
        let signer = self.cosigner_of(signed, &cosignature).unwrap_or_default();
        same("cosigner", &signer, &signed.cosigner)?;
        if cosignature.expiration < U256::from(trade.now) {
            return Err(SourceFault::Expired { until: cosignature.expiration });
        }
        Ok(cosignature)
    }

    /// Whose key a cosignature was made with.
    fn cosigner_of(&self, signed: &ProcessorOrder, cosignature: &Cosignature) -> Option<Address> {
        let maker = Signature::parse(&signed.signature.0).ok()?;
        let value = typed::Cosignature {
            v: maker.v,
            r: maker.r,
            s: maker.s,
            expiration: cosignature.expiration,
            taker: cosignature.taker,
        };
        let v = cosignature.v.saturating_to();
        let own = Signature { r: cosignature.r, s: cosignature.s, v };
        own.signer(self.domain.digest(value.eip712_hash_struct()))
    }

    /// The orders in a call; none when it is another call.
    fn cosigned(&self, data: &Bytes) -> Vec<CosignedOrder> {
        if let Ok(call) = buyListingCall::abi_decode(data) {
            return self.one(&call.data).into_iter().collect();
        }
        if let Ok(call) = bulkBuyListingsCall::abi_decode(data) {
            return self.many(&call.data).unwrap_or_default();
        }
        let offer = acceptOfferCall::abi_decode(data).ok();
        offer.and_then(|call| self.offer(&call.data)).into_iter().collect()
    }

    fn one(&self, data: &Bytes) -> Option<CosignedOrder> {
        type Arguments = (Order, SignatureECDSA, Cosignature, FeeOnTop);
        type OlderArguments = (B256, Order, SignatureECDSA, Cosignature, FeeOnTop);
        Some(match self.version {
            Version::V2 => {
                let (_, order, _, cosignature, _) = OlderArguments::abi_decode_params(data).ok()?;
                (order, cosignature)
            }
            Version::V21 => {
                let (order, _, cosignature, _) = Arguments::abi_decode_params(data).ok()?;
                (order, cosignature)
            }
        })
    }

    fn many(&self, data: &Bytes) -> Option<Vec<CosignedOrder>> {
        type Arguments = (Vec<Order>, Vec<SignatureECDSA>, Vec<Cosignature>, Vec<FeeOnTop>);
        type OlderArguments = (B256, Vec<Order>, Vec<SignatureECDSA>, Vec<Cosignature>, Vec<FeeOnTop>);
        let (orders, cosignatures) = match self.version {
            Version::V2 => {
                let (_, orders, _, cosignatures, _) = OlderArguments::abi_decode_params(data).ok()?;
                (orders, cosignatures)
            }
            Version::V21 => {
                let (orders, _, cosignatures, _) = Arguments::abi_decode_params(data).ok()?;
                (orders, cosignatures)
            }
        };
        Some(orders.into_iter().zip(cosignatures).collect())
    }

    fn offer(&self, data: &Bytes) -> Option<CosignedOrder> {
        type Arguments = (bool, Order, SignatureECDSA, TokenSetProof, Cosignature, FeeOnTop);
        type OlderArguments = (B256, bool, Order, SignatureECDSA, TokenSetProof, Cosignature, FeeOnTop);
        Some(match self.version {
            Version::V2 => {
                let (_, _, order, _, _, cosignature, _) = OlderArguments::abi_decode_params(data).ok()?;
                (order, cosignature)
            }
            Version::V21 => {
                let (_, order, _, _, cosignature, _) = Arguments::abi_decode_params(data).ok()?;
                (order, cosignature)
            }
        })
    }
}
