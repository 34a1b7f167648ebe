//! The interface of the contract, as the ABI has it.

alloy_sol_types::sol! {
    #[derive(Debug, PartialEq, Eq)]
    struct OrderItem {
        uint256 price;
        bytes data;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Order {
        uint256 salt;
        address user;
        uint256 network;
        uint256 intent;
        uint256 delegateType;
        uint256 deadline;
        address currency;
        bytes dataMask;
        OrderItem[] items;
        bytes32 r;
        bytes32 s;
        uint8 v;
        uint8 signVersion;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Fee {
        uint256 percentage;
        address to;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct SettleDetail {
        uint8 op;
        uint256 orderIdx;
        uint256 itemIdx;
        uint256 price;
        bytes32 itemHash;
        address executionDelegate;
        bytes dataReplacement;
        uint256 bidIncentivePct;
        uint256 aucMinIncrementPct;
        uint256 aucIncDurationSecs;
        Fee[] fees;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct SettleShared {
        uint256 salt;
        uint256 deadline;
        uint256 amountToEth;
        uint256 amountToWeth;
        address user;
        bool canFail;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct RunInput {
        Order[] orders;
        SettleDetail[] details;
        SettleShared shared;
        bytes32 r;
        bytes32 s;
        uint8 v;
    }

    #[derive(Debug, PartialEq, Eq)]
    function run(RunInput input);

    function inventoryStatus(bytes32 itemHash) returns (uint8 status);

    event EvInventory(
        bytes32 indexed itemHash,
        address maker,
        address taker,
        uint256 orderSalt,
        uint256 settleSalt,
        uint256 intent,
        uint256 delegateType,
        uint256 deadline,
        address currency,
        bytes dataMask,
        OrderItem item,
        SettleDetail detail
    );

    event EvCancel(bytes32 indexed itemHash);

    /// What an item is for, where there is one of each token.
    struct Token {
        address token;
        uint256 tokenId;
    }

    /// The same where there are many.
    struct Units {
        address token;
        uint256 tokenId;
        uint256 amount;
    }
}
