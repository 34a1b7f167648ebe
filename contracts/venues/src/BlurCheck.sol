// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.24;

import { Checks, TokenMover } from "./Checks.sol";

/// Stands for Blur v2, of which it has what fills listings. Its oracle signs `hashTakeAsk` and `hashTakeAskSingle`, which
/// tell another hash than the real ones: only the marketplace's own service has to know it.
contract BlurCheck is Checks {
    struct FeeRate {
        address recipient;
        uint16 rate;
    }

    struct Order {
        address trader;
        address collection;
        bytes32 listingsRoot;
        uint256 numberOfListings;
        uint256 expirationTime;
        uint8 assetType;
        FeeRate makerFee;
        uint256 salt;
    }

    struct Listing {
        uint256 index;
        uint256 tokenId;
        uint256 amount;
        uint256 price;
    }

    struct Taker {
        uint256 tokenId;
        uint256 amount;
    }

    struct Exchange {
        uint256 index;
        bytes32[] proof;
        Listing listing;
        Taker taker;
    }

    struct TakeAskSingle {
        Order order;
        Exchange exchange;
        FeeRate takerFee;
        bytes signature;
        address tokenRecipient;
    }

    struct TakeAsk {
        Order[] orders;
        Exchange[] exchanges;
        FeeRate takerFee;
        bytes signatures;
        address tokenRecipient;
    }

    struct Cancel {
        bytes32 hash;
        uint256 index;
        uint256 amount;
    }

    struct Transfer {
        address trader;
        uint256 id;
        uint256 amount;
        address collection;
        uint8 assetType;
    }

    struct Fees {
        FeeRate protocolFee;
        FeeRate takerFee;
    }

    event Execution(
        Transfer transfer,
        bytes32 orderHash,
        uint256 listingIndex,
        uint256 price,
        FeeRate makerFee,
        Fees fees,
        uint8 orderType
    );
    event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide);
    event Execution721TakerFeePacked(
        bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 takerFeeRecipientRate
    );
    event Execution721MakerFeePacked(
        bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 makerFeeRecipientRate
    );
    event CancelTrade(address indexed user, bytes32 hash, uint256 index, uint256 amount);
    event NonceIncremented(address indexed user, uint256 newNonce);

    bytes32 private constant FEE_RATE = keccak256("FeeRate(address recipient,uint16 rate)");
    bytes32 private constant ORDER = keccak256(
        "Order(address trader,address collection,bytes32 listingsRoot,uint256 numberOfListings,uint256 expirationTime,uint8 assetType,FeeRate makerFee,uint256 salt,uint8 orderType,uint256 nonce)FeeRate(address recipient,uint16 rate)"
    );
    uint8 private constant ASK = 0;
    uint256 private constant BLOCKS = 5;
    uint256 private constant SIGNATURE_BYTES = 65;

    bytes32 private immutable domain;
    address private immutable oracle;
    TokenMover private immutable mover;
    mapping(address user => uint256) public nonces;
    mapping(address user => mapping(bytes32 order => mapping(uint256 listing => uint256))) public amountTaken;

    constructor(address oracle_, TokenMover mover_) {
        domain = separator("Blur Exchange", "1.0");
        (oracle, mover) = (oracle_, mover_);
        mover_.serve(address(this));
    }

    function hashTakeAskSingle(TakeAskSingle calldata inputs, address caller) public pure returns (bytes32) {
        return keccak256(abi.encode(inputs, caller));
    }

    function hashTakeAsk(TakeAsk calldata inputs, address caller) public pure returns (bytes32) {
        return keccak256(abi.encode(inputs, caller));
    }

    function takeAskSingle(TakeAskSingle calldata inputs, bytes calldata oracleSignature) external payable {
        requireOracle(hashTakeAskSingle(inputs, msg.sender), oracleSignature);
        bytes32 orderHash = requireOrder(inputs.order, inputs.takerFee, inputs.signature);
        bool isThere = isTakeable(inputs.order, orderHash, inputs.exchange);
        require(isThere, "the listing cannot be taken");
        take(inputs.order, orderHash, inputs.exchange, inputs.takerFee, inputs.tokenRecipient);
        pay(address(0), address(this), msg.sender, address(this).balance);
    }

    /// Passes over listings that cannot be taken any more; their money comes back.
    function takeAsk(TakeAsk calldata inputs, bytes calldata oracleSignature) external payable {
        requireOracle(hashTakeAsk(inputs, msg.sender), oracleSignature);
        bytes32[] memory hashes = new bytes32[](inputs.orders.length);
        for (uint256 i = 0; i < hashes.length; i++) {
            bytes calldata signature = inputs.signatures[i * SIGNATURE_BYTES:(i + 1) * SIGNATURE_BYTES];
            hashes[i] = requireOrder(inputs.orders[i], inputs.takerFee, signature);
        }
        for (uint256 i = 0; i < inputs.exchanges.length; i++) {
            Exchange calldata exchange = inputs.exchanges[i];
            Order calldata order = inputs.orders[exchange.index];
            if (!isTakeable(order, hashes[exchange.index], exchange)) continue;
            take(order, hashes[exchange.index], exchange, inputs.takerFee, inputs.tokenRecipient);
        }
        pay(address(0), address(this), msg.sender, address(this).balance);
    }

    function cancelTrades(Cancel[] calldata cancels) external {
        for (uint256 i = 0; i < cancels.length; i++) {
            Cancel calldata one = cancels[i];
            amountTaken[msg.sender][one.hash][one.index] += one.amount;
            emit CancelTrade(msg.sender, one.hash, one.index, one.amount);
        }
    }

    function incrementNonce() external {
        emit NonceIncremented(msg.sender, ++nonces[msg.sender]);
    }

    /// The oracle agrees to this call by this caller, for a few blocks.
    function requireOracle(bytes32 hash, bytes calldata given) private view {
        require(given.length == SIGNATURE_BYTES + 24, "the oracle's signature");
        uint32 number = uint32(bytes4(given[65:69]));
        require(number + BLOCKS >= block.number, "the oracle's signature has expired");
        require(address(bytes20(given[69:89])) == oracle, "not the oracle");
        bytes32 digest = keccak256(abi.encodePacked(hash, number));
        address signer = signerOf(digest, uint8(given[64]), bytes32(given[0:32]), bytes32(given[32:64]));
        require(signer == oracle, "not signed by the oracle");
    }

    function requireOrder(Order calldata order, FeeRate calldata takerFee, bytes calldata signature)
        private
        view
        returns (bytes32 orderHash)
    {
        require(order.expirationTime > block.timestamp, "expired");
        require(uint256(order.makerFee.rate) + takerFee.rate <= WHOLE, "fees");
        bytes32 fee = keccak256(abi.encode(FEE_RATE, order.makerFee.recipient, order.makerFee.rate));
        bytes memory listed = abi.encode(
            ORDER, order.trader, order.collection, order.listingsRoot, order.numberOfListings, order.expirationTime
        );
        bytes memory terms =
            abi.encode(uint256(order.assetType), fee, order.salt, uint256(ASK), nonces[order.trader]);
        orderHash = keccak256(bytes.concat(listed, terms));
        (bytes32 r, bytes32 s) = (bytes32(signature[0:32]), bytes32(signature[32:64]));
        address signer = signerOf(typedDigest(domain, orderHash), uint8(signature[64]), r, s);
        require(signer == order.trader, "not signed by the maker");
    }

    function isTakeable(Order calldata order, bytes32 orderHash, Exchange calldata exchange)
        private
        view
        returns (bool)
    {
        Listing calldata listing = exchange.listing;
        bytes32 node = keccak256(abi.encode(listing.index, listing.tokenId, listing.amount, listing.price));
        for (uint256 i = 0; i < exchange.proof.length; i++) {
            bytes32 other = exchange.proof[i];
            node = node < other ? keccak256(abi.encode(node, other)) : keccak256(abi.encode(other, node));
        }
        bool isSingle = order.assetType == 0;
        uint256 taken = amountTaken[order.trader][orderHash][listing.index];
        return node == order.listingsRoot && listing.tokenId == exchange.taker.tokenId
            && (!isSingle || exchange.taker.amount == 1 && listing.amount == 1)
            && taken + exchange.taker.amount <= listing.amount;
    }

    function take(
        Order calldata order,
        bytes32 orderHash,
        Exchange calldata exchange,
        FeeRate calldata takerFee,
        address recipient
    ) private {
        Listing calldata listing = exchange.listing;
        uint256 amount = exchange.taker.amount;
        amountTaken[order.trader][orderHash][listing.index] += amount;
        bool isMultiple = order.assetType != 0;
        mover.move(order.collection, [order.trader, recipient], listing.tokenId, amount, isMultiple);
        uint256 price = listing.price * amount;
        uint256 made = price * order.makerFee.rate / WHOLE;
        pay(address(0), address(this), takerFee.recipient, price * takerFee.rate / WHOLE);
        pay(address(0), address(this), order.makerFee.recipient, made);
        pay(address(0), address(this), order.trader, price - made);
        Transfer memory moved = Transfer(order.trader, listing.tokenId, amount, order.collection, order.assetType);
        tell(moved, orderHash, listing.index, price, order.makerFee, takerFee);
    }

    function tell(
        Transfer memory moved,
        bytes32 orderHash,
        uint256 index,
        uint256 price,
        FeeRate memory makerFee,
        FeeRate memory takerFee
    ) private {
        bool isShort = moved.assetType == 0 && moved.id < 1 << 88 && index < 1 << 8 && price < 1 << 88;
        if (!isShort || makerFee.rate != 0 && takerFee.rate != 0) {
            Fees memory fees = Fees(FeeRate(address(0), 0), takerFee);
            emit Execution(moved, orderHash, index, price, makerFee, fees, ASK);
            return;
        }
        uint256 token = (moved.id << 168) | (index << 160) | uint160(moved.trader);
        uint256 side = (uint256(ASK) << 248) | (price << 160) | uint160(moved.collection);
        if (makerFee.rate != 0) {
            emit Execution721MakerFeePacked(orderHash, token, side, packed(makerFee));
        } else if (takerFee.rate != 0) {
            emit Execution721TakerFeePacked(orderHash, token, side, packed(takerFee));
        } else {
            emit Execution721Packed(orderHash, token, side);
        }
    }

    function packed(FeeRate memory fee) private pure returns (uint256) {
        return (uint256(fee.rate) << 160) | uint160(fee.recipient);
    }
}
