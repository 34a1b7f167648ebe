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

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{EvCancel, EvInventory, inventoryStatusCall, runCall};
    use crate::testing::check_names;

    #[test]
    fn names_are_those_of_the_contract() {
        check_names(&[
            (runCall::SELECTOR.as_slice(), "357a150b"),
            (inventoryStatusCall::SELECTOR.as_slice(), "912c860c"),
            (
                EvInventory::SIGNATURE_HASH.as_slice(),
                "3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33",
            ),
            (
                EvCancel::SIGNATURE_HASH.as_slice(),
                "5b0b06d07e20243724d90e17a20034972f339eb28bd1c9437a71999bd15a1e7a",
            ),
        ]);
    }
}
