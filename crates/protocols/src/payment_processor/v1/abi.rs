//! The interface of the contract, as the ABI has it.

alloy_sol_types::sol! {
    /// What the maker of a listing signs.
    #[derive(Debug, PartialEq, Eq)]
    struct SaleApproval {
        uint8 protocol;
        bool sellerAcceptedOffer;
        address marketplace;
        uint256 marketplaceFeeNumerator;
        uint256 maxRoyaltyFeeNumerator;
        address privateBuyer;
        address seller;
        address tokenAddress;
        uint256 tokenId;
        uint256 amount;
        uint256 minPrice;
        uint256 expiration;
        uint256 nonce;
        uint256 masterNonce;
        address coin;
    }

    /// What whoever buys it signs.
    #[derive(Debug, PartialEq, Eq)]
    struct OfferApproval {
        uint8 protocol;
        address marketplace;
        uint256 marketplaceFeeNumerator;
        address delegatedPurchaser;
        address buyer;
        address tokenAddress;
        uint256 tokenId;
        uint256 amount;
        uint256 price;
        uint256 expiration;
        uint256 nonce;
        uint256 masterNonce;
        address coin;
    }

    /// What both come to.
    #[derive(Debug, PartialEq, Eq)]
    struct MatchedOrder {
        bool sellerAcceptedOffer;
        bool collectionLevelOffer;
        uint8 protocol;
        address paymentCoin;
        address tokenAddress;
        address seller;
        address privateBuyer;
        address buyer;
        address delegatedPurchaser;
        address marketplace;
        uint256 marketplaceFeeNumerator;
        uint256 maxRoyaltyFeeNumerator;
        uint256 listingNonce;
        uint256 offerNonce;
        uint256 listingMinPrice;
        uint256 offerPrice;
        uint256 listingExpiration;
        uint256 offerExpiration;
        uint256 tokenId;
        uint256 amount;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct SignatureECDSA {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    #[derive(Debug, PartialEq, Eq)]
    function buySingleListing(
        MatchedOrder saleDetails,
        SignatureECDSA signedListing,
        SignatureECDSA signedOffer
    );

    #[derive(Debug, PartialEq, Eq)]
    function buyBatchOfListings(
        MatchedOrder[] saleDetailsArray,
        SignatureECDSA[] signedListings,
        SignatureECDSA[] signedOffers
    );

    function revokeSingleNonce(address marketplace, uint256 nonce);

    function masterNonces(address account) returns (uint256 masterNonce);

    event BuySingleListing(
        address indexed marketplace,
        address indexed tokenAddress,
        address indexed paymentCoin,
        address buyer,
        address seller,
        uint256 tokenId,
        uint256 amount,
        uint256 salePrice
    );

    event SweepCollectionERC721(
        address indexed marketplace,
        address indexed tokenAddress,
        address indexed paymentCoin,
        address buyer,
        bool[] unsuccessfulFills,
        address[] sellers,
        uint256[] tokenIds,
        uint256[] salePrices
    );

    event SweepCollectionERC1155(
        address indexed marketplace,
        address indexed tokenAddress,
        address indexed paymentCoin,
        address buyer,
        bool[] unsuccessfulFills,
        address[] sellers,
        uint256[] tokenIds,
        uint256[] amounts,
        uint256[] salePrices
    );

    event NonceInvalidated(
        uint256 indexed nonce,
        address indexed account,
        address indexed marketplace,
        bool wasCancellation
    );

    event MasterNonceInvalidated(uint256 indexed nonce, address indexed account);
}
