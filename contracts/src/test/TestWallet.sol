// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A wallet for tests that is a contract
/// @notice It does what its owner sends, and has signed what its owner has (EIP-1271).
contract TestWallet is ERC721Holder, ERC1155Holder {
    address private immutable _owner;

    /// @param owner Who decides.
    constructor(address owner) {
        _owner = owner;
    }

    /// @notice Takes native coin.
    receive() external payable {}

    /// @notice Calls a contract.
    /// @param to The contract.
    /// @param value How much native coin goes along.
    /// @param data The call.
    function execute(address to, uint256 value, bytes calldata data) external {
        require(msg.sender == _owner, "TestWallet: not the owner");
        Address.functionCallWithValue(to, data, value);
    }

    /// @notice Says whether the wallet signed something.
    /// @param hash What was signed.
    /// @param signature The owner's signature.
    /// @return magic The selector of this function if so.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4 magic) {
        (address signer, ECDSA.RecoverError fault,) = ECDSA.tryRecover(hash, signature);
        bool isSigned = fault == ECDSA.RecoverError.NoError && signer == _owner;
        return isSigned ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
