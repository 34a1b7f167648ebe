// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

/// @title An ERC-721 collection for tests that can be paused
/// @notice Anybody may mint and pause. While it is paused nothing moves, and it says who holds what all the same.
contract TestPausableERC721 is ERC721, Pausable {
    constructor() ERC721("Pausable", "PAU") {}

    /// @notice Mints a token.
    /// @param to Who receives it.
    /// @param tokenId Its number.
    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }

    /// @notice Lets nothing move any more.
    function pause() external {
        _pause();
    }

    /// @inheritdoc ERC721
    function _update(address to, uint256 tokenId, address auth) internal override whenNotPaused returns (address) {
        return super._update(to, tokenId, auth);
    }
}
