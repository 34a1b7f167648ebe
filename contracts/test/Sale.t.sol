// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {ISale} from "../src/ISale.sol";
import {Sale} from "../src/Sale.sol";
import {Attacker, NativeAttacker, ReceiverAttacker} from "./support/Attackers.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {bound, vm} from "./support/Vm.sol";

/// @title Tokens are minted to whoever pays, on the terms that hold
contract SaleTest is MarketTest {
    uint64 private constant START = 2_000;
    uint64 private constant END = 3_000;

    Sale private native;
    Sale private coins;
    Sale private singles;

    function setUp() public override {
        super.setUp();
        native = new Sale(OWNER, ARTIST, address(multi), true, NATIVE);
        coins = new Sale(OWNER, ARTIST, address(multi), true, address(coin));
        singles = new Sale(OWNER, ARTIST, address(nft), false, NATIVE);
        vm.prank(BUYER);
        coin.approve(address(coins), type(uint256).max);
        vm.startPrank(OWNER);
        native.setTokenSaleDetails(1, PRICE, 10, START, END, 0);
        native.setGlobalSaleDetails(100, 199, 2 * PRICE, 20, START, END, 0);
        coins.setTokenSaleDetails(1, PRICE, 10, START, END, 0);
        singles.setTokenSaleDetails(70, PRICE, 1, START, END, 0);
        vm.stopPrank();
        vm.warp(START);
    }

    function buy(Sale sale, uint256 value, uint256[] memory ids, uint256[] memory amounts) private {
        address currency = sale.paymentToken();
        vm.prank(BUYER);
        sale.mint{value: value}(BUYER, ids, amounts, "", currency, type(uint256).max, new bytes32[](0));
    }

    function test_theSelectorsAreThoseThatStorefrontsKnow() public pure {
        vm.assertEq(
            bytes32(ISale.mint.selector),
            bytes32(bytes4(keccak256("mint(address,uint256[],uint256[],bytes,address,uint256,bytes32[])")))
        );
    }

    function test_tokensOfBothKindsOfTermsAreMintedForTheirPrice() public {
        buy(native, 3 * PRICE + 2 * PRICE, list(1, 150), list(3, 1));
        vm.assertEq(multi.balanceOf(BUYER, 1), 3);
        vm.assertEq(multi.balanceOf(BUYER, 150), 1);
        vm.assertEq(ARTIST.balance, 5 * PRICE);
        vm.assertEq(address(native).balance, 0);
        vm.assertEq(native.tokenSaleDetails(1).remainingSupply, 7);
        vm.assertEq(native.globalSaleDetails().remainingSupply, 19);
        vm.assertEq(native.sold(1), 3);
        vm.assertEq(native.sold(150), 1);
    }

    function test_coinsGoStraightToThePayee() public {
        buy(coins, 0, list(1), list(4));
        vm.assertEq(coin.balanceOf(ARTIST), 4 * PRICE);
        vm.assertEq(coin.balanceOf(BUYER), MONEY - 4 * PRICE);
        vm.assertEq(multi.balanceOf(BUYER, 1), 4);
    }

    function test_aSingleTokenIsSoldOnce() public {
        buy(singles, PRICE, list(70), list(1));
        vm.assertEq(nft.ownerOf(70), BUYER);
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientSupply.selector, 0, 1));
        this.again(singles, PRICE, 70, 1);
    }

    /// @dev `expectRevert` is about the next call, and `buy` begins with a question.
    function again(Sale sale, uint256 value, uint256 id, uint256 amount) external {
        buy(sale, value, list(id), list(amount));
    }

    function test_amountsHaveToMakeSense() public {
        vm.expectRevert(ISale.InvalidAmounts.selector);
        this.again(native, 0, 1, 0);
        vm.expectRevert(ISale.InvalidAmounts.selector);
        this.again(singles, 2 * PRICE, 70, 2);
        vm.expectRevert(ISale.InvalidAmounts.selector);
        native.mint(BUYER, list(1), list(1, 1), "", NATIVE, PRICE, new bytes32[](0));
        vm.expectRevert(ISale.InvalidAmounts.selector);
        native.mint(BUYER, new uint256[](0), new uint256[](0), "", NATIVE, PRICE, new bytes32[](0));
    }

    function test_onlyWhileItIsSold() public {
        vm.warp(START - 1);
        vm.expectRevert(abi.encodeWithSelector(ISale.SaleInactive.selector, 1));
        this.again(native, PRICE, 1, 1);
        vm.warp(END);
        vm.expectRevert(abi.encodeWithSelector(ISale.SaleInactive.selector, 1));
        this.again(native, PRICE, 1, 1);
        vm.expectRevert(abi.encodeWithSelector(ISale.SaleInactive.selector, 150));
        this.again(native, 2 * PRICE, 150, 1);
        vm.warp(START);
        vm.expectRevert(abi.encodeWithSelector(ISale.SaleInactive.selector, 99));
        this.again(native, 2 * PRICE, 99, 1);
    }

    function test_whatIsLeftOfARangeIsSharedByItsTokens() public {
        buy(native, 40 * PRICE, list(100, 199), list(5, 15));
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientSupply.selector, 0, 1));
        this.again(native, 2 * PRICE, 150, 1);
    }

    function test_oneTokenNamedTwiceIsCountedTwice() public {
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientSupply.selector, 4, 6));
        this.twice(native, 12 * PRICE, 1, 6);
    }

    function twice(Sale sale, uint256 value, uint256 id, uint256 amount) external {
        buy(sale, value, list(id, id), list(amount, amount));
    }

    function test_theBuyerSaysWhatIsPaidAtMostAndInWhat() public {
        bytes32[] memory none = new bytes32[](0);
        vm.startPrank(BUYER);
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientPayment.selector, NATIVE, 2 * PRICE, 2 * PRICE - 1));
        native.mint{value: 2 * PRICE}(BUYER, list(1), list(2), "", NATIVE, 2 * PRICE - 1, none);
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientPayment.selector, NATIVE, PRICE, PRICE));
        native.mint{value: PRICE}(BUYER, list(1), list(1), "", address(coin), PRICE, none);
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientPayment.selector, NATIVE, PRICE, PRICE + 1));
        native.mint{value: PRICE + 1}(BUYER, list(1), list(1), "", NATIVE, PRICE, none);
        vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientPayment.selector, NATIVE, 0, 1));
        coins.mint{value: 1}(BUYER, list(1), list(1), "", address(coin), PRICE, none);
        vm.stopPrank();
    }

    function test_termsOfATokenComeBeforeThoseOfTheRange() public {
        vm.prank(OWNER);
        native.setTokenSaleDetails(150, 5 * PRICE, 2, START, START + 10, 0);
        buy(native, 5 * PRICE, list(150), list(1));
        vm.warp(START + 10);
        vm.expectRevert(abi.encodeWithSelector(ISale.SaleInactive.selector, 150));
        this.again(native, 2 * PRICE, 150, 1);
        vm.prank(OWNER);
        native.setTokenSaleDetails(150, 0, 0, 0, 0, 0);
        buy(native, 2 * PRICE, list(150), list(1));
        vm.assertEq(native.sold(150), 2);
    }

    function test_itemsAreThoseWithTermsOfTheirOwn() public {
        vm.warp(START + 5);
        vm.startPrank(OWNER);
        native.setTokenSaleDetails(9, 0, 3, START, END, 0);
        native.setTokenSaleDetails(1, 7, 8, START, END, 0);
        vm.stopPrank();
        buy(native, 0, list(9), list(2));
        vm.assertEq(native.itemCount(), 2);
        ISale.Item[] memory all = native.items(0, 10);
        vm.assertEq(all.length, 2);
        vm.assertEq(all[0].tokenId, 1);
        vm.assertEq(all[0].details.cost, 7);
        vm.assertEq(all[0].createdAt, 1_000);
        vm.assertEq(all[0].updatedAt, START + 5);
        vm.assertEq(all[1].tokenId, 9);
        vm.assertEq(all[1].sold, 2);
        vm.assertEq(all[1].details.remainingSupply, 1);
        vm.assertEq(native.items(1, 1)[0].tokenId, 9);
        vm.assertEq(native.items(2, 1).length, 0);
        vm.assertEq(native.items(type(uint256).max, type(uint256).max).length, 0);
        uint256[] memory ids = list(9, 55);
        vm.assertEq(native.tokenSaleDetailsBatch(ids)[0].remainingSupply, 1);
        vm.assertEq(native.tokenSaleDetailsBatch(ids)[1].endTime, 0);
    }

    function test_onlyTheOwnerSetsTerms() public {
        bytes memory stranger = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, BUYER);
        vm.startPrank(BUYER);
        vm.expectRevert(stranger);
        native.setTokenSaleDetails(1, 0, 1, START, END, 0);
        vm.expectRevert(stranger);
        native.setGlobalSaleDetails(1, 2, 0, 1, START, END, 0);
        vm.expectRevert(stranger);
        native.setPayee(BUYER);
        vm.stopPrank();
    }

    function test_termsHaveToMakeSense() public {
        vm.startPrank(OWNER);
        vm.expectRevert(ISale.InvalidSaleDetails.selector);
        native.setTokenSaleDetails(1, 0, 1, END, END, 0);
        vm.expectRevert(ISale.InvalidSaleDetails.selector);
        native.setTokenSaleDetails(1, 0, 1, START, END, bytes32(uint256(1)));
        vm.expectRevert(ISale.InvalidSaleDetails.selector);
        native.setGlobalSaleDetails(2, 1, 0, 1, START, END, 0);
        vm.expectRevert(ISale.InvalidPayee.selector);
        native.setPayee(address(0));
        native.setPayee(OTHER);
        vm.stopPrank();
        buy(native, PRICE, list(1), list(1));
        vm.assertEq(OTHER.balance, PRICE);
    }

    function mintCall(uint256 id, address to) private pure returns (bytes memory) {
        bytes32[] memory none = new bytes32[](0);
        return abi.encodeCall(ISale.mint, (to, list(id), list(1), "", NATIVE, type(uint256).max, none));
    }

    function test_whoeverIsHandedControlCannotBuyAgain() public {
        ReceiverAttacker receiver = new ReceiverAttacker();
        receiver.prepare(address(native), mintCall(1, address(receiver)));
        vm.prank(BUYER);
        receiver.run{value: PRICE}(address(native), mintCall(1, address(receiver)));
        stopped(receiver);
        NativeAttacker payee = new NativeAttacker();
        payee.prepare(address(native), mintCall(1, address(payee)));
        vm.prank(OWNER);
        native.setPayee(address(payee));
        buy(native, PRICE, list(1), list(1));
        stopped(payee);
        vm.assertEq(native.tokenSaleDetails(1).remainingSupply, 8);
    }

    function stopped(Attacker attacker) private view {
        vm.assertTrue(attacker.attacked());
        vm.assertFalse(attacker.succeeded());
        vm.assertEq(bytes32(attacker.problem()), bytes32(ReentrancyGuard.ReentrancyGuardReentrantCall.selector));
    }

    function testFuzz_whatIsSoldAndWhatIsLeftAreWhatThereWas(uint256 first, uint256 second) public {
        first = bound(first, 1, 10);
        second = bound(second, 1, 10);
        buy(native, first * PRICE, list(1), list(first));
        if (first + second > 10) {
            vm.expectRevert(abi.encodeWithSelector(ISale.InsufficientSupply.selector, 10 - first, second));
            this.again(native, second * PRICE, 1, second);
        } else {
            buy(native, second * PRICE, list(1), list(second));
        }
        vm.assertEq(native.sold(1) + native.tokenSaleDetails(1).remainingSupply, 10);
        vm.assertEq(multi.balanceOf(BUYER, 1), native.sold(1));
        vm.assertEq(ARTIST.balance, native.sold(1) * PRICE);
    }
}
