// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What both versions of the market have in common
/// @notice A request is a listing (the maker sells) or an offer (the maker buys). Requests live on the chain and are
/// numbered from 0. The names, parameters and order of everything here decide the selectors and topics that wallets
/// and indexers already know, so none of it may change.
interface IMarketCore {
    /// @notice What a maker asks for when creating a request.
    struct RequestParams {
        bool isListing;
        bool isERC1155;
        address tokenContract;
        uint256 tokenId;
        uint256 quantity;
        uint96 expiry;
        address currency;
        uint256 pricePerToken;
    }

    /// @notice A request as it is stored. `quantity` is what is left of it.
    struct Request {
        address creator;
        bool isListing;
        bool isERC1155;
        address tokenContract;
        uint256 tokenId;
        uint256 quantity;
        uint96 expiry;
        address currency;
        uint256 pricePerToken;
    }

    /// @notice A request was created.
    event RequestCreated(
        uint256 indexed requestId,
        address indexed creator,
        address indexed tokenContract,
        uint256 tokenId,
        bool isListing,
        uint256 quantity,
        address currency,
        uint256 pricePerToken,
        uint256 expiry
    );

    /// @notice A request was filled, wholly or in part. `buyer` is whoever called, also when an offer is accepted.
    event RequestAccepted(
        uint256 indexed requestId,
        address indexed buyer,
        address indexed tokenContract,
        address recipient,
        uint256 quantity,
        uint256 quantityRemaining
    );

    /// @notice A request was withdrawn by its maker.
    event RequestCancelled(uint256 indexed requestId, address indexed tokenContract);

    /// @notice The owner set the royalty of a collection which states none itself.
    event CustomRoyaltyChanged(address indexed tokenContract, address recipient, uint96 fee);

    /// @notice A fee or its recipient is zero, the lists differ in length, or the fees exceed the seller's share.
    error InvalidAdditionalFees();
    /// @notice The lists of a batch differ in length.
    error InvalidBatchRequest();
    /// @notice The request cannot be made in this currency, or native coin was sent for a request in another currency.
    error InvalidCurrency();
    /// @notice The maker of an offer does not hold the currency or has not approved it.
    error InvalidCurrencyApproval(address currency, uint256 quantity, address owner);
    /// @notice The expiry is not in the future.
    error InvalidExpiry();
    /// @notice The price is zero or too large to be multiplied with the quantity.
    error InvalidPrice();
    /// @notice The quantity is zero, more than is left, or not 1 for an ERC-721 token.
    error InvalidQuantity();
    /// @notice The request does not exist any more, never did, or is not the caller's to cancel.
    error InvalidRequestId(uint256 requestId);
    /// @notice The royalty exceeds the price, or the custom royalty exceeds its maximum.
    error InvalidRoyalty();
    /// @notice The maker of a listing does not hold the token or has not approved it.
    error InvalidTokenApproval(address tokenContract, uint256 tokenId, uint256 quantity, address owner);
    /// @notice The token contract does not say by ERC-165 that it is what the request claims.
    error UnsupportedContractInterface(address contractAddress, bytes4 interfaceId);

    /// @notice Creates a listing or an offer for the caller.
    /// @param request What is asked for.
    /// @return requestId The number of the new request.
    function createRequest(RequestParams calldata request) external returns (uint256 requestId);

    /// @notice Creates several requests, or none if one of them is wrong.
    /// @param requests What is asked for.
    /// @return requestIds The numbers of the new requests, in the same order.
    function createRequestBatch(RequestParams[] calldata requests) external returns (uint256[] memory requestIds);

    /// @notice Accepts several requests which are priced in ERC-20, or none. The same fees are paid for EVERY request.
    /// @param requestIds The requests.
    /// @param quantities How much of each.
    /// @param recipients Who receives the tokens of a listing or the currency of an offer.
    /// @param additionalFees Absolute amounts in the currency of the request.
    /// @param additionalFeeRecipients Who receives those amounts.
    function acceptRequestBatch(
        uint256[] calldata requestIds,
        uint256[] calldata quantities,
        address[] calldata recipients,
        uint256[] calldata additionalFees,
        address[] calldata additionalFeeRecipients
    ) external;

    /// @notice Withdraws a request of the caller.
    /// @param requestId The request.
    function cancelRequest(uint256 requestId) external;

    /// @notice Withdraws several requests of the caller, or none.
    /// @param requestIds The requests.
    function cancelRequestBatch(uint256[] calldata requestIds) external;

    /// @notice Reads a request. All fields are zero when there is none.
    /// @param requestId The request.
    /// @return request What is stored.
    function getRequest(uint256 requestId) external view returns (Request memory request);

    /// @notice Reads several requests.
    /// @param requestIds The requests.
    /// @return requests What is stored, in the same order.
    function getRequestBatch(uint256[] calldata requestIds) external view returns (Request[] memory requests);

    /// @notice Says whether the maker could deliver right now.
    /// @param requestId The request.
    /// @param quantity How much of it; 0 means all that is left.
    /// @return valid Whether it is alive and the maker's side is held and approved.
    /// @return request What is stored.
    function isRequestValid(uint256 requestId, uint256 quantity)
        external
        view
        returns (bool valid, Request memory request);

    /// @notice Says it of several requests.
    /// @param requestIds The requests.
    /// @param quantities How much of each; 0 means all that is left.
    /// @return valid The answers, in the same order.
    /// @return requests What is stored, in the same order.
    function isRequestValidBatch(uint256[] calldata requestIds, uint256[] calldata quantities)
        external
        view
        returns (bool[] memory valid, Request[] memory requests);

    /// @notice Says what royalty a sale would owe now.
    /// @param tokenContract The collection.
    /// @param tokenId The token.
    /// @param cost The price of the whole sale.
    /// @return recipient Who receives the royalty.
    /// @return royalty How much.
    function getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost)
        external
        view
        returns (address recipient, uint256 royalty);
}
