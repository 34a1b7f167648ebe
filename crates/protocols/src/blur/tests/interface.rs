//! Functions and events have the names that the contract knows them by, as its published ABI has them.

use alloy_sol_types::{SolCall as _, SolEvent as _};

use crate::blur::abi::{
    CancelTrade, Execution, Execution721MakerFeePacked, Execution721Packed, Execution721TakerFeePacked,
    NonceIncremented, amountTakenCall, cancelTradesCall, noncesCall, takeAskCall, takeAskSingleCall,
};
use crate::testing::check_names;

#[test]
fn names_are_those_of_the_contract() {
    check_names(&[
        (takeAskSingleCall::SELECTOR.as_slice(), "70bce2d6"),
        (takeAskCall::SELECTOR.as_slice(), "3925c3c3"),
        (cancelTradesCall::SELECTOR.as_slice(), "3f8fc233"),
        (amountTakenCall::SELECTOR.as_slice(), "3c2ab6bf"),
        (noncesCall::SELECTOR.as_slice(), "7ecebe00"),
        (
            Execution721Packed::SIGNATURE_HASH.as_slice(),
            "1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2",
        ),
        (
            Execution721TakerFeePacked::SIGNATURE_HASH.as_slice(),
            "0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab",
        ),
        (
            Execution721MakerFeePacked::SIGNATURE_HASH.as_slice(),
            "7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e",
        ),
        (
            Execution::SIGNATURE_HASH.as_slice(),
            "f2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559",
        ),
        (
            CancelTrade::SIGNATURE_HASH.as_slice(),
            "f4092a7c54e135dc5f273d6675327b7b7838392537d2f7b63f7acbec8c7cd296",
        ),
        (
            NonceIncremented::SIGNATURE_HASH.as_slice(),
            "a82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b",
        ),
    ]);
}
