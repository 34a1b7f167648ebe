//! Functions and events have the names that the contract knows them by, as its published ABI has them.

use alloy_sol_types::{SolCall as _, SolEvent as _};

use crate::looks_rare::abi::{
    ApprovalsGranted, ApprovalsRemoved, NewBidAskNonces, OrderNoncesCancelled, SubsetNoncesCancelled,
    TakerAsk, TakerBid, cancelOrderNoncesCall, executeMultipleTakerBidsCall, executeTakerAskCall,
    executeTakerBidCall, hasUserApprovedOperatorCall, userBidAskNoncesCall, userOrderNonceCall,
    userSubsetNonceCall,
};
use crate::testing::check_names;

#[test]
fn names_are_those_of_the_contract() {
    check_names(&[
        (executeTakerBidCall::SELECTOR.as_slice(), "8585ae03"),
        (executeMultipleTakerBidsCall::SELECTOR.as_slice(), "f4288a21"),
        (executeTakerAskCall::SELECTOR.as_slice(), "e72853e1"),
        (cancelOrderNoncesCall::SELECTOR.as_slice(), "79ed31d4"),
        (userBidAskNoncesCall::SELECTOR.as_slice(), "a39bf29f"),
        (userOrderNonceCall::SELECTOR.as_slice(), "20cd05c7"),
        (userSubsetNonceCall::SELECTOR.as_slice(), "ea179b76"),
        (hasUserApprovedOperatorCall::SELECTOR.as_slice(), "3cc4cb06"),
        (
            TakerBid::SIGNATURE_HASH.as_slice(),
            "3ee3de4684413690dee6fff1a0a4f92916a1b97d1c5a83cdf24671844306b2e3",
        ),
        (
            TakerAsk::SIGNATURE_HASH.as_slice(),
            "9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a4",
        ),
        (
            OrderNoncesCancelled::SIGNATURE_HASH.as_slice(),
            "0560c6093fba8a508d0e6ea3b4d7260d7afa9b152731f03a2d05dfe39b0ec425",
        ),
        (
            SubsetNoncesCancelled::SIGNATURE_HASH.as_slice(),
            "e8036d6fb143373f3ff63e551373f5fffe4267f6809bf6d3934014a18a9b38f6",
        ),
        (
            NewBidAskNonces::SIGNATURE_HASH.as_slice(),
            "b738dd6073fae1a7128e3fcc6b4ca6e1356b7232f87cc98f8a2857bcd83dfc44",
        ),
        (
            ApprovalsGranted::SIGNATURE_HASH.as_slice(),
            "2689e1a312b4212a2eb518d23bfd4c7cc30e3a7bc7a7e2524e8ec16e6a3713ab",
        ),
        (
            ApprovalsRemoved::SIGNATURE_HASH.as_slice(),
            "cd827905c56d07b7e3668c6d264b27603a45324dd955aadca79cf47eb24ca5fa",
        ),
    ]);
}
