//! The interface of the contract, as the ABI has it.

alloy_sol_types::sol! {
    #[derive(Debug, PartialEq, Eq)]
    struct Fee {
        address recipient;
        uint256 amount;
        bytes feeData;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Property {
        address propertyValidator;
        bytes propertyData;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct ERC721Order {
        uint8 direction;
        address maker;
        address taker;
        uint256 expiry;
        uint256 nonce;
        address erc20Token;
        uint256 erc20TokenAmount;
        Fee[] fees;
        address erc721Token;
        uint256 erc721TokenId;
        Property[] erc721TokenProperties;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct ERC1155Order {
        uint8 direction;
        address maker;
        address taker;
        uint256 expiry;
        uint256 nonce;
        address erc20Token;
        uint256 erc20TokenAmount;
        Fee[] fees;
        address erc1155Token;
        uint256 erc1155TokenId;
        Property[] erc1155TokenProperties;
        uint128 erc1155TokenAmount;
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Signature {
        uint8 signatureType;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    #[derive(Debug, PartialEq, Eq)]
    function buyERC721(ERC721Order sellOrder, Signature signature, bytes callbackData);

    #[derive(Debug, PartialEq, Eq)]
    function buyERC1155(
        ERC1155Order sellOrder,
        Signature signature,
        uint128 erc1155BuyAmount,
        bytes callbackData
    );

    #[derive(Debug, PartialEq, Eq)]
    function batchBuyERC721s(
        ERC721Order[] sellOrders,
        Signature[] signatures,
        bytes[] callbackData,
        bool revertIfIncomplete
    );

    #[derive(Debug, PartialEq, Eq)]
    function batchBuyERC1155s(
        ERC1155Order[] sellOrders,
        Signature[] signatures,
        uint128[] erc1155TokenAmounts,
        bytes[] callbackData,
        bool revertIfIncomplete
    );

    #[derive(Debug, PartialEq, Eq)]
    function sellERC721(
        ERC721Order buyOrder,
        Signature signature,
        uint256 erc721TokenId,
        bool unwrapNativeToken,
        bytes callbackData
    );

    #[derive(Debug, PartialEq, Eq)]
    function sellERC1155(
        ERC1155Order buyOrder,
        Signature signature,
        uint256 erc1155TokenId,
        uint128 erc1155SellAmount,
        bool unwrapNativeToken,
        bytes callbackData
    );

    function cancelERC721Order(uint256 orderNonce);

    function cancelERC1155Order(uint256 orderNonce);

    function validateERC721OrderSignature(ERC721Order order, Signature signature);

    function validateERC1155OrderSignature(ERC1155Order order, Signature signature);

    function getERC721OrderStatus(ERC721Order order) returns (uint8 status);

    struct OrderInfo {
        bytes32 orderHash;
        uint8 status;
        uint128 orderAmount;
        uint128 remainingAmount;
    }

    function getERC1155OrderInfo(ERC1155Order order) returns (OrderInfo orderInfo);

    event ERC721OrderFilled(
        uint8 direction,
        address maker,
        address taker,
        uint256 nonce,
        address erc20Token,
        uint256 erc20TokenAmount,
        address erc721Token,
        uint256 erc721TokenId,
        address matcher
    );

    event ERC1155OrderFilled(
        uint8 direction,
        address maker,
        address taker,
        uint256 nonce,
        address erc20Token,
        uint256 erc20FillAmount,
        address erc1155Token,
        uint256 erc1155TokenId,
        uint128 erc1155FillAmount,
        address matcher
    );

    event ERC721OrderPreSigned(
        uint8 direction,
        address maker,
        address taker,
        uint256 expiry,
        uint256 nonce,
        address erc20Token,
        uint256 erc20TokenAmount,
        Fee[] fees,
        address erc721Token,
        uint256 erc721TokenId,
        Property[] erc721TokenProperties
    );

    event ERC1155OrderPreSigned(
        uint8 direction,
        address maker,
        address taker,
        uint256 expiry,
        uint256 nonce,
        address erc20Token,
        uint256 erc20TokenAmount,
        Fee[] fees,
        address erc1155Token,
        uint256 erc1155TokenId,
        Property[] erc1155TokenProperties,
        uint128 erc1155TokenAmount
    );

    event ERC721OrderCancelled(address maker, uint256 nonce);

    event ERC1155OrderCancelled(address maker, uint256 nonce);
}
