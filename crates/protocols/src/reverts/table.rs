//! What contracts refuse with, by the signatures of their errors. In the words, `{0}` stands for the first member.

/// An error of a contract, and what it says.
pub(super) type Known = (&'static str, &'static str);

/// Of currencies and collections, and of what they are commonly made with.
pub(super) const TOKENS: &[Known] = &[
    (
        "ERC20InsufficientAllowance(address,uint256,uint256)",
        "{0} may take {1} of the buyer's money where it takes {2}: the buyer must approve it first",
    ),
    ("ERC20InsufficientBalance(address,uint256,uint256)", "{0} has {1} of the currency where it takes {2}"),
    ("ERC20InvalidSender(address)", "the currency takes nothing from {0}"),
    ("ERC20InvalidReceiver(address)", "the currency gives nothing to {0}"),
    ("ERC20InvalidApprover(address)", "the currency lets {0} approve nothing"),
    ("ERC20InvalidSpender(address)", "the currency lets nothing be approved for {0}"),
    ("InsufficientAllowance()", "the contract may take less of the buyer's money than it needs"),
    ("InsufficientBalance()", "somebody has less money or fewer tokens than it takes"),
    ("TransferFromFailed()", "the currency or the collection refused a transfer"),
    ("TransferFailed()", "the currency or the collection refused a transfer"),
    ("SafeERC20FailedOperation(address)", "currency {0} refused a transfer, and did not say why"),
    ("SafeTransferFromFailed()", "the currency refused a transfer, and did not say why"),
    ("FailedCall()", "a payment in the chain's own currency was not taken by who was to get it"),
    ("FailedInnerCall()", "a payment in the chain's own currency was not taken by who was to get it"),
    ("InsufficientBalance(uint256,uint256)", "{0} of the chain's own currency came along where it takes {1}"),
    ("AddressInsufficientBalance(address)", "{0} has less of the chain's own currency than it takes"),
    ("AddressEmptyCode(address)", "there is no contract at {0}"),
    ("ERC721IncorrectOwner(address,uint256,address)", "token {1} belongs to {2}, and no longer to {0}"),
    (
        "ERC721InsufficientApproval(address,uint256)",
        "token {1} is not the seller's any more, or they do not let {0} move it",
    ),
    ("ERC721NonexistentToken(uint256)", "there is no token {0}, or not any more"),
    ("ERC721InvalidSender(address)", "the collection moves nothing from {0}"),
    (
        "ERC721InvalidReceiver(address)",
        "{0} cannot take the token: it is a contract that takes none, or nobody",
    ),
    ("ERC721InvalidOwner(address)", "{0} can own no token"),
    ("ERC721InvalidOperator(address)", "the collection lets {0} move nothing"),
    ("ERC721InvalidApprover(address)", "{0} may not approve that: the token is another's"),
    ("TransferFromIncorrectOwner()", "the token is no longer the seller's"),
    ("TransferCallerNotOwnerNorApproved()", "the seller does not let the marketplace move the token"),
    ("TransferToNonERC721ReceiverImplementer()", "the buyer is a contract that takes no tokens"),
    ("OwnerQueryForNonexistentToken()", "there is no such token, or not any more"),
    ("NotOwnerNorApproved()", "the seller does not let the marketplace move the token"),
    ("TokenDoesNotExist()", "there is no such token, or not any more"),
    (
        "ERC1155InsufficientBalance(address,uint256,uint256,uint256)",
        "{0} has {1} of token {3} where it takes {2}",
    ),
    (
        "ERC1155MissingApprovalForAll(address,address)",
        "{1} does not let {0} move their tokens: they must approve it first",
    ),
    ("ERC1155InvalidSender(address)", "the collection moves nothing from {0}"),
    (
        "ERC1155InvalidReceiver(address)",
        "{0} cannot take the token: it is a contract that takes none, or nobody",
    ),
    ("ERC1155InvalidOperator(address)", "the collection lets {0} move nothing"),
    ("ERC1155InvalidApprover(address)", "{0} may not approve that"),
    ("EnforcedPause()", "the contract is paused: nothing moves until its owner resumes it"),
    ("ExpectedPause()", "the contract does this only while it is paused"),
    ("OperatorNotAllowed(address)", "the collection does not let operator {0} move its tokens"),
    ("AddressFiltered(address)", "the collection does not let {0} move its tokens"),
    ("CodeHashFiltered(address,bytes32)", "the collection does not let contracts like {0} move its tokens"),
    (
        "CreatorTokenTransferValidator__CallerMustBeWhitelisted()",
        "the collection lets only marketplaces of its list move its tokens, and this is none of them",
    ),
    (
        "CreatorTokenTransferValidator__CallerMustBeWhitelistedOperator()",
        "the collection lets only marketplaces of its list move its tokens, and this is none of them",
    ),
    (
        "CreatorTokenTransferValidator__OperatorIsBlacklisted()",
        "the collection has this marketplace on the list of those that may not move its tokens",
    ),
    (
        "CreatorTokenTransferValidator__ReceiverMustNotHaveDeployedCode()",
        "the collection lets no contract have its tokens",
    ),
    (
        "CreatorTokenTransferValidator__ReceiverProofOfEOASignatureUnverified()",
        "the collection wants whoever gets its tokens to prove first that they are no contract",
    ),
    ("AccountBlacklisted(address)", "the currency or the collection shuts {0} out"),
    ("Blacklisted(address)", "the currency or the collection shuts {0} out"),
    ("BlockedAccount(address)", "the currency or the collection shuts {0} out"),
    ("ERC20Blocked(address)", "the currency shuts {0} out"),
    ("OwnableUnauthorizedAccount(address)", "only the owner of the contract may do this, which {0} is not"),
    ("AccessControlUnauthorizedAccount(address,bytes32)", "{0} has not the role that the contract asks for"),
    ("ReentrancyGuardReentrantCall()", "a contract that was called came back into the marketplace"),
];

