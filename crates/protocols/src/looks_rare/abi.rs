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
