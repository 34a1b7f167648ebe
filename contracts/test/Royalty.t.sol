// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IMarketCore} from "../src/IMarketCore.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {FlatRoyaltyERC1155, OddERC721, PlainERC721} from "./support/Tokens.sol";
import {bound, vm} from "./support/Vm.sol";

/// @title Royalties: who decides them, and what a maker can be made to pay
contract RoyaltyTest is MarketTest {
    OddERC721 private odd;
    PlainERC721 private plain;

    function setUp() public override {
        super.setUp();
        odd = new OddERC721();
        plain = new PlainERC721();
        odd.mint(SELLER, ID);
        plain.mint(SELLER, ID);
        vm.startPrank(SELLER);
        odd.setApprovalForAll(address(market), true);
        plain.setApprovalForAll(address(market), true);
        vm.stopPrank();
    }

    function listOf(address token) private view returns (IMarketCore.RequestParams memory params) {
        params = listing721(address(coin));
        params.tokenContract = token;
    }

    function setCustom(address token, uint96 fee) private {
        vm.prank(OWNER);
        market.setRoyaltyInfo(token, ARTIST, fee);
    }

    function expectInfo(address token, address recipient, uint256 royalty) private view {
        (address to, uint256 amount) = market.getRoyaltyInfo(token, ID, PRICE);
        vm.assertEq(to, recipient);
        vm.assertEq(amount, royalty);
    }

    function test_onlyTheOwnerSetsIt() public {
        vm.prank(SELLER);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, SELLER));
        market.setRoyaltyInfo(address(plain), SELLER, 1);
        vm.assertEq(market.owner(), OWNER);
    }

    function testFuzz_customIsCapped(uint96 fee) public {
        vm.assertEq(market.MAX_CUSTOM_ROYALTY(), 1_000);
        if (fee > 1_000) vm.expectRevert(IMarketCore.InvalidRoyalty.selector);
        vm.prank(OWNER);
        market.setRoyaltyInfo(address(plain), ARTIST, fee);
    }

    function test_customIsPaidWithoutErc2981() public {
        setCustom(address(plain), 1_000);
        (address recipient, uint96 fee) = market.customRoyalties(address(plain));
        vm.assertEq(recipient, ARTIST);
        vm.assertEq(fee, 1_000);
        expectInfo(address(plain), ARTIST, 0.1 ether);
        accept(BUYER, create(listOf(address(plain))), 1);
        vm.assertEq(coin.balanceOf(ARTIST), 0.1 ether);
        vm.assertEq(coin.balanceOf(SELLER), 0.9 ether);
    }

    function test_customNeverOverridesErc2981() public {
        setCustom(address(nft), 1_000);
        expectInfo(address(nft), address(0), 0);
        nft.setDefaultRoyalty(FEE2, 250);
        expectInfo(address(nft), FEE2, 0.025 ether);
    }

    function test_malformedAnswersCountAsNone() public {
        setCustom(address(odd), 500);
        expectInfo(address(odd), ARTIST, 0.05 ether);
        odd.setAnswer(abi.encode(FEE2));
        expectInfo(address(odd), ARTIST, 0.05 ether);
        odd.setAnswer(abi.encode(type(uint256).max, 1));
        expectInfo(address(odd), ARTIST, 0.05 ether);
        odd.setAnswer(abi.encode(FEE2, 3));
        expectInfo(address(odd), FEE2, 3);
        odd.setAnswer(abi.encode(address(0), 3));
        expectInfo(address(odd), address(0), 0);
    }

    function test_customDoesNotOverflow() public {
        setCustom(address(plain), 1_000);
        (, uint256 royalty) = market.getRoyaltyInfo(address(plain), ID, type(uint256).max);
        vm.assertEq(royalty, type(uint256).max / 10);
    }

    function testFuzz_aLaterRaiseDoesNotReachAListing(uint96 before, uint96 later) public {
        before = uint96(bound(before, 0, 10_000));
        later = uint96(bound(later, before, 10_000));
        nft.setDefaultRoyalty(ARTIST, before);
        uint256 id = create(listing721(address(coin)));
        nft.setDefaultRoyalty(ARTIST, later);
        accept(BUYER, id, 1);
        vm.assertEq(coin.balanceOf(SELLER), PRICE - PRICE * before / 10_000);
        vm.assertEq(coin.balanceOf(BUYER), MONEY - PRICE);
    }

    function testFuzz_aLaterRaiseDoesNotReachAnOffer(uint96 before, uint96 later, uint256 first) public {
        before = uint96(bound(before, 0, 10_000));
        later = uint96(bound(later, before, 10_000));
        first = bound(first, 1, 9);
        multi.setDefaultRoyalty(ARTIST, before);
        uint256 id = create(offer1155(10));
        multi.setDefaultRoyalty(ARTIST, later);
        accept(SELLER, id, first);
        accept(SELLER, id, 10 - first);
        uint256 most = 10 * PRICE + 10 * PRICE * before / 10_000;
        vm.assertEq(coin.balanceOf(BUYER), MONEY - most);
        vm.assertEq(coin.balanceOf(SELLER), 10 * PRICE);
    }

    function testFuzz_whatIsLeftOfTheRoyaltyIsTold(uint96 before, uint96 later, uint256 first) public {
        before = uint96(bound(before, 0, 10_000));
        later = uint96(bound(later, 0, 10_000));
        first = bound(first, 1, 9);
        multi.setDefaultRoyalty(ARTIST, before);
        uint256 id = create(offer1155(10));
        (uint256 royalty, uint256 quantity) = market.royaltyLeft(id);
        vm.assertEq(royalty, 10 * PRICE * before / 10_000);
        vm.assertEq(quantity, 10);
        multi.setDefaultRoyalty(ARTIST, later);
        accept(SELLER, id, first);
        (royalty, quantity) = market.royaltyLeft(id);
        vm.assertEq(royalty, 10 * PRICE * before / 10_000 - coin.balanceOf(ARTIST));
        vm.assertEq(quantity, 10 - first);
        accept(SELLER, id, 10 - first);
        vm.expectRevert(abi.encodeWithSelector(IMarketCore.InvalidRequestId.selector, id));
        market.royaltyLeft(id);
    }

    function test_theOwnerCannotMakeAnExistingRequestWorse() public {
        uint256 id = create(listOf(address(plain)));
        setCustom(address(plain), 1_000);
        accept(BUYER, id, 1);
        vm.assertEq(coin.balanceOf(SELLER), PRICE);
    }

    function test_aLaterCutIsHonoured() public {
        nft.setDefaultRoyalty(ARTIST, 1_000);
        uint256 id = create(listing721(address(coin)));
        nft.setDefaultRoyalty(ARTIST, 100);
        accept(BUYER, id, 1);
        vm.assertEq(coin.balanceOf(SELLER), 0.99 ether);
    }

    function test_validityCountsTheRoyaltyOfAnOffer() public {
        nft.setDefaultRoyalty(ARTIST, 1_000);
        uint256 id = create(offer721());
        vm.prank(BUYER);
        coin.approve(address(market), 1.1 ether - 1);
        (bool valid,) = market.isRequestValid(id, 0);
        vm.assertFalse(valid);
        nft.setDefaultRoyalty(ARTIST, 999);
        (valid,) = market.isRequestValid(id, 0);
        vm.assertTrue(valid);
    }

    function test_customIsCappedExactly() public {
        setCustom(address(plain), 1_000);
        vm.prank(OWNER);
        vm.expectRevert(IMarketCore.InvalidRoyalty.selector);
        market.setRoyaltyInfo(address(plain), ARTIST, 1_001);
    }

    function test_aRoyaltyMayTakeTheWholePrice() public {
        odd.setAnswer(abi.encode(ARTIST, PRICE));
        accept(BUYER, create(listOf(address(odd))), 1);
        vm.assertEq(coin.balanceOf(ARTIST), PRICE);
        vm.assertEq(coin.balanceOf(SELLER), 0);
    }

    function test_refusesARoyaltyAboveThePriceOfAPart() public {
        // This royalty does not depend on the price, so it fits the whole but not a part.
        FlatRoyaltyERC1155 flat = new FlatRoyaltyERC1155(ARTIST, 2 * PRICE);
        flat.mint(SELLER, ID, 5);
        vm.prank(SELLER);
        flat.setApprovalForAll(address(market), true);
        IMarketCore.RequestParams memory params = listing1155(address(coin), 5);
        params.tokenContract = address(flat);
        uint256 id = create(params);
        vm.prank(BUYER);
        vm.expectRevert(IMarketCore.InvalidRoyalty.selector);
        market.acceptRequest(id, 1, BUYER, none(), nobody());
        accept(BUYER, id, 2);
        vm.assertEq(coin.balanceOf(ARTIST), 2 * PRICE);
    }
}
