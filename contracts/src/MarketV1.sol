// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {MarketBase} from "./base/MarketBase.sol";

/// @title The market, version 1
/// @notice Knows no native coin and no invalidation of many requests. It exists so that the handling of the older
/// interface can be tested; new deployments use `Market`.
contract MarketV1 is MarketBase {
    /// @param owner Who may set custom royalties.
    constructor(address owner) Ownable(owner) {}

    /// @notice Accepts a request, wholly or in part.
    /// @param requestId The request.
    /// @param quantity How much of it.
    /// @param receiver Who receives the tokens of a listing or the currency of an offer.
    /// @param additionalFees Absolute amounts in the currency of the request.
    /// @param additionalFeeReceivers Who receives those amounts.
    function acceptRequest(
        uint256 requestId,
        uint256 quantity,
        address receiver,
        uint256[] calldata additionalFees,
        address[] calldata additionalFeeReceivers
    ) external nonReentrant {
        _accept(requestId, quantity, receiver, additionalFees, additionalFeeReceivers);
    }
}
