//! Functions and events have the names that the contract knows them by, as its published ABI has them.

use alloy_sol_types::{SolCall as _, SolEvent as _};

use super::super::abi::{
    BuySingleListing, MasterNonceInvalidated, NonceInvalidated, SweepCollectionERC721,
    SweepCollectionERC1155, buyBatchOfListingsCall, buySingleListingCall, masterNoncesCall,
    revokeSingleNonceCall,
};
use crate::testing::check_names;

#[test]
fn names_are_those_of_the_contract() {
    check_names(&[
        (buySingleListingCall::SELECTOR.as_slice(), "7d26279c"),
        (buyBatchOfListingsCall::SELECTOR.as_slice(), "5ed1f9bb"),
        (revokeSingleNonceCall::SELECTOR.as_slice(), "26c6ac30"),
        (masterNoncesCall::SELECTOR.as_slice(), "45253c53"),
        (
            BuySingleListing::SIGNATURE_HASH.as_slice(),
            "7ed668b30822ae5c7db7b4a32f84e6645250bb6db0d1fc73eeb484c5b34b1d1b",
        ),
        (
            SweepCollectionERC721::SIGNATURE_HASH.as_slice(),
            "8435e05433e0d3a3fe612b10c36f6623deec79239f76721a154687fef0ca46a1",
        ),
        (
            SweepCollectionERC1155::SIGNATURE_HASH.as_slice(),
            "35cd37c73a78d0322074e1324a7d5d4cf5c7ff21f3265d03f4d085c532c6f019",
        ),
        (
            NonceInvalidated::SIGNATURE_HASH.as_slice(),
            "61b992b9cb8061087d0e50532a8ba94e22379c7edd39cdb465536ef827dc1be7",
        ),
        (
            MasterNonceInvalidated::SIGNATURE_HASH.as_slice(),
            "b06d2760711c1c15c05bc011b1009a36c0713c6d63567c267678c3a382188b61",
        ),
    ]);
}
