// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The few of forge's cheat codes which these tests use
/// @dev forge's own library is not kept on npm, and everything here has to come from there.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function prank(address sender) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function deal(address who, uint256 balance) external;
    function warp(uint256 timestamp) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function expectRevert() external;
    function expectRevert(bytes4 selector) external;
    function expectRevert(bytes calldata data) external;
    function assertEq(uint256 a, uint256 b) external pure;
    function assertEq(uint256 a, uint256 b, string calldata why) external pure;
    function assertEq(address a, address b) external pure;
    function assertEq(bytes32 a, bytes32 b) external pure;
    function assertEq(string calldata a, string calldata b) external pure;
    function assertEq(bool a, bool b) external pure;
    function assertTrue(bool a) external pure;
    function assertFalse(bool a) external pure;
}

/// @dev forge answers at this address.
Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

/// @dev Brings a random number into a range, both ends included.
function bound(uint256 x, uint256 min, uint256 max) pure returns (uint256) {
    return max - min == type(uint256).max ? x : min + x % (max - min + 1);
}

/// @dev Makes an address from a name; no contract and no precompile is there.
function actor(string memory name) pure returns (address) {
    return address(uint160(uint256(keccak256(bytes(name)))));
}
