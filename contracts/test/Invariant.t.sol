// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Handler} from "./support/Handler.sol";
import {vm} from "./support/Vm.sol";

/// @title Whatever is traded, nothing is created or lost, and the books agree
contract InvariantTest {
    Handler private handler;

    function setUp() public {
        vm.warp(1_000);
        handler = new Handler();
    }

    /// @dev forge calls only what is named here.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev One invariant for all, since forge plays the whole game again for each.
    function invariant_everythingAddsUp() public view {
        nothingIsCreatedOrLost();
        theMarketHoldsNothing();
        everybodyHasWhatTheBooksSay();
        requestsAreWhatTheBooksSay();
    }

    /// @dev A game without trades would prove nothing. Here it is played with numbers of our own.
    function test_theGameTrades() public {
        for (uint256 turn; turn < 50; ++turn) {
            uint256 dice = uint256(keccak256(abi.encode(turn)));
            handler.createListing(dice, dice >> 8, dice >> 16, dice >> 24, dice >> 32, dice % 2 == 0);
            handler.createOffer(dice >> 40, dice >> 48, dice >> 56, dice >> 64, dice >> 72);
            handler.accept(dice >> 80, dice >> 88, dice >> 96, dice >> 104, dice >> 112);
            handler.disturb(dice >> 120, dice >> 128);
        }
        vm.assertTrue(handler.trades() > 25);
        invariant_everythingAddsUp();
    }

    function nothingIsCreatedOrLost() private view {
        uint256 coins;
        uint256 native;
        uint256 tokens;
        for (uint256 i; i < handler.ACTORS(); ++i) {
            address who = handler.actors(i);
            coins += handler.COIN().balanceOf(who);
            native += who.balance;
            for (uint256 id; id < handler.TOKENS(); ++id) {
                tokens += handler.MULTI().balanceOf(who, id);
            }
        }
        vm.assertEq(coins, handler.ACTORS() * handler.MONEY(), "coins");
        vm.assertEq(native, handler.ACTORS() * handler.MONEY(), "native");
        vm.assertEq(tokens, handler.ACTORS() * handler.TOKENS() * handler.STOCK(), "tokens");
    }

    function theMarketHoldsNothing() private view {
        address market = address(handler.MARKET());
        vm.assertEq(market.balance, 0, "native");
        vm.assertEq(handler.COIN().balanceOf(market), 0, "coins");
    }

    function everybodyHasWhatTheBooksSay() private view {
        for (uint256 i; i < handler.ACTORS(); ++i) {
            address who = handler.actors(i);
            vm.assertEq(handler.COIN().balanceOf(who), handler.coinsOf(who), "coins");
            vm.assertEq(who.balance, handler.nativeOf(who), "native");
            for (uint256 id; id < handler.TOKENS(); ++id) {
                vm.assertEq(handler.MULTI().balanceOf(who, id), handler.tokensOf(who, id), "tokens");
            }
        }
    }

    function requestsAreWhatTheBooksSay() private view {
        for (uint256 id; id < handler.requestCount(); ++id) {
            bytes32 stored = keccak256(abi.encode(handler.MARKET().getRequest(id)));
            vm.assertEq(stored, keccak256(abi.encode(handler.requestOf(id))));
        }
    }
}
