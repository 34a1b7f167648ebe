// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A primary sale: tokens of one collection, minted when they are paid for
/// @notice Names, parameters and order of `mint`, of the questions about terms and of the events that tell of them
/// decide selectors and topics that storefronts already know, so none of them may change.
interface ISale {
    /// @notice On which terms all tokens of a range are sold. Those that a token has itself come before them.
    struct GlobalSaleDetails {
        uint256 minTokenId;
        uint256 maxTokenId;
        uint256 cost;
        uint256 remainingSupply;
        uint64 startTime;
        uint64 endTime;
        bytes32 merkleRoot;
    }

    /// @notice On which terms one token is sold. An end of zero: there are none. The root is always zero, as nobody is
    /// kept out.
    struct SaleDetails {
        uint256 cost;
        uint256 remainingSupply;
        uint64 startTime;
        uint64 endTime;
        bytes32 merkleRoot;
    }

    /// @notice A token that has terms of its own, how much of it was sold, and when its terms were made and changed.
    struct Item {
        uint256 tokenId;
        SaleDetails details;
        uint256 sold;
        uint64 createdAt;
        uint64 updatedAt;
    }

    /// @notice The terms of a range of tokens were set.
    event GlobalSaleDetailsUpdated(
        uint256 minTokenId,
        uint256 maxTokenId,
        uint256 cost,
        uint256 remainingSupply,
        uint64 startTime,
        uint64 endTime,
        bytes32 merkleRoot
    );

    /// @notice The terms of a token were set.
    event TokenSaleDetailsUpdated(
        uint256 tokenId, uint256 cost, uint256 remainingSupply, uint64 startTime, uint64 endTime, bytes32 merkleRoot
    );

    /// @notice Tokens were sold.
    event ItemsMinted(address to, uint256[] tokenIds, uint256[] amounts);

    /// @notice Who receives the money changed.
    event PayeeChanged(address payee);

    /// @notice The lists differ in length, are empty, or an amount is zero, or not 1 for an ERC-721 token.
    error InvalidAmounts();
    /// @notice The token is not sold at this time.
    error SaleInactive(uint256 tokenId);
    /// @notice More was asked for than is left.
    error InsufficientSupply(uint256 remainingSupply, uint256 amount);
    /// @notice The buyer expects another currency, less to pay, or sends another value than what is to be paid.
    error InsufficientPayment(address currency, uint256 expected, uint256 actual);
    /// @notice The terms end before they begin, their range is none, or they name a root.
    error InvalidSaleDetails();
    /// @notice The money would go to nobody.
    error InvalidPayee();

    /// @notice Buys tokens, which are minted to the receiver.
    /// @param to Who receives them.
    /// @param tokenIds The tokens.
    /// @param amounts How much of each.
    /// @param data What the receiver is told, if it is a contract.
    /// @param expectedPaymentToken The currency that the buyer expects to pay in; zero for native coin.
    /// @param maxTotal The most that the buyer is ready to pay in all.
    /// @param proof Nothing, as nobody is kept out.
    function mint(
        address to,
        uint256[] calldata tokenIds,
        uint256[] calldata amounts,
        bytes calldata data,
        address expectedPaymentToken,
        uint256 maxTotal,
        bytes32[] calldata proof
    ) external payable;

    /// @notice The terms of the range.
    function globalSaleDetails() external view returns (GlobalSaleDetails memory);

    /// @notice The terms that a token has itself.
    function tokenSaleDetails(uint256 tokenId) external view returns (SaleDetails memory);

    /// @notice The same of several tokens.
    function tokenSaleDetailsBatch(uint256[] calldata tokenIds) external view returns (SaleDetails[] memory);

    /// @notice The currency; zero for native coin.
    function paymentToken() external view returns (address);

    /// @notice The collection whose tokens are sold. This contract has to be one that may mint them.
    function itemsContract() external view returns (address);

    /// @notice Whether that is an ERC-1155 collection.
    function isERC1155() external view returns (bool);

    /// @notice How much of a token was sold here.
    function sold(uint256 tokenId) external view returns (uint256);

    /// @notice How many tokens have, or had, terms of their own.
    function itemCount() external view returns (uint256);

    /// @notice Those tokens, in the order in which they first had terms.
    /// @param from How many to leave out.
    /// @param count How many there are at most.
    function items(uint256 from, uint256 count) external view returns (Item[] memory);
}
