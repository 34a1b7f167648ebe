//! Listings: leaves of a tree whose root is signed.

use alloy_primitives::{B256, U256, hex, keccak256};
use alloy_sol_types::{SolStruct as _, SolValue as _};
use bourse_wire::{Address, BPS_WHOLE, Marketplace, OrderFacts, OrderSide, TokenId, from_value};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Blur, abi};
use crate::native::{
    Data, Deal, Number, OrderFault, Share, ShareKind, SubmittedOrder, Word, check_count, read_signature,
    root_sorted,
};

/// The highest tree that is taken: a million listings with one signature.
const HEIGHT_MAX: usize = 20;

/// A listing with the order that it is part of, as it is put and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlurOrder {
    pub(super) trader: Address,
    pub(super) collection: Address,
    pub(super) listings_root: Word,
    pub(super) number_of_listings: Number,
    pub(super) expiration_time: Number,
    pub(super) asset_type: u8,
    pub(super) maker_fee: FeeRate,
    pub(super) salt: Number,
    pub(super) order_type: u8,
    pub(super) nonce: Number,
    pub(super) listing: Leaf,
    #[serde(default)]
    pub(super) proof: Vec<Word>,
    /// Mostly the marketplace keeps it.
    #[serde(default)]
    pub(super) signature: Data,
    /// The contract that it is signed for.
    #[serde(default)]
    pub(super) protocol_address: Address,
}

/// A share for somebody else, in basis points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FeeRate {
    pub(super) recipient: Address,
    pub(super) rate: u16,
}

/// A listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Leaf {
    pub(super) index: Number,
    pub(super) token_id: Number,
    pub(super) amount: Number,
    /// For one unit.
    pub(super) price: Number,
}

impl BlurOrder {
    pub(super) fn read(order: SubmittedOrder<'_>, contract: Address) -> Result<Self, OrderFault> {
        let mut signed: Self = from_value(Value::Object(order.native.clone()))?;
        if order.signature.is_some_and(|given| !given.is_empty()) {
            signed.signature = Data(read_signature(order.signature)?);
        }
        signed.protocol_address = contract;
        if signed.order_type != 0 {
            let (value, known) = (signed.order_type.into(), "0 (ask)");
            return Err(OrderFault::Kind { member: "orderType", value, known });
        }
        if signed.asset_type > 1 {
            let (value, known) = (signed.asset_type.into(), "0 (ERC721), 1 (ERC1155)");
            return Err(OrderFault::Kind { member: "assetType", value, known });
        }
        check_count("proof", signed.proof.len(), HEIGHT_MAX)?;
        let proof: Vec<B256> = signed.proof.iter().map(|word| word.0).collect();
        let (found, root) = (root_sorted(signed.listing.hash(), &proof), signed.listings_root.0);
        if found != root {
            return Err(OrderFault::MerkleProof { member: "proof", found, root });
        }
        Ok(signed)
    }

    pub(super) fn to_text(&self) -> String {
        // Members are numbers, texts and lists of such.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The hash by which the contract calls the order.
    pub(super) fn hash(&self) -> B256 {
        let FeeRate { recipient, rate } = self.maker_fee;
        abi::typed::Order {
            trader: self.trader.bytes().into(),
            collection: self.collection.bytes().into(),
            listingsRoot: self.listings_root.0,
            numberOfListings: self.number_of_listings.0,
            expirationTime: self.expiration_time.0,
            assetType: self.asset_type,
            makerFee: abi::typed::FeeRate { recipient: recipient.bytes().into(), rate },
            salt: self.salt.0,
            orderType: self.order_type,
            nonce: self.nonce.0,
        }
        .eip712_hash_struct()
    }
}

impl Leaf {
    fn hash(&self) -> B256 {
        let words = (self.index.0, self.token_id.0, self.amount.0, self.price.0);
        keccak256(words.abi_encode())
    }
}

/// The name of a listing: the order's hash, and its place in it.
pub(super) fn name(order: B256, index: U256) -> String {
    format!("0x{}:{index}", hex::encode(order))
}

impl Blur {
    /// What the listing is.
    pub(super) fn derive(&self, signed: &BlurOrder) -> Result<OrderFacts, OrderFault> {
        let leaf = &signed.listing;
        let (value, is_single) = (leaf.amount.0, signed.asset_type == 0);
        if value.is_zero() || is_single && value != U256::ONE {
            let expected = if is_single { "1 of an ERC721 token" } else { "at least 1" };
            return Err(OrderFault::Quantity { member: "listing.amount", value, expected });
        }
        let price =
            leaf.price.0.checked_mul(value).ok_or(OrderFault::Overflow { member: "listing.price" })?;
        let FeeRate { recipient, rate } = signed.maker_fee;
        if u64::from(rate) > BPS_WHOLE {
            let (fees, whole) = (U256::from(rate), U256::from(BPS_WHOLE));
            return Err(OrderFault::FeesTooHigh { member: "makerFee.rate", fees, price: whole });
        }
        let deal = Deal {
            marketplace: Marketplace::Blur,
            order_id: name(signed.hash(), leaf.index.0),
            side: OrderSide::Listing,
            maker: signed.trader,
            token_id: Some(TokenId::from(leaf.token_id.0)),
            quantity: value,
            is_whole: false,
            price,
            currency: Address::ZERO,
            shares: vec![Share::of(ShareKind::Royalty, recipient, price, rate.into())],
            time: (U256::ZERO, signed.expiration_time.0),
            operator: self.delegate,
            price_member: "listing.price",
        };
        deal.facts()
    }
}
