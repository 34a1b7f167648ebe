// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.24;

import { Consideration } from "seaport-core/src/lib/Consideration.sol";

/// Seaport under the name that Mintify's orders are signed for.
contract MintifyExchange is Consideration {
    constructor(address conduitController) Consideration(conduitController) {}

    function _nameString() internal pure override returns (string memory) {
        return "MintifyExchange";
    }
}

/// Seaport under the name that AlienSwap's orders are signed for. The older version, whose code no package has, is made
/// by the build.
contract Alienswap is Consideration {
    constructor(address conduitController) Consideration(conduitController) {}

    function _nameString() internal pure override returns (string memory) {
        return "Alienswap";
    }
}
