// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {BatchPayableHelper} from "../src/BatchPayableHelper.sol";
import {IMarketCore} from "../src/IMarketCore.sol";
import {Vm, vm} from "./support/Vm.sol";
import {MarketTest} from "./support/MarketTest.sol";

/// @title Buying several native listings in one transaction
contract BatchPayableHelperTest is MarketTest {
    BatchPayableHelper private helper;

    function setUp() public override {
        super.setUp();
        helper = new BatchPayableHelper();
    }

    function buy(uint256[] memory ids, uint256 value) private {
        address[] memory to = ids.length == 1 ? list(BUYER) : list(BUYER, OTHER);
        uint256[] memory quantities = ids.length == 1 ? list(1) : list(1, 3);
        vm.prank(BUYER);
        helper.acceptRequestBatch{value: value}(address(market), ids, quantities, to, list(0.1 ether), list(FEE1));
    }

    function test_buysAllAndReturnsTheRest() public {
        uint256 one = create(listing721(NATIVE));
        uint256 many = create(listing1155(NATIVE, 10));
        vm.recordLogs();
        buy(list(one, many), 100 ether);
        vm.assertEq(nft.ownerOf(ID), BUYER);
        vm.assertEq(multi.balanceOf(OTHER, ID), 3);
        vm.assertEq(BUYER.balance, MONEY - 4.2 ether);
        vm.assertEq(FEE1.balance, 0.2 ether);
        vm.assertEq(SELLER.balance, 4 ether);
        vm.assertEq(address(helper).balance, 0);
        // The market's event names the helper as the buyer.
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs[logs.length - 1].topics[2], bytes32(uint256(uint160(address(helper)))));
    }

    function test_takesTheExactValue() public {
        uint256 one = create(listing721(NATIVE));
        uint256 many = create(listing1155(NATIVE, 10));
        vm.deal(BUYER, 4.2 ether);
        buy(list(one, many), 4.2 ether);
        vm.assertEq(BUYER.balance, 0);
    }

    function test_fillsOneListingTwice() public {
        uint256 many = create(listing1155(NATIVE, 4));
        buy(list(many, many), 5 ether);
        vm.assertEq(market.getRequest(many).creator, address(0));
        vm.assertEq(BUYER.balance, MONEY - 4.2 ether);
    }

    function test_refusesTooLittleValue() public {
        uint256 one = create(listing721(NATIVE));
        uint256 many = create(listing1155(NATIVE, 10));
        uint256[] memory ids = list(one, many);
        vm.deal(address(helper), 1 ether);
        vm.expectRevert(bytes("BatchPayableHelper: too little value"));
        this.buyAsBuyer(ids, 4.2 ether - 1);
        vm.assertEq(nft.ownerOf(ID), SELLER);
    }

    function test_refusesOtherCurrencies() public {
        uint256 id = create(listing721(address(coin)));
        vm.expectRevert(IMarketCore.InvalidCurrency.selector);
        this.buyAsBuyer(list(id), 5 ether);
        uint256 offer = create(offer721());
        vm.expectRevert(IMarketCore.InvalidCurrency.selector);
        this.buyAsBuyer(list(offer), 5 ether);
    }

    function test_refusesWhatIsGone() public {
        vm.expectRevert(abi.encodeWithSelector(IMarketCore.InvalidRequestId.selector, 3));
        this.buyAsBuyer(list(3), 5 ether);
    }

    function test_refusesListsOfDifferentLength() public {
        vm.expectRevert(IMarketCore.InvalidBatchRequest.selector);
        helper.acceptRequestBatch(address(market), list(0, 1), list(1), list(BUYER, BUYER), none(), nobody());
        vm.expectRevert(IMarketCore.InvalidBatchRequest.selector);
        helper.acceptRequestBatch(address(market), list(0, 1), list(1, 1), list(BUYER), none(), nobody());
    }

    function test_takesNoCoinOutsideABatch() public {
        vm.prank(BUYER);
        (bool success,) = address(helper).call{value: 1}("");
        vm.assertFalse(success);
    }

    /// @dev A call of its own, so that forge sees the revert of the whole and not of the first call inside.
    function buyAsBuyer(uint256[] calldata ids, uint256 value) external {
        buy(ids, value);
    }
}
