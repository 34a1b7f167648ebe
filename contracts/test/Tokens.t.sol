// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Multicall3} from "../src/test/Multicall3.sol";
import {TestERC20} from "../src/test/TestERC20.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {Vm, vm} from "./support/Vm.sol";

/// @title The tokens for tests do what the standards say
contract TokensTest is MarketTest {
    function test_interfaces() public view {
        bytes4[5] memory ids = [bytes4(0x01ffc9a7), 0x80ac58cd, 0x5b5e139f, 0x2a55205a, 0x49064906];
        for (uint256 i; i < ids.length; ++i) {
            vm.assertTrue(nft.supportsInterface(ids[i]));
        }
        bytes4[4] memory multiIds = [bytes4(0x01ffc9a7), 0xd9b67a26, 0x0e89341c, 0x2a55205a];
        for (uint256 i; i < multiIds.length; ++i) {
            vm.assertTrue(multi.supportsInterface(multiIds[i]));
        }
        vm.assertFalse(nft.supportsInterface(0xffffffff) || multi.supportsInterface(0xffffffff));
    }

    function expectTopic(bytes32 topic) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs[logs.length - 1].topics[0], topic);
    }

    function test_erc721MetadataAndItsEvents() public {
        vm.recordLogs();
        nft.setBaseURI("ipfs://y/");
        expectTopic(keccak256("BatchMetadataUpdate(uint256,uint256)"));
        vm.assertEq(nft.tokenURI(ID), "ipfs://y/7");
        nft.setTokenURI(ID, "seven");
        expectTopic(keccak256("MetadataUpdate(uint256)"));
        vm.assertEq(nft.tokenURI(ID), "ipfs://y/seven");
        nft.setContractURI("ipfs://c");
        expectTopic(keccak256("ContractURIUpdated()"));
        vm.assertEq(nft.contractURI(), "ipfs://c");
        vm.assertEq(nft.owner(), address(this));
        vm.assertEq(nft.name(), "Relics");
        vm.assertEq(nft.symbol(), "REL");
    }

    function test_erc1155() public {
        multi.mintBatch(BUYER, list(1, 2), list(10, 20));
        vm.prank(BUYER);
        multi.safeBatchTransferFrom(BUYER, OTHER, list(1, 2), list(4, 5), "");
        vm.assertEq(multi.balanceOf(OTHER, 2), 5);
        vm.assertEq(multi.balanceOf(BUYER, 1), 6);
        vm.assertEq(multi.uri(1), "ipfs://x/{id}.json");
        multi.setURI("ipfs://z/{id}");
        multi.setContractURI("ipfs://c");
        vm.recordLogs();
        multi.announceURI(1);
        expectTopic(keccak256("URI(string,uint256)"));
        vm.assertEq(multi.uri(1), "ipfs://z/{id}");
        vm.assertEq(multi.contractURI(), "ipfs://c");
        vm.assertEq(multi.owner(), address(this));
        vm.assertEq(multi.name(), "Many");
    }

    function test_erc20() public {
        TestERC20 cents = new TestERC20("Cents", "CT", 6);
        cents.mint(OTHER, 5);
        vm.assertEq(cents.decimals(), 6);
        vm.assertEq(cents.balanceOf(OTHER), 5);
        vm.assertEq(cents.totalSupply(), 5);
    }

    function test_multicall() public {
        Multicall3 multicall = new Multicall3();
        Multicall3.Call3[] memory calls = new Multicall3.Call3[](2);
        calls[0] = Multicall3.Call3(address(nft), false, abi.encodeCall(nft.ownerOf, (ID)));
        calls[1] = Multicall3.Call3(address(nft), true, abi.encodeCall(nft.ownerOf, (99)));
        Multicall3.Result[] memory results = multicall.aggregate3(calls);
        vm.assertEq(abi.decode(results[0].returnData, (address)), SELLER);
        vm.assertFalse(results[1].success);
        calls[1].allowFailure = false;
        vm.expectRevert(bytes("Multicall3: call failed"));
        multicall.aggregate3(calls);
    }
}
