//! Orders as they are signed, and what they come to.

use alloy_primitives::{B256, U256, hex, keccak256};
use alloy_sol_types::SolStruct as _;
use bourse_wire::{Address, Marketplace, OrderFacts, OrderSide, TokenId, from_value};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LooksRare;
use super::abi;
use crate::native::{
    Data, Deal, Number, OrderFault, Side, SubmittedOrder, Word, check_count, read_signature, root_by_side,
};

/// The highest tree of orders that the contract knows.
const HEIGHT_MAX: usize = 10;
/// More ids than an order for one token has.
const IDS_MAX: usize = 16;
/// The strategy of orders for named tokens.
const STANDARD: U256 = U256::ZERO;
/// The strategy of offers for any token of a collection.
const ANY_TOKEN: U256 = U256::ONE;

/// An order with its signature, as it is put and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LooksRareOrder {
    pub(super) quote_type: u8,
    pub(super) global_nonce: Number,
    pub(super) subset_nonce: Number,
    pub(super) order_nonce: Number,
    pub(super) strategy_id: Number,
    pub(super) collection_type: u8,
    pub(super) collection: Address,
    pub(super) currency: Address,
    pub(super) signer: Address,
    pub(super) start_time: Number,
    pub(super) end_time: Number,
    pub(super) price: Number,
    pub(super) item_ids: Vec<Number>,
    pub(super) amounts: Vec<Number>,
    #[serde(default)]
    pub(super) additional_parameters: Data,
    /// Root of the tree that was signed, when this order is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) merkle_root: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) merkle_proof: Option<Vec<Node>>,
    #[serde(default)]
    pub(super) signature: Data,
    /// The contract that it is signed for.
    #[serde(default)]
    pub(super) protocol_address: Address,
}

/// What stands beside the way to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Node {
    value: Word,
    position: u8,
}

impl LooksRareOrder {
    pub(super) fn read(order: SubmittedOrder<'_>, contract: Address) -> Result<Self, OrderFault> {
        let mut signed: Self = from_value(Value::Object(order.native.clone()))?;
        if order.signature.is_some() || signed.signature.0.is_empty() {
            signed.signature = Data(read_signature(order.signature)?);
        }
        signed.protocol_address = contract;
        check_count("itemIds", signed.item_ids.len(), IDS_MAX)?;
        check_count("amounts", signed.amounts.len(), IDS_MAX)?;
        let known = "0 (bid), 1 (ask)";
        if signed.quote_type > 1 {
            return Err(OrderFault::Kind { member: "quoteType", value: signed.quote_type.into(), known });
        }
        let known = "0 (ERC721), 1 (ERC1155)";
        if signed.collection_type > 1 {
            return Err(OrderFault::Kind {
                member: "collectionType",
                value: signed.collection_type.into(),
                known,
            });
        }
        signed.check_proof()?;
        Ok(signed)
    }

    fn check_proof(&self) -> Result<(), OrderFault> {
        let proof = self.merkle_proof.as_deref().unwrap_or_default();
        check_count("merkleProof", proof.len(), HEIGHT_MAX)?;
        if let Some(node) = proof.iter().find(|node| node.position > 1) {
            let known = "0 (left), 1 (right)";
            return Err(OrderFault::Kind {
                member: "merkleProof.position",
                value: node.position.into(),
                known,
            });
        }
        if proof.is_empty() {
            return Ok(());
        }
        let side = |node: &Node| if node.position == 0 { Side::Left } else { Side::Right };
        let found = root_by_side(self.hash(), proof.iter().map(|node| (node.value.0, side(node))));
        let root = self.merkle_root.unwrap_or_default().0;
        if found == root {
            Ok(())
        } else {
            Err(OrderFault::MerkleProof { member: "merkleProof", found, root })
        }
    }

