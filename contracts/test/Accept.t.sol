// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarketCore} from "../src/IMarketCore.sol";
import {Refuser} from "./support/Attackers.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {FalseERC20, NoReturnERC20} from "./support/Tokens.sol";
import {bound, vm} from "./support/Vm.sol";

/// @title Accepting requests: who pays and receives what
contract AcceptTest is MarketTest {
    function coins(address who) private view returns (uint256) {
        return coin.balanceOf(who);
    }

    function refuse(address taker, uint256 id, uint256 quantity, bytes memory problem) private {
        vm.prank(taker);
        vm.expectRevert(problem);
        market.acceptRequest(id, quantity, taker, none(), nobody());
    }

    function refuse(address taker, uint256 id, uint256 quantity, bytes4 problem) private {
        refuse(taker, id, quantity, abi.encodePacked(problem));
    }

    function gone(uint256 id) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IMarketCore.InvalidRequestId.selector, id);
    }

    function refuseFees(uint256 id, uint256[] memory fees, address[] memory to) private {
        vm.prank(BUYER);
        vm.expectRevert(IMarketCore.InvalidAdditionalFees.selector);
        market.acceptRequest(id, 1, BUYER, fees, to);
    }

    function test_listingInCoin() public {
        nft.setDefaultRoyalty(ARTIST, 500);
        uint256 id = create(listing721(address(coin)));
        vm.prank(BUYER);
        market.acceptRequest(id, 1, OTHER, list(0.1 ether, 0.02 ether), list(FEE1, FEE2));
        vm.assertEq(nft.ownerOf(ID), OTHER);
        vm.assertEq(coins(BUYER), MONEY - 1.12 ether);
        vm.assertEq(coins(SELLER), 0.95 ether);
        vm.assertEq(coins(ARTIST), 0.05 ether);
        vm.assertEq(coins(FEE1), 0.1 ether);
        vm.assertEq(coins(FEE2), 0.02 ether);
        vm.assertEq(coins(address(market)), 0);
        // The row is gone.
        vm.assertEq(market.getRequest(id).creator, address(0));
        vm.assertEq(market.getRequest(id).pricePerToken, 0);
        refuse(BUYER, id, 1, gone(id));
    }

    function test_listingInNativeCoinReturnsWhatIsTooMuch() public {
        nft.setDefaultRoyalty(ARTIST, 500);
        uint256 id = create(listing721(NATIVE));
        vm.prank(BUYER);
        market.acceptRequest{value: 5 ether}(id, 1, BUYER, list(0.1 ether), list(FEE1));
        vm.assertEq(nft.ownerOf(ID), BUYER);
        vm.assertEq(BUYER.balance, MONEY - 1.1 ether);
        vm.assertEq(SELLER.balance, 0.95 ether);
        vm.assertEq(ARTIST.balance, 0.05 ether);
        vm.assertEq(FEE1.balance, 0.1 ether);
        vm.assertEq(address(market).balance, 0);
    }

    function test_offer() public {
        nft.setDefaultRoyalty(ARTIST, 500);
        uint256 id = create(offer721());
        vm.prank(SELLER);
        market.acceptRequest(id, 1, OTHER, list(0.1 ether), list(FEE1));
        vm.assertEq(nft.ownerOf(ID), BUYER);
        // The maker bears the royalty, the taker bears the fees.
        vm.assertEq(coins(BUYER), MONEY - 1.05 ether);
        vm.assertEq(coins(OTHER), 0.9 ether);
        vm.assertEq(coins(SELLER), 0);
        vm.assertEq(coins(ARTIST), 0.05 ether);
        vm.assertEq(coins(FEE1), 0.1 ether);
    }

    function test_partialFills() public {
        uint256 id = create(listing1155(address(coin), 10));
        accept(BUYER, id, 3);
        vm.assertEq(market.getRequest(id).quantity, 7);
        refuse(BUYER, id, 8, IMarketCore.InvalidQuantity.selector);
        refuse(BUYER, id, 0, IMarketCore.InvalidQuantity.selector);
        accept(BUYER, id, 7);
        vm.assertEq(multi.balanceOf(BUYER, ID), 10);
        vm.assertEq(coins(SELLER), 10 * PRICE);
        vm.assertEq(market.getRequest(id).creator, address(0));

        uint256 offer = create(offer1155(10));
        accept(SELLER, offer, 4);
        vm.assertEq(market.getRequest(offer).quantity, 6);
        vm.assertEq(multi.balanceOf(BUYER, ID), 14);
    }

    function testFuzz_listingIsExact(
        uint256 price,
        uint256 quantity,
        uint96 rate,
        uint256 fee,
        uint256 extra,
        bool native
    ) public {
        quantity = bound(quantity, 1, STOCK);
        price = bound(price, 1, MONEY / STOCK / 4);
        rate = uint96(bound(rate, 0, 10_000));
        if (rate != 0) multi.setDefaultRoyalty(ARTIST, rate);
        IMarketCore.RequestParams memory params = listing1155(native ? NATIVE : address(coin), STOCK);
        params.pricePerToken = price;
        uint256 id = create(params);
        uint256 cost = price * quantity;
        uint256 royalty = cost * rate / 10_000;
        fee = bound(fee, 0, cost - royalty);
        extra = native ? bound(extra, 0, MONEY - cost - fee) : 0;

        vm.prank(BUYER);
        market.acceptRequest{value: native ? cost + fee + extra : 0}(
            id, quantity, BUYER, fee == 0 ? none() : list(fee), fee == 0 ? nobody() : list(FEE1)
        );
        vm.assertEq(native ? BUYER.balance : coins(BUYER), MONEY - cost - fee, "buyer");
        vm.assertEq(native ? SELLER.balance : coins(SELLER), cost - royalty, "seller");
        vm.assertEq(native ? ARTIST.balance : coins(ARTIST), royalty, "artist");
        vm.assertEq(native ? FEE1.balance : coins(FEE1), fee, "fee");
        vm.assertEq(multi.balanceOf(BUYER, ID), quantity, "tokens");
        vm.assertEq(market.getRequest(id).quantity, STOCK - quantity, "left");
    }

    function testFuzz_offerIsExact(uint256 price, uint256 quantity, uint96 rate, uint256 fee) public {
        quantity = bound(quantity, 1, STOCK);
        price = bound(price, 1, MONEY / STOCK / 4);
        rate = uint96(bound(rate, 0, 10_000));
        if (rate != 0) multi.setDefaultRoyalty(ARTIST, rate);
        IMarketCore.RequestParams memory params = offer1155(STOCK);
        params.pricePerToken = price;
        uint256 id = create(params);
        uint256 cost = price * quantity;
        uint256 royalty = cost * rate / 10_000;
        fee = bound(fee, 1, cost);

        accept(SELLER, id, quantity, fee);
        vm.assertEq(coins(BUYER), MONEY - cost - royalty, "buyer");
        vm.assertEq(coins(SELLER), cost - fee, "seller");
        vm.assertEq(coins(ARTIST), royalty, "artist");
        vm.assertEq(coins(FEE1), fee, "fee");
        vm.assertEq(multi.balanceOf(BUYER, ID), quantity, "tokens");
    }

    function test_refusesBadFees() public {
        nft.setDefaultRoyalty(ARTIST, 500);
        uint256 id = create(listing721(address(coin)));
        refuseFees(id, list(1), nobody());
        refuseFees(id, none(), list(FEE1));
        refuseFees(id, list(uint256(0)), list(FEE1));
        refuseFees(id, list(1), list(address(0)));
        refuseFees(id, list(0.95 ether + 1), list(FEE1));
        refuseFees(id, list(0.95 ether, 1), list(FEE1, FEE2));
        refuseFees(id, list(type(uint256).max, 1), list(FEE1, FEE2));
        accept(BUYER, id, 1, 0.95 ether);
        vm.assertEq(coins(FEE1), 0.95 ether);
    }

    function test_refusesFeesAboveThePriceOfAnOffer() public {
        uint256 id = create(offer721());
        vm.prank(SELLER);
        vm.expectRevert(IMarketCore.InvalidAdditionalFees.selector);
        market.acceptRequest(id, 1, SELLER, list(PRICE + 1), list(FEE1));
        accept(SELLER, id, 1, PRICE);
        vm.assertEq(coins(SELLER), 0);
    }

    function test_refusesTooLittleValue() public {
        uint256 id = create(listing721(NATIVE));
        // Coin that was forced into the market pays for nobody.
        vm.deal(address(market), 5 ether);
        vm.prank(BUYER);
        vm.expectRevert(bytes("Market: too little value"));
        market.acceptRequest{value: PRICE}(id, 1, BUYER, list(1), list(FEE1));
        vm.prank(BUYER);
        market.acceptRequest{value: PRICE + 1}(id, 1, BUYER, list(1), list(FEE1));
        vm.assertEq(address(market).balance, 5 ether);
    }

    function test_refusesValueForAnotherCurrency() public {
        uint256 id = create(listing721(address(coin)));
        vm.prank(BUYER);
        vm.expectRevert(IMarketCore.InvalidCurrency.selector);
        market.acceptRequest{value: 1}(id, 1, BUYER, none(), nobody());
    }

    function test_refusesWhatDoesNotExistOrHasExpired() public {
        refuse(BUYER, 0, 1, gone(0));
        uint256 id = create(listing721(address(coin)));
        vm.warp(EXPIRY);
        refuse(BUYER, id, 1, IMarketCore.InvalidExpiry.selector);
        vm.warp(EXPIRY - 1);
        accept(BUYER, id, 1);
    }

    function test_refusesToSendToNobody() public {
        uint256 id = create(listing721(address(coin)));
        vm.prank(BUYER);
        vm.expectRevert(bytes("Market: no recipient"));
        market.acceptRequest(id, 1, address(0), none(), nobody());
    }

    function test_aContractThatCannotHoldTheTokenGetsNone() public {
        uint256 id = create(listing721(address(coin)));
        address refuser = address(new Refuser());
        vm.prank(BUYER);
        vm.expectRevert();
        market.acceptRequest(id, 1, refuser, none(), nobody());
        vm.assertEq(nft.ownerOf(ID), SELLER);
        vm.assertEq(coins(BUYER), MONEY);
    }

    function test_aPaymentThatFailsUndoesEverything() public {
        uint256 id = create(listing721(NATIVE));
        address refuser = address(new Refuser());
        vm.prank(BUYER);
        vm.expectRevert();
        market.acceptRequest{value: 2 ether}(id, 1, BUYER, list(1), list(refuser));
        vm.assertEq(nft.ownerOf(ID), SELLER);
        vm.assertEq(BUYER.balance, MONEY);
        vm.assertEq(market.getRequest(id).quantity, 1);
    }

    function test_batchPaysTheFeesForEveryRequest() public {
        uint256 one = create(listing721(address(coin)));
        uint256 many = create(listing1155(address(coin), 10));
        vm.prank(BUYER);
        market.acceptRequestBatch(list(one, many), list(1, 4), list(BUYER, OTHER), list(0.1 ether), list(FEE1));
        vm.assertEq(nft.ownerOf(ID), BUYER);
        vm.assertEq(multi.balanceOf(OTHER, ID), 4);
        vm.assertEq(coins(BUYER), MONEY - 5.2 ether);
        vm.assertEq(coins(FEE1), 0.2 ether);
    }

    function test_batchRefusesListsOfDifferentLength() public {
        vm.expectRevert(IMarketCore.InvalidBatchRequest.selector);
        market.acceptRequestBatch(list(0, 1), list(1), list(BUYER, BUYER), none(), nobody());
        vm.expectRevert(IMarketCore.InvalidBatchRequest.selector);
        market.acceptRequestBatch(list(0, 1), list(1, 1), list(BUYER), none(), nobody());
    }

    function test_batchTakesNoNativeListing() public {
        uint256 id = create(listing721(NATIVE));
        vm.deal(address(market), 5 ether);
        vm.prank(BUYER);
        vm.expectRevert(bytes("Market: too little value"));
        market.acceptRequestBatch(list(id), list(1), list(BUYER), none(), nobody());

        bytes memory call_ =
            abi.encodeCall(market.acceptRequestBatch, (list(id), list(1), list(BUYER), none(), nobody()));
        vm.prank(BUYER);
        (bool success, bytes memory answer) = address(market).call{value: PRICE}(call_);
        vm.assertFalse(success);
        vm.assertEq(answer.length, 0);
    }

    function test_currencyWithoutReturnValue() public {
        NoReturnERC20 old = new NoReturnERC20();
        old.mint(BUYER, 2 ether);
        vm.prank(BUYER);
        old.approve(address(market), 2 ether);
        uint256 id = create(listing721(address(old)));
        accept(BUYER, id, 1, 0.5 ether);
        vm.assertEq(old.balanceOf(SELLER), PRICE);
        vm.assertEq(old.balanceOf(FEE1), 0.5 ether);
    }

    function test_currencyThatOnlyPretendsToMove() public {
        uint256 id = create(listing721(address(new FalseERC20())));
        vm.prank(BUYER);
        vm.expectRevert();
        market.acceptRequest(id, 1, BUYER, none(), nobody());
        // An address without code would answer every call with success.
        uint256 empty = create(listing721(OTHER));
        vm.prank(BUYER);
        vm.expectRevert();
        market.acceptRequest(empty, 1, BUYER, none(), nobody());
        vm.assertEq(nft.ownerOf(ID), SELLER);
    }
}
