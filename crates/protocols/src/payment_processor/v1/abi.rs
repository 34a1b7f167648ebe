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

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{
        BuySingleListing, MasterNonceInvalidated, NonceInvalidated, SweepCollectionERC721,
        SweepCollectionERC1155, buyBatchOfListingsCall, buySingleListingCall, masterNoncesCall,
        revokeSingleNonceCall,
    };
    use crate::testing::check_names;

    #[test]
    fn names_are_those_of_the_contract() {
        check_names(&[
            (buySingleListingCall::SELECTOR.as_slice(), "7d26279c"),
            (buyBatchOfListingsCall::SELECTOR.as_slice(), "5ed1f9bb"),
            (revokeSingleNonceCall::SELECTOR.as_slice(), "26c6ac30"),
            (masterNoncesCall::SELECTOR.as_slice(), "45253c53"),
            (
                BuySingleListing::SIGNATURE_HASH.as_slice(),
                "7ed668b30822ae5c7db7b4a32f84e6645250bb6db0d1fc73eeb484c5b34b1d1b",
            ),
            (
                SweepCollectionERC721::SIGNATURE_HASH.as_slice(),
                "8435e05433e0d3a3fe612b10c36f6623deec79239f76721a154687fef0ca46a1",
            ),
            (
                SweepCollectionERC1155::SIGNATURE_HASH.as_slice(),
                "35cd37c73a78d0322074e1324a7d5d4cf5c7ff21f3265d03f4d085c532c6f019",
            ),
            (
                NonceInvalidated::SIGNATURE_HASH.as_slice(),
                "61b992b9cb8061087d0e50532a8ba94e22379c7edd39cdb465536ef827dc1be7",
            ),
            (
                MasterNonceInvalidated::SIGNATURE_HASH.as_slice(),
                "b06d2760711c1c15c05bc011b1009a36c0713c6d63567c267678c3a382188b61",
            ),
        ]);
    }
}