/// Of our own marketplaces, and of the helper beside them.
pub(super) const OWN: &[Known] = &[
    ("InvalidRequestId(uint256)", "order {0} is no longer there: it was filled or cancelled"),
    ("Invalidated()", "the maker has taken back all orders of before, and this is one of them"),
    ("InvalidExpiry()", "the order has ended, or would end at once"),
    ("InvalidQuantity()", "less of the order remains than is asked for"),
    ("InvalidPrice()", "the price must not be zero"),
    ("InvalidCurrency()", "the marketplace does not take this currency here"),
    (
        "InvalidCurrencyApproval(address,uint256,address)",
        "{2} has less than {1} of currency {0}, or does not let the marketplace take it",
    ),
    (
        "InvalidTokenApproval(address,uint256,uint256,address)",
        "{3} has fewer than {2} of token {1} of collection {0}, or does not let the marketplace move them",
    ),
    ("InvalidAdditionalFees()", "the fees are more than the price leaves, or one goes to nobody"),
    ("InvalidRoyalty()", "the royalty of the token is more than the price, or has changed"),
    ("InvalidBatchRequest()", "the lists of the orders do not fit together"),
    (
        "UnsupportedContractInterface(address,bytes4)",
        "{0} is no collection of the standard that the order says",
    ),
];

/// Of Seaport and its forks.
pub(super) const SEAPORT: &[Known] = &[
    ("OrderAlreadyFilled(bytes32)", "order {0} is filled"),
    ("OrderIsCancelled(bytes32)", "order {0} was cancelled by its maker"),
    ("OrderPartiallyFilled(bytes32)", "a part of order {0} is filled, so that it cannot be filled this way"),
    ("CannotCancelOrder()", "the order cannot be cancelled by this wallet"),
    ("InvalidTime(uint256,uint256)", "the order is valid only from {0} to {1}, in seconds since 1970"),
    ("InvalidSigner()", "the order was signed by another than its maker, or its maker has taken all back"),
    ("InvalidSignature()", "the signature of the order is none"),
    ("BadSignatureV(uint8)", "the signature of the order is none"),
    ("BadContractSignature()", "the maker is a contract that does not stand by the signature of the order"),
    ("InvalidRestrictedOrder(bytes32)", "the zone of order {0} does not agree to this"),
    ("InvalidContractOrder(bytes32)", "the contract that makes order {0} does not agree to this"),
    ("InvalidProof()", "the token is none of those that the order is for"),
    ("InvalidMsgValue(uint256)", "{0} of the chain's own currency came along where none is taken"),
    ("InsufficientNativeTokensSupplied()", "less of the chain's own currency came along than it takes"),
    (
        "NativeTokenTransferGenericFailure(address,uint256)",
        "{0} did not take {1} of the chain's own currency",
    ),
    (
        "TokenTransferGenericFailure(address,address,address,uint256,uint256)",
        "{0} did not move {4} of token {3} from {1} to {2}, and did not say why: whoever gives it lacks it, or does not let it be \
         moved",
    ),
    (
        "BadReturnValueFromERC20OnTransfer(address,address,address,uint256)",
        "currency {0} refused to move {3} from {1} to {2}",
    ),
    (
        "ERC1155BatchTransferGenericFailure(address,address,address,uint256[],uint256[])",
        "collection {0} refused to move tokens from {1} to {2}",
    ),
    (
        "ConsiderationNotMet(uint256,uint256,uint256)",
        "{2} are missing of what order number {0} of the call asks for",
    ),
    ("NoSpecifiedOrdersAvailable()", "none of the orders can be filled any more"),
    ("InexactFraction()", "the order cannot be divided like this"),
    ("BadFraction()", "the order cannot be divided like this"),
    ("PartialFillsNotEnabledForOrder()", "the order can only be filled as a whole"),
    ("NoContract(address)", "there is no contract at {0}"),
    ("InvalidConduit(bytes32,address)", "the contract that moves tokens for order key {0} is not known"),
    ("ChannelClosed(address)", "the contract that moves tokens does not let marketplace {0} ask it to"),
    ("MissingItemAmount()", "the order is for nothing"),
    ("InvalidERC721TransferAmount(uint256)", "{0} of a token of which there is one"),
    ("NoReentrantCalls()", "a contract that was called came back into the marketplace"),
];

