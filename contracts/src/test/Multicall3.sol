// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The one function of Multicall3 which the tests need
contract Multicall3 {
    /// @notice A call, and whether the whole batch may go on when it fails.
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    /// @notice What a call answered.
    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice Makes all calls in order.
    /// @param calls The calls.
    /// @return returnData Their results, in the same order.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i; i < calls.length; ++i) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure, "Multicall3: call failed");
            returnData[i] = Result(success, data);
        }
    }
}
