// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarketCore} from "../src/IMarketCore.sol";
import {MarketV1} from "../src/MarketV1.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {vm} from "./support/Vm.sol";

/// @title Version 1: no native coin, no invalidation, otherwise the same
contract MarketV1Test is MarketTest {
    MarketV1 private old;

    function setUp() public override {
        super.setUp();
        old = new MarketV1(OWNER);
        approveAll(address(old));
    }

    function createOld(IMarketCore.RequestParams memory params) private returns (uint256) {
        vm.prank(params.isListing ? SELLER : BUYER);
        return old.createRequest(params);
    }

    function test_settlesLikeVersion2() public {
        nft.setDefaultRoyalty(ARTIST, 500);
        uint256 id = createOld(listing721(address(coin)));
        vm.prank(BUYER);
        old.acceptRequest(id, 1, OTHER, list(0.1 ether), list(FEE1));
        vm.assertEq(nft.ownerOf(ID), OTHER);
        vm.assertEq(coin.balanceOf(BUYER), MONEY - 1.1 ether);
        vm.assertEq(coin.balanceOf(SELLER), 0.95 ether);
        vm.assertEq(coin.balanceOf(ARTIST), 0.05 ether);
        vm.assertEq(coin.balanceOf(FEE1), 0.1 ether);
    }

    function test_offersAndBatches() public {
        uint256 offer = createOld(offer1155(5));
        vm.prank(SELLER);
        old.acceptRequestBatch(list(offer, offer), list(2, 3), list(SELLER, OTHER), none(), nobody());
        vm.assertEq(coin.balanceOf(SELLER), 2 ether);
        vm.assertEq(coin.balanceOf(OTHER), 3 ether);
        vm.assertEq(multi.balanceOf(BUYER, ID), 5);
        vm.assertEq(old.getRequest(offer).creator, address(0));
    }

    function test_knowsNoNativeCoin() public {
        vm.prank(SELLER);
        vm.expectRevert(IMarketCore.InvalidCurrency.selector);
        old.createRequest(listing721(NATIVE));
    }

    function test_takesNoValue() public {
        uint256 id = createOld(listing721(address(coin)));
        bytes memory call_ = abi.encodeCall(old.acceptRequest, (id, 1, BUYER, none(), nobody()));
        vm.prank(BUYER);
        (bool success, bytes memory answer) = address(old).call{value: 1}(call_);
        vm.assertFalse(success);
        vm.assertEq(answer.length, 0);
    }

    function test_knowsNoInvalidation() public {
        (bool all,) = address(old).call(abi.encodePacked(bytes4(0x3ed97342)));
        (bool ofToken,) = address(old).call(abi.encodePacked(bytes4(0xffaf1d8d), abi.encode(address(nft))));
        vm.assertFalse(all || ofToken);
    }

    function test_cancelAndValidity() public {
        uint256 id = createOld(listing721(address(coin)));
        (bool valid,) = old.isRequestValid(id, 0);
        vm.assertTrue(valid);
        vm.prank(BUYER);
        vm.expectRevert(abi.encodeWithSelector(IMarketCore.InvalidRequestId.selector, id));
        old.cancelRequest(id);
        vm.prank(SELLER);
        old.cancelRequest(id);
        (valid,) = old.isRequestValid(id, 0);
        vm.assertFalse(valid);
    }
}
