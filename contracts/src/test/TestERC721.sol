// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";

/// @title An ERC-721 collection for tests
/// @notice Anybody may mint and change everything. It has metadata, ERC-2981 royalties, and the ERC-4906 events which
/// say that metadata changed. It answers ERC-2981 with zero until a royalty is set.
contract TestERC721 is ERC721URIStorage, ERC2981, Ownable {
    /// @notice Where information about the collection is.
    string public contractURI;

    string private _base;

    /// @notice The information about the collection changed (ERC-7572).
    event ContractURIUpdated();

    /// @param name_ The name.
    /// @param symbol_ The symbol.
    constructor(string memory name_, string memory symbol_) ERC721(name_, symbol_) Ownable(msg.sender) {}

    /// @notice Mints a token.
    /// @param to Who receives it.
    /// @param tokenId Its number.
    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }

    /// @notice Mints a token and tells a receiver that is a contract, as sales have tokens minted.
    /// @param to Who receives it.
    /// @param tokenId Its number.
    function safeMint(address to, uint256 tokenId) external {
        _safeMint(to, tokenId);
    }

    /// @notice Burns a token, whoever holds it.
    /// @param tokenId Its number.
    function burn(uint256 tokenId) external {
        _burn(tokenId);
    }

    /// @notice Sets what comes before the number or the own URI of each token.
    /// @param base The text.
    function setBaseURI(string calldata base) external {
        _base = base;
        emit BatchMetadataUpdate(0, type(uint256).max);
    }

    /// @notice Sets the URI of one token; it is put after the base.
    /// @param tokenId The token.
    /// @param uri The text.
    function setTokenURI(uint256 tokenId, string calldata uri) external {
        _setTokenURI(tokenId, uri);
    }

    /// @notice Sets where information about the collection is.
    /// @param uri The text.
    function setContractURI(string calldata uri) external {
        contractURI = uri;
        emit ContractURIUpdated();
    }

    /// @notice Sets the royalty of all tokens.
    /// @param recipient Who receives it.
    /// @param fee Ten-thousandths of the price.
    function setDefaultRoyalty(address recipient, uint96 fee) external {
        _setDefaultRoyalty(recipient, fee);
    }

    /// @notice Sets the royalty of one token.
    /// @param tokenId Its number.
    /// @param recipient Who receives it.
    /// @param fee Ten-thousandths of the price.
    function setTokenRoyalty(uint256 tokenId, address recipient, uint96 fee) external {
        _setTokenRoyalty(tokenId, recipient, fee);
    }

    /// @inheritdoc ERC721
    function supportsInterface(bytes4 interfaceId) public view override(ERC721URIStorage, ERC2981) returns (bool) {
        return super.supportsInterface(interfaceId);
    }

    function _baseURI() internal view override returns (string memory) {
        return _base;
    }
}
