// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.24;

import { Checks, IRoyalties, IToken } from "./Checks.sol";

interface IWrapped {
    function deposit() external payable;
    function transfer(address to, uint256 amount) external returns (bool);
}

/// Stands for Payment Processor 2 and 2.1.
contract PaymentProcessorCheck is Checks {
    struct Order {
        uint8 protocol;
        address maker;
        address beneficiary;
        address marketplace;
        address fallbackRoyaltyRecipient;
        address paymentMethod;
        address tokenAddress;
        uint256 tokenId;
        uint248 amount;
        uint256 itemPrice;
        uint256 nonce;
        uint256 expiration;
        uint256 marketplaceFeeNumerator;
        uint256 maxRoyaltyFeeNumerator;
        uint248 requestedFillAmount;
        uint248 minimumFillAmount;
    }

    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    struct Cosignature {
        address signer;
        address taker;
        uint256 expiration;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    struct FeeOnTop {
        address recipient;
        uint256 amount;
    }

    struct TokenSetProof {
        bytes32 rootHash;
        bytes32[] proof;
    }

    struct Status {
        uint8 state;
        uint248 remainingFillableQuantity;
    }

    event BuyListingERC721(
        address indexed buyer,
        address indexed seller,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 salePrice
    );
    event BuyListingERC1155(
        address indexed buyer,
        address indexed seller,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 amount,
        uint256 salePrice
    );
    event AcceptOfferERC721(
        address indexed seller,
        address indexed buyer,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 salePrice
    );
    event AcceptOfferERC1155(
        address indexed seller,
        address indexed buyer,
        address indexed tokenAddress,
        address beneficiary,
        address paymentCoin,
        uint256 tokenId,
        uint256 amount,
        uint256 salePrice
    );
    event MasterNonceInvalidated(address indexed account, uint256 nonce);
    event NonceInvalidated(uint256 indexed nonce, address indexed account, bool wasCancellation);
    event NonceRestored(uint256 indexed nonce, address indexed account);
    event OrderDigestInvalidated(bytes32 indexed orderDigest, address indexed account, bool wasCancellation);
    event OrderDigestOpened(bytes32 indexed orderDigest, address indexed account, uint256 orderStartAmount);
    event OrderDigestItemsFilled(bytes32 indexed orderDigest, address indexed account, uint256 amountFilled);
    event OrderDigestItemsRestored(bytes32 indexed orderDigest, address indexed account, uint256 amountRestoredToOrder);

    bytes32 private constant SALE = keccak256(
        "SaleApproval(uint8 protocol,address cosigner,address seller,address marketplace,address fallbackRoyaltyRecipient,address paymentMethod,address tokenAddress,uint256 tokenId,uint256 amount,uint256 itemPrice,uint256 expiration,uint256 marketplaceFeeNumerator,uint256 maxRoyaltyFeeNumerator,uint256 nonce,uint256 masterNonce)"
    );
    bytes32 private constant ITEM_OFFER = keccak256(
        "ItemOfferApproval(uint8 protocol,address cosigner,address buyer,address beneficiary,address marketplace,address fallbackRoyaltyRecipient,address paymentMethod,address tokenAddress,uint256 tokenId,uint256 amount,uint256 itemPrice,uint256 expiration,uint256 marketplaceFeeNumerator,uint256 nonce,uint256 masterNonce)"
    );
    bytes32 private constant COLLECTION_OFFER = keccak256(
        "CollectionOfferApproval(uint8 protocol,address cosigner,address buyer,address beneficiary,address marketplace,address fallbackRoyaltyRecipient,address paymentMethod,address tokenAddress,uint256 amount,uint256 itemPrice,uint256 expiration,uint256 marketplaceFeeNumerator,uint256 nonce,uint256 masterNonce)"
    );
    bytes32 private constant COSIGNATURE =
        keccak256("Cosignature(uint8 v,bytes32 r,bytes32 s,uint256 expiration,address taker)");

    uint8 private constant SINGLE = 0;
    uint8 private constant PARTS = 2;
    uint8 private constant OPEN = 0;
    uint8 private constant FILLED = 1;
    uint8 private constant CANCELLED = 2;

    /// Version 2: calls begin with a word that the contract replaces, and a token that cannot be had uses up its order.
    bool private immutable isOlder;
    bytes32 private immutable domain;
    address public immutable wrappedNativeCoinAddress;
    mapping(address currency => bool) private isPaymentMethod;

    mapping(address account => uint256) public masterNonces;
    mapping(address account => mapping(uint256 nonce => bool)) public isNonceUsed;
    mapping(address account => mapping(bytes32 digest => Status)) private statuses;

    constructor(string memory version, address wrapped) {
        isOlder = keccak256(bytes(version)) == keccak256("2");
        domain = separator("PaymentProcessor", version);
        wrappedNativeCoinAddress = wrapped;
        isPaymentMethod[address(0)] = isPaymentMethod[wrapped] = true;
    }

    /// Lets everybody pay with a currency.
    function allow(address currency) external {
        isPaymentMethod[currency] = true;
    }

    function remainingFillableQuantity(address account, bytes32 digest) external view returns (Status memory) {
        return statuses[account][digest];
    }

    function buyListing(bytes calldata data) external payable {
        Order memory order;
        Signature memory signature;
        Cosignature memory cosignature;
        FeeOnTop memory fee;
        if (isOlder) {
            (, order, signature, cosignature, fee) =
                abi.decode(data, (bytes32, Order, Signature, Cosignature, FeeOnTop));
        } else {
            (order, signature, cosignature, fee) = abi.decode(data, (Order, Signature, Cosignature, FeeOnTop));
        }
        giveBack(buy(msg.value, true, order, signature, cosignature, fee));
    }

    function bulkBuyListings(bytes calldata data) external payable {
        Order[] memory orders;
        Signature[] memory signatures;
        Cosignature[] memory cosignatures;
        FeeOnTop[] memory fees;
        if (isOlder) {
            (, orders, signatures, cosignatures, fees) =
                abi.decode(data, (bytes32, Order[], Signature[], Cosignature[], FeeOnTop[]));
        } else {
            (orders, signatures, cosignatures, fees) =
                abi.decode(data, (Order[], Signature[], Cosignature[], FeeOnTop[]));
        }
        require(orders.length > 0 && orders.length == signatures.length, "lengths");
        require(orders.length == cosignatures.length && orders.length == fees.length, "lengths");
        uint256 left = msg.value;
        for (uint256 i = 0; i < orders.length; i++) {
            bool isNative = orders[i].paymentMethod == address(0);
            uint256 after_ = buy(isNative ? left : 0, false, orders[i], signatures[i], cosignatures[i], fees[i]);
            if (isNative) left = after_;
        }
        giveBack(left);
    }

    function acceptOffer(bytes calldata data) external payable {
        bool isAny;
        Order memory order;
        Signature memory signature;
        TokenSetProof memory set;
        Cosignature memory cosignature;
        FeeOnTop memory fee;
        if (isOlder) {
            (, isAny, order, signature, set, cosignature, fee) =
                abi.decode(data, (bytes32, bool, Order, Signature, TokenSetProof, Cosignature, FeeOnTop));
        } else {
            (isAny, order, signature, set, cosignature, fee) =
                abi.decode(data, (bool, Order, Signature, TokenSetProof, Cosignature, FeeOnTop));
        }
        require(order.paymentMethod != address(0), "offers are not for native money");
        require(set.rootHash == bytes32(0), "sets of tokens are not checked here");
        bytes32 kind = isAny ? COLLECTION_OFFER : ITEM_OFFER;
        (uint248 units,) = verify(kind, order, signature, cosignature);
        takeUnits(order, units);
        require(settle(order, order.maker, msg.sender, fee), "the token cannot be had");
        if (order.protocol == SINGLE) {
            emit AcceptOfferERC721(
                msg.sender, order.maker, order.tokenAddress, order.beneficiary, order.paymentMethod, order.tokenId, order.itemPrice
            );
        } else {
            emit AcceptOfferERC1155(
                msg.sender, order.maker, order.tokenAddress, order.beneficiary, order.paymentMethod, order.tokenId, units, order.itemPrice
            );
        }
    }

    function revokeMasterNonce() external {
        emit MasterNonceInvalidated(msg.sender, masterNonces[msg.sender]++);
    }

    function revokeSingleNonce(bytes calldata data) external {
        useNonce(msg.sender, abi.decode(data, (uint256)), true);
    }

    function revokeOrderDigest(bytes calldata data) external {
        bytes32 digest = abi.decode(data, (bytes32));
        require(statuses[msg.sender][digest].state == OPEN, "cancelled or filled");
        statuses[msg.sender][digest] = Status(CANCELLED, 0);
        emit OrderDigestInvalidated(digest, msg.sender, true);
    }

    /// Buys units of a listing; tells what is left of the native money.
    function buy(
        uint256 native,
        bool mustSucceed,
        Order memory order,
        Signature memory signature,
        Cosignature memory cosignature,
        FeeOnTop memory fee
    ) private returns (uint256 left) {
        (uint248 units, bytes32 digest) = verify(SALE, order, signature, cosignature);
        takeUnits(order, units);
        left = native;
        if (!settle(order, msg.sender, order.maker, fee)) {
            require(!mustSucceed, "the token cannot be had");
            restore(order, digest, units);
            return left;
        }
        if (order.paymentMethod == address(0)) {
            uint256 spent = order.itemPrice + (fee.recipient == address(0) ? 0 : fee.amount);
            require(left >= spent, "too little native money");
            left -= spent;
        }
        if (order.protocol == SINGLE) {
            emit BuyListingERC721(
                msg.sender, order.maker, order.tokenAddress, order.beneficiary, order.paymentMethod, order.tokenId, order.itemPrice
            );
        } else {
            emit BuyListingERC1155(
                msg.sender, order.maker, order.tokenAddress, order.beneficiary, order.paymentMethod, order.tokenId, units, order.itemPrice
            );
        }
    }

    /// How many units can be filled, once it is sure that maker and cosigner agree. Uses up what is filled.
    function verify(bytes32 kind, Order memory order, Signature memory signature, Cosignature memory cosignature)
        private
        returns (uint248 units, bytes32 digest)
    {
        require(order.protocol <= PARTS, "protocol");
        if (cosignature.signer != address(0)) requireCosigner(signature, cosignature);
        uint256 master = masterNonces[order.maker];
        if (order.protocol != PARTS) useNonce(order.maker, order.nonce, false);
        digest = typedDigest(domain, hash(kind, order, cosignature.signer, master));
        requireMaker(order.maker, digest, signature.v, signature.r, signature.s);
        units = order.protocol == PARTS ? usePart(order, digest) : order.amount;
    }

    function requireCosigner(Signature memory signature, Cosignature memory given) private view {
        require(block.timestamp <= given.expiration, "the cosignature has expired");
        require(given.taker == msg.sender, "the cosignature is for somebody else");
        bytes32 value =
            keccak256(abi.encode(COSIGNATURE, signature.v, signature.r, signature.s, given.expiration, given.taker));
        require(signerOf(typedDigest(domain, value), given.v, given.r, given.s) == given.signer, "not cosigned");
    }

    function hash(bytes32 kind, Order memory order, address cosigner, uint256 master) private pure returns (bytes32) {
        bytes memory maker = abi.encode(kind, uint256(order.protocol), cosigner, order.maker);
        if (kind != SALE) maker = bytes.concat(maker, abi.encode(order.beneficiary));
        bytes memory token = abi.encode(
            order.marketplace, order.fallbackRoyaltyRecipient, order.paymentMethod, order.tokenAddress
        );
        if (kind != COLLECTION_OFFER) token = bytes.concat(token, abi.encode(order.tokenId));
        bytes memory terms =
            abi.encode(uint256(order.amount), order.itemPrice, order.expiration, order.marketplaceFeeNumerator);
        if (kind == SALE) terms = bytes.concat(terms, abi.encode(order.maxRoyaltyFeeNumerator));
        return keccak256(bytes.concat(maker, token, terms, abi.encode(order.nonce, master)));
    }

    function useNonce(address account, uint256 nonce, bool wasCancellation) private {
        require(!isNonceUsed[account][nonce], "used or revoked");
        isNonceUsed[account][nonce] = true;
        emit NonceInvalidated(nonce, account, wasCancellation);
    }

    function usePart(Order memory order, bytes32 digest) private returns (uint248 units) {
        Status storage status = statuses[order.maker][digest];
        require(status.state == OPEN, "cancelled or filled");
        if (status.remainingFillableQuantity == 0) {
            status.remainingFillableQuantity = order.amount;
            if (!isOlder) emit OrderDigestOpened(digest, order.maker, order.amount);
        }
        units = order.requestedFillAmount;
        if (units > status.remainingFillableQuantity) units = status.remainingFillableQuantity;
        require(units >= order.minimumFillAmount, "too few units");
        status.remainingFillableQuantity -= units;
        if (!isOlder) emit OrderDigestItemsFilled(digest, order.maker, units);
        if (status.remainingFillableQuantity == 0) {
            status.state = FILLED;
            emit OrderDigestInvalidated(digest, order.maker, false);
        }
    }

    /// The newer version gives back what was used for a token that could not be had.
    function restore(Order memory order, bytes32 digest, uint248 units) private {
        if (isOlder) return;
        if (order.protocol != PARTS) {
            isNonceUsed[order.maker][order.nonce] = false;
            emit NonceRestored(order.nonce, order.maker);
            return;
        }
        Status storage status = statuses[order.maker][digest];
        status.state = OPEN;
        status.remainingFillableQuantity += units;
        emit OrderDigestItemsRestored(digest, order.maker, units);
    }

    /// Makes the order one of so many units, at their share of the price.
    function takeUnits(Order memory order, uint248 units) private view {
        if (units != order.amount) {
            require(order.itemPrice % order.amount == 0, "the price cannot be divided");
            order.itemPrice = order.itemPrice / order.amount * units;
            order.amount = units;
        }
        require(order.protocol == SINGLE ? order.amount == 1 : order.amount > 0, "amount");
        require(block.timestamp <= order.expiration, "expired");
        require(order.marketplaceFeeNumerator + order.maxRoyaltyFeeNumerator <= WHOLE, "fees");
        require(isPaymentMethod[order.paymentMethod], "payment method");
    }

    /// Hands over the token and the money; false when the token cannot be had. The fee on top is the taker's.
    function settle(Order memory order, address payer, address seller, FeeOnTop memory fee) private returns (bool) {
        if (!dispense(order, seller)) return false;
        (address artist, uint256 royalty) = royaltyOf(order);
        uint256 own = order.marketplace == address(0) ? 0 : order.itemPrice * order.marketplaceFeeNumerator / WHOLE;
        pay(order.paymentMethod, payer, artist, royalty);
        pay(order.paymentMethod, payer, order.marketplace, own);
        pay(order.paymentMethod, payer, seller, order.itemPrice - royalty - own);
        if (fee.recipient != address(0)) {
            require(fee.amount <= order.itemPrice, "the fee on top is above the price");
            pay(order.paymentMethod, msg.sender, fee.recipient, fee.amount);
        }
        return true;
    }

    function dispense(Order memory order, address seller) private returns (bool) {
        IToken token = IToken(order.tokenAddress);
        if (order.protocol == SINGLE) {
            try token.transferFrom(seller, order.beneficiary, order.tokenId) {
                return true;
            } catch {
                return false;
            }
        }
        try token.safeTransferFrom(seller, order.beneficiary, order.tokenId, order.amount, "") {
            return true;
        } catch {
            return false;
        }
    }

    function royaltyOf(Order memory order) private view returns (address artist, uint256 royalty) {
        uint256 most = order.itemPrice * order.maxRoyaltyFeeNumerator / WHOLE;
        try IRoyalties(order.tokenAddress).royaltyInfo(order.tokenId, order.itemPrice) returns (
            address receiver, uint256 amount
        ) {
            if (receiver == address(0)) return (receiver, 0);
            require(amount <= most, "royalties above what was approved");
            return (receiver, amount);
        } catch {
            artist = order.fallbackRoyaltyRecipient;
            royalty = artist == address(0) ? 0 : most;
        }
    }

    /// Native money that is left comes back wrapped.
    function giveBack(uint256 left) private {
        if (left == 0) return;
        IWrapped wrapped = IWrapped(wrappedNativeCoinAddress);
        wrapped.deposit{ value: left }();
        wrapped.transfer(msg.sender, left);
    }
}
