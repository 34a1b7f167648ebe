//! Functions and events have the names that the contract knows them by, as its published ABI has them.

use alloy_sol_types::{SolCall as _, SolEvent as _};

use crate::payment_processor::abi::{
    AcceptOfferERC721, AcceptOfferERC1155, BuyListingERC721, BuyListingERC1155, MasterNonceInvalidated,
    NonceInvalidated, NonceRestored, OrderDigestInvalidated, OrderDigestItemsFilled,
    OrderDigestItemsRestored, acceptOfferCall, bulkBuyListingsCall, buyListingCall, isNonceUsedCall,
    masterNoncesCall, remainingFillableQuantityCall, revokeOrderDigestCall, revokeSingleNonceCall,
};
use crate::testing::check_names;

#[test]
fn names_are_those_of_the_contract() {
    check_names(&[
        (buyListingCall::SELECTOR.as_slice(), "c32dacae"),
        (bulkBuyListingsCall::SELECTOR.as_slice(), "863eb2d2"),
        (acceptOfferCall::SELECTOR.as_slice(), "08fdd68e"),
        (revokeSingleNonceCall::SELECTOR.as_slice(), "c031f43a"),
        (revokeOrderDigestCall::SELECTOR.as_slice(), "38ae410a"),
        (masterNoncesCall::SELECTOR.as_slice(), "45253c53"),
        (isNonceUsedCall::SELECTOR.as_slice(), "cab7e8eb"),
        (remainingFillableQuantityCall::SELECTOR.as_slice(), "d3005213"),
        (
            BuyListingERC721::SIGNATURE_HASH.as_slice(),
            "ffb29e9cf48456d56b6d414855b66a7ec060ce2054dcb124a1876310e1b7355c",
        ),
        (
            BuyListingERC1155::SIGNATURE_HASH.as_slice(),
            "1217006325a98bdcc6afc9c44965bb66ac7460a44dc57c2ac47622561d25c45a",
        ),
        (
            AcceptOfferERC721::SIGNATURE_HASH.as_slice(),
            "8b87c0b049fe52718fe6ff466b514c5a93c405fb0de8fbd761a23483f9f9e198",
        ),
        (
            AcceptOfferERC1155::SIGNATURE_HASH.as_slice(),
            "6f4c56c4b9a9d2479f963d802b19d17b02293ce1225461ac0cb846c482ee3c3e",
        ),
        (
            MasterNonceInvalidated::SIGNATURE_HASH.as_slice(),
            "9614574d6542397172c19ba2bf4588434feeb977576e92b7b59b38242ab59609",
        ),
        (
            NonceInvalidated::SIGNATURE_HASH.as_slice(),
            "f3003920635c7d35c4f314eaeeed4b4c653ccb36608a86d57df761d460eab09d",
        ),
        (
            NonceRestored::SIGNATURE_HASH.as_slice(),
            "86983746fe0ad3ad6fceb2a9aa2d498430d4343ec3c8fead646124f0615f4ba6",
        ),
        (
            OrderDigestInvalidated::SIGNATURE_HASH.as_slice(),
            "c63c82396a1b7865295ff481988a98493c2c3cc29066c229b8001c6f5dd647a9",
        ),
        (
            OrderDigestItemsFilled::SIGNATURE_HASH.as_slice(),
            "0f72b72442c719b271089c5e7774fb382e47457791f8dc3b147e72c9c685df99",
        ),
        (
            OrderDigestItemsRestored::SIGNATURE_HASH.as_slice(),
            "02c470cc26bb0c92da643e89f3654f5866091d4ae5af326c4face0f1611d736b",
        ),
    ]);
}
