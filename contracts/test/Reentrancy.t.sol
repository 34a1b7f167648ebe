// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {BatchPayableHelper} from "../src/BatchPayableHelper.sol";
import {IMarketCore} from "../src/IMarketCore.sol";
import {Attacker, AttackerERC20, NativeAttacker, ReceiverAttacker} from "./support/Attackers.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {vm} from "./support/Vm.sol";

/// @title Whoever is handed control during a settlement cannot use it
contract ReentrancyTest is MarketTest {
    function acceptCall(uint256 id, uint256 quantity, address to) private view returns (bytes memory) {
        return abi.encodeCall(market.acceptRequest, (id, quantity, to, none(), nobody()));
    }

    function stopped(Attacker attacker) private view {
        vm.assertTrue(attacker.attacked());
        vm.assertFalse(attacker.succeeded());
        vm.assertEq(bytes32(attacker.problem()), bytes32(ReentrancyGuard.ReentrancyGuardReentrantCall.selector));
    }

    function test_receiverOfErc1155() public {
        uint256 id = create(listing1155(NATIVE, 10));
        ReceiverAttacker attacker = new ReceiverAttacker();
        attacker.prepare(address(market), acceptCall(id, 1, address(attacker)));
        vm.prank(BUYER);
        attacker.run{value: 3 * PRICE}(address(market), acceptCall(id, 2, address(attacker)));
        stopped(attacker);
        vm.assertEq(multi.balanceOf(address(attacker), ID), 2);
        vm.assertEq(SELLER.balance, 2 * PRICE);
        vm.assertEq(address(attacker).balance, PRICE);
        vm.assertEq(market.getRequest(id).quantity, 8);
    }

    function test_receiverOfErc721() public {
        uint256 id = create(listing721(address(coin)));
        uint256 other = create(listing1155(address(coin), 10));
        ReceiverAttacker attacker = new ReceiverAttacker();
        attacker.prepare(address(market), acceptCall(other, 1, address(attacker)));
        vm.prank(BUYER);
        market.acceptRequest(id, 1, address(attacker), none(), nobody());
        stopped(attacker);
    }

    function test_currency() public {
        AttackerERC20 evil = new AttackerERC20();
        evil.mint(BUYER, 10 ether);
        vm.prank(BUYER);
        evil.approve(address(market), 10 ether);
        uint256 id = create(listing1155(address(evil), 10));
        evil.prepare(address(market), acceptCall(id, 10, address(evil)));
        accept(BUYER, id, 2);
        stopped(evil);
        vm.assertEq(market.getRequest(id).quantity, 8);
        vm.assertEq(evil.balanceOf(SELLER), 2 * PRICE);
    }

    function test_currencyCannotCreateOrBatchEither() public {
        bytes[4] memory calls = [
            abi.encodeCall(market.createRequest, (listing721(address(coin)))),
            abi.encodeCall(market.createRequestBatch, (new IMarketCore.RequestParams[](0))),
            abi.encodeCall(market.cancelRequestBatch, (none())),
            abi.encodeCall(market.acceptRequestBatch, (none(), none(), nobody(), none(), nobody()))
        ];
        for (uint256 i; i < calls.length; ++i) {
            AttackerERC20 evil = new AttackerERC20();
            evil.mint(BUYER, PRICE);
            vm.prank(BUYER);
            evil.approve(address(market), PRICE);
            uint256 id = create(listing1155(address(evil), 1));
            evil.prepare(address(market), calls[i]);
            accept(BUYER, id, 1);
            stopped(evil);
        }
    }

    function test_receiverOfANativeFee() public {
        uint256 id = create(listing1155(NATIVE, 10));
        NativeAttacker attacker = new NativeAttacker();
        attacker.prepare(address(market), acceptCall(id, 1, BUYER));
        vm.prank(BUYER);
        market.acceptRequest{value: 5 * PRICE}(id, 2, BUYER, list(1), list(address(attacker)));
        stopped(attacker);
        vm.assertEq(BUYER.balance, MONEY - 2 * PRICE - 1);
        vm.assertEq(address(attacker).balance, 1);
    }

    function test_sellerCannotCancelWhilePaid() public {
        NativeAttacker attacker = new NativeAttacker();
        nft.mint(address(attacker), 8);
        attacker.run(address(nft), abi.encodeCall(nft.setApprovalForAll, (address(market), true)));
        IMarketCore.RequestParams memory params = listing721(NATIVE);
        params.tokenId = 8;
        attacker.run(address(market), abi.encodeCall(market.createRequest, (params)));
        attacker.prepare(address(market), abi.encodeCall(market.cancelRequest, (0)));
        vm.prank(BUYER);
        market.acceptRequest{value: PRICE}(0, 1, BUYER, none(), nobody());
        stopped(attacker);
        vm.assertEq(nft.ownerOf(8), BUYER);
    }

    function test_refundCannotBeTakenTwice() public {
        uint256 id = create(listing1155(NATIVE, 10));
        NativeAttacker buyer = new NativeAttacker();
        buyer.prepare(address(market), acceptCall(id, 1, address(buyer)));
        vm.prank(BUYER);
        buyer.run{value: 5 * PRICE}(address(market), acceptCall(id, 1, BUYER));
        stopped(buyer);
        vm.assertEq(address(buyer).balance, 4 * PRICE);
    }

    function test_nobodyTakesTheRestOfABatchInTheHelper() public {
        BatchPayableHelper helper = new BatchPayableHelper();
        uint256 id = create(listing1155(NATIVE, 10));
        NativeAttacker attacker = new NativeAttacker();
        attacker.prepare(
            address(helper),
            abi.encodeCall(helper.acceptRequestBatch, (address(market), none(), none(), nobody(), none(), nobody()))
        );
        vm.prank(BUYER);
        helper.acceptRequestBatch{value: 9 * PRICE}(
            address(market), list(id, id), list(1, 2), list(BUYER, BUYER), list(1), list(address(attacker))
        );
        stopped(attacker);
        vm.assertEq(BUYER.balance, MONEY - 3 * PRICE - 2);
        vm.assertEq(address(attacker).balance, 2);
    }
}

