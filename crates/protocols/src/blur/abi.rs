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

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{
        CancelTrade, Execution, Execution721MakerFeePacked, Execution721Packed, Execution721TakerFeePacked,
        NonceIncremented, amountTakenCall, cancelTradesCall, noncesCall, takeAskCall, takeAskSingleCall,
    };
    use crate::testing::check_names;

    #[test]
    fn names_are_those_of_the_contract() {
        check_names(&[
            (takeAskSingleCall::SELECTOR.as_slice(), "70bce2d6"),
            (takeAskCall::SELECTOR.as_slice(), "3925c3c3"),
            (cancelTradesCall::SELECTOR.as_slice(), "3f8fc233"),
            (amountTakenCall::SELECTOR.as_slice(), "3c2ab6bf"),
            (noncesCall::SELECTOR.as_slice(), "7ecebe00"),
            (
                Execution721Packed::SIGNATURE_HASH.as_slice(),
                "1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2",
            ),
            (
                Execution721TakerFeePacked::SIGNATURE_HASH.as_slice(),
                "0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab",
            ),
            (
                Execution721MakerFeePacked::SIGNATURE_HASH.as_slice(),
                "7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e",
            ),
            (
                Execution::SIGNATURE_HASH.as_slice(),
                "f2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559",
            ),
            (
                CancelTrade::SIGNATURE_HASH.as_slice(),
                "f4092a7c54e135dc5f273d6675327b7b7838392537d2f7b63f7acbec8c7cd296",
            ),
            (
                NonceIncremented::SIGNATURE_HASH.as_slice(),
                "a82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b",
            ),
        ]);
    }
}
