// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarketCore} from "../../src/IMarketCore.sol";
import {Market} from "../../src/Market.sol";
import {TestERC20} from "../../src/test/TestERC20.sol";
import {TestERC721} from "../../src/test/TestERC721.sol";
import {TestERC1155} from "../../src/test/TestERC1155.sol";
import {vm, actor} from "./Vm.sol";

/// @title A market with a seller, a buyer, tokens and money
abstract contract MarketTest {
    uint256 internal constant ID = 7;
    uint256 internal constant STOCK = 100;
    uint256 internal constant PRICE = 1 ether;
    uint256 internal constant MONEY = 1_000_000 ether;
    uint96 internal constant EXPIRY = 1_000_000;
    address internal constant NATIVE = address(0);

    address internal immutable OWNER = actor("owner");
    address internal immutable SELLER = actor("seller");
    address internal immutable BUYER = actor("buyer");
    address internal immutable ARTIST = actor("artist");
    address internal immutable FEE1 = actor("fee1");
    address internal immutable FEE2 = actor("fee2");
    address internal immutable OTHER = actor("other");

    Market internal market;
    TestERC20 internal coin;
    TestERC721 internal nft;
    TestERC1155 internal multi;

    function setUp() public virtual {
        vm.warp(1_000);
        market = new Market(OWNER);
        coin = new TestERC20("Coin", "COIN", 18);
        nft = new TestERC721("Relics", "REL");
        multi = new TestERC1155("Many", "MANY", "ipfs://x/{id}.json");
        nft.mint(SELLER, ID);
        multi.mint(SELLER, ID, STOCK);
        coin.mint(BUYER, MONEY);
        vm.deal(BUYER, MONEY);
        approveAll(address(market));
    }

    function approveAll(address spender) internal {
        vm.startPrank(SELLER);
        nft.setApprovalForAll(spender, true);
        multi.setApprovalForAll(spender, true);
        vm.stopPrank();
        vm.prank(BUYER);
        coin.approve(spender, type(uint256).max);
    }

    function listing721(address currency) internal view returns (IMarketCore.RequestParams memory) {
        return IMarketCore.RequestParams(true, false, address(nft), ID, 1, EXPIRY, currency, PRICE);
    }

    function listing1155(address currency, uint256 quantity) internal view returns (IMarketCore.RequestParams memory) {
        return IMarketCore.RequestParams(true, true, address(multi), ID, quantity, EXPIRY, currency, PRICE);
    }

    function offer721() internal view returns (IMarketCore.RequestParams memory) {
        return IMarketCore.RequestParams(false, false, address(nft), ID, 1, EXPIRY, address(coin), PRICE);
    }

    function offer1155(uint256 quantity) internal view returns (IMarketCore.RequestParams memory) {
        return IMarketCore.RequestParams(false, true, address(multi), ID, quantity, EXPIRY, address(coin), PRICE);
    }

    function create(address maker, IMarketCore.RequestParams memory params) internal returns (uint256) {
        vm.prank(maker);
        return market.createRequest(params);
    }

    /// @dev The seller lists, and the buyer is who makes an offer.
    function create(IMarketCore.RequestParams memory params) internal returns (uint256) {
        return create(params.isListing ? SELLER : BUYER, params);
    }

    function accept(address taker, uint256 id, uint256 quantity) internal {
        vm.prank(taker);
        market.acceptRequest(id, quantity, taker, none(), nobody());
    }

    function accept(address taker, uint256 id, uint256 quantity, uint256 fee) internal {
        vm.prank(taker);
        market.acceptRequest(id, quantity, taker, list(fee), list(FEE1));
    }

    function none() internal pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function nobody() internal pure returns (address[] memory) {
        return new address[](0);
    }

    function list(uint256 a) internal pure returns (uint256[] memory values) {
        values = new uint256[](1);
        values[0] = a;
    }

    function list(uint256 a, uint256 b) internal pure returns (uint256[] memory values) {
        values = new uint256[](2);
        (values[0], values[1]) = (a, b);
    }

    function list(address a) internal pure returns (address[] memory values) {
        values = new address[](1);
        values[0] = a;
    }

    function list(address a, address b) internal pure returns (address[] memory values) {
        values = new address[](2);
        (values[0], values[1]) = (a, b);
    }
}
