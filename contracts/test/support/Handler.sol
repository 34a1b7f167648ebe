// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarketCore} from "../../src/IMarketCore.sol";
import {Market} from "../../src/Market.sol";
import {TestERC20} from "../../src/test/TestERC20.sol";
import {TestERC1155} from "../../src/test/TestERC1155.sol";
import {actor, bound, vm} from "./Vm.sol";

/// @title Trades at random and keeps books of its own
/// @notice Every action is one that must succeed, so any revert is a failure. The books follow the stated rules and
/// share no code with the market.
contract Handler {
    struct Trade {
        address taker;
        uint256 id;
        uint256 quantity;
        uint256 price;
        uint256 royalty;
        uint256 fee;
    }

    uint256 public constant ACTORS = 6;
    uint256 public constant TOKENS = 3;
    uint256 public constant MONEY = 1_000_000 ether;
    uint256 public constant STOCK = 1_000;

    Market public immutable MARKET;
    TestERC20 public immutable COIN = new TestERC20("Coin", "COIN", 18);
    TestERC1155 public immutable MULTI = new TestERC1155("Many", "MANY", "");

    address[] public actors;
    mapping(address => uint256) public coinsOf;
    mapping(address => uint256) public nativeOf;
    mapping(address => mapping(uint256 => uint256)) public tokensOf;
    IMarketCore.Request[] private _requests;
    mapping(uint256 => uint256) private _royaltyLeft;
    mapping(address => uint256) private _invalidBefore;
    uint256 private _rate;

    /// @dev How many requests were accepted.
    uint256 public trades;

    constructor() {
        MARKET = new Market(address(this));
        string[6] memory names = ["ann", "bob", "cid", "dee", "fees", "artist"];
        for (uint256 i; i < ACTORS; ++i) {
            address who = actor(names[i]);
            actors.push(who);
            _equip(who);
        }
    }

    function _equip(address who) private {
        COIN.mint(who, MONEY);
        vm.deal(who, MONEY);
        (coinsOf[who], nativeOf[who]) = (MONEY, MONEY);
        for (uint256 id; id < TOKENS; ++id) {
            MULTI.mint(who, id, STOCK);
            tokensOf[who][id] = STOCK;
        }
        vm.startPrank(who);
        COIN.approve(address(MARKET), type(uint256).max);
        MULTI.setApprovalForAll(address(MARKET), true);
        vm.stopPrank();
    }

    function requestCount() external view returns (uint256) {
        return _requests.length;
    }

    function requestOf(uint256 id) external view returns (IMarketCore.Request memory) {
        return _requests[id];
    }

    function createListing(uint256 who, uint256 token, uint256 quantity, uint256 price, uint256 life, bool native)
        external
    {
        address maker = _actor(who);
        token %= TOKENS;
        if (tokensOf[maker][token] == 0) return;
        quantity = bound(quantity, 1, tokensOf[maker][token]);
        _create(maker, true, token, quantity, price, life, native ? address(0) : address(COIN));
    }

    function createOffer(uint256 who, uint256 token, uint256 quantity, uint256 price, uint256 life) external {
        // The price stays so low that nobody runs out of money for an offer and its royalty.
        address maker = _actor(who);
        quantity = bound(quantity, 1, 50);
        if (coinsOf[maker] < 1_000 ether) return;
        _create(maker, false, token % TOKENS, quantity, price, life, address(COIN));
    }

    function accept(uint256 who, uint256 id, uint256 quantity, uint256 fee, uint256 extra) external {
        bool found;
        (found, id) = _findAlive(id);
        if (!found) return;
        IMarketCore.Request storage request = _requests[id];
        quantity = bound(quantity, 1, request.quantity);
        uint256 price = request.pricePerToken * quantity;
        Trade memory trade = Trade(_actor(who), id, quantity, price, _royalty(id, price), 0);
        if (request.isListing) _buy(trade, request, fee, extra);
        else _sell(trade, request, fee);
    }

    /// @dev What happens beside the trade. It is one function, so that it has one share of the turns and not four.
    function disturb(uint256 kind, uint256 value) external {
        kind %= 8;
        if (kind == 0) _invalidate(_actor(value));
        else if (kind < 3) _cancel(value);
        else if (kind < 5) _setRoyalty(value);
        else vm.warp(block.timestamp + bound(value, 0, 1 hours));
    }

    function _cancel(uint256 id) private {
        if (_requests.length == 0) return;
        id %= _requests.length;
        address maker = _requests[id].creator;
        if (maker == address(0)) return;
        // Nobody else can: a success here would be a broken rule.
        for (uint256 i; i < ACTORS; ++i) {
            if (actors[i] == maker) continue;
            vm.prank(actors[i]);
            try MARKET.cancelRequest(id) {
                revert("somebody else cancelled");
            } catch {}
        }
        vm.prank(maker);
        MARKET.cancelRequest(id);
        delete _requests[id];
    }

    function _invalidate(address maker) private {
        vm.prank(maker);
        MARKET.invalidateRequests();
        _invalidBefore[maker] = _requests.length;
    }

    function _setRoyalty(uint256 rate) private {
        _rate = bound(rate, 0, 10_000);
        MULTI.setDefaultRoyalty(actors[5], uint96(_rate));
    }

    function _create(
        address maker,
        bool isListing,
        uint256 token,
        uint256 quantity,
        uint256 price,
        uint256 life,
        address currency
    ) private {
        price = bound(price, 1, 1 ether);
        uint96 expiry = uint96(block.timestamp + bound(life, 1, 1 days));
        vm.prank(maker);
        uint256 id = MARKET.createRequest(
            IMarketCore.RequestParams(isListing, true, address(MULTI), token, quantity, expiry, currency, price)
        );
        require(id == _requests.length, "wrong number");
        _requests.push(
            IMarketCore.Request(maker, isListing, true, address(MULTI), token, quantity, expiry, currency, price)
        );
        _royaltyLeft[id] = price * quantity * _rate / 10_000;
    }

    // From a random place on, so that few turns are lost with dead requests.
    function _findAlive(uint256 start) private view returns (bool, uint256) {
        uint256 count = _requests.length;
        for (uint256 i; i < count; ++i) {
            uint256 id = (start % count + i) % count;
            if (_alive(id, _requests[id])) return (true, id);
        }
        return (false, 0);
    }

    function _alive(uint256 id, IMarketCore.Request storage request) private view returns (bool) {
        return
            request.creator != address(0) && request.expiry > block.timestamp && id >= _invalidBefore[request.creator];
    }

    function _buy(Trade memory trade, IMarketCore.Request storage request, uint256 fee, uint256 extra) private {
        trade.fee = bound(fee, 0, trade.price - trade.royalty);
        bool native = request.currency == address(0);
        mapping(address => uint256) storage books = native ? nativeOf : coinsOf;
        uint256 cost = trade.price + trade.fee;
        if (books[trade.taker] < cost || tokensOf[request.creator][request.tokenId] < trade.quantity) return;
        _call(trade, native ? cost + bound(extra, 0, books[trade.taker] - cost) : 0);
        books[trade.taker] -= cost;
        books[request.creator] += trade.price - trade.royalty;
        books[actors[5]] += trade.royalty;
        books[actors[4]] += trade.fee;
        _move(request.creator, trade.taker, request, trade.quantity);
        _reduce(trade, request);
    }

    function _sell(Trade memory trade, IMarketCore.Request storage request, uint256 fee) private {
        trade.fee = bound(fee, 0, trade.price);
        uint256 cost = trade.price + trade.royalty;
        if (coinsOf[request.creator] < cost || tokensOf[trade.taker][request.tokenId] < trade.quantity) return;
        _call(trade, 0);
        coinsOf[request.creator] -= cost;
        coinsOf[trade.taker] += trade.price - trade.fee;
        coinsOf[actors[5]] += trade.royalty;
        coinsOf[actors[4]] += trade.fee;
        _move(trade.taker, request.creator, request, trade.quantity);
        _reduce(trade, request);
    }

    function _royalty(uint256 id, uint256 price) private view returns (uint256 royalty) {
        royalty = price * _rate / 10_000;
        if (royalty > _royaltyLeft[id]) royalty = _royaltyLeft[id];
    }

    function _call(Trade memory trade, uint256 value) private {
        uint256[] memory fees = new uint256[](trade.fee == 0 ? 0 : 1);
        address[] memory recipients = new address[](fees.length);
        if (trade.fee != 0) (fees[0], recipients[0]) = (trade.fee, actors[4]);
        vm.prank(trade.taker);
        MARKET.acceptRequest{value: value}(trade.id, trade.quantity, trade.taker, fees, recipients);
    }

    function _move(address from, address to, IMarketCore.Request storage request, uint256 quantity) private {
        tokensOf[from][request.tokenId] -= quantity;
        tokensOf[to][request.tokenId] += quantity;
    }

    function _reduce(Trade memory trade, IMarketCore.Request storage request) private {
        ++trades;
        _royaltyLeft[trade.id] -= trade.royalty;
        if (request.quantity == trade.quantity) delete _requests[trade.id];
        else request.quantity -= trade.quantity;
    }

    function _actor(uint256 who) private view returns (address) {
        return actors[who % ACTORS];
    }
}
