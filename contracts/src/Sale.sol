// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {ISale} from "./ISale.sol";

/// @title How an ERC-721 collection mints
interface IMints721 {
    function safeMint(address to, uint256 tokenId) external;
}

/// @title How an ERC-1155 collection mints
interface IMints1155 {
    function mintBatch(address to, uint256[] calldata tokenIds, uint256[] calldata amounts, bytes calldata data)
        external;
}

/// @title A primary sale
/// @notice The owner says on which terms tokens are sold. Whoever pays has them minted at once; the money goes straight
/// to the payee, so nothing is ever kept here. Terms never change for a buyer who is under way: the call names the
/// currency and the most to pay.
/// @dev What is left is counted down before any other contract is called, and the guard stops those from calling back in.
contract Sale is ISale, Ownable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @inheritdoc ISale
    address public immutable itemsContract;
    /// @inheritdoc ISale
    bool public immutable isERC1155;
    /// @inheritdoc ISale
    address public immutable paymentToken;

    /// @notice Who receives the money.
    address public payee;
    /// @inheritdoc ISale
    mapping(uint256 tokenId => uint256) public sold;

    struct Times {
        uint64 createdAt;
        uint64 updatedAt;
    }

    GlobalSaleDetails private _global;
    mapping(uint256 tokenId => SaleDetails) private _details;
    mapping(uint256 tokenId => Times) private _times;
    uint256[] private _tokenIds;

    /// @param owner Who says on which terms tokens are sold.
    /// @param payee_ Who receives the money.
    /// @param itemsContract_ The collection.
    /// @param isERC1155_ Whether that is an ERC-1155 collection.
    /// @param paymentToken_ The currency; zero for native coin.
    constructor(address owner, address payee_, address itemsContract_, bool isERC1155_, address paymentToken_)
        Ownable(owner)
    {
        itemsContract = itemsContract_;
        isERC1155 = isERC1155_;
        paymentToken = paymentToken_;
        _setPayee(payee_);
    }

    /// @inheritdoc ISale
    function mint(
        address to,
        uint256[] calldata tokenIds,
        uint256[] calldata amounts,
        bytes calldata data,
        address expectedPaymentToken,
        uint256 maxTotal,
        bytes32[] calldata
    ) external payable nonReentrant {
        uint256 total = _take(tokenIds, amounts);
        if (expectedPaymentToken != paymentToken || maxTotal < total) {
            revert InsufficientPayment(paymentToken, total, maxTotal);
        }
        _pay(total);
        if (isERC1155) {
            IMints1155(itemsContract).mintBatch(to, tokenIds, amounts, data);
        } else {
            for (uint256 i; i < tokenIds.length; ++i) {
                IMints721(itemsContract).safeMint(to, tokenIds[i]);
            }
        }
        emit ItemsMinted(to, tokenIds, amounts);
    }

    /// @notice Sets the terms of a range of tokens; an end of zero ends them.
    function setGlobalSaleDetails(
        uint256 minTokenId,
        uint256 maxTokenId,
        uint256 cost,
        uint256 remainingSupply,
        uint64 startTime,
        uint64 endTime,
        bytes32 merkleRoot
    ) external onlyOwner {
        if (minTokenId > maxTokenId) revert InvalidSaleDetails();
        _check(startTime, endTime, merkleRoot);
        _global = GlobalSaleDetails(minTokenId, maxTokenId, cost, remainingSupply, startTime, endTime, merkleRoot);
        emit GlobalSaleDetailsUpdated(minTokenId, maxTokenId, cost, remainingSupply, startTime, endTime, merkleRoot);
    }

    /// @notice Sets the terms of one token; an end of zero ends them.
    function setTokenSaleDetails(
        uint256 tokenId,
        uint256 cost,
        uint256 remainingSupply,
        uint64 startTime,
        uint64 endTime,
        bytes32 merkleRoot
    ) external onlyOwner {
        _check(startTime, endTime, merkleRoot);
        Times storage times = _times[tokenId];
        if (times.createdAt == 0) {
            times.createdAt = uint64(block.timestamp);
            _tokenIds.push(tokenId);
        }
        times.updatedAt = uint64(block.timestamp);
        _details[tokenId] = SaleDetails(cost, remainingSupply, startTime, endTime, merkleRoot);
        emit TokenSaleDetailsUpdated(tokenId, cost, remainingSupply, startTime, endTime, merkleRoot);
    }

    /// @notice Sets who receives the money.
    function setPayee(address payee_) external onlyOwner {
        _setPayee(payee_);
    }

    /// @inheritdoc ISale
    function globalSaleDetails() external view returns (GlobalSaleDetails memory) {
        return _global;
    }

    /// @inheritdoc ISale
    function tokenSaleDetails(uint256 tokenId) external view returns (SaleDetails memory) {
        return _details[tokenId];
    }

    /// @inheritdoc ISale
    function tokenSaleDetailsBatch(uint256[] calldata tokenIds) external view returns (SaleDetails[] memory details) {
        details = new SaleDetails[](tokenIds.length);
        for (uint256 i; i < tokenIds.length; ++i) {
            details[i] = _details[tokenIds[i]];
        }
    }

    /// @inheritdoc ISale
    function itemCount() external view returns (uint256) {
        return _tokenIds.length;
    }

    /// @inheritdoc ISale
    function items(uint256 from, uint256 count) external view returns (Item[] memory found) {
        uint256 left = from < _tokenIds.length ? _tokenIds.length - from : 0;
        found = new Item[](count < left ? count : left);
        for (uint256 i; i < found.length; ++i) {
            uint256 tokenId = _tokenIds[from + i];
            Times memory times = _times[tokenId];
            found[i] = Item(tokenId, _details[tokenId], sold[tokenId], times.createdAt, times.updatedAt);
        }
    }

    // Takes what is bought out of what is left; tells what is to be paid for all of it.
    function _take(uint256[] calldata tokenIds, uint256[] calldata amounts) private returns (uint256 total) {
        if (tokenIds.length == 0 || tokenIds.length != amounts.length) revert InvalidAmounts();
        for (uint256 i; i < tokenIds.length; ++i) {
            (uint256 tokenId, uint256 amount) = (tokenIds[i], amounts[i]);
            if (amount == 0 || (!isERC1155 && amount != 1)) revert InvalidAmounts();
            SaleDetails storage own = _details[tokenId];
            uint256 left;
            uint256 cost;
            if (own.endTime != 0) {
                if (!_isNow(own.startTime, own.endTime)) revert SaleInactive(tokenId);
                (left, cost) = (own.remainingSupply, own.cost);
                if (left < amount) revert InsufficientSupply(left, amount);
                own.remainingSupply = left - amount;
            } else {
                bool isInRange = tokenId >= _global.minTokenId && tokenId <= _global.maxTokenId;
                if (!isInRange || !_isNow(_global.startTime, _global.endTime)) revert SaleInactive(tokenId);
                (left, cost) = (_global.remainingSupply, _global.cost);
                if (left < amount) revert InsufficientSupply(left, amount);
                _global.remainingSupply = left - amount;
            }
            sold[tokenId] += amount;
            total += cost * amount;
        }
    }

    function _pay(uint256 total) private {
        if (paymentToken == address(0)) {
            if (msg.value != total) revert InsufficientPayment(paymentToken, total, msg.value);
            if (total != 0) Address.sendValue(payable(payee), total);
        } else {
            if (msg.value != 0) revert InsufficientPayment(address(0), 0, msg.value);
            if (total != 0) IERC20(paymentToken).safeTransferFrom(msg.sender, payee, total);
        }
    }

    function _isNow(uint64 startTime, uint64 endTime) private view returns (bool) {
        return block.timestamp >= startTime && block.timestamp < endTime;
    }

    function _check(uint64 startTime, uint64 endTime, bytes32 merkleRoot) private pure {
        if (merkleRoot != 0 || (endTime != 0 && endTime <= startTime)) revert InvalidSaleDetails();
    }

    function _setPayee(address payee_) private {
        if (payee_ == address(0)) revert InvalidPayee();
        payee = payee_;
        emit PayeeChanged(payee_);
    }
}
