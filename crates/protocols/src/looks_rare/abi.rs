//! The interface of the contracts, as the ABI has it.

alloy_sol_types::sol! {
    /// What is signed, and what the hash that names an order is of.
    #[derive(Debug, PartialEq, Eq)]
    struct Maker {
        uint8 quoteType;
        uint256 globalNonce;
        uint256 subsetNonce;
        uint256 orderNonce;
        uint256 strategyId;
        uint8 collectionType;
        address collection;
        address currency;
        address signer;
        uint256 startTime;
        uint256 endTime;
        uint256 price;
        uint256[] itemIds;
        uint256[] amounts;
        bytes additionalParameters;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Taker {
        address recipient;
        bytes additionalParameters;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct MerkleTreeNode {
        bytes32 value;
        uint8 position;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct MerkleTree {
        bytes32 root;
        MerkleTreeNode[] proof;
    }

    #[derive(Debug, PartialEq, Eq)]
    function executeTakerBid(
        Taker takerBid,
        Maker makerAsk,
        bytes makerSignature,
        MerkleTree merkleTree,
        address affiliate
    );

    #[derive(Debug, PartialEq, Eq)]
    function executeMultipleTakerBids(
        Taker[] takerBids,
        Maker[] makerAsks,
        bytes[] makerSignatures,
        MerkleTree[] merkleTrees,
        address affiliate,
        bool isAtomic
    );

    #[derive(Debug, PartialEq, Eq)]
    function executeTakerAsk(
        Taker takerAsk,
        Maker makerBid,
        bytes makerSignature,
        MerkleTree merkleTree,
        address affiliate
    );

    #[derive(Debug, PartialEq, Eq)]
    function cancelOrderNonces(uint256[] orderNonces);

    function userBidAskNonces(address user) returns (uint256 bidNonce, uint256 askNonce);

    function userOrderNonce(address user, uint256 orderNonce) returns (bytes32 status);

    function userSubsetNonce(address user, uint256 subsetNonce) returns (bool isCancelled);

    /// Of the contract that moves tokens.
    function hasUserApprovedOperator(address user, address operator) returns (bool isApproved);

    struct NonceInvalidationParameters {
        bytes32 orderHash;
        uint256 orderNonce;
        bool isNonceInvalidated;
    }

    event TakerBid(
        NonceInvalidationParameters nonceInvalidationParameters,
        address bidUser,
        address bidRecipient,
        uint256 strategyId,
        address currency,
        address collection,
        uint256[] itemIds,
        uint256[] amounts,
        address[2] feeRecipients,
        uint256[3] feeAmounts
    );

    event TakerAsk(
        NonceInvalidationParameters nonceInvalidationParameters,
        address askUser,
        address bidUser,
        uint256 strategyId,
        address currency,
        address collection,
        uint256[] itemIds,
        uint256[] amounts,
        address[2] feeRecipients,
        uint256[3] feeAmounts
    );

    event OrderNoncesCancelled(address user, uint256[] orderNonces);

    event SubsetNoncesCancelled(address user, uint256[] subsetNonces);

    event NewBidAskNonces(address user, uint256 bidNonce, uint256 askNonce);

    /// Of the contract that moves tokens.
    event ApprovalsGranted(address user, address[] operators);

    /// Of the contract that moves tokens.
    event ApprovalsRemoved(address user, address[] operators);
}

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{
        ApprovalsGranted, ApprovalsRemoved, NewBidAskNonces, OrderNoncesCancelled, SubsetNoncesCancelled,
        TakerAsk, TakerBid, cancelOrderNoncesCall, executeMultipleTakerBidsCall, executeTakerAskCall,
        executeTakerBidCall, hasUserApprovedOperatorCall, userBidAskNoncesCall, userOrderNonceCall,
        userSubsetNonceCall,
    };
    use crate::testing::check_names;

    #[test]
    fn names_are_those_of_the_contract() {
        check_names(&[
            (executeTakerBidCall::SELECTOR.as_slice(), "8585ae03"),
            (executeMultipleTakerBidsCall::SELECTOR.as_slice(), "f4288a21"),
            (executeTakerAskCall::SELECTOR.as_slice(), "e72853e1"),
            (cancelOrderNoncesCall::SELECTOR.as_slice(), "79ed31d4"),
            (userBidAskNoncesCall::SELECTOR.as_slice(), "a39bf29f"),
            (userOrderNonceCall::SELECTOR.as_slice(), "20cd05c7"),
            (userSubsetNonceCall::SELECTOR.as_slice(), "ea179b76"),
            (hasUserApprovedOperatorCall::SELECTOR.as_slice(), "3cc4cb06"),
            (
                TakerBid::SIGNATURE_HASH.as_slice(),
                "3ee3de4684413690dee6fff1a0a4f92916a1b97d1c5a83cdf24671844306b2e3",
            ),
            (
                TakerAsk::SIGNATURE_HASH.as_slice(),
                "9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a4",
            ),
            (
                OrderNoncesCancelled::SIGNATURE_HASH.as_slice(),
                "0560c6093fba8a508d0e6ea3b4d7260d7afa9b152731f03a2d05dfe39b0ec425",
            ),
            (
                SubsetNoncesCancelled::SIGNATURE_HASH.as_slice(),
                "e8036d6fb143373f3ff63e551373f5fffe4267f6809bf6d3934014a18a9b38f6",
            ),
            (
                NewBidAskNonces::SIGNATURE_HASH.as_slice(),
                "b738dd6073fae1a7128e3fcc6b4ca6e1356b7232f87cc98f8a2857bcd83dfc44",
            ),
            (
                ApprovalsGranted::SIGNATURE_HASH.as_slice(),
                "2689e1a312b4212a2eb518d23bfd4c7cc30e3a7bc7a7e2524e8ec16e6a3713ab",
            ),
            (
                ApprovalsRemoved::SIGNATURE_HASH.as_slice(),
                "cd827905c56d07b7e3668c6d264b27603a45324dd955aadca79cf47eb24ca5fa",
            ),
        ]);
    }
}
