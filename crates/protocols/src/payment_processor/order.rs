//! Orders as they are signed, and what they come to.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::SolStruct as _;
use bourse_market::Series;
use bourse_wire::{Address, JsonObject, OrderFacts, OrderSide, TokenId, from_value, take_member};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FeeTerms, PaymentProcessor, abi, shares};
use crate::native::{Data, Deal, Number, OrderFault, Signature, SubmittedOrder, check_bits, read_signature};

/// Units that the contract can count.
const UNITS_BITS: usize = 248;
/// The only one of a token.
pub(super) const ONE: u8 = 0;
/// Units of a token, all at once.
pub(super) const UNITS: u8 = 1;
/// Units of a token, also in parts.
pub(super) const PARTS: u8 = 2;

/// An order with its signature, as it is put and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProcessorOrder {
    pub(super) protocol: u8,
    /// Who must agree to each fill; the zero address for nobody.
    #[serde(default)]
    pub(super) cosigner: Address,
    /// The maker of a listing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seller: Option<Address>,
    /// The maker of an offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) buyer: Option<Address>,
    /// Who gets the token of an offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) beneficiary: Option<Address>,
    pub(super) marketplace: Address,
    #[serde(default)]
    pub(super) fallback_royalty_recipient: Address,
    pub(super) payment_method: Address,
    pub(super) token_address: Address,
    /// Absent for an offer on any token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token_id: Option<Number>,
    pub(super) amount: Number,
    pub(super) item_price: Number,
    pub(super) expiration: Number,
    #[serde(default)]
    pub(super) marketplace_fee_numerator: Number,
    /// The most that a listing pays to the makers of the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_royalty_fee_numerator: Option<Number>,
    pub(super) nonce: Number,
    pub(super) master_nonce: Number,
    #[serde(default)]
    pub(super) signature: Data,
    /// The contract that it is signed for.
    #[serde(default)]
    pub(super) protocol_address: Address,
}

impl ProcessorOrder {
    pub(super) fn read(order: SubmittedOrder<'_>, contract: Address) -> Result<Self, OrderFault> {
        let mut members = order.native.clone();
        name_maker(&mut members);
        if take_member(&mut members, "tokenSetMerkleRoot").is_some() {
            return Err(OrderFault::TokenSet { member: "tokenSetMerkleRoot" });
        }
        if take_member(&mut members, "bulkOrderProof").is_some() {
            return Err(OrderFault::Unsupported {
                member: "bulkOrderProof",
                what: "orders that are signed together",
            });
        }
        let mut signed: Self = from_value(Value::Object(members))?;
        if order.signature.is_some() || signed.signature.0.is_empty() {
            signed.signature = Data(read_signature(order.signature)?);
        }
        // The contract takes its parts, whoever made it.
        let parts = Signature::parse(&signed.signature.0)?;
        signed.signature = Data(parts.to_bytes().to_vec().into());
        signed.protocol_address = contract;
        if signed.protocol > PARTS {
            let known = "0 (ERC721), 1 (ERC1155), 2 (ERC1155 in parts)";
            return Err(OrderFault::Kind { member: "protocol", value: signed.protocol.into(), known });
        }
        check_bits("amount", signed.amount.0, UNITS_BITS)?;
        Ok(signed)
    }

    pub(super) fn to_text(&self) -> String {
        // Members are numbers and texts.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn side(&self) -> OrderSide {
        if self.seller.is_some() { OrderSide::Listing } else { OrderSide::Offer }
    }

    pub(super) fn maker(&self) -> Address {
        self.seller.or(self.buyer).unwrap_or_default()
    }

    pub(super) fn is_partial(&self) -> bool {
        self.protocol == PARTS
    }

    /// The numbers by which the order can be taken back. Orders in parts are known to the contract by their hash.
    pub(super) fn numbers(&self) -> Vec<(Series, U256)> {
        let nonce = (!self.is_partial()).then_some((Series::Nonce, self.nonce.0));
        nonce.into_iter().chain([(Series::Counter, self.master_nonce.0)]).collect()
    }