/// Of LooksRare.
pub(super) const LOOKS_RARE: &[Known] = &[
    ("NoncesInvalid()", "the order is filled, or its maker has taken it back"),
    ("OutsideOfTimeRange()", "the order has ended, or has not begun"),
    ("OrderInvalid()", "the order is not what its maker made, or cannot be filled"),
    ("SignatureEOAInvalid()", "the order was signed by another than its maker"),
    (
        "SignatureERC1271Invalid()",
        "the maker is a contract that does not stand by the signature of the order",
    ),
    ("NullSignerAddress()", "the signature of the order is none"),
    ("MerkleProofInvalid()", "the order is none of those that were signed together"),
    ("CurrencyInvalid()", "the marketplace does not take this currency"),
    ("CallerInvalid()", "the order is not for this wallet"),
    ("StrategyNotAvailable(uint256)", "the marketplace does not take orders of kind {0} any more"),
    ("BidTooLow()", "the price is less than the order asks for"),
    ("AskTooHigh()", "the price is more than the order pays"),
    ("ERC20TransferFromFail()", "the buyer lacks the money, or does not let the marketplace take it"),
    ("ERC721TransferFromFail()", "the seller lacks the token, or does not let the marketplace move it"),
    ("ERC1155SafeTransferFromFail()", "the seller lacks the token, or does not let the marketplace move it"),
    (
        "ERC1155SafeBatchTransferFromFail()",
        "the seller lacks tokens, or does not let the marketplace move them",
    ),
    ("ETHTransferFail()", "a payment in the chain's own currency was not taken by who was to get it"),
    ("TransferCallerInvalid()", "the contract that moves tokens does not let the marketplace ask it to"),
    ("OperatorAlreadyApprovedByUser()", "the wallet has approved that marketplace already"),
    ("OperatorNotApprovedByUser()", "the wallet has not approved that marketplace"),
    ("CreatorFeeBpTooHigh()", "the royalty of the token is more than the marketplace pays"),
    ("IsPaused()", "the contract is paused: nothing moves until its owner resumes it"),
    ("ReentrancyFail()", "a contract that was called came back into the marketplace"),
];

/// Of 0x. The status of an order comes as a number: 0 is invalid, 1 fillable, 2 filled or cancelled, 3 ended.
pub(super) const ZEROX: &[Known] = &[
    (
        "OrderNotFillableError(address,uint256,uint8)",
        "order {1} of {0} cannot be filled any more: it is filled, was cancelled, or has ended",
    ),
    ("OnlyTakerError(address,address)", "the order is for {1}, not for {0}"),
    ("InvalidSignerError(address,address)", "the order was signed by {1}, not by its maker {0}"),
    ("TokenIdMismatchError(uint256,uint256)", "the order is for token {1}, not {0}"),
    ("ExceedsRemainingOrderAmount(uint128,uint128)", "{1} units where {0} of the order remain"),
    ("OverspentEthError(uint256,uint256)", "it takes {0} of the chain's own currency where {1} came along"),
    (
        "InsufficientEthError(uint256,uint256)",
        "{0} of the chain's own currency came along where it takes {1}",
    ),
    (
        "PropertyValidationFailedError(address,address,uint256,bytes,bytes)",
        "token {2} is none of those that the order is for",
    ),
];

