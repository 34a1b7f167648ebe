// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {TestERC20} from "./TestERC20.sol";

/// @title A currency for tests that lets nobody replace one allowance by another, as Tether does on Ethereum
contract TestTether is TestERC20 {
    constructor() TestERC20("Tether", "USDT", 6) {}

    /// @inheritdoc ERC20
    function approve(address spender, uint256 amount) public override returns (bool) {
        require(amount == 0 || allowance(msg.sender, spender) == 0, "TestTether: take back what is left first");
        return super.approve(spender, amount);
    }
}
