// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {ERC165Checker} from "@openzeppelin/contracts/utils/introspection/ERC165Checker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IMarketCore} from "../IMarketCore.sol";
import {Royalties} from "./Royalties.sol";
import {SafeRead} from "./SafeRead.sol";

/// @title The rules which both versions of the market share
/// @notice The market never holds tokens or money: everything moves directly between the parties in the transaction
/// that accepts a request. Tokens that take a fee on transfer are not supported: the amounts sent are exact, what
/// arrives is then less.
/// @dev Guarded functions change the state of a request before they call other contracts, and the guard stops those
/// contracts from calling back in.
abstract contract MarketBase is Royalties, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @dev Who pays and receives what when a request is accepted.
    struct Bill {
        address currency;
        address payer;
        address payee;
        uint256 payeeAmount;
        address royaltyRecipient;
        uint256 royalty;
        uint256 total;
    }

    uint256 internal _nextRequestId;
    mapping(uint256 requestId => Request) private _requests;

    // The royalty that the rest of a request may still cost its maker. It is fixed when the request is made, because a
    // collection could otherwise raise its royalty later and take the whole price of a listing, or as much again as
    // the price of an offer, from a maker who never agreed to it.
    mapping(uint256 requestId => uint256) private _royaltyLeft;

    /// @inheritdoc IMarketCore
    function createRequest(RequestParams calldata request) external nonReentrant returns (uint256 requestId) {
        return _create(request);
    }

    /// @inheritdoc IMarketCore
    function createRequestBatch(RequestParams[] calldata requests)
        external
        nonReentrant
        returns (uint256[] memory requestIds)
    {
        requestIds = new uint256[](requests.length);
        for (uint256 i; i < requests.length; ++i) {
            requestIds[i] = _create(requests[i]);
        }
    }

    /// @inheritdoc IMarketCore
    function acceptRequestBatch(
        uint256[] calldata requestIds,
        uint256[] calldata quantities,
        address[] calldata recipients,
        uint256[] calldata additionalFees,
        address[] calldata additionalFeeRecipients
    ) external nonReentrant {
        if (requestIds.length != quantities.length || requestIds.length != recipients.length) {
            revert InvalidBatchRequest();
        }
        for (uint256 i; i < requestIds.length; ++i) {
            _accept(requestIds[i], quantities[i], recipients[i], additionalFees, additionalFeeRecipients);
        }
    }

    /// @inheritdoc IMarketCore
    function cancelRequest(uint256 requestId) external nonReentrant {
        _cancel(requestId);
    }

    /// @inheritdoc IMarketCore
    function cancelRequestBatch(uint256[] calldata requestIds) external nonReentrant {
        for (uint256 i; i < requestIds.length; ++i) {
            _cancel(requestIds[i]);
        }
    }

    /// @inheritdoc IMarketCore
    function getRequest(uint256 requestId) external view returns (Request memory request) {
        return _requests[requestId];
    }

    /// @inheritdoc IMarketCore
    function getRequestBatch(uint256[] calldata requestIds) external view returns (Request[] memory requests) {
        requests = new Request[](requestIds.length);
        for (uint256 i; i < requestIds.length; ++i) {
            requests[i] = _requests[requestIds[i]];
        }
    }

    /// @inheritdoc IMarketCore
    function isRequestValidBatch(uint256[] calldata requestIds, uint256[] calldata quantities)
        external
        view
        returns (bool[] memory valid, Request[] memory requests)
    {
        if (requestIds.length != quantities.length) revert InvalidBatchRequest();
        valid = new bool[](requestIds.length);
        requests = new Request[](requestIds.length);
        for (uint256 i; i < requestIds.length; ++i) {
            (valid[i], requests[i]) = isRequestValid(requestIds[i], quantities[i]);
        }
    }

    /// @inheritdoc IMarketCore
    function isRequestValid(uint256 requestId, uint256 quantity)
        public
        view
        returns (bool valid, Request memory request)
    {
        request = _requests[requestId];
        if (quantity == 0) quantity = request.quantity;
        valid = request.creator != address(0) && quantity <= request.quantity && request.expiry > block.timestamp
            && !_isInvalidated(requestId, request) && _makerCanDeliver(requestId, request, quantity);
    }

    /// @notice Says how much royalty the rest of a request may still cost its maker, and for how many units that is. What
    /// a sale owes is no more than this, however high `getRoyaltyInfo` is by then. Markets of others, which charge
    /// whatever holds when a request is accepted, have no such function: that is how the two are told apart.
    /// @param requestId The request.
    /// @return royalty The most that all these units together may cost.
    /// @return quantity The units that are left.
    function royaltyLeft(uint256 requestId) external view returns (uint256 royalty, uint256 quantity) {
        quantity = _requests[requestId].quantity;
        if (quantity == 0) revert InvalidRequestId(requestId);
        royalty = _royaltyLeft[requestId];
    }

    /// @dev Settles one request and returns what the payer paid in all. The caller must hold the guard.
    function _accept(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] calldata fees,
        address[] calldata feeRecipients
    ) internal returns (uint256) {
        Request memory request = _requests[requestId];
        _requireAcceptable(requestId, request, quantity);
        // Some currencies let themselves be sent to nobody.
        require(recipient != address(0), "Market: no recipient");

        Bill memory bill = _bill(requestId, request, quantity, recipient, _sumFees(fees, feeRecipients));
        _reduce(requestId, request, quantity, bill.royalty);

        _collect(bill.currency, bill.total);
        _pay(bill.currency, bill.payer, bill.royaltyRecipient, bill.royalty);
        for (uint256 i; i < fees.length; ++i) {
            _pay(bill.currency, bill.payer, feeRecipients[i], fees[i]);
        }
        _pay(bill.currency, bill.payer, bill.payee, bill.payeeAmount);
        if (request.isListing) _sendToken(request, request.creator, recipient, quantity);
        else _sendToken(request, msg.sender, request.creator, quantity);

        emit RequestAccepted(
            requestId, msg.sender, request.tokenContract, recipient, quantity, request.quantity - quantity
        );
        return bill.total;
    }

    /// @dev Reverts when a request cannot be made in this currency. Version 1 knows no native coin.
    function _requireCurrency(bool, address currency) internal pure virtual {
        if (currency == address(0)) revert InvalidCurrency();
    }

    /// @dev Says whether the maker has killed the request together with others. Version 1 cannot do that.
    function _isInvalidated(uint256, Request memory) internal view virtual returns (bool) {
        return false;
    }

    /// @dev Reverts when `_isInvalidated`. It is apart because only version 2 knows the error.
    function _requireNotInvalidated(uint256, Request memory) internal view virtual {}

    /// @dev Makes sure before any payment that the value sent fits. In version 1 nothing payable exists.
    function _collect(address, uint256) internal view virtual {}

    /// @dev Moves currency between two parties.
    function _pay(address currency, address from, address to, uint256 amount) internal virtual {
        if (amount != 0) IERC20(currency).safeTransferFrom(from, to, amount);
    }

    function _create(RequestParams calldata params) private returns (uint256 requestId) {
        if (params.pricePerToken == 0) revert InvalidPrice();
        if (params.expiry <= block.timestamp) revert InvalidExpiry();
        if (params.quantity == 0 || (!params.isERC1155 && params.quantity != 1)) revert InvalidQuantity();
        _requireCurrency(params.isListing, params.currency);
        _requireInterface(params.tokenContract, params.isERC1155);
        (bool fits, uint256 price) = Math.tryMul(params.pricePerToken, params.quantity);
        if (!fits) revert InvalidPrice();

        Request memory request = _toRequest(params);
        (, uint256 royalty) = getRoyaltyInfo(params.tokenContract, params.tokenId, price);
        if (royalty > price) revert InvalidRoyalty();
        requestId = _nextRequestId++;
        _requests[requestId] = request;
        _royaltyLeft[requestId] = royalty;
        _requireDeliverable(requestId, request);
        emit RequestCreated(
            requestId,
            request.creator,
            request.tokenContract,
            request.tokenId,
            request.isListing,
            request.quantity,
            request.currency,
            request.pricePerToken,
            request.expiry
        );
    }

    function _cancel(uint256 requestId) private {
        Request storage request = _requests[requestId];
        if (request.creator != msg.sender) revert InvalidRequestId(requestId);
        address tokenContract = request.tokenContract;
        delete _requests[requestId];
        delete _royaltyLeft[requestId];
        emit RequestCancelled(requestId, tokenContract);
    }

    function _reduce(uint256 requestId, Request memory request, uint256 quantity, uint256 royalty) private {
        if (quantity == request.quantity) {
            delete _requests[requestId];
            delete _royaltyLeft[requestId];
        } else {
            _requests[requestId].quantity = request.quantity - quantity;
            _royaltyLeft[requestId] -= royalty;
        }
    }

    // The safe transfers ask a contract whether it can handle the token, so that none gets stuck in one that cannot.
    // They hand control to the receiver, which the guard makes harmless.
    function _sendToken(Request memory request, address from, address to, uint256 quantity) private {
        if (request.isERC1155) {
            IERC1155(request.tokenContract).safeTransferFrom(from, to, request.tokenId, quantity, "");
        } else {
            IERC721(request.tokenContract).safeTransferFrom(from, to, request.tokenId);
        }
    }

    // The maker bears the royalty and the taker bears the fees. So a listing's royalty lessens what the seller gets and
    // its fees come on top of the price, while an offer's royalty comes on top and its fees lessen what the seller gets.
    function _bill(uint256 requestId, Request memory request, uint256 quantity, address recipient, uint256 fees)
        private
        view
        returns (Bill memory bill)
    {
        uint256 price = request.pricePerToken * quantity;
        (bill.royaltyRecipient, bill.royalty) = _royalty(requestId, request, price);
        if (bill.royalty > price) revert InvalidRoyalty();
        bill.currency = request.currency;
        if (request.isListing) {
            bill.payeeAmount = price - bill.royalty;
            if (fees > bill.payeeAmount) revert InvalidAdditionalFees();
            (bill.payer, bill.payee, bill.total) = (msg.sender, request.creator, price + fees);
        } else {
            if (fees > price) revert InvalidAdditionalFees();
            bill.payeeAmount = price - fees;
            (bill.payer, bill.payee, bill.total) = (request.creator, recipient, price + bill.royalty);
        }
    }

    function _royalty(uint256 requestId, Request memory request, uint256 price)
        private
        view
        returns (address recipient, uint256 royalty)
    {
        (recipient, royalty) = getRoyaltyInfo(request.tokenContract, request.tokenId, price);
        royalty = Math.min(royalty, _royaltyLeft[requestId]);
    }

    function _makerCanDeliver(uint256 requestId, Request memory request, uint256 quantity) private view returns (bool) {
        if (!request.isListing) {
            uint256 cost = _offerCost(requestId, request, quantity);
            return SafeRead.canSpend(request.currency, request.creator, address(this), cost);
        }
        if (request.isERC1155) {
            return
                SafeRead.canSend1155(request.tokenContract, request.tokenId, quantity, request.creator, address(this));
        }
        return SafeRead.canSend721(request.tokenContract, request.tokenId, request.creator, address(this));
    }

    function _offerCost(uint256 requestId, Request memory request, uint256 quantity) private view returns (uint256) {
        uint256 price = request.pricePerToken * quantity;
        (, uint256 royalty) = _royalty(requestId, request, price);
        // A sum that does not fit cannot be held by anybody, and the largest number says the same.
        return Math.saturatingAdd(price, royalty);
    }

    function _requireDeliverable(uint256 requestId, Request memory request) private view {
        if (_makerCanDeliver(requestId, request, request.quantity)) return;
        if (request.isListing) {
            revert InvalidTokenApproval(request.tokenContract, request.tokenId, request.quantity, request.creator);
        }
        uint256 cost = _offerCost(requestId, request, request.quantity);
        revert InvalidCurrencyApproval(request.currency, cost, request.creator);
    }

    function _requireAcceptable(uint256 requestId, Request memory request, uint256 quantity) private view {
        if (request.creator == address(0)) revert InvalidRequestId(requestId);
        if (quantity == 0 || quantity > request.quantity) revert InvalidQuantity();
        _requireNotInvalidated(requestId, request);
        if (request.expiry <= block.timestamp) revert InvalidExpiry();
    }

    function _requireInterface(address tokenContract, bool isERC1155) private view {
        bytes4 interfaceId = isERC1155 ? type(IERC1155).interfaceId : type(IERC721).interfaceId;
        if (!ERC165Checker.supportsInterface(tokenContract, interfaceId)) {
            revert UnsupportedContractInterface(tokenContract, interfaceId);
        }
    }

    function _toRequest(RequestParams calldata params) private view returns (Request memory) {
        return Request({
            creator: msg.sender,
            isListing: params.isListing,
            isERC1155: params.isERC1155,
            tokenContract: params.tokenContract,
            tokenId: params.tokenId,
            quantity: params.quantity,
            expiry: params.expiry,
            currency: params.currency,
            pricePerToken: params.pricePerToken
        });
    }

    function _sumFees(uint256[] calldata fees, address[] calldata recipients) private pure returns (uint256 sum) {
        if (fees.length != recipients.length) revert InvalidAdditionalFees();
        for (uint256 i; i < fees.length; ++i) {
            if (fees[i] == 0 || recipients[i] == address(0)) revert InvalidAdditionalFees();
            // Fees that do not fit into a number exceed every price and are refused for that.
            sum = Math.saturatingAdd(sum, fees[i]);
        }
    }
}
