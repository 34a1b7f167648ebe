// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IMarketCore} from "../src/IMarketCore.sol";
import {IMarket} from "../src/IMarket.sol";
import {Market} from "../src/Market.sol";
import {MarketV1} from "../src/MarketV1.sol";
import {Royalties} from "../src/base/Royalties.sol";
import {BatchPayableHelper} from "../src/BatchPayableHelper.sol";
import {Multicall3} from "../src/test/Multicall3.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {Vm, vm} from "./support/Vm.sol";

/// @title Selectors and topics are those of the public interface
contract InterfaceTest is MarketTest {
    function same(bytes4 a, bytes4 b) private pure {
        vm.assertEq(bytes32(a), bytes32(b));
    }

    function test_selectorsOfBothVersions() public pure {
        same(IMarketCore.createRequest.selector, 0xdd0de6ec);
        same(IMarketCore.createRequestBatch.selector, 0xb056d4ae);
        same(IMarket.acceptRequest.selector, 0xe6bd720e);
        same(MarketV1.acceptRequest.selector, 0xe6bd720e);
        same(IMarketCore.acceptRequestBatch.selector, 0xa93c5317);
        same(IMarketCore.cancelRequest.selector, 0x3015394c);
        same(IMarketCore.cancelRequestBatch.selector, 0xf1f5176c);
        same(IMarketCore.getRequest.selector, 0xc58343ef);
        same(IMarketCore.getRequestBatch.selector, 0x956463e5);
        same(IMarketCore.isRequestValid.selector, 0x24dc6bd0);
        same(IMarketCore.isRequestValidBatch.selector, 0x449768ad);
        same(IMarketCore.getRoyaltyInfo.selector, 0x36de9742);
        same(Royalties.setRoyaltyInfo.selector, 0x0bc9b045);
        same(bytes4(keccak256("customRoyalties(address)")), 0x386c96e0);
    }

    function test_selectorsOfVersion2() public view {
        same(IMarket.invalidBeforeId.selector, 0xb561dde2);
        same(IMarket.invalidTokenBeforeId.selector, 0xd0f46a6c);
        same(BatchPayableHelper.acceptRequestBatch.selector, 0x8c7080c9);
        same(Multicall3.aggregate3.selector, 0x82ad56cb);
        (bool success,) = address(market).staticcall(abi.encodePacked(bytes4(0x386c96e0), abi.encode(address(nft))));
        vm.assertTrue(success);
    }

    function test_selectorsOfInvalidation() public {
        // The name is overloaded, so the selectors are tried out.
        (bool all,) = address(market).call(abi.encodePacked(bytes4(0x3ed97342)));
        (bool ofToken,) = address(market).call(abi.encodePacked(bytes4(0xffaf1d8d), abi.encode(address(nft))));
        vm.assertTrue(all && ofToken);
    }

    function test_errors() public pure {
        same(IMarketCore.InvalidAdditionalFees.selector, 0x30fd3c31);
        same(IMarketCore.InvalidBatchRequest.selector, 0xab940f6e);
        same(IMarketCore.InvalidCurrency.selector, 0xf5993428);
        same(IMarketCore.InvalidCurrencyApproval.selector, 0x8c200c98);
        same(IMarketCore.InvalidExpiry.selector, 0xd36c8500);
        same(IMarketCore.InvalidPrice.selector, 0x00bfc921);
        same(IMarketCore.InvalidQuantity.selector, 0x524f409b);
        same(IMarketCore.InvalidRequestId.selector, 0xc969e0f2);
        same(IMarketCore.InvalidRoyalty.selector, 0xe0e54ced);
        same(IMarketCore.InvalidTokenApproval.selector, 0x7c581b36);
        same(IMarketCore.UnsupportedContractInterface.selector, 0x05d18590);
        same(IMarket.Invalidated.selector, 0x19f6cea5);
    }

    function lastLog() private returns (Vm.Log memory log) {
        Vm.Log[] memory all = vm.getRecordedLogs();
        return all[all.length - 1];
    }

    function word(address a) private pure returns (bytes32) {
        return bytes32(uint256(uint160(a)));
    }

    function expectLog(bytes32 a, bytes32 b, bytes32 c, bytes32 d, bytes memory data) private {
        Vm.Log memory log = lastLog();
        vm.assertEq(log.emitter, address(market));
        vm.assertEq(log.topics[0], a);
        vm.assertEq(log.topics[1], b);
        vm.assertEq(log.topics[2], c);
        if (log.topics.length > 3) vm.assertEq(log.topics[3], d);
        else vm.assertEq(d, bytes32(0));
        vm.assertEq(keccak256(log.data), keccak256(data));
    }

    function test_eventsOfTrading() public {
        vm.recordLogs();
        uint256 id = create(listing1155(address(coin), 5));
        expectLog(
            0xb67ee55b059861d68b3b5640ee51bde6a5d9d849c6ecdb610663cbd4290bdfd5,
            bytes32(id),
            word(SELLER),
            word(address(multi)),
            abi.encode(ID, true, uint256(5), address(coin), PRICE, uint256(EXPIRY))
        );
        vm.prank(BUYER);
        market.acceptRequest(id, 2, OTHER, none(), nobody());
        expectLog(
            0x146c7c3a67244cf406ca437a82b2bf587bc02b628b63659c73b4295b8b00e76f,
            bytes32(id),
            word(BUYER),
            word(address(multi)),
            abi.encode(OTHER, uint256(2), uint256(3))
        );
        vm.prank(SELLER);
        market.cancelRequest(id);
        bytes32 cancelled = 0xe0d7665e06e7db1fc500d66d4e3898d1d4a5533d7efe54b352fcdaa177c22783;
        expectLog(cancelled, bytes32(id), word(address(multi)), 0, "");
    }

    function test_eventsOfInvalidation() public {
        create(listing721(address(coin)));
        vm.recordLogs();
        vm.prank(SELLER);
        market.invalidateRequests();
        bytes32 all = 0xb9fd665eb33107da2a1f0113e84d01c5915024b696fa667e66f80505bf3b2977;
        expectLog(all, word(SELLER), bytes32(uint256(1)), 0, "");
        vm.prank(SELLER);
        market.invalidateRequests(address(nft));
        bytes32 ofToken = 0x359d2c7e56147963a26a08fd48199b16e28d5fff314390b6c79bb822362340ff;
        expectLog(ofToken, word(SELLER), word(address(nft)), bytes32(uint256(1)), "");
    }

    function test_eventOfRoyalty() public {
        vm.recordLogs();
        vm.prank(OWNER);
        market.setRoyaltyInfo(address(nft), ARTIST, 500);
        Vm.Log memory log = lastLog();
        vm.assertEq(log.topics.length, 2);
        vm.assertEq(log.topics[0], 0x60567f9d30ab22ef3cd7557f56b897c677c80a85c8673a4a5c26eb9349ef8c60);
        vm.assertEq(log.topics[1], word(address(nft)));
        vm.assertEq(keccak256(log.data), keccak256(abi.encode(ARTIST, uint96(500))));
    }
}
