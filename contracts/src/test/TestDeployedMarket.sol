// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {IERC2981} from "@openzeppelin/contracts/interfaces/IERC2981.sol";
import {IMarketCore} from "../IMarketCore.sol";

/// @title A market as others have deployed it, for tests
/// @notice It speaks the interface of ours and differs in what is tested with it: a sale owes the royalty that holds
/// when it is made, however little it was when the request was. It knows ERC-20 money only, anybody may set custom
/// royalties, and it has no fees, no batches and no guards.
contract TestDeployedMarket {
    using SafeERC20 for IERC20;

    struct CustomRoyalty {
        address recipient;
        uint96 fee;
    }

    /// @notice The royalties of collections which do not answer themselves.
    mapping(address tokenContract => CustomRoyalty) public customRoyalties;

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

    /// @notice Creates a listing or an offer for the caller.
    /// @param params What is asked for.
    /// @return requestId The number of the new request.
    function createRequest(IMarketCore.RequestParams calldata params) external returns (uint256 requestId) {
        requestId = _nextRequestId++;
        _requests[requestId] = IMarketCore.Request(
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

    /// @notice Accepts a request, wholly or in part.
    /// @param requestId The request.
    /// @param quantity How much of it.
    /// @param recipient Who receives the tokens of a listing or the currency of an offer.
    function acceptRequest(
        uint256 requestId,
        uint256 quantity,
        address recipient,
        uint256[] calldata,
        address[] calldata
    ) external {
        IMarketCore.Request memory request = _requests[requestId];
        (address payer, address payee) = (msg.sender, request.creator);
        if (!request.isListing) (payer, payee) = (request.creator, recipient);
        _pay(request, quantity, payer, payee);
        if (request.isListing) _send(request, request.creator, recipient, quantity);
        else _send(request, msg.sender, request.creator, quantity);
        uint256 left = request.quantity - quantity;
        if (left == 0) delete _requests[requestId];
        else _requests[requestId].quantity = left;
        emit IMarketCore.RequestAccepted(requestId, msg.sender, request.tokenContract, recipient, quantity, left);
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
            && (request.isListing || _canPay(request, quantity));
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

    function _pay(IMarketCore.Request memory request, uint256 quantity, address payer, address payee) private {
        uint256 price = request.pricePerToken * quantity;
        (address artist, uint256 royalty) = getRoyaltyInfo(request.tokenContract, request.tokenId, price);
        IERC20 currency = IERC20(request.currency);
        if (royalty != 0) currency.safeTransferFrom(payer, artist, royalty);
        currency.safeTransferFrom(payer, payee, request.isListing ? price - royalty : price);
    }

    function _canPay(IMarketCore.Request memory request, uint256 quantity) private view returns (bool) {
        uint256 price = request.pricePerToken * quantity;
        (, uint256 royalty) = getRoyaltyInfo(request.tokenContract, request.tokenId, price);
        IERC20 currency = IERC20(request.currency);
        return currency.balanceOf(request.creator) >= price + royalty
            && currency.allowance(request.creator, address(this)) >= price + royalty;
    }

    function _send(IMarketCore.Request memory request, address from, address to, uint256 quantity) private {
        if (request.isERC1155) {
            IERC1155(request.tokenContract).safeTransferFrom(from, to, request.tokenId, quantity, "");
        } else {
            IERC721(request.tokenContract).safeTransferFrom(from, to, request.tokenId);
        }
    }
}
