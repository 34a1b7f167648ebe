// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.24;

import { Checks, TokenMover } from "./Checks.sol";

/// Stands for X2Y2, of which it has what fills listings and offers, and takes them back.
contract X2Y2Check is Checks {
    struct OrderItem {
        uint256 price;
        bytes data;
    }

    struct Order {
        uint256 salt;
        address user;
        uint256 network;
        uint256 intent;
        uint256 delegateType;
        uint256 deadline;
        address currency;
        bytes dataMask;
        OrderItem[] items;
        bytes32 r;
        bytes32 s;
        uint8 v;
        uint8 signVersion;
    }

    struct Fee {
        uint256 percentage;
        address to;
    }

    struct SettleDetail {
        uint8 op;
        uint256 orderIdx;
        uint256 itemIdx;
        uint256 price;
        bytes32 itemHash;
        address executionDelegate;
        bytes dataReplacement;
        uint256 bidIncentivePct;
        uint256 aucMinIncrementPct;
        uint256 aucIncDurationSecs;
        Fee[] fees;
    }

    struct SettleShared {
        uint256 salt;
        uint256 deadline;
        uint256 amountToEth;
        uint256 amountToWeth;
        address user;
        bool canFail;
    }

    struct RunInput {
        Order[] orders;
        SettleDetail[] details;
        SettleShared shared;
        bytes32 r;
        bytes32 s;
        uint8 v;
    }

    struct Pair {
        address token;
        uint256 tokenId;
    }

    struct Units {
        address token;
        uint256 tokenId;
        uint256 amount;
    }

    event EvInventory(
        bytes32 indexed itemHash,
        address maker,
        address taker,
        uint256 orderSalt,
        uint256 settleSalt,
        uint256 intent,
        uint256 delegateType,
        uint256 deadline,
        address currency,
        bytes dataMask,
        OrderItem item,
        SettleDetail detail
    );
    event EvCancel(bytes32 indexed itemHash);

    uint8 private constant SELL = 1;
    uint8 private constant BUY = 2;
    uint8 private constant NEW = 0;
    uint8 private constant COMPLETE = 2;
    uint8 private constant CANCELLED = 3;
    uint256 private constant MULTIPLE = 2;
    uint256 private constant MILLION = 1e6;
    uint256 private constant FEES_MAX = 200_000;

    address private immutable signer;
    /// Who moves tokens of which there is one each, and those of which there are many.
    TokenMover[3] private movers;
    mapping(bytes32 item => uint8) public inventoryStatus;

    constructor(address signer_, TokenMover single, TokenMover multiple) {
        signer = signer_;
        movers = [TokenMover(address(0)), single, multiple];
        single.serve(address(this));
        multiple.serve(address(this));
    }

    function cancel(bytes32[] calldata items, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        require(deadline > block.timestamp, "deadline");
        bytes32 digest = keccak256(abi.encode(items.length, items, deadline));
        require(signerOf(digest, v, r, s) == signer, "not signed by the marketplace");
        for (uint256 i = 0; i < items.length; i++) {
            if (inventoryStatus[items[i]] != NEW) continue;
            inventoryStatus[items[i]] = CANCELLED;
            emit EvCancel(items[i]);
        }
    }

    function run(RunInput memory input) external payable {
        require(input.shared.deadline > block.timestamp, "deadline");
        require(input.shared.user == msg.sender, "sent by somebody else");
        require(input.shared.amountToEth == 0 && input.shared.amountToWeth == 0, "wrapping is not checked here");
        require(!input.shared.canFail, "failing is not checked here");
        bytes32 digest = keccak256(abi.encode(input.shared, input.details.length, input.details));
        require(signerOf(digest, input.v, input.r, input.s) == signer, "not signed by the marketplace");
        for (uint256 i = 0; i < input.orders.length; i++) {
            requireOrder(input.orders[i]);
        }
        uint256 left = msg.value;
        for (uint256 i = 0; i < input.details.length; i++) {
            SettleDetail memory detail = input.details[i];
            left -= settle(input.orders[detail.orderIdx], input.shared, detail);
        }
        pay(address(0), address(this), msg.sender, left);
    }

    function requireOrder(Order memory order) private pure {
        require(order.signVersion == 1, "version of the signature");
        bytes32 hash = keccak256(
            abi.encode(
                order.salt,
                order.user,
                order.network,
                order.intent,
                order.delegateType,
                order.deadline,
                order.currency,
                order.dataMask,
                order.items.length,
                order.items
            )
        );
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash));
        require(signerOf(digest, order.v, order.r, order.s) == order.user, "not signed by the maker");
    }

    /// Tells how much native money was spent.
    function settle(Order memory order, SettleShared memory shared, SettleDetail memory detail)
        private
        returns (uint256 spent)
    {
        OrderItem memory item = order.items[detail.itemIdx];
        require(hashItem(order, item) == detail.itemHash, "item");
        require(order.network == block.chainid, "network");
        require(order.delegateType == 1 || order.delegateType == MULTIPLE, "kind of token");
        TokenMover mover = movers[order.delegateType];
        require(detail.executionDelegate == address(mover), "delegate");
        require(inventoryStatus[detail.itemHash] == NEW, "filled or cancelled");
        require(order.deadline > block.timestamp, "expired");
        if (order.dataMask.length > 0 && detail.dataReplacement.length > 0) {
            replace(item.data, detail.dataReplacement, order.dataMask);
        }
        bool isNative = order.currency == address(0);
        (address buyer, address seller) = (shared.user, order.user);
        if (detail.op == SELL) {
            require(order.intent == 1 && detail.price >= item.price, "intent or price");
            spent = isNative ? detail.price : 0;
        } else {
            require(detail.op == BUY && order.intent == 3 && detail.price == item.price, "intent or price");
            require(!isNative, "offers are not for native money");
            (buyer, seller) = (order.user, shared.user);
        }
        moveAll(mover, order.delegateType == MULTIPLE, [seller, buyer], item.data);
        distribute(order.currency, isNative ? address(this) : buyer, seller, detail);
        inventoryStatus[detail.itemHash] = COMPLETE;
        tell(order, item, shared, detail);
    }

    function hashItem(Order memory order, OrderItem memory item) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                order.salt,
                order.user,
                order.network,
                order.intent,
                order.delegateType,
                order.deadline,
                order.currency,
                order.dataMask,
                item
            )
        );
    }

    /// Puts in what is told at the fill, where the maker left it open. What is logged of the item has it, too.
    function replace(bytes memory data, bytes memory replacement, bytes memory mask) private pure {
        require(data.length == replacement.length && data.length == mask.length, "length of the mask");
        for (uint256 i = 0; i < data.length; i++) {
            if (mask[i] != 0) data[i] = replacement[i];
        }
    }

    function moveAll(TokenMover mover, bool isMultiple, address[2] memory fromTo, bytes memory data) private {
        if (isMultiple) {
            Units[] memory all = abi.decode(data, (Units[]));
            for (uint256 i = 0; i < all.length; i++) {
                mover.move(all[i].token, fromTo, all[i].tokenId, all[i].amount, true);
            }
            return;
        }
        Pair[] memory pairs = abi.decode(data, (Pair[]));
        for (uint256 i = 0; i < pairs.length; i++) {
            mover.move(pairs[i].token, fromTo, pairs[i].tokenId, 1, false);
        }
    }

    function distribute(address currency, address payer, address seller, SettleDetail memory detail) private {
        (uint256 left, uint256 total) = (detail.price, 0);
        for (uint256 i = 0; i < detail.fees.length; i++) {
            uint256 amount = detail.price * detail.fees[i].percentage / MILLION;
            total += detail.fees[i].percentage;
            left -= amount;
            pay(currency, payer, detail.fees[i].to, amount);
        }
        require(total <= FEES_MAX, "fees");
        pay(currency, payer, seller, left);
    }

    function tell(Order memory order, OrderItem memory item, SettleShared memory shared, SettleDetail memory detail)
        private
    {
        emit EvInventory(
            detail.itemHash,
            order.user,
            shared.user,
            order.salt,
            shared.salt,
            order.intent,
            order.delegateType,
            order.deadline,
            order.currency,
            order.dataMask,
            item,
            detail
        );
    }
}
