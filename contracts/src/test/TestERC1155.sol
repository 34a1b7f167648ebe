// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";

/// @title An ERC-1155 collection for tests
/// @notice Anybody may mint and change everything. It has a URI with the placeholder {id} and ERC-2981 royalties, and
/// can be made to answer nothing about them, like the many collections which do not know that standard.
contract TestERC1155 is ERC1155, ERC2981, Ownable {
    /// @notice The name, which the standard does not ask for but many collections have.
    string public name;

    /// @notice The symbol, likewise.
    string public symbol;

    /// @notice Where information about the collection is.
    string public contractURI;

    bool private _isSilent;

    /// @notice The information about the collection changed (ERC-7572).
    event ContractURIUpdated();

    /// @param name_ The name.
    /// @param symbol_ The symbol.
    /// @param uri_ The URI of every token, with the placeholder {id}.
    constructor(string memory name_, string memory symbol_, string memory uri_) ERC1155(uri_) Ownable(msg.sender) {
        name = name_;
        symbol = symbol_;
    }

    /// @notice Mints an amount of a token.
    /// @param to Who receives it.
    /// @param tokenId The number of the token.
    /// @param amount How much.
    function mint(address to, uint256 tokenId, uint256 amount) external {
        _mint(to, tokenId, amount, "");
    }

    /// @notice Mints amounts of several tokens.
    /// @param to Who receives them.
    /// @param tokenIds The numbers of the tokens.
    /// @param amounts How much of each.
    function mintBatch(address to, uint256[] calldata tokenIds, uint256[] calldata amounts) external {
        _mintBatch(to, tokenIds, amounts, "");
    }

    /// @notice The same, as sales have tokens minted.
    /// @param to Who receives them.
    /// @param tokenIds The numbers of the tokens.
    /// @param amounts How much of each.
    /// @param data What a receiver that is a contract is told.
    function mintBatch(address to, uint256[] calldata tokenIds, uint256[] calldata amounts, bytes calldata data)
        external
    {
        _mintBatch(to, tokenIds, amounts, data);
    }

    /// @notice Burns an amount of a token, whoever holds it.
    /// @param from Who loses it.
    /// @param tokenId The number of the token.
    /// @param amount How much.
    function burn(address from, uint256 tokenId, uint256 amount) external {
        _burn(from, tokenId, amount);
    }

    /// @notice Sets the URI of every token.
    /// @param uri_ The text, with the placeholder {id}.
    function setURI(string calldata uri_) external {
        _setURI(uri_);
    }

    /// @notice Says by the standard's event that the metadata of one token is at the current URI.
    /// @param tokenId The number of the token.
    function announceURI(uint256 tokenId) external {
        emit URI(uri(tokenId), tokenId);
    }

    /// @notice Sets where information about the collection is.
    /// @param uri_ The text.
    function setContractURI(string calldata uri_) external {
        contractURI = uri_;
        emit ContractURIUpdated();
    }

    /// @notice Sets the royalty of all tokens.
    /// @param recipient Who receives it.
    /// @param fee Ten-thousandths of the price.
    function setDefaultRoyalty(address recipient, uint96 fee) external {
        _setDefaultRoyalty(recipient, fee);
    }

    /// @notice Sets the royalty of one token.
    /// @param tokenId The number of the token.
    /// @param recipient Who receives it.
    /// @param fee Ten-thousandths of the price.
    function setTokenRoyalty(uint256 tokenId, address recipient, uint96 fee) external {
        _setTokenRoyalty(tokenId, recipient, fee);
    }

    /// @notice Lets questions about royalties fail, or not any more.
    /// @param isSilent Whether they fail.
    function setSilent(bool isSilent) external {
        _isSilent = isSilent;
    }

    /// @inheritdoc ERC2981
    function royaltyInfo(uint256 tokenId, uint256 salePrice) public view virtual override returns (address, uint256) {
        require(!_isSilent, "silent");
        return super.royaltyInfo(tokenId, salePrice);
    }

    /// @inheritdoc ERC1155
    function supportsInterface(bytes4 interfaceId) public view override(ERC1155, ERC2981) returns (bool) {
        return super.supportsInterface(interfaceId);
    }
}
