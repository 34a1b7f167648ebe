// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.24;

/// Both kinds of tokens, and money.
interface IToken {
    function transferFrom(address from, address to, uint256 tokenIdOrAmount) external;
    function safeTransferFrom(address from, address to, uint256 tokenId, uint256 amount, bytes calldata data) external;
}

interface IRoyalties {
    function royaltyInfo(uint256 tokenId, uint256 price) external view returns (address receiver, uint256 amount);
}

interface ISigner {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// What the contracts share that stand for marketplaces whose own code no package has. Each of them, named after its
/// marketplace and `Check`, checks what the real one checks of calls and orders, from facts about its interface, and
/// settles in the plainest way. None is meant for anything but tests.
abstract contract Checks {
    uint256 internal constant WHOLE = 10_000;
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    function separator(string memory name, string memory version) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    function typedDigest(bytes32 domain, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    /// Who signed; nobody but a signer has the lower of the two signatures that there are.
    function signerOf(bytes32 digest, uint8 v, bytes32 r, bytes32 s) internal pure returns (address signer) {
        require(uint256(s) <= HALF_ORDER, "malleable signature");
        signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "no signature");
    }

    /// A maker is who signed, or a contract that says so.
    function requireMaker(address maker, bytes32 digest, uint8 v, bytes32 r, bytes32 s) internal view {
        if (maker.code.length == 0) {
            require(signerOf(digest, v, r, s) == maker, "not signed by the maker");
            return;
        }
        bytes4 said = ISigner(maker).isValidSignature(digest, abi.encodePacked(r, s, v));
        require(said == ISigner.isValidSignature.selector, "not signed by the maker");
    }

    /// Pays out of this contract's native money, or somebody's other money.
    function pay(address currency, address from, address to, uint256 amount) internal {
        if (amount == 0) return;
        if (currency != address(0)) {
            IToken(currency).transferFrom(from, to, amount);
            return;
        }
        (bool isPaid,) = to.call{ value: amount }("");
        require(isPaid, "cannot pay");
    }
}

/// Moves tokens of people who let it, for one marketplace.
contract TokenMover {
    address private marketplace;

    /// The first one who asks is who it moves tokens for.
    function serve(address marketplace_) external {
        require(marketplace == address(0), "serves somebody");
        marketplace = marketplace_;
    }

    function move(address token, address[2] calldata fromTo, uint256 tokenId, uint256 amount, bool isMultiple) external {
        require(msg.sender == marketplace, "not the marketplace");
        if (isMultiple) IToken(token).safeTransferFrom(fromTo[0], fromTo[1], tokenId, amount, "");
        else IToken(token).transferFrom(fromTo[0], fromTo[1], tokenId);
    }
}
