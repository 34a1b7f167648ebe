// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.24;

import { Checks, IRoyalties, IToken } from "./Checks.sol";

/// Stands for Payment Processor 1, of which it has what fills listings.
contract PaymentProcessorV1Check is Checks {
    struct MatchedOrder {
        bool sellerAcceptedOffer;
        bool collectionLevelOffer;
        uint8 protocol;
        address paymentCoin;
        address tokenAddress;
        address seller;
        address privateBuyer;
        address buyer;
        address delegatedPurchaser;
        address marketplace;
        uint256 marketplaceFeeNumerator;
        uint256 maxRoyaltyFeeNumerator;
        uint256 listingNonce;
        uint256 offerNonce;
        uint256 listingMinPrice;
        uint256 offerPrice;
        uint256 listingExpiration;
        uint256 offerExpiration;
        uint256 tokenId;
        uint256 amount;
    }

    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    event BuySingleListing(
        address indexed marketplace,
        address indexed tokenAddress,
        address indexed paymentCoin,
        address buyer,
        address seller,
        uint256 tokenId,
        uint256 amount,
        uint256 salePrice
    );
    event NonceInvalidated(
        uint256 indexed nonce, address indexed account, address indexed marketplace, bool wasCancellation
    );
    event MasterNonceInvalidated(uint256 indexed nonce, address indexed account);

    bytes32 private constant SALE = keccak256(
        "SaleApproval(uint8 protocol,bool sellerAcceptedOffer,address marketplace,uint256 marketplaceFeeNumerator,uint256 maxRoyaltyFeeNumerator,address privateBuyer,address seller,address tokenAddress,uint256 tokenId,uint256 amount,uint256 minPrice,uint256 expiration,uint256 nonce,uint256 masterNonce,address coin)"
    );
    bytes32 private constant OFFER = keccak256(
        "OfferApproval(uint8 protocol,address marketplace,uint256 marketplaceFeeNumerator,address delegatedPurchaser,address buyer,address tokenAddress,uint256 tokenId,uint256 amount,uint256 price,uint256 expiration,uint256 nonce,uint256 masterNonce,address coin)"
    );

    bytes32 private immutable domain;
    mapping(address currency => bool) private isPaymentMethod;
    mapping(address account => uint256) public masterNonces;
    mapping(address marketplace => mapping(address account => mapping(uint256 nonce => bool))) private isUsed;

    constructor() {
        domain = separator("PaymentProcessor", "1");
        isPaymentMethod[address(0)] = true;
    }

    /// Lets everybody pay with a currency.
    function allow(address currency) external {
        isPaymentMethod[currency] = true;
    }

    function buySingleListing(MatchedOrder memory sale, Signature memory listing, Signature memory offer)
        external
        payable
    {
        require(execute(msg.value, sale, listing, offer), "the token cannot be had");
    }

    function buyBatchOfListings(MatchedOrder[] memory sales, Signature[] memory listings, Signature[] memory offers)
        external
        payable
    {
        require(sales.length > 0 && sales.length == listings.length && sales.length == offers.length, "lengths");
        uint256 left = msg.value;
        for (uint256 i = 0; i < sales.length; i++) {
            bool isNative = sales[i].paymentCoin == address(0);
            uint256 value = isNative ? sales[i].offerPrice : 0;
            require(left >= value, "too little native money");
            left -= value;
            bool isFilled = execute(value, sales[i], listings[i], offers[i]);
            // A token for other money that cannot be had is passed over.
            require(isFilled || !isNative, "the token cannot be had");
        }
        require(left == 0, "too much native money");
    }

    function revokeMasterNonce() external {
        emit MasterNonceInvalidated(masterNonces[msg.sender]++, msg.sender);
    }

    function revokeSingleNonce(address marketplace, uint256 nonce) external {
        useNonce(marketplace, msg.sender, nonce, true);
    }

    function execute(uint256 value, MatchedOrder memory sale, Signature memory listing, Signature memory offer)
        private
        returns (bool isFilled)
    {
        check(value, sale);
        uint256 master = useNonce(sale.marketplace, sale.seller, sale.listingNonce, false);
        requireMaker(sale.seller, typedDigest(domain, listingHash(sale, master)), listing.v, listing.r, listing.s);
        master = useNonce(sale.marketplace, sale.buyer, sale.offerNonce, false);
        requireMaker(sale.buyer, typedDigest(domain, offerHash(sale, master)), offer.v, offer.r, offer.s);
        if (!dispense(sale)) return false;
        share(sale);
        emit BuySingleListing(
            sale.marketplace,
            sale.tokenAddress,
            sale.paymentCoin,
            sale.buyer,
            sale.seller,
            sale.tokenId,
            sale.amount,
            sale.offerPrice
        );
        return true;
    }

    function check(uint256 value, MatchedOrder memory sale) private view {
        bool isNative = sale.paymentCoin == address(0);
        require(value == (isNative ? sale.offerPrice : 0), "native money is not the price");
        require(isPaymentMethod[sale.paymentCoin], "payment method");
        require(!isNative || !sale.sellerAcceptedOffer && sale.seller != tx.origin, "offers are not for native money");
        require(!sale.collectionLevelOffer, "offers for any token are not checked here");
        require(sale.protocol <= 1, "protocol");
        require(sale.protocol == 1 ? sale.amount > 0 : sale.amount == 1, "amount");
        require(block.timestamp <= sale.listingExpiration, "the listing has expired");
        require(block.timestamp <= sale.offerExpiration, "what the buyer signed has expired");
        require(sale.offerPrice >= sale.listingMinPrice, "price");
        require(sale.marketplaceFeeNumerator + sale.maxRoyaltyFeeNumerator <= WHOLE, "fees");
        require(sale.privateBuyer == address(0) || sale.privateBuyer == sale.buyer, "private");
        require(sale.delegatedPurchaser == address(0) || sale.delegatedPurchaser == msg.sender, "delegated");
    }

    function listingHash(MatchedOrder memory sale, uint256 master) private pure returns (bytes32) {
        bytes memory market = abi.encode(
            SALE,
            sale.protocol,
            sale.sellerAcceptedOffer,
            sale.marketplace,
            sale.marketplaceFeeNumerator,
            sale.maxRoyaltyFeeNumerator,
            sale.privateBuyer
        );
        bytes memory terms = abi.encode(
            sale.seller, sale.tokenAddress, sale.tokenId, sale.amount, sale.listingMinPrice, sale.listingExpiration
        );
        return keccak256(bytes.concat(market, terms, abi.encode(sale.listingNonce, master, sale.paymentCoin)));
    }

    function offerHash(MatchedOrder memory sale, uint256 master) private pure returns (bytes32) {
        bytes memory market = abi.encode(
            OFFER,
            sale.protocol,
            sale.marketplace,
            sale.marketplaceFeeNumerator,
            sale.delegatedPurchaser,
            sale.buyer,
            sale.tokenAddress
        );
        bytes memory terms = abi.encode(sale.tokenId, sale.amount, sale.offerPrice, sale.offerExpiration);
        return keccak256(bytes.concat(market, terms, abi.encode(sale.offerNonce, master, sale.paymentCoin)));
    }

    function useNonce(address marketplace, address account, uint256 nonce, bool wasCancellation)
        private
        returns (uint256 master)
    {
        require(!isUsed[marketplace][account][nonce], "used or revoked");
        isUsed[marketplace][account][nonce] = true;
        emit NonceInvalidated(nonce, account, marketplace, wasCancellation);
        return masterNonces[account];
    }

    function dispense(MatchedOrder memory sale) private returns (bool) {
        IToken token = IToken(sale.tokenAddress);
        if (sale.protocol == 0) {
            try token.transferFrom(sale.seller, sale.buyer, sale.tokenId) {
                return true;
            } catch {
                return false;
            }
        }
        try token.safeTransferFrom(sale.seller, sale.buyer, sale.tokenId, sale.amount, "") {
            return true;
        } catch {
            return false;
        }
    }

    function share(MatchedOrder memory sale) private {
        address payer = sale.delegatedPurchaser == address(0) ? sale.buyer : sale.delegatedPurchaser;
        (address artist, uint256 royalty) = royaltyOf(sale);
        uint256 own = sale.marketplace == address(0) ? 0 : sale.offerPrice * sale.marketplaceFeeNumerator / WHOLE;
        pay(sale.paymentCoin, payer, artist, royalty);
        pay(sale.paymentCoin, payer, sale.marketplace, own);
        pay(sale.paymentCoin, payer, sale.seller, sale.offerPrice - royalty - own);
    }

    function royaltyOf(MatchedOrder memory sale) private view returns (address artist, uint256 royalty) {
        try IRoyalties(sale.tokenAddress).royaltyInfo(sale.tokenId, sale.offerPrice) returns (
            address receiver, uint256 amount
        ) {
            if (receiver == address(0)) return (receiver, 0);
            require(amount <= sale.offerPrice * sale.maxRoyaltyFeeNumerator / WHOLE, "royalties above what was approved");
            return (receiver, amount);
        } catch {}
    }
}
