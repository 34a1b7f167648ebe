// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {IERC2981} from "@openzeppelin/contracts/interfaces/IERC2981.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {IMarket} from "../IMarket.sol";
import {IMarketCore} from "../IMarketCore.sol";
import {SafeRead} from "../base/SafeRead.sol";

/// @title A market as others have deployed it, for tests
/// @notice It speaks the interface of ours and differs in what is tested with it: a sale owes the royalty that holds
/// when it is made, however little it was when the request was, and whoever receives it. Anybody may set custom
/// royalties, requests are neither made nor cancelled in batches, and nothing is guarded.
contract TestDeployedMarket {
    using SafeERC20 for IERC20;

    struct CustomRoyalty {
        address recipient;
        uint96 fee;
    }

    /// @notice The royalties of collections which do not answer themselves.
    mapping(address tokenContract => CustomRoyalty) public customRoyalties;

    /// @notice Requests of `creator` below this number are dead.
    mapping(address creator => uint256) public invalidBeforeId;

    /// @notice Requests of `creator` for `tokenContract` below this number are dead.
    mapping(address creator => mapping(address tokenContract => uint256)) public invalidTokenBeforeId;

    uint256 private _nextRequestId;
    mapping(uint256 requestId => IMarketCore.Request) private _requests;

    /// @dev The other markets want to be told an owner, and this one forgets it.
    constructor(address) {}

    /// @notice Sets the royalty of a collection.
    /// @param tokenContract The collection.
    /// @param recipient Who receives it.
    /// @param fee Ten-thousandths of the price.
    function setRoyaltyInfo(address tokenContract, address recipient, uint96 fee) external {
        customRoyalties[tokenContract] = CustomRoyalty(recipient, fee);
        emit IMarketCore.CustomRoyaltyChanged(tokenContract, recipient, fee);
    }

    /// @notice Kills all requests that the caller has made so far.
    function invalidateRequests() external {
        invalidBeforeId[msg.sender] = _nextRequestId;
        emit IMarket.RequestsInvalidated(msg.sender, _nextRequestId);
    }

    /// @notice Kills all requests that the caller has made so far for one collection.
    /// @param tokenContract The collection.
    function invalidateRequests(address tokenContract) external {
        invalidTokenBeforeId[msg.sender][tokenContract] = _nextRequestId;
        emit IMarket.RequestsInvalidated(msg.sender, tokenContract, _nextRequestId);
    }

    /// @notice Creates a listing or an offer for the caller.
    /// @param params What is asked for.
    /// @return requestId The number of the new request.
    function createRequest(IMarketCore.RequestParams calldata params) external returns (uint256 requestId) {
        if (params.expiry <= block.timestamp) revert IMarketCore.InvalidExpiry();
        if (!params.isListing && params.currency == address(0)) revert IMarketCore.InvalidCurrency();
        requestId = _nextRequestId++;
        IMarketCore.Request memory request = IMarketCore.Request(
            msg.sender,
            params.isListing,
            params.isERC1155,
            params.tokenContract,
            params.tokenId,
            params.quantity,
            params.expiry,
            params.currency,
            params.pricePerToken
        );
        _requests[requestId] = request;
        if (!_canDeliver(request, params.quantity)) {
            if (!params.isListing) {
                revert IMarketCore.InvalidCurrencyApproval(params.currency, params.quantity, msg.sender);
            }
            revert IMarketCore.InvalidTokenApproval(params.tokenContract, params.tokenId, params.quantity, msg.sender);
        }
        emit IMarketCore.RequestCreated(
            requestId,
            msg.sender,
            params.tokenContract,
            params.tokenId,
            params.isListing,
            params.quantity,
            params.currency,
            params.pricePerToken,
            params.expiry
        );
    }

    /// @notice Withdraws a request of the caller.
    /// @param requestId The request.
    function cancelRequest(uint256 requestId) external {
        IMarketCore.Request memory request = _requests[requestId];
        if (request.creator != msg.sender) revert IMarketCore.InvalidRequestId(requestId);
        delete _requests[requestId];
        emit IMarketCore.RequestCancelled(requestId, request.tokenContract);
    }

    /// @notice Accepts a request, wholly or in part. What is too much of native coin goes back.
    /// @param requestId The request.
    /// @param quantity How much of it.
    /// @param recipient Who receives the tokens of a listing or the currency of an offer.
    /// @param fees Absolute amounts in the currency of the request.
    /// @param feeRecipients Who receives those amounts.
    function acceptRequest(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] calldata fees,
        address[] calldata feeRecipients
    ) external payable {
        uint256 paid = _accept(requestId, quantity, recipient, fees, feeRecipients);
        if (msg.value > paid) Address.sendValue(payable(msg.sender), msg.value - paid);
    }

    /// @notice Accepts several requests which are priced in ERC-20, or none. The same fees are paid for each.
    /// @param requestIds The requests.
    /// @param quantities How much of each.
    /// @param recipients Who receives the tokens of a listing or the currency of an offer.
    /// @param fees Absolute amounts in the currency of the request.
    /// @param feeRecipients Who receives those amounts.
    function acceptRequestBatch(
        uint256[] calldata requestIds,
        uint256[] calldata quantities,
        address[] calldata recipients,
        uint256[] calldata fees,
        address[] calldata feeRecipients
    ) external {
        for (uint256 i; i < requestIds.length; ++i) {
            _accept(requestIds[i], quantities[i], recipients[i], fees, feeRecipients);
        }
    }

    /// @notice Says whether the maker could deliver right now.
    /// @param requestId The request.
    /// @param quantity How much of it; 0 means all that is left.
    /// @return valid Whether it is alive and the maker's side is held and approved.
    /// @return request What is stored.
    function isRequestValid(uint256 requestId, uint256 quantity)
        external
        view
        returns (bool valid, IMarketCore.Request memory request)
    {
        request = _requests[requestId];
        if (quantity == 0) quantity = request.quantity;
        valid = request.creator != address(0) && quantity <= request.quantity && request.expiry > block.timestamp
            && !_isInvalidated(requestId, request) && _canDeliver(request, quantity);
    }

    /// @notice Says what royalty a sale would owe now.
    /// @param tokenContract The collection.
    /// @param tokenId The token.
    /// @param cost The price of the whole sale.
    /// @return recipient Who receives the royalty.
    /// @return royalty How much.
    function getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost)
        public
        view
        returns (address recipient, uint256 royalty)
    {
        try IERC2981(tokenContract).royaltyInfo(tokenId, cost) returns (address to, uint256 amount) {
            return (to, amount);
        } catch {
            CustomRoyalty memory custom = customRoyalties[tokenContract];
            return (custom.recipient, cost * custom.fee / 10_000);
        }
    }

    function _isInvalidated(uint256 requestId, IMarketCore.Request memory request) private view returns (bool) {
        return requestId < invalidBeforeId[request.creator]
            || requestId < invalidTokenBeforeId[request.creator][request.tokenContract];
    }

    function _canDeliver(IMarketCore.Request memory request, uint256 quantity) private view returns (bool) {
        (address maker, address token, uint256 id) = (request.creator, request.tokenContract, request.tokenId);
        if (request.isListing) {
            if (request.isERC1155) return SafeRead.canSend1155(token, id, quantity, maker, address(this));
            return SafeRead.canSend721(token, id, maker, address(this));
        }
        uint256 price = request.pricePerToken * quantity;
        (, uint256 royalty) = getRoyaltyInfo(token, id, price);
        return SafeRead.canSpend(request.currency, maker, address(this), price + royalty);
    }

    // Returns what the payer of native coin pays in all.
    function _accept(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] calldata fees,
        address[] calldata feeRecipients
    ) private returns (uint256 paid) {
        IMarketCore.Request memory request = _requests[requestId];
        if (request.creator == address(0)) revert IMarketCore.InvalidRequestId(requestId);
        if (quantity == 0 || quantity > request.quantity) revert IMarketCore.InvalidQuantity();
        if (_isInvalidated(requestId, request)) revert IMarket.Invalidated();
        if (request.expiry <= block.timestamp) revert IMarketCore.InvalidExpiry();
        uint256 left = request.quantity - quantity;
        if (left == 0) delete _requests[requestId];
        else _requests[requestId].quantity = left;
        paid = _settle(request, quantity, recipient, fees, feeRecipients);
        if (request.isListing) _send(request, request.creator, recipient, quantity);
        else _send(request, msg.sender, request.creator, quantity);
        emit IMarketCore.RequestAccepted(requestId, msg.sender, request.tokenContract, recipient, quantity, left);
    }

    // The maker bears the royalty and the taker the fees.
    function _settle(
        IMarketCore.Request memory request,
        uint256 quantity,
        address recipient,
        uint256[] calldata fees,
        address[] calldata feeRecipients
    ) private returns (uint256 paid) {
        uint256 price = request.pricePerToken * quantity;
        address payer = request.isListing ? msg.sender : request.creator;
        uint256 sum;
        for (uint256 i; i < fees.length; ++i) {
            if (fees[i] == 0 || feeRecipients[i] == address(0)) revert IMarketCore.InvalidAdditionalFees();
            sum += fees[i];
            _pay(request.currency, payer, feeRecipients[i], fees[i]);
        }
        (address artist, uint256 royalty) = getRoyaltyInfo(request.tokenContract, request.tokenId, price);
        if (sum > (request.isListing ? price - royalty : price)) revert IMarketCore.InvalidAdditionalFees();
        _pay(request.currency, payer, artist, royalty);
        if (request.isListing) _pay(request.currency, payer, request.creator, price - royalty);
        else _pay(request.currency, payer, recipient, price - sum);
        if (request.currency == address(0)) paid = price + sum;
        else if (msg.value != 0) revert IMarketCore.InvalidCurrency();
    }

    function _pay(address currency, address from, address to, uint256 amount) private {
        if (amount == 0) return;
        if (currency == address(0)) Address.sendValue(payable(to), amount);
        else IERC20(currency).safeTransferFrom(from, to, amount);
    }

    function _send(IMarketCore.Request memory request, address from, address to, uint256 quantity) private {
        if (request.isERC1155) {
            IERC1155(request.tokenContract).safeTransferFrom(from, to, request.tokenId, quantity, "");
        } else {
            IERC721(request.tokenContract).safeTransferFrom(from, to, request.tokenId);
        }
    }
}
