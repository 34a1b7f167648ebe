//! Buying: what the buyer signs, and the calls that show both signatures.

use alloy_primitives::{U256, hex};
use alloy_sol_types::SolStruct as _;
use bourse_wire::{Address, from_value};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::abi::{
    MatchedOrder, OfferApproval, SignatureECDSA, buyBatchOfListingsCall, buySingleListingCall,
    masterNoncesCall,
};
use super::order::ProcessorListing;
use super::{NAME, PaymentProcessorV1};
use crate::native::{self, Data, Number, Signature, TypedData, prove, read_signature, returned};
use crate::{
    Call, Consent, ConsentAnswers, ConsentFault, ConsentOutcome, ConsentRequest, ConsentSignature,
    Permission, Plan, Refusal, SigningPayload, Trade,
};

/// For how long a buyer's signature is good. It is given when a wallet is at hand, and used at once.
const SECONDS: u64 = 3600;
/// A transaction takes a while: a signature is not used when it is about to end.
const SPARE_SECONDS: u64 = 300;

/// What a buyer signs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Approval {
    protocol: u8,
    marketplace: Address,
    marketplace_fee_numerator: Number,
    delegated_purchaser: Address,
    buyer: Address,
    token_address: Address,
    token_id: Number,
    amount: Number,
    price: Number,
    expiration: Number,
    nonce: Number,
    master_nonce: Number,
    coin: Address,
}

/// The same with the signature, as it is remembered.
#[derive(Serialize, Deserialize)]
struct Approved {
    terms: Approval,
    signature: Data,
}

impl Approval {
    fn abi(&self) -> OfferApproval {
        OfferApproval {
            protocol: self.protocol,
            marketplace: self.marketplace.bytes().into(),
            marketplaceFeeNumerator: self.marketplace_fee_numerator.0,
            delegatedPurchaser: self.delegated_purchaser.bytes().into(),
            buyer: self.buyer.bytes().into(),
            tokenAddress: self.token_address.bytes().into(),
            tokenId: self.token_id.0,
            amount: self.amount.0,
            price: self.price.0,
            expiration: self.expiration.0,
            nonce: self.nonce.0,
            masterNonce: self.master_nonce.0,
            coin: self.coin.bytes().into(),
        }
    }
}

impl PaymentProcessorV1 {
    /// What somebody signs to buy a listing. Its number is the listing's hash, as a listing can be bought only once.
    fn approval(
        &self,
        signed: &ProcessorListing,
        buyer: Address,
        expiration: U256,
        master_nonce: U256,
    ) -> Approval {
        Approval {
            protocol: signed.protocol,
            marketplace: signed.marketplace,
            marketplace_fee_numerator: signed.marketplace_fee_numerator,
            delegated_purchaser: Address::ZERO,
            buyer,
            token_address: signed.token_address,
            token_id: signed.token_id,
            amount: signed.amount,
            price: signed.min_price,
            expiration: Number(expiration),
            nonce: Number(self.digest(signed).into()),
            master_nonce: Number(master_nonce),
            coin: signed.coin,
        }
    }

    pub(super) fn unsigned(
        &self,
        trade: &Trade<'_>,
        heard: ConsentAnswers<'_>,
    ) -> Result<Vec<ConsentRequest>, Refusal> {
        let master_nonce = returned::<masterNoncesCall>(heard.chain, 0);
        let master_nonce = master_nonce.ok_or(Refusal::Unknown { what: "the master nonce of the buyer" })?;
        let mut wanted = Vec::new();
        for fill in &trade.fills {
            let signed: ProcessorListing = native::read_stored(fill.stored())?;
            let known = self.approved(trade, &signed);
            if known.is_some_and(|approved| approved.terms.master_nonce.0 == master_nonce) {
                continue;
            }
            let end = U256::from(heard.now.saturating_add(SECONDS));
            let approval = self.approval(&signed, trade.taker, end, master_nonce);
            let Ok(Value::Object(terms)) = serde_json::to_value(&approval) else {
                return Err(Refusal::Overflow);
            };
            let typed = TypedData::new::<OfferApproval>(self.domain.clone(), &terms);
            wanted.push(ConsentRequest {
                payload: SigningPayload::Typed(Box::new(typed)),
                terms,
                price: fill.price.into(),
            });
        }
        Ok(wanted)
    }

    /// What the taker has signed to buy a listing, if it is for just that.
    fn approved(&self, trade: &Trade<'_>, signed: &ProcessorListing) -> Option<Approved> {
        let approved: Approved = serde_json::from_str(trade.consent(&self.name(signed))?).ok()?;
        let Approval { expiration, master_nonce, .. } = approved.terms;
        let same = self.approval(signed, trade.taker, expiration.0, master_nonce.0);
        (approved.terms == same).then_some(approved)
    }