    /// The hash of what was signed, apart from for whom.
    pub(super) fn hash(&self) -> B256 {
        let raw = |address: Address| alloy_primitives::Address::from(*address.bytes());
        let (protocol, cosigner) = (self.protocol, raw(self.cosigner));
        let (marketplace, fallback) = (raw(self.marketplace), raw(self.fallback_royalty_recipient));
        let (money, token) = (raw(self.payment_method), raw(self.token_address));
        let token_id = self.token_id.map(|id| id.0);
        let beneficiary = raw(self.beneficiary.unwrap_or_default());
        match (self.seller, self.buyer.unwrap_or_default(), token_id) {
            (Some(seller), _, token_id) => abi::SaleApproval {
                protocol,
                cosigner,
                seller: raw(seller),
                marketplace,
                fallbackRoyaltyRecipient: fallback,
                paymentMethod: money,
                tokenAddress: token,
                tokenId: token_id.unwrap_or_default(),
                amount: self.amount.0,
                itemPrice: self.item_price.0,
                expiration: self.expiration.0,
                marketplaceFeeNumerator: self.marketplace_fee_numerator.0,
                maxRoyaltyFeeNumerator: self.max_royalty_fee_numerator.unwrap_or_default().0,
                nonce: self.nonce.0,
                masterNonce: self.master_nonce.0,
            }
            .eip712_hash_struct(),
            (None, buyer, Some(token_id)) => abi::ItemOfferApproval {
                protocol,
                cosigner,
                buyer: raw(buyer),
                beneficiary,
                marketplace,
                fallbackRoyaltyRecipient: fallback,
                paymentMethod: money,
                tokenAddress: token,
                tokenId: token_id,
                amount: self.amount.0,
                itemPrice: self.item_price.0,
                expiration: self.expiration.0,
                marketplaceFeeNumerator: self.marketplace_fee_numerator.0,
                nonce: self.nonce.0,
                masterNonce: self.master_nonce.0,
            }
            .eip712_hash_struct(),
            (None, buyer, None) => abi::CollectionOfferApproval {
                protocol,
                cosigner,
                buyer: raw(buyer),
                beneficiary,
                marketplace,
                fallbackRoyaltyRecipient: fallback,
                paymentMethod: money,
                tokenAddress: token,
                amount: self.amount.0,
                itemPrice: self.item_price.0,
                expiration: self.expiration.0,
                marketplaceFeeNumerator: self.marketplace_fee_numerator.0,
                nonce: self.nonce.0,
                masterNonce: self.master_nonce.0,
            }
            .eip712_hash_struct(),
        }
    }
}

/// Aggregators publish the maker under one name, whichever side it is on.
fn name_maker(members: &mut JsonObject) {
    let Some(maker) = take_member(members, "sellerOrBuyer") else { return };
    let is_offer = members.get("beneficiary").is_some_and(|beneficiary| !beneficiary.is_null());
    members.insert(if is_offer { "buyer" } else { "seller" }.to_owned(), maker);
}

impl PaymentProcessor {
    /// What the order is.
    pub(super) fn derive(&self, signed: &ProcessorOrder) -> Result<OrderFacts, OrderFault> {
        let maker = match (signed.seller, signed.buyer) {
            (Some(seller), None) => seller,
            (None, Some(buyer)) => buyer,
            (Some(_), Some(_)) => return Err(OrderFault::Bundle { member: "seller", count: 2 }),
            (None, None) => {
                return Err(OrderFault::Unsupported { member: "seller", what: "orders of nobody" });
            }
        };
        let is_offer = signed.side() == OrderSide::Offer;
        if is_offer && signed.payment_method == Address::ZERO {
            return Err(OrderFault::NativeOffer { member: "paymentMethod" });
        }
        if let Some(recipient) = signed.beneficiary.filter(|beneficiary| is_offer && *beneficiary != maker) {
            return Err(OrderFault::Recipient { member: "beneficiary", maker, recipient });
        }
        if !is_offer && signed.token_id.is_none() {
            return Err(OrderFault::Bundle { member: "tokenId", count: 0 });
        }
        let value = signed.amount.0;
        if value.is_zero() || signed.protocol == ONE && value != U256::ONE {
            let expected = if signed.protocol == ONE { "1 of an ERC721 token" } else { "at least 1" };
            return Err(OrderFault::Quantity { member: "amount", value, expected });
        }
        let fees = FeeTerms {
            marketplace: signed.marketplace,
            marketplace_bps: signed.marketplace_fee_numerator.0,
            artist: signed.fallback_royalty_recipient,
            royalty_bps: signed.max_royalty_fee_numerator.unwrap_or_default().0,
        };
        let shares = shares(signed.item_price.0, &fees)?;
        let deal = Deal {
            marketplace: self.marketplace,
            order_id: self.name(signed),
            side: signed.side(),
            maker,
            token_id: signed.token_id.map(|id| TokenId::from(id.0)),
            quantity: value,
            is_whole: !signed.is_partial(),
            price: signed.item_price.0,
            currency: signed.payment_method,
            shares,
            time: (U256::ZERO, signed.expiration.0),
            operator: self.domain.contract,
            price_member: "itemPrice",
        };
        deal.facts()
    }

    /// The name of an order: the hash of what was signed and for whom.
    pub(super) fn name(&self, signed: &ProcessorOrder) -> String {
        format!("0x{}", hex::encode(self.domain.digest(signed.hash())))
    }
}