/// Of Payment Processor, in all its versions.
pub(super) const PAYMENT_PROCESSOR: &[Known] = &[
    ("PaymentProcessor__OrderHasExpired()", "the order has ended"),
    ("PaymentProcessor__SaleHasExpired()", "the order has ended"),
    ("PaymentProcessor__OfferHasExpired()", "the order has ended"),
    (
        "PaymentProcessor__SignatureAlreadyUsedOrRevoked()",
        "the order is filled, or its maker has taken it back",
    ),
    ("PaymentProcessor__OrderIsEitherCancelledOrFilled()", "the order is filled or cancelled"),
    ("PaymentProcessor__UnauthorizeSale()", "the order was signed by another than its maker, or is another"),
    (
        "PaymentProcessor__SellerDidNotAuthorizeSale()",
        "the order was signed by another than its maker, or is another",
    ),
    ("PaymentProcessor__NotAuthorizedByCosigner()", "the cosigner of the order does not agree to this"),
    (
        "PaymentProcessor__CosignatureHasExpired()",
        "the cosigner agreed to this for a time that is over: ask again",
    ),
    ("PaymentProcessor__RanOutOfNativeFunds()", "less of the chain's own currency came along than it takes"),
    ("PaymentProcessor__OverpaidNativeFunds()", "more of the chain's own currency came along than it takes"),
    (
        "PaymentProcessor__FailedToTransferProceeds()",
        "the buyer lacks the money, or somebody did not take their part",
    ),
    (
        "PaymentProcessor__DispensingTokenWasUnsuccessful()",
        "the seller lacks the token, or does not let the marketplace move it",
    ),
    ("PaymentProcessor__TradingIsPausedForCollection()", "the owner of the collection has paused all trades"),
    ("PaymentProcessor__MakerOrTakerIsBannedAccount()", "the collection shuts the buyer or the seller out"),
    ("PaymentProcessor__SalePriceAboveMaximumCeiling()", "the price is more than the collection allows"),
    ("PaymentProcessor__SalePriceBelowMinimumFloor()", "the price is less than the collection allows"),
    (
        "PaymentProcessor__PaymentCoinIsNotAnApprovedPaymentMethod()",
        "the collection does not allow payment in this currency",
    ),
    ("PaymentProcessor__BadPaymentMethod()", "the order cannot be paid in this currency"),
    (
        "PaymentProcessor__TradeOriginatedFromUntrustedChannel()",
        "the collection lets only channels that it trusts trade its tokens",
    ),
    (
        "PaymentProcessor__OnchainRoyaltiesExceedMaximumApprovedRoyaltyFee()",
        "the royalty of the token is more than the order pays",
    ),
    (
        "PaymentProcessor__MarketplaceAndRoyaltyFeesWillExceedSalePrice()",
        "fees and royalty are more than the price",
    ),
    (
        "PaymentProcessor__BuyerMustBeCallerAndTransactionOrigin()",
        "the buyer must be a wallet, and no contract",
    ),
    (
        "PaymentProcessor__SellerMustBeCallerAndTransactionOrigin()",
        "the seller must be a wallet, and no contract",
    ),
    (
        "PaymentProcessor__UnableToFillMinimumRequestedQuantity()",
        "less of the order remains than is asked for",
    ),
];

/// What older contracts say in a text, in small letters, and what it means. The first that is in it counts.
pub(super) const TEXTS: &[Known] = &[
    ("transfer amount exceeds balance", "whoever pays has less of the currency than it takes"),
    ("exceeds balance", "whoever pays or sells has less than it takes"),
    ("transfer amount exceeds allowance", "the marketplace may take less of the buyer's money than it takes"),
    ("insufficient allowance", "the marketplace may take less of the buyer's money than it takes"),
    ("exceeds allowance", "the marketplace may take less of the buyer's money than it takes"),
    ("insufficient balance for transfer", "the seller has fewer tokens than it takes"),
    ("not token owner or approved", "the token is not the seller's any more, or they do not let it be moved"),
    ("not owner nor approved", "the token is not the seller's any more, or they do not let it be moved"),
    ("incorrect owner", "the token is not the seller's any more"),
    ("token that is not own", "the token is not the seller's any more"),
    ("not_authorized", "the token is not the seller's any more, or they do not let it be moved"),
    ("nonexistent token", "there is no such token, or not any more"),
    ("invalid token id", "there is no such token, or not any more"),
    ("paused", "the contract is paused: nothing moves until its owner resumes it"),
    ("blacklist", "the currency or the collection shuts somebody out who takes part in it"),
    ("blocklist", "the currency or the collection shuts somebody out who takes part in it"),
    ("blocked", "the currency or the collection shuts somebody out who takes part in it"),
    ("denylist", "the currency or the collection shuts somebody out who takes part in it"),
    ("non erc721receiver", "the buyer is a contract that takes no tokens"),
    ("non-erc1155receiver", "the buyer is a contract that takes no tokens"),
    ("transfer_from_failed", "the currency or the collection refused a transfer"),
];
