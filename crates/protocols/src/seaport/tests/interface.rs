//! Functions and events have the names that the contract knows them by, as its published ABI has them.

use alloy_sol_types::{SolCall as _, SolEvent as _};

use crate::seaport::abi::{
    CounterIncremented, OrderCancelled, OrderFulfilled, OrderValidated, cancelCall, fulfillAdvancedOrderCall,
    fulfillAvailableAdvancedOrdersCall, fulfillBasicOrderCall, getCounterCall, getOrderStatusCall,
};
use crate::testing::check_names;

#[test]
fn names_are_those_of_the_contract() {
    check_names(&[
        (fulfillBasicOrderCall::SELECTOR.as_slice(), "fb0f3ee1"),
        (fulfillAdvancedOrderCall::SELECTOR.as_slice(), "e7acab24"),
        (fulfillAvailableAdvancedOrdersCall::SELECTOR.as_slice(), "87201b41"),
        (cancelCall::SELECTOR.as_slice(), "fd9f1e10"),
        (getCounterCall::SELECTOR.as_slice(), "f07ec373"),
        (getOrderStatusCall::SELECTOR.as_slice(), "46423aa7"),
        (
            OrderValidated::SIGNATURE_HASH.as_slice(),
            "f280791efe782edcf06ce15c8f4dff17601db3b88eb3805a0db7d77faf757f04",
        ),
        (
            OrderFulfilled::SIGNATURE_HASH.as_slice(),
            "9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31",
        ),
        (
            OrderCancelled::SIGNATURE_HASH.as_slice(),
            "6bacc01dbe442496068f7d234edd811f1a5f833243e0aec824f86ab861f3c90d",
        ),
        (
            CounterIncremented::SIGNATURE_HASH.as_slice(),
            "721c20121297512b72821b97f5326877ea8ecf4bb9948fea5bfcb6453074d37f",
        ),
    ]);
}
