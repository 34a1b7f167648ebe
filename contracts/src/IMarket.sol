// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarketCore} from "./IMarketCore.sol";

/// @title What version 2 of the market adds
interface IMarket is IMarketCore {
    /// @notice All requests of `creator` below `invalidatedBefore` are dead.
    event RequestsInvalidated(address indexed creator, uint256 indexed invalidatedBefore);

    /// @notice All requests of `creator` for `tokenContract` below `invalidatedBefore` are dead.
    event RequestsInvalidated(
        address indexed creator, address indexed tokenContract, uint256 indexed invalidatedBefore
    );

    /// @notice The maker has invalidated the request together with others.
    error Invalidated();

    /// @notice Accepts a request, wholly or in part. A native listing is paid with the value sent; what is too much
    /// goes back to the caller.
    /// @param requestId The request.
    /// @param quantity How much of it.
    /// @param recipient Who receives the tokens of a listing or the currency of an offer.
    /// @param additionalFees Absolute amounts in the currency of the request.
    /// @param additionalFeeRecipients Who receives those amounts.
    function acceptRequest(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] calldata additionalFees,
        address[] calldata additionalFeeRecipients
    ) external payable;

    /// @notice Kills all requests that the caller has made so far.
    function invalidateRequests() external;

    /// @notice Kills all requests that the caller has made so far for one collection.
    /// @param tokenContract The collection.
    function invalidateRequests(address tokenContract) external;

    /// @notice Requests of `creator` below this number are dead.
    function invalidBeforeId(address creator) external view returns (uint256);

    /// @notice Requests of `creator` for `tokenContract` below this number are dead.
    function invalidTokenBeforeId(address creator, address tokenContract) external view returns (uint256);
}
