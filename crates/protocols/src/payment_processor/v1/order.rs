//! Listings as they are signed, and what they come to.

use alloy_primitives::{B256, U256, hex, keccak256};
use alloy_sol_types::SolStruct as _;
use bourse_wire::{Address, JsonObject, OrderFacts, OrderSide, TokenId, from_value, take_member};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{FeeTerms, shares};
use super::PaymentProcessorV1;
use super::abi::SaleApproval;
use crate::native::{Data, Deal, Number, OrderFault, Signature, SubmittedOrder, read_signature};

/// The only one of a token.
const ONE: u8 = 0;
/// Units of a token, all at once.
const UNITS: u8 = 1;

/// A listing with its signature, as it is put and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProcessorListing {
    pub(super) protocol: u8,
    #[serde(default)]
    seller_accepted_offer: bool,
    pub(super) marketplace: Address,
    #[serde(default)]
    pub(super) marketplace_fee_numerator: Number,
    #[serde(default)]
    pub(super) max_royalty_fee_numerator: Number,
    #[serde(default)]
    private_buyer: Address,
    /// Absent from an offer.
    #[serde(default)]
    pub(super) seller: Address,
    pub(super) token_address: Address,
    #[serde(default)]
    pub(super) token_id: Number,
    pub(super) amount: Number,
    pub(super) min_price: Number,
    pub(super) expiration: Number,
    pub(super) nonce: Number,
    pub(super) master_nonce: Number,
    pub(super) coin: Address,
    #[serde(default)]
    pub(super) signature: Data,
    /// The contract that it is signed for.
    #[serde(default)]
    pub(super) protocol_address: Address,
}

impl ProcessorListing {
    pub(super) fn read(order: SubmittedOrder<'_>, contract: Address) -> Result<Self, OrderFault> {
        let mut members = order.native.clone();
        let is_offer = take_member(&mut members, "buyer").is_some() || is_published_offer(&members);
        rename_published(&mut members);
        let mut signed: Self = from_value(Value::Object(members))?;
        if is_offer || signed.seller == Address::ZERO {
            return Err(OrderFault::Unsupported { member: "buyer", what: "offers of the first version" });
        }
        if order.signature.is_some() || signed.signature.0.is_empty() {
            signed.signature = Data(read_signature(order.signature)?);
        }
        // The contract takes its parts, whoever made it.
        let parts = Signature::parse(&signed.signature.0)?;
        signed.signature = Data(parts.to_bytes().to_vec().into());
        signed.protocol_address = contract;
        if signed.protocol > UNITS {
            let (value, known) = (signed.protocol.into(), "0 (ERC721), 1 (ERC1155)");
            return Err(OrderFault::Kind { member: "protocol", value, known });
        }
        if signed.seller_accepted_offer {
            let what = "listings that answer an offer";
            return Err(OrderFault::Unsupported { member: "sellerAcceptedOffer", what });
        }
        if signed.private_buyer != Address::ZERO {
            return Err(OrderFault::Private { member: "privateBuyer", taker: signed.private_buyer });
        }
        Ok(signed)
    }

    pub(super) fn to_text(&self) -> String {
        // Members are numbers and texts.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The number by which the listing can be taken back.
    pub(super) fn number(&self) -> U256 {
        number(self.marketplace, self.nonce.0)
    }

    /// The hash of what was signed, apart from for whom.
    pub(super) fn hash(&self) -> B256 {
        SaleApproval {
            protocol: self.protocol,
            sellerAcceptedOffer: self.seller_accepted_offer,
            marketplace: self.marketplace.bytes().into(),
            marketplaceFeeNumerator: self.marketplace_fee_numerator.0,
            maxRoyaltyFeeNumerator: self.max_royalty_fee_numerator.0,
            privateBuyer: self.private_buyer.bytes().into(),
            seller: self.seller.bytes().into(),
            tokenAddress: self.token_address.bytes().into(),
            tokenId: self.token_id.0,
            amount: self.amount.0,
            minPrice: self.min_price.0,
            expiration: self.expiration.0,
            nonce: self.nonce.0,
            masterNonce: self.master_nonce.0,
            coin: self.coin.bytes().into(),
        }
        .eip712_hash_struct()
    }
}

/// A number as this contract counts it, for each marketplace apart: both are in it.
pub(super) fn number(marketplace: Address, nonce: U256) -> U256 {
    keccak256([marketplace.bytes().as_slice(), &nonce.to_be_bytes::<32>()].concat()).into()
}

/// Aggregators publish listings and offers under the same names, and say which it is.
fn is_published_offer(members: &JsonObject) -> bool {
    members.get("kind").and_then(Value::as_str).is_some_and(|kind| kind != "sale-approval")
}

fn rename_published(members: &mut JsonObject) {
    for (published, own) in [
        ("sellerOrBuyer", "seller"),
        ("price", "minPrice"),
        ("privateBuyerOrDelegatedPurchaser", "privateBuyer"),
    ] {
        if let Some(value) = take_member(members, published) {
            members.insert(own.to_owned(), value);
        }
    }
}

impl PaymentProcessorV1 {
    /// What the listing is.
    pub(super) fn derive(&self, signed: &ProcessorListing) -> Result<OrderFacts, OrderFault> {
        let (value, is_single) = (signed.amount.0, signed.protocol == ONE);
        if value.is_zero() || is_single && value != U256::ONE {
            let expected = if is_single { "1 of an ERC721 token" } else { "at least 1" };
            return Err(OrderFault::Quantity { member: "amount", value, expected });
        }
        // Whoever made the token gets what it says itself, at most what was signed.
        let fees = FeeTerms {
            marketplace: signed.marketplace,
            marketplace_bps: signed.marketplace_fee_numerator.0,
            artist: Address::ZERO,
            royalty_bps: signed.max_royalty_fee_numerator.0,
        };
        let deal = Deal {
            marketplace: self.marketplace,
            order_id: self.name(signed),
            side: OrderSide::Listing,
            maker: signed.seller,
            token_id: Some(TokenId::from(signed.token_id.0)),
            quantity: value,
            is_whole: true,
            price: signed.min_price.0,
            currency: signed.coin,
            shares: shares(signed.min_price.0, &fees)?,
            time: (U256::ZERO, signed.expiration.0),
            operator: self.domain.contract,
            price_member: "minPrice",
        };
        deal.facts()
    }

    /// The name of a listing: the hash of what was signed and for whom.
    pub(super) fn name(&self, signed: &ProcessorListing) -> String {
        format!("0x{}", hex::encode(self.digest(signed)))
    }

    pub(super) fn digest(&self, signed: &ProcessorListing) -> B256 {
        self.domain.digest(signed.hash())
    }
}
