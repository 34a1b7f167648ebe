// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {IMarket} from "./IMarket.sol";
import {MarketBase} from "./base/MarketBase.sol";

/// @title The market, version 2
/// @notice Adds listings in the native coin (currency zero) and the invalidation of many requests at once.
/// @dev This is deliberately no upgradeable proxy. Users approve the market to move their tokens and money, so whoever
/// could replace its code could take all of that. The owner can only set custom royalties, see `Royalties`.
contract Market is IMarket, MarketBase {
    /// @inheritdoc IMarket
    mapping(address creator => uint256) public invalidBeforeId;

    /// @inheritdoc IMarket
    mapping(address creator => mapping(address tokenContract => uint256)) public invalidTokenBeforeId;

    /// @param owner Who may set custom royalties.
    constructor(address owner) Ownable(owner) {}

    /// @inheritdoc IMarket
    function acceptRequest(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] calldata additionalFees,
        address[] calldata additionalFeeRecipients
    ) external payable nonReentrant {
        uint256 paid = _accept(requestId, quantity, recipient, additionalFees, additionalFeeRecipients);
        // A request in another currency takes no value, so any value here was sent for a native listing.
        if (msg.value > paid) Address.sendValue(payable(msg.sender), msg.value - paid);
    }

    /// @inheritdoc IMarket
    function invalidateRequests() external {
        invalidBeforeId[msg.sender] = _nextRequestId;
        emit RequestsInvalidated(msg.sender, _nextRequestId);
    }

    /// @inheritdoc IMarket
    function invalidateRequests(address tokenContract) external {
        invalidTokenBeforeId[msg.sender][tokenContract] = _nextRequestId;
        emit RequestsInvalidated(msg.sender, tokenContract, _nextRequestId);
    }

    // An offer is paid when somebody accepts it, and native coin cannot be taken from its maker at that time.
    function _requireCurrency(bool isListing, address currency) internal pure override {
        if (!isListing && currency == address(0)) revert InvalidCurrency();
    }

    function _isInvalidated(uint256 requestId, Request memory request) internal view override returns (bool) {
        return requestId < invalidBeforeId[request.creator]
            || requestId < invalidTokenBeforeId[request.creator][request.tokenContract];
    }

    function _requireNotInvalidated(uint256 requestId, Request memory request) internal view override {
        if (_isInvalidated(requestId, request)) revert Invalidated();
    }

    // The value is compared with the whole bill, never with the balance of this contract, so that coin which somebody
    // forced into it changes nothing. In a batch the value is zero, so a native listing is refused there.
    function _collect(address currency, uint256 total) internal view override {
        if (currency != address(0)) {
            if (msg.value != 0) revert InvalidCurrency();
        } else {
            require(msg.value >= total, "Market: too little value");
        }
    }

    function _pay(address currency, address from, address to, uint256 amount) internal override {
        if (currency != address(0)) super._pay(currency, from, to, amount);
        else if (amount != 0) Address.sendValue(payable(to), amount);
    }
}
