//! The interface of the contracts, as the ABI has it. Most functions take one argument, which holds the others.

alloy_sol_types::sol! {
    /// What the maker of a listing signs.
    #[derive(Debug, PartialEq, Eq)]
    struct SaleApproval {
        uint8 protocol;
        address cosigner;
        address seller;
        address marketplace;
        address fallbackRoyaltyRecipient;
        address paymentMethod;
        address tokenAddress;
        uint256 tokenId;
        uint256 amount;
        uint256 itemPrice;
        uint256 expiration;
        uint256 marketplaceFeeNumerator;
        uint256 maxRoyaltyFeeNumerator;
        uint256 nonce;
        uint256 masterNonce;
    }

    /// What the maker of an offer for one token signs.
    #[derive(Debug, PartialEq, Eq)]
    struct ItemOfferApproval {
        uint8 protocol;
        address cosigner;
        address buyer;
        address beneficiary;
        address marketplace;
        address fallbackRoyaltyRecipient;
        address paymentMethod;
        address tokenAddress;
        uint256 tokenId;
        uint256 amount;
        uint256 itemPrice;
        uint256 expiration;
        uint256 marketplaceFeeNumerator;
        uint256 nonce;
        uint256 masterNonce;
    }

    /// What the maker of an offer for any token signs.
    #[derive(Debug, PartialEq, Eq)]
    struct CollectionOfferApproval {
        uint8 protocol;
        address cosigner;
        address buyer;
        address beneficiary;
        address marketplace;
        address fallbackRoyaltyRecipient;
        address paymentMethod;
        address tokenAddress;
        uint256 amount;
        uint256 itemPrice;
        uint256 expiration;
        uint256 marketplaceFeeNumerator;
        uint256 nonce;
        uint256 masterNonce;
    }

    /// What is executed. Narrower numbers are encoded in the same words.
    #[derive(Debug, PartialEq, Eq)]
    struct Order {
        uint256 protocol;
        address maker;
        address beneficiary;
        address marketplace;
        address fallbackRoyaltyRecipient;
        address paymentMethod;
        address tokenAddress;
        uint256 tokenId;
        uint256 amount;
        uint256 itemPrice;
        uint256 nonce;
        uint256 expiration;
        uint256 marketplaceFeeNumerator;
        uint256 maxRoyaltyFeeNumerator;
        uint256 requestedFillAmount;
        uint256 minimumFillAmount;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct SignatureECDSA {
        uint256 v;
        bytes32 r;
        bytes32 s;
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    struct Cosignature {
        address signer;
        address taker;
        uint256 expiration;
        uint256 v;
        bytes32 r;
        bytes32 s;
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    struct FeeOnTop {
        address recipient;
        uint256 amount;
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    struct TokenSetProof {
        bytes32 rootHash;
        bytes32[] proof;
    }

    #[derive(Debug, PartialEq, Eq)]
    function buyListing(bytes data);

    #[derive(Debug, PartialEq, Eq)]
    function bulkBuyListings(bytes data);

    #[derive(Debug, PartialEq, Eq)]
    function acceptOffer(bytes data);

    function revokeSingleNonce(bytes data);

    function revokeOrderDigest(bytes data);

    function masterNonces(address account) returns (uint256 masterNonce);

    function isNonceUsed(address account, uint256 nonce) returns (bool isUsed);

    struct PartiallyFillableOrderStatus {
        uint8 state;
        uint248 remainingFillableQuantity;
    }

    function remainingFillableQuantity(address account, bytes32 orderDigest)
        returns (PartiallyFillableOrderStatus status);

    event BuyListingERC721(
        address indexed buyer,
        address indexed seller,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 salePrice
    );

    event BuyListingERC1155(
        address indexed buyer,
        address indexed seller,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 amount,
        uint256 salePrice
    );

    event AcceptOfferERC721(
        address indexed seller,
        address indexed buyer,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 salePrice
    );

    event AcceptOfferERC1155(
        address indexed seller,
        address indexed buyer,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 amount,
        uint256 salePrice
    );

    event MasterNonceInvalidated(address indexed account, uint256 nonce);

    event NonceInvalidated(uint256 indexed nonce, address indexed account, bool wasCancellation);

    event NonceRestored(uint256 indexed nonce, address indexed account);

    event OrderDigestInvalidated(bytes32 indexed orderDigest, address indexed account, bool wasCancellation);

    event OrderDigestItemsFilled(bytes32 indexed orderDigest, address indexed account, uint256 amountFilled);

    event OrderDigestItemsRestored(
        bytes32 indexed orderDigest,
        address indexed account,
        uint256 amountRestoredToOrder
    );
}
