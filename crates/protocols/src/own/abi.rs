//! The interface of the contracts, as the ABI has it. Both versions share it, as far as it is used here.

alloy_sol_types::sol! {
    event RequestCreated(
        uint256 indexed requestId,
        address indexed creator,
        address indexed tokenContract,
        uint256 tokenId,
        bool isListing,
        uint256 quantity,
        address currency,
        uint256 pricePerToken,
        uint256 expiry
    );

    event RequestAccepted(
        uint256 indexed requestId,
        address indexed buyer,
        address indexed tokenContract,
        address recipient,
        uint256 quantity,
        uint256 quantityRemaining
    );

    event RequestCancelled(uint256 indexed requestId, address indexed tokenContract);

    event RequestsInvalidated(address indexed creator, uint256 indexed invalidatedBefore);

    event RequestsInvalidated(
        address indexed creator,
        address indexed tokenContract,
        uint256 indexed invalidatedBefore
    );

    event CustomRoyaltyChanged(address indexed tokenContract, address recipient, uint96 fee);

    struct RequestParams {
        bool isListing;
        bool isERC1155;
        address tokenContract;
        uint256 tokenId;
        uint256 quantity;
        uint96 expiry;
        address currency;
        uint256 pricePerToken;
    }

    /// An order as the contract keeps it, with what is left of it.
    struct Request {
        address creator;
        bool isListing;
        bool isERC1155;
        address tokenContract;
        uint256 tokenId;
        uint256 quantity;
        uint96 expiry;
        address currency;
        uint256 pricePerToken;
    }

    function isRequestValid(uint256 requestId, uint256 quantity) returns (bool valid, Request request);

    function createRequest(RequestParams request);

    function acceptRequest(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] additionalFees,
        address[] additionalFeeRecipients
    );

    function acceptRequestBatch(
        uint256[] requestIds,
        uint256[] quantities,
        address[] recipients,
        uint256[] additionalFees,
        address[] additionalFeeRecipients
    );

    function cancelRequest(uint256 requestId);

    /// The contract beside the second version that pays several listings with native currency.
    interface PayableHelper {
        function acceptRequestBatch(
            address market,
            uint256[] requestIds,
            uint256[] quantities,
            address[] recipients,
            uint256[] additionalFees,
            address[] additionalFeeRecipients
        );
    }
}
