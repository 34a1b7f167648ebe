// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IMarket} from "./IMarket.sol";
import {IMarketCore} from "./IMarketCore.sol";

/// @title Buys several native listings in one transaction
/// @notice The market's own batch takes no value. This contract accepts each listing with exactly its cost and returns
/// the rest, so it holds nothing between transactions and needs no trust. The market's event names this contract as
/// the buyer; the recipients are right.
/// @dev The guard matters: without it, a seller who is paid in the middle of a batch could start another one here.
contract BatchPayableHelper is ReentrancyGuard {
    /// @notice Accepts native listings, all or none, and returns what is left of the value to the caller.
    /// @param market The market. The caller chooses it and only risks the value sent along.
    /// @param requestIds The listings.
    /// @param quantities How much of each.
    /// @param recipients Who receives the tokens of each.
    /// @param additionalFees Absolute amounts, paid for EVERY listing.
    /// @param additionalFeeRecipients Who receives those amounts.
    function acceptRequestBatch(
        address market,
        uint256[] calldata requestIds,
        uint256[] calldata quantities,
        address[] calldata recipients,
        uint256[] calldata additionalFees,
        address[] calldata additionalFeeRecipients
    ) external payable nonReentrant {
        if (requestIds.length != quantities.length || requestIds.length != recipients.length) {
            revert IMarketCore.InvalidBatchRequest();
        }
        uint256 left = msg.value;
        for (uint256 i; i < requestIds.length; ++i) {
            uint256 cost = _cost(IMarket(market), requestIds[i], quantities[i], additionalFees);
            require(cost <= left, "BatchPayableHelper: too little value");
            left -= cost;
            IMarket(market).acceptRequest{value: cost}(
                requestIds[i], quantities[i], recipients[i], additionalFees, additionalFeeRecipients
            );
        }
        if (left != 0) Address.sendValue(payable(msg.sender), left);
    }

    // Only native listings make sense here: this contract holds no other currency and no tokens to give for an offer.
    function _cost(IMarket market, uint256 requestId, uint256 quantity, uint256[] calldata fees)
        private
        view
        returns (uint256 cost)
    {
        IMarketCore.Request memory request = market.getRequest(requestId);
        if (request.currency != address(0)) revert IMarketCore.InvalidCurrency();
        cost = request.pricePerToken * quantity;
        for (uint256 i; i < fees.length; ++i) {
            cost += fees[i];
        }
    }
}
