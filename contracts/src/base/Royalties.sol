// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IMarketCore} from "../IMarketCore.sol";
import {SafeRead} from "./SafeRead.sol";

/// @title Which royalty a sale owes
/// @notice A collection that answers ERC-2981 decides for itself, also when its answer is zero. Only for one that does
/// not answer may the owner of the market set a royalty. That is the only power which the owner has.
abstract contract Royalties is IMarketCore, Ownable {
    /// @notice A royalty which the owner set, in ten-thousandths of the price.
    struct CustomRoyalty {
        address recipient;
        uint96 fee;
    }

    /// @notice The highest custom royalty: 10 %.
    uint96 public constant MAX_CUSTOM_ROYALTY = 1_000;

    uint256 private constant BASIS = 10_000;

    /// @notice The royalty which the owner set for a collection.
    mapping(address tokenContract => CustomRoyalty) public customRoyalties;

    /// @notice Sets the royalty of a collection which does not answer ERC-2981. It has no effect on one that does, and
    /// existing requests never pay more because of it.
    /// @param tokenContract The collection.
    /// @param recipient Who receives the royalty; the zero address means none is paid.
    /// @param fee Ten-thousandths of the price.
    function setRoyaltyInfo(address tokenContract, address recipient, uint96 fee) external onlyOwner {
        if (fee > MAX_CUSTOM_ROYALTY) revert InvalidRoyalty();
        customRoyalties[tokenContract] = CustomRoyalty(recipient, fee);
        emit CustomRoyaltyChanged(tokenContract, recipient, fee);
    }

    /// @inheritdoc IMarketCore
    function getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost)
        public
        view
        returns (address recipient, uint256 royalty)
    {
        bool known;
        (known, recipient, royalty) = SafeRead.royalty(tokenContract, tokenId, cost);
        if (!known) {
            CustomRoyalty memory custom = customRoyalties[tokenContract];
            recipient = custom.recipient;
            royalty = Math.mulDiv(cost, custom.fee, BASIS);
        }
        // Nobody could receive it.
        if (recipient == address(0)) royalty = 0;
    }
}
