//! The interface of the contracts, as the ABI has it.

alloy_sol_types::sol! {
    #[derive(Debug, PartialEq, Eq)]
    struct OfferItem {
        uint8 itemType;
        address token;
        uint256 identifierOrCriteria;
        uint256 startAmount;
        uint256 endAmount;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct ConsiderationItem {
        uint8 itemType;
        address token;
        uint256 identifierOrCriteria;
        uint256 startAmount;
        uint256 endAmount;
        address recipient;
    }

    /// What is signed, and what the hash that names an order is of.
    #[derive(Debug, PartialEq, Eq)]
    struct OrderComponents {
        address offerer;
        address zone;
        OfferItem[] offer;
        ConsiderationItem[] consideration;
        uint8 orderType;
        uint256 startTime;
        uint256 endTime;
        bytes32 zoneHash;
        uint256 salt;
        bytes32 conduitKey;
        uint256 counter;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct OrderParameters {
        address offerer;
        address zone;
        OfferItem[] offer;
        ConsiderationItem[] consideration;
        uint8 orderType;
        uint256 startTime;
        uint256 endTime;
        bytes32 zoneHash;
        uint256 salt;
        bytes32 conduitKey;
        uint256 totalOriginalConsiderationItems;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct AdvancedOrder {
        OrderParameters parameters;
        uint120 numerator;
        uint120 denominator;
        bytes signature;
        bytes extraData;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct CriteriaResolver {
        uint256 orderIndex;
        uint8 side;
        uint256 index;
        uint256 identifier;
        bytes32[] criteriaProof;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct FulfillmentComponent {
        uint256 orderIndex;
        uint256 itemIndex;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct AdditionalRecipient {
        uint256 amount;
        address recipient;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct BasicOrderParameters {
        address considerationToken;
        uint256 considerationIdentifier;
        uint256 considerationAmount;
        address offerer;
        address zone;
        address offerToken;
        uint256 offerIdentifier;
        uint256 offerAmount;
        uint8 basicOrderType;
        uint256 startTime;
        uint256 endTime;
        bytes32 zoneHash;
        uint256 salt;
        bytes32 offererConduitKey;
        bytes32 fulfillerConduitKey;
        uint256 totalOriginalAdditionalRecipients;
        AdditionalRecipient[] additionalRecipients;
        bytes signature;
    }

    #[derive(Debug, PartialEq, Eq)]
    function fulfillBasicOrder(BasicOrderParameters parameters);

    #[derive(Debug, PartialEq, Eq)]
    function fulfillAdvancedOrder(
        AdvancedOrder advancedOrder,
        CriteriaResolver[] criteriaResolvers,
        bytes32 fulfillerConduitKey,
        address recipient
    );

    #[derive(Debug, PartialEq, Eq)]
    function fulfillAvailableAdvancedOrders(
        AdvancedOrder[] advancedOrders,
        CriteriaResolver[] criteriaResolvers,
        FulfillmentComponent[][] offerFulfillments,
        FulfillmentComponent[][] considerationFulfillments,
        bytes32 fulfillerConduitKey,
        address recipient,
        uint256 maximumFulfilled
    );

    #[derive(Debug, PartialEq, Eq)]
    function cancel(OrderComponents[] orders);

    function getCounter(address offerer) returns (uint256 counter);

    function getOrderStatus(bytes32 orderHash)
        returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize);

    struct SpentItem {
        uint8 itemType;
        address token;
        uint256 identifier;
        uint256 amount;
    }

    struct ReceivedItem {
        uint8 itemType;
        address token;
        uint256 identifier;
        uint256 amount;
        address recipient;
    }

    event OrderFulfilled(
        bytes32 orderHash,
        address indexed offerer,
        address indexed zone,
        address recipient,
        SpentItem[] offer,
        ReceivedItem[] consideration
    );

    event OrderCancelled(bytes32 orderHash, address indexed offerer, address indexed zone);

    event OrderValidated(bytes32 orderHash, OrderParameters orderParameters);

    event CounterIncremented(uint256 newCounter, address indexed offerer);
}

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{
        CounterIncremented, OrderCancelled, OrderFulfilled, OrderValidated, cancelCall,
        fulfillAdvancedOrderCall, fulfillAvailableAdvancedOrdersCall, fulfillBasicOrderCall, getCounterCall,
        getOrderStatusCall,
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
}
