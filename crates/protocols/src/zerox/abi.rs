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

#[cfg(test)]
mod tests {
    //! Functions and events have the names that the contract knows them by, as its published ABI has them.

    use alloy_sol_types::{SolCall as _, SolEvent as _};

    use super::{
        ERC721OrderCancelled, ERC721OrderFilled, ERC721OrderPreSigned, ERC1155OrderCancelled,
        ERC1155OrderFilled, ERC1155OrderPreSigned, batchBuyERC721sCall, batchBuyERC1155sCall, buyERC721Call,
        buyERC1155Call, cancelERC721OrderCall, cancelERC1155OrderCall, getERC721OrderStatusCall,
        getERC1155OrderInfoCall, sellERC721Call, sellERC1155Call, validateERC721OrderSignatureCall,
        validateERC1155OrderSignatureCall,
    };
    use crate::testing::check_names;

    #[test]
    fn names_are_those_of_the_contract() {
        check_names(&[
            (buyERC721Call::SELECTOR.as_slice(), "fbee349d"),
            (buyERC1155Call::SELECTOR.as_slice(), "7cdb54d8"),
            (batchBuyERC721sCall::SELECTOR.as_slice(), "eae93ee7"),
            (batchBuyERC1155sCall::SELECTOR.as_slice(), "84680615"),
            (sellERC721Call::SELECTOR.as_slice(), "afde1b3c"),
            (sellERC1155Call::SELECTOR.as_slice(), "6e2eec9e"),
            (cancelERC721OrderCall::SELECTOR.as_slice(), "be167b9d"),
            (cancelERC1155OrderCall::SELECTOR.as_slice(), "06d2596b"),
            (validateERC721OrderSignatureCall::SELECTOR.as_slice(), "d1ca183b"),
            (validateERC1155OrderSignatureCall::SELECTOR.as_slice(), "0d32a531"),
            (getERC721OrderStatusCall::SELECTOR.as_slice(), "fbc4a518"),
            (getERC1155OrderInfoCall::SELECTOR.as_slice(), "4991fd72"),
            (
                ERC721OrderFilled::SIGNATURE_HASH.as_slice(),
                "50273fa02273cceea9cf085b42de5c8af60624140168bd71357db833535877af",
            ),
            (
                ERC1155OrderFilled::SIGNATURE_HASH.as_slice(),
                "20cca81b0e269b265b3229d6b537da91ef475ca0ef55caed7dd30731700ba98d",
            ),
            (
                ERC721OrderPreSigned::SIGNATURE_HASH.as_slice(),
                "8c5d0c41fb16a7317a6c55ff7ba93d9d74f79e434fefa694e50d6028afbfa3f0",
            ),
            (
                ERC1155OrderPreSigned::SIGNATURE_HASH.as_slice(),
                "5e91ddfeb7bf2e12f7e8ab017d2b63a9217f004a15a53346ad90353ec63d14e4",
            ),
            (
                ERC721OrderCancelled::SIGNATURE_HASH.as_slice(),
                "a015ad2dc32f266993958a0fd9884c746b971b254206f3478bc43e2f125c7b9e",
            ),
            (
                ERC1155OrderCancelled::SIGNATURE_HASH.as_slice(),
                "4d5ea7da64f50a4a329921b8d2cab52dff4ebcc58b61d10ff839e28e91445684",
            ),
        ]);
    }
}
