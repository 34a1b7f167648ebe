//! What makers sign: an order, or the root of a tree of orders.

use alloy_primitives::{B256, Bytes, U256, keccak256};
use alloy_sol_types::SolStruct as _;

use super::order::SeaportOrder;
use crate::native::{COMPACT, FULL, SignatureFault, root_by_place};

/// Where an order stands in its tree: so many bytes behind the signature.
const PLACE_BYTES: usize = 3;
/// The highest tree that contracts know: its places need the bits of [`PLACE_BYTES`].
const HEIGHT_MAX: usize = 24;

/// A signature for many orders at once.
pub(super) struct Bulk {
    /// The signature itself.
    pub(super) signature: Bytes,
    place: U256,
    proof: Vec<B256>,
}

impl SeaportOrder {
    /// The hash by which contracts and marketplaces call the order.
    pub(super) fn hash(&self) -> B256 {
        self.components().eip712_hash_struct()
    }

    /// The parts of a signature for many orders; `None` when it is for this order alone. Contracts tell them apart by
    /// their length, so that is what decides here.
    pub(super) fn bulk(&self) -> Result<Option<Bulk>, SignatureFault> {
        let bytes = &self.signature.0;
        let length = bytes.len();
        let parts = [COMPACT, FULL].into_iter().find_map(|own| {
            let proof = length.checked_sub(own + PLACE_BYTES)?;
            (proof > 0 && proof % 32 == 0).then_some((own, proof / 32))
        });
        let Some((own, height)) = parts else { return Ok(None) };
        if height > HEIGHT_MAX {
            return Err(SignatureFault::Length { length });
        }
        let place = U256::from_be_slice(&bytes[own..own + PLACE_BYTES]);
        let proof = bytes[own + PLACE_BYTES..].chunks_exact(32).map(B256::from_slice).collect();
        Ok(Some(Bulk { signature: bytes.slice(..own), place, proof }))
    }
}

impl Bulk {
    /// The hash of the tree that an order is in.
    pub(super) fn hash(&self, order: B256) -> B256 {
        let root = root_by_place(order, self.place, &self.proof);
        keccak256([tree_type(self.proof.len()), root].concat())
    }
}

/// The hash of the type of a tree: a list of two lists of two, down to orders.
fn tree_type(height: usize) -> B256 {
    use super::abi::{ConsiderationItem, OfferItem, OrderComponents};
    let [asked, given, order] = [
        ConsiderationItem::eip712_encode_type(),
        OfferItem::eip712_encode_type(),
        OrderComponents::eip712_root_type().to_string().into(),
    ];
    let sides = "[2]".repeat(height);
    keccak256(format!("BulkOrder(OrderComponents{sides} tree){asked}{given}{order}"))
}