    pub(super) fn take_approval(&self, given: ConsentSignature<'_>) -> Result<ConsentOutcome, ConsentFault> {
        let terms: Approval = from_value(Value::Object(given.terms.clone()))?;
        if terms.buyer != given.taker {
            return Err(ConsentFault::Taker { named: terms.buyer, taker: given.taker });
        }
        // Whoever signs for longer is asked again all the same.
        let end = terms.expiration.0.saturating_to::<u64>().min(given.now.saturating_add(SECONDS));
        let until = end.saturating_sub(SPARE_SECONDS);
        if until <= given.now {
            return Err(ConsentFault::Late);
        }
        let parts = Signature::parse(&read_signature(Some(given.signature))?)?;
        let signature = Data(parts.to_bytes().to_vec().into());
        let digest = self.domain.digest(terms.abi().eip712_hash_struct());
        let proof = prove(terms.buyer, digest, &signature.0);
        let subject = format!("0x{}", hex::encode(terms.nonce.0.to_be_bytes::<32>()));
        // Members are numbers and texts.
        let text = serde_json::to_string(&Approved { terms, signature }).unwrap_or_default();
        Ok(ConsentOutcome::Given(Consent { subject, proof: text, until }, proof))
    }

    pub(super) fn plan(&self, trade: &Trade<'_>) -> Result<Plan, Refusal> {
        if !trade.fees.is_empty() {
            return Err(Refusal::NoFees { protocol: NAME });
        }
        let (mut orders, mut listings, mut offers) = (Vec::new(), Vec::new(), Vec::new());
        for fill in &trade.fills {
            let signed: ProcessorListing = native::read_stored(fill.stored())?;
            let approved = self.approved(trade, &signed).ok_or(Refusal::Consent { protocol: NAME })?;
            let damaged = |fault: native::SignatureFault| Refusal::Damaged {
                order_id: fill.order.order_id.clone(),
                reason: fault.to_string(),
            };
            listings.push(parts(&signed.signature).map_err(damaged)?);
            offers.push(parts(&approved.signature).map_err(damaged)?);
            orders.push(matched(&signed, &approved.terms));
        }
        let to = self.domain.contract;
        let call = if let ([order], [listing], [offer]) = (&orders[..], &listings[..], &offers[..]) {
            let (order, listing, offer) = (order.clone(), listing.clone(), offer.clone());
            Call::of(
                to,
                &buySingleListingCall { saleDetails: order, signedListing: listing, signedOffer: offer },
            )
        } else {
            let call = buyBatchOfListingsCall {
                saleDetailsArray: orders,
                signedListings: listings,
                signedOffers: offers,
            };
            Call::of(to, &call)
        };
        let total = trade.total()?;
        let spending = Permission::spend(trade.currency, to, total);
        let calls = vec![call.paying(trade.currency, total.value())];
        // Nobody but the buyer who signed may send it.
        Ok(Plan { permissions: spending.into_iter().collect(), calls, ..Plan::default() })
    }
}

fn parts(signature: &Data) -> Result<SignatureECDSA, native::SignatureFault> {
    let Signature { r, s, v } = Signature::parse(&signature.0)?;
    Ok(SignatureECDSA { v, r, s })
}

/// What a listing and its buyer's approval come to.
fn matched(signed: &ProcessorListing, approval: &Approval) -> MatchedOrder {
    MatchedOrder {
        sellerAcceptedOffer: false,
        collectionLevelOffer: false,
        protocol: signed.protocol,
        paymentCoin: signed.coin.bytes().into(),
        tokenAddress: signed.token_address.bytes().into(),
        seller: signed.seller.bytes().into(),
        privateBuyer: Address::ZERO.bytes().into(),
        buyer: approval.buyer.bytes().into(),
        delegatedPurchaser: approval.delegated_purchaser.bytes().into(),
        marketplace: signed.marketplace.bytes().into(),
        marketplaceFeeNumerator: signed.marketplace_fee_numerator.0,
        maxRoyaltyFeeNumerator: signed.max_royalty_fee_numerator.0,
        listingNonce: signed.nonce.0,
        offerNonce: approval.nonce.0,
        listingMinPrice: signed.min_price.0,
        offerPrice: approval.price.0,
        listingExpiration: signed.expiration.0,
        offerExpiration: approval.expiration.0,
        tokenId: signed.token_id.0,
        amount: signed.amount.0,
    }
}
