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
