// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A currency for tests, which anybody may mint
contract TestERC20 is ERC20 {
    uint8 private immutable _decimals;

    /// @param name_ The name.
    /// @param symbol_ The symbol.
    /// @param decimals_ How many decimals wallets show.
    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    /// @notice Mints.
    /// @param to Who receives it.
    /// @param amount How much.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
