// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarket} from "../src/IMarket.sol";
import {IMarketCore} from "../src/IMarketCore.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {vm} from "./support/Vm.sol";

/// @title Withdrawing requests, one by one and many at once
contract CancelTest is MarketTest {
    function notYours(uint256 id) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IMarketCore.InvalidRequestId.selector, id);
    }

    function refuseAsDead(uint256 id) private {
        (bool valid,) = market.isRequestValid(id, 0);
        vm.assertFalse(valid);
        vm.prank(BUYER);
        vm.expectRevert(IMarket.Invalidated.selector);
        market.acceptRequest(id, 1, BUYER, none(), nobody());
    }

    function testFuzz_onlyTheMakerCancels(address caller) public {
        uint256 id = create(listing721(address(coin)));
        uint256 offer = create(offer721());
        if (caller != SELLER) {
            vm.prank(caller);
            vm.expectRevert(notYours(id));
            market.cancelRequest(id);
        }
        if (caller != BUYER) {
            vm.prank(caller);
            vm.expectRevert(notYours(offer));
            market.cancelRequestBatch(list(offer));
        }
        vm.prank(SELLER);
        market.cancelRequest(id);
        vm.assertEq(market.getRequest(id).creator, address(0));
    }

    function test_ownerCancelsNothing() public {
        uint256 id = create(listing721(address(coin)));
        vm.prank(OWNER);
        vm.expectRevert(notYours(id));
        market.cancelRequest(id);
    }

    function test_nobodyCancelsWhatDoesNotExist() public {
        vm.prank(SELLER);
        vm.expectRevert(notYours(5));
        market.cancelRequest(5);
    }

    function test_cancelledIsGone() public {
        uint256 id = create(listing721(address(coin)));
        vm.prank(SELLER);
        market.cancelRequest(id);
        vm.prank(BUYER);
        vm.expectRevert(notYours(id));
        market.acceptRequest(id, 1, BUYER, none(), nobody());
        vm.prank(SELLER);
        vm.expectRevert(notYours(id));
        market.cancelRequest(id);
    }

    function test_batchIsAllOrNothing() public {
        uint256 mine = create(listing721(address(coin)));
        uint256 second = create(listing1155(address(coin), 5));
        uint256 others = create(offer721());
        vm.prank(SELLER);
        vm.expectRevert(notYours(others));
        market.cancelRequestBatch(list(mine, others));
        vm.assertEq(market.getRequest(mine).creator, SELLER);
        vm.prank(SELLER);
        market.cancelRequestBatch(list(mine, second));
        vm.assertEq(market.getRequest(mine).creator, address(0));
        vm.assertEq(market.getRequest(second).creator, address(0));
    }

    function test_invalidatesAllOfOneMaker() public {
        uint256 first = create(listing721(address(coin)));
        uint256 second = create(listing1155(address(coin), 5));
        uint256 others = create(offer1155(2));
        vm.prank(SELLER);
        market.invalidateRequests();
        vm.assertEq(market.invalidBeforeId(SELLER), 3);
        vm.assertEq(market.invalidBeforeId(BUYER), 0);
        refuseAsDead(first);
        refuseAsDead(second);
        accept(SELLER, others, 1);
        accept(BUYER, create(listing1155(address(coin), 5)), 1);
    }

    function test_invalidatesOneCollectionOfOneMaker() public {
        uint256 dead = create(listing721(address(coin)));
        uint256 alive = create(listing1155(address(coin), 5));
        uint256 others = create(offer721());
        vm.prank(SELLER);
        market.invalidateRequests(address(nft));
        vm.assertEq(market.invalidTokenBeforeId(SELLER, address(nft)), 3);
        vm.assertEq(market.invalidTokenBeforeId(SELLER, address(multi)), 0);
        refuseAsDead(dead);
        accept(BUYER, alive, 5);
        accept(SELLER, others, 1);
    }

    function test_invalidatedCanStillBeCancelled() public {
        uint256 id = create(listing721(address(coin)));
        vm.startPrank(SELLER);
        market.invalidateRequests();
        market.cancelRequest(id);
        vm.stopPrank();
        vm.assertEq(market.getRequest(id).creator, address(0));
    }
}
