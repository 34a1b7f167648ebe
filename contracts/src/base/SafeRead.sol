// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {IERC2981} from "@openzeppelin/contracts/interfaces/IERC2981.sol";

/// @title Questions to contracts that may answer badly
/// @notice A call through an interface reverts in the caller when the answer is malformed, and `try` does not catch
/// that. A validity check of many requests must not fail because of one bad token, so answers are read as raw words,
/// and a missing answer counts as "no".
library SafeRead {
    /// @dev Says whether `owner` holds `amount` of an ERC-20 and has approved `spender` to take it.
    function canSpend(address currency, address owner, address spender, uint256 amount) internal view returns (bool) {
        return _word(currency, abi.encodeCall(IERC20.balanceOf, (owner))) >= amount
            && _word(currency, abi.encodeCall(IERC20.allowance, (owner, spender))) >= amount;
    }

    /// @dev Says whether `owner` holds an ERC-721 token and has approved `operator` to take it.
    function canSend721(address token, uint256 id, address owner, address operator) internal view returns (bool) {
        return _word(token, abi.encodeCall(IERC721.ownerOf, (id))) == uint160(owner)
            && (_word(token, abi.encodeCall(IERC721.getApproved, (id))) == uint160(operator)
                || _approvedForAll(token, owner, operator));
    }

    /// @dev Says whether `owner` holds `amount` of an ERC-1155 token and has approved `operator` to take it.
    function canSend1155(address token, uint256 id, uint256 amount, address owner, address operator)
        internal
        view
        returns (bool)
    {
        return _word(token, abi.encodeCall(IERC1155.balanceOf, (owner, id))) >= amount
            && _approvedForAll(token, owner, operator);
    }

    /// @dev Asks a collection for its ERC-2981 royalty. `known` is false when it does not give a well-formed answer.
    function royalty(address token, uint256 id, uint256 price)
        internal
        view
        returns (bool known, address recipient, uint256 amount)
    {
        (bool success, bytes memory answer) = token.staticcall(abi.encodeCall(IERC2981.royaltyInfo, (id, price)));
        if (!success || answer.length < 64) return (false, address(0), 0);
        uint256 rawRecipient;
        (rawRecipient, amount) = abi.decode(answer, (uint256, uint256));
        if (rawRecipient > type(uint160).max) return (false, address(0), 0);
        return (true, address(uint160(rawRecipient)), amount);
    }

    // ERC-721 and ERC-1155 ask this question in the same way.
    function _approvedForAll(address token, address owner, address operator) private view returns (bool) {
        return _word(token, abi.encodeCall(IERC1155.isApprovedForAll, (owner, operator))) == 1;
    }

    // Zero is the word that grants nothing in every question above, because no asked amount and no asked address is
    // zero there.
    function _word(address target, bytes memory question) private view returns (uint256) {
        (bool success, bytes memory answer) = target.staticcall(question);
        return success && answer.length >= 32 ? abi.decode(answer, (uint256)) : 0;
    }
}