    pub(super) fn to_text(&self) -> String {
        // Members are numbers, texts and lists of such.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The hash by which the contract calls the order.
    pub(super) fn hash(&self) -> B256 {
        self.maker().eip712_hash_struct()
    }

    /// The hash of what the maker signed: the order, or a tree of orders.
    pub(super) fn signed_hash(&self) -> B256 {
        let height = self.merkle_proof.as_ref().map_or(0, Vec::len);
        match self.merkle_root {
            Some(root) if height > 0 => keccak256([tree_type(height), root.0].concat()),
            _ => self.hash(),
        }
    }

    pub(super) fn tree(&self) -> abi::MerkleTree {
        let proof = self.merkle_proof.iter().flatten();
        let node = |node: &Node| abi::MerkleTreeNode { value: node.value.0, position: node.position };
        let proof: Vec<abi::MerkleTreeNode> = proof.map(node).collect();
        let root = if proof.is_empty() { B256::ZERO } else { self.merkle_root.unwrap_or_default().0 };
        abi::MerkleTree { root, proof }
    }

    pub(super) fn maker(&self) -> abi::Maker {
        let numbers = |list: &[Number]| list.iter().map(|number| number.0).collect();
        abi::Maker {
            quoteType: self.quote_type,
            globalNonce: self.global_nonce.0,
            subsetNonce: self.subset_nonce.0,
            orderNonce: self.order_nonce.0,
            strategyId: self.strategy_id.0,
            collectionType: self.collection_type,
            collection: self.collection.bytes().into(),
            currency: self.currency.bytes().into(),
            signer: self.signer.bytes().into(),
            startTime: self.start_time.0,
            endTime: self.end_time.0,
            price: self.price.0,
            itemIds: numbers(&self.item_ids),
            amounts: numbers(&self.amounts),
            additionalParameters: self.additional_parameters.0.clone(),
        }
    }

    /// Whether an offer is for any token.
    pub(super) fn is_for_any(&self) -> bool {
        self.strategy_id.0 == ANY_TOKEN
    }
}

/// Selling or buying.
pub(super) fn side_of(quote_type: u8) -> OrderSide {
    if quote_type == 0 { OrderSide::Offer } else { OrderSide::Listing }
}

/// The hash of the type of a tree: a list of two lists of two, down to orders.
pub(super) fn tree_type(height: usize) -> B256 {
    let sides = "[2]".repeat(height);
    keccak256(format!("BatchOrder(Maker{sides} tree){}", abi::Maker::eip712_encode_type()))
}

impl LooksRare {
    /// What the order is.
    pub(super) fn derive(&self, signed: &LooksRareOrder) -> Result<OrderFacts, OrderFault> {
        let side = side_of(signed.quote_type);
        let is_offer = side == OrderSide::Offer;
        if is_offer && signed.currency == Address::ZERO {
            return Err(OrderFault::NativeOffer { member: "currency" });
        }
        let token_id = match signed.strategy_id.0 {
            STANDARD => {
                let [id] = signed.item_ids.as_slice() else {
                    return Err(OrderFault::Bundle { member: "itemIds", count: signed.item_ids.len() });
                };
                Some(TokenId::from(id.0))
            }
            ANY_TOKEN if is_offer => None,
            other => {
                let known = "0 (standard), 1 (any token of the collection, for bids)";
                return Err(OrderFault::Kind { member: "strategyId", value: other.saturating_to(), known });
            }
        };
        let [amount] = signed.amounts.as_slice() else {
            return Err(OrderFault::Bundle { member: "amounts", count: signed.amounts.len() });
        };
        let value = amount.0;
        let (is_single, member) = (signed.collection_type == 0, "amounts");
        if value.is_zero() || is_single && value != U256::ONE {
            let expected = if is_single { "1 of an ERC721 token" } else { "at least 1" };
            return Err(OrderFault::Quantity { member, value, expected });
        }
        let deal = Deal {
            marketplace: Marketplace::LooksRare,
            order_id: format!("0x{}", hex::encode(signed.hash())),
            side,
            maker: signed.signer,
            token_id,
            quantity: value,
            is_whole: true,
            price: signed.price.0,
            currency: signed.currency,
            shares: Vec::new(),
            time: (signed.start_time.0, signed.end_time.0),
            operator: if is_offer { self.domain.contract } else { self.transfer_manager },
            price_member: "price",
        };
        deal.facts()
    }
}
