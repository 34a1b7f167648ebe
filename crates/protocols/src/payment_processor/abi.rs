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

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{
        AcceptOfferERC721, AcceptOfferERC1155, BuyListingERC721, BuyListingERC1155, MasterNonceInvalidated,
        NonceInvalidated, NonceRestored, OrderDigestInvalidated, OrderDigestItemsFilled,
        OrderDigestItemsRestored, acceptOfferCall, bulkBuyListingsCall, buyListingCall, isNonceUsedCall,
        masterNoncesCall, remainingFillableQuantityCall, revokeOrderDigestCall, revokeSingleNonceCall,
    };
    use crate::testing::check_names;

    #[test]
    fn names_are_those_of_the_contract() {
        check_names(&[
            (buyListingCall::SELECTOR.as_slice(), "c32dacae"),
            (bulkBuyListingsCall::SELECTOR.as_slice(), "863eb2d2"),
            (acceptOfferCall::SELECTOR.as_slice(), "08fdd68e"),
            (revokeSingleNonceCall::SELECTOR.as_slice(), "c031f43a"),
            (revokeOrderDigestCall::SELECTOR.as_slice(), "38ae410a"),
            (masterNoncesCall::SELECTOR.as_slice(), "45253c53"),
            (isNonceUsedCall::SELECTOR.as_slice(), "cab7e8eb"),
            (remainingFillableQuantityCall::SELECTOR.as_slice(), "d3005213"),
            (
                BuyListingERC721::SIGNATURE_HASH.as_slice(),
                "ffb29e9cf48456d56b6d414855b66a7ec060ce2054dcb124a1876310e1b7355c",
            ),
            (
                BuyListingERC1155::SIGNATURE_HASH.as_slice(),
                "1217006325a98bdcc6afc9c44965bb66ac7460a44dc57c2ac47622561d25c45a",
            ),
            (
                AcceptOfferERC721::SIGNATURE_HASH.as_slice(),
                "8b87c0b049fe52718fe6ff466b514c5a93c405fb0de8fbd761a23483f9f9e198",
            ),
            (
                AcceptOfferERC1155::SIGNATURE_HASH.as_slice(),
                "6f4c56c4b9a9d2479f963d802b19d17b02293ce1225461ac0cb846c482ee3c3e",
            ),
            (
                MasterNonceInvalidated::SIGNATURE_HASH.as_slice(),
                "9614574d6542397172c19ba2bf4588434feeb977576e92b7b59b38242ab59609",
            ),
            (
                NonceInvalidated::SIGNATURE_HASH.as_slice(),
                "f3003920635c7d35c4f314eaeeed4b4c653ccb36608a86d57df761d460eab09d",
            ),
            (
                NonceRestored::SIGNATURE_HASH.as_slice(),
                "86983746fe0ad3ad6fceb2a9aa2d498430d4343ec3c8fead646124f0615f4ba6",
            ),
            (
                OrderDigestInvalidated::SIGNATURE_HASH.as_slice(),
                "c63c82396a1b7865295ff481988a98493c2c3cc29066c229b8001c6f5dd647a9",
            ),
            (
                OrderDigestItemsFilled::SIGNATURE_HASH.as_slice(),
                "0f72b72442c719b271089c5e7774fb382e47457791f8dc3b147e72c9c685df99",
            ),
            (
                OrderDigestItemsRestored::SIGNATURE_HASH.as_slice(),
                "02c470cc26bb0c92da643e89f3654f5866091d4ae5af326c4face0f1611d736b",
            ),
        ]);
    }
}
