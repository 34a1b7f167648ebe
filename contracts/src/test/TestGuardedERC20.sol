// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {TestERC20} from "./TestERC20.sol";

/// @title A currency for tests whose operator shuts accounts out, as those of stable coins can
contract TestGuardedERC20 is TestERC20 {
    /// @notice Who is shut out.
    mapping(address account => bool isShutOut) public isBlacklisted;

    constructor() TestERC20("Guarded", "GRD", 6) {}

    /// @notice Shuts an account out. Anybody may.
    /// @param account Whom.
    function blacklist(address account) external {
        isBlacklisted[account] = true;
    }

    /// @inheritdoc ERC20
    function _update(address from, address to, uint256 value) internal override {
        require(!isBlacklisted[from] && !isBlacklisted[to], "Blacklistable: account is blacklisted");
        super._update(from, to, value);
    }
}
