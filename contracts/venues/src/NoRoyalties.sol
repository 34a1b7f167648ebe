// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.17;

/// The registry that LooksRare asks before it asks a collection: it knows of none.
contract NoRoyalties {
    function royaltyInfo(address, uint256) external pure returns (address, uint256) {
        return (address(0), 0);
    }
}
