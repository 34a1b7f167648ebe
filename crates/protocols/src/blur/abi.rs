//! The interface of the contract, as the ABI has it.

alloy_sol_types::sol! {
    #[derive(Debug, PartialEq, Eq)]
    struct FeeRate {
        address recipient;
        uint16 rate;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Listing {
        uint256 index;
        uint256 tokenId;
        uint256 amount;
        uint256 price;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Taker {
        uint256 tokenId;
        uint256 amount;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Exchange {
        uint256 index;
        bytes32[] proof;
        Listing listing;
        Taker taker;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct TradedOrder {
        address trader;
        address collection;
        bytes32 listingsRoot;
        uint256 numberOfListings;
        uint256 expirationTime;
        uint8 assetType;
        FeeRate makerFee;
        uint256 salt;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct TakeAskSingle {
        TradedOrder order;
        Exchange exchange;
        FeeRate takerFee;
        bytes signature;
        address tokenRecipient;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct TakeAsk {
        TradedOrder[] orders;
        Exchange[] exchanges;
        FeeRate takerFee;
        bytes signatures;
        address tokenRecipient;
    }

    #[derive(Debug, PartialEq, Eq)]
    function takeAskSingle(TakeAskSingle inputs, bytes oracleSignature);

    #[derive(Debug, PartialEq, Eq)]
    function takeAsk(TakeAsk inputs, bytes oracleSignature);

    struct Cancel {
        bytes32 hash;
        uint256 index;
        uint256 amount;
    }

    function cancelTrades(Cancel[] cancels);

    function amountTaken(address user, bytes32 hash, uint256 listingIndex) returns (uint256 amount);

    function nonces(address user) returns (uint256 nonce);

    event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide);

    event Execution721TakerFeePacked(
        bytes32 orderHash,
        uint256 tokenIdListingIndexTrader,
        uint256 collectionPriceSide,
        uint256 takerFeeRecipientRate
    );

    event Execution721MakerFeePacked(
        bytes32 orderHash,
        uint256 tokenIdListingIndexTrader,
        uint256 collectionPriceSide,
        uint256 makerFeeRecipientRate
    );

    struct Transfer {
        address trader;
        uint256 id;
        uint256 amount;
        address collection;
        uint8 assetType;
    }

    struct Fees {
        FeeRate protocolFee;
        FeeRate takerFee;
    }

    event Execution(
        Transfer transfer,
        bytes32 orderHash,
        uint256 listingIndex,
        uint256 price,
        FeeRate makerFee,
        Fees fees,
        uint8 orderType
    );

    event CancelTrade(address indexed user, bytes32 hash, uint256 index, uint256 amount);

    event NonceIncremented(address indexed user, uint256 newNonce);
}

/// What is signed, under the name that it has there.
pub(super) mod typed {
    alloy_sol_types::sol! {
        struct FeeRate {
            address recipient;
            uint16 rate;
        }

        struct Order {
            address trader;
            address collection;
            bytes32 listingsRoot;
            uint256 numberOfListings;
            uint256 expirationTime;
            uint8 assetType;
            FeeRate makerFee;
            uint256 salt;
            uint8 orderType;
            uint256 nonce;
        }
    }
}
