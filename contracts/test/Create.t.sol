// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {IMarketCore} from "../src/IMarketCore.sol";
import {MarketTest} from "./support/MarketTest.sol";
import {MuteToken, OddERC721} from "./support/Tokens.sol";
import {vm} from "./support/Vm.sol";

/// @title Creating requests, and asking whether they are valid
contract CreateTest is MarketTest {
    function refuse(IMarketCore.RequestParams memory params, bytes memory problem) private {
        vm.prank(params.isListing ? SELLER : BUYER);
        vm.expectRevert(problem);
        market.createRequest(params);
    }

    function refuse(IMarketCore.RequestParams memory params, bytes4 problem) private {
        refuse(params, abi.encodePacked(problem));
    }

    function isValid(uint256 id, uint256 quantity) private view returns (bool valid) {
        (valid,) = market.isRequestValid(id, quantity);
    }

    function test_numbersFromZeroAndStoresEverything() public {
        vm.assertEq(create(listing1155(address(coin), 5)), 0);
        vm.assertEq(create(offer721()), 1);
        IMarketCore.Request[] memory rows = market.getRequestBatch(list(0, 1));
        bytes32 first = keccak256(
            abi.encode(IMarketCore.Request(SELLER, true, true, address(multi), ID, 5, EXPIRY, address(coin), PRICE))
        );
        vm.assertEq(keccak256(abi.encode(rows[0])), first);
        vm.assertEq(keccak256(abi.encode(market.getRequest(0))), first);
        vm.assertEq(rows[1].creator, BUYER);
        vm.assertFalse(rows[1].isListing || rows[1].isERC1155);
    }

    function test_batchIsAllOrNothing() public {
        IMarketCore.RequestParams[] memory params = new IMarketCore.RequestParams[](2);
        (params[0], params[1]) = (listing721(NATIVE), listing1155(address(coin), 3));
        vm.prank(SELLER);
        uint256[] memory ids = market.createRequestBatch(params);
        vm.assertEq(ids[0], 0);
        vm.assertEq(ids[1], 1);

        params[1].pricePerToken = 0;
        vm.prank(SELLER);
        vm.expectRevert(IMarketCore.InvalidPrice.selector);
        market.createRequestBatch(params);
        vm.assertEq(market.getRequest(2).creator, address(0));
    }

    function test_refusesBadPrices() public {
        IMarketCore.RequestParams memory params = listing1155(address(coin), 2);
        params.pricePerToken = 0;
        refuse(params, IMarketCore.InvalidPrice.selector);
        params.pricePerToken = type(uint256).max / 2 + 1;
        refuse(params, IMarketCore.InvalidPrice.selector);
    }

    function testFuzz_expiryMustBeInTheFuture(uint96 expiry) public {
        IMarketCore.RequestParams memory params = listing721(address(coin));
        params.expiry = expiry;
        if (expiry <= block.timestamp) refuse(params, IMarketCore.InvalidExpiry.selector);
        else create(params);
    }

    function test_refusesTheExpiryOfNow() public {
        IMarketCore.RequestParams memory params = listing721(address(coin));
        params.expiry = uint96(block.timestamp);
        refuse(params, IMarketCore.InvalidExpiry.selector);
    }

    function test_refusesBadQuantities() public {
        refuse(listing1155(address(coin), 0), IMarketCore.InvalidQuantity.selector);
        refuse(offer1155(0), IMarketCore.InvalidQuantity.selector);
        IMarketCore.RequestParams memory params = listing721(address(coin));
        params.quantity = 2;
        refuse(params, IMarketCore.InvalidQuantity.selector);
    }

    function test_refusesAnOfferInNativeCoin() public {
        IMarketCore.RequestParams memory params = offer721();
        params.currency = NATIVE;
        refuse(params, IMarketCore.InvalidCurrency.selector);
    }

    function test_refusesContractsOfAnotherKind() public {
        IMarketCore.RequestParams memory params = listing721(address(coin));
        bytes4 problem = IMarketCore.UnsupportedContractInterface.selector;
        params.isERC1155 = true;
        refuse(params, abi.encodeWithSelector(problem, address(nft), type(IERC1155).interfaceId));
        params.isERC1155 = false;
        params.tokenContract = address(multi);
        refuse(params, abi.encodeWithSelector(problem, address(multi), type(IERC721).interfaceId));
        params.tokenContract = OTHER;
        refuse(params, abi.encodeWithSelector(problem, OTHER, type(IERC721).interfaceId));
    }

    function test_refusesAListingThatCannotBeDelivered() public {
        bytes4 problem = IMarketCore.InvalidTokenApproval.selector;
        bytes memory tooMany = abi.encodeWithSelector(problem, address(multi), ID, STOCK + 1, SELLER);
        refuse(listing1155(address(coin), STOCK + 1), tooMany);

        bytes memory notHeld = abi.encodeWithSelector(problem, address(nft), ID, 1, OTHER);
        vm.prank(OTHER);
        vm.expectRevert(notHeld);
        market.createRequest(listing721(address(coin)));

        IMarketCore.RequestParams memory absent = listing721(address(coin));
        absent.tokenId = 99;
        refuse(absent, abi.encodeWithSelector(problem, address(nft), 99, 1, SELLER));

        vm.prank(SELLER);
        nft.setApprovalForAll(address(market), false);
        refuse(listing721(address(coin)), abi.encodeWithSelector(problem, address(nft), ID, 1, SELLER));
        vm.prank(SELLER);
        nft.approve(address(market), ID);
        create(listing721(address(coin)));
    }

    function test_refusesAnOfferThatCannotBePaid() public {
        nft.setDefaultRoyalty(ARTIST, 500);
        uint256 cost = PRICE + PRICE / 20;
        bytes memory problem =
            abi.encodeWithSelector(IMarketCore.InvalidCurrencyApproval.selector, address(coin), cost, BUYER);
        vm.prank(BUYER);
        coin.approve(address(market), cost - 1);
        refuse(offer721(), problem);
        vm.prank(BUYER);
        coin.approve(address(market), cost);
        create(offer721());

        vm.prank(BUYER);
        coin.transfer(OTHER, MONEY - cost + 1);
        refuse(offer721(), problem);
    }

    function test_refusesARoyaltyAboveThePrice() public {
        OddERC721 odd = new OddERC721();
        odd.setAnswer(abi.encode(ARTIST, PRICE + 1));
        IMarketCore.RequestParams memory params = listing721(address(coin));
        params.tokenContract = address(odd);
        refuse(params, IMarketCore.InvalidRoyalty.selector);
    }

    function test_validityFollowsTheMakersSide() public {
        uint256 listing = create(listing1155(address(coin), 10));
        uint256 offer = create(offer721());
        vm.assertTrue(isValid(listing, 0) && isValid(listing, 10) && isValid(offer, 0) && isValid(offer, 1));
        vm.assertFalse(isValid(listing, 11) || isValid(99, 0));

        multi.burn(SELLER, ID, STOCK - 9);
        vm.assertTrue(isValid(listing, 9));
        vm.assertFalse(isValid(listing, 0));
        vm.prank(SELLER);
        multi.setApprovalForAll(address(market), false);
        vm.assertFalse(isValid(listing, 1));

        vm.prank(BUYER);
        coin.approve(address(market), PRICE - 1);
        vm.assertFalse(isValid(offer, 0));
    }

    function test_validityEndsAtTheExpiry() public {
        uint256 id = create(listing721(address(coin)));
        vm.warp(EXPIRY - 1);
        vm.assertTrue(isValid(id, 0));
        vm.warp(EXPIRY);
        vm.assertFalse(isValid(id, 0));
    }

    function test_oneBadTokenDoesNotSpoilABatchOfQuestions() public {
        uint256 good = create(listing1155(address(coin), 10));
        uint256 burnt = create(listing721(address(coin)));
        nft.burn(ID);
        (bool[] memory valid, IMarketCore.Request[] memory rows) =
            market.isRequestValidBatch(list(burnt, good), list(0, 3));
        vm.assertTrue(!valid[0] && valid[1]);
        vm.assertEq(rows[0].tokenContract, address(nft));
        vm.assertEq(rows[1].tokenContract, address(multi));

        // This currency answers nothing that could be understood, which counts as not being able to pay.
        IMarketCore.RequestParams memory params = offer721();
        params.currency = address(new MuteToken());
        bytes4 problem = IMarketCore.InvalidCurrencyApproval.selector;
        refuse(params, abi.encodeWithSelector(problem, params.currency, PRICE, BUYER));
    }

    function test_questionsRefuseListsOfDifferentLength() public {
        vm.expectRevert(IMarketCore.InvalidBatchRequest.selector);
        market.isRequestValidBatch(list(0, 1), list(uint256(0)));
    }

    function test_aTokenThatAnswersNothingCannotBeListed() public {
        IMarketCore.RequestParams memory params = listing721(address(coin));
        params.tokenContract = address(new MuteToken());
        bytes4 problem = IMarketCore.InvalidTokenApproval.selector;
        refuse(params, abi.encodeWithSelector(problem, params.tokenContract, ID, 1, SELLER));
    }
}
