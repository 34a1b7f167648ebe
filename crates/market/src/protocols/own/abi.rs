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
}
