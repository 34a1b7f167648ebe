// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";

/// @title Makes one prepared call as soon as somebody hands it control, and remembers how that went
abstract contract Attacker {
    address private _target;
    bytes private _call;
    bool public attacked;
    bool public succeeded;
    bytes4 public problem;

    function prepare(address target, bytes calldata call_) external {
        _target = target;
        _call = call_;
    }

    function run(address target, bytes calldata call_) external payable {
        (bool success, bytes memory answer) = target.call{value: msg.value}(call_);
        if (!success) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
    }

    function _attack() internal {
        if (_target == address(0) || attacked) return;
        attacked = true;
        bytes memory answer;
        (succeeded, answer) = _target.call(_call);
        if (answer.length >= 4) problem = bytes4(answer);
    }
}

/// @title Attacks when it is paid in native coin
contract NativeAttacker is Attacker {
    receive() external payable {
        _attack();
    }
}

/// @title Attacks when it receives an ERC-1155 or ERC-721 token
contract ReceiverAttacker is Attacker, ERC1155Holder {
    receive() external payable {}

    function onERC1155Received(address, address, uint256, uint256, bytes memory) public override returns (bytes4) {
        _attack();
        return this.onERC1155Received.selector;
    }

    function onERC1155BatchReceived(address, address, uint256[] memory, uint256[] memory, bytes memory)
        public
        override
        returns (bytes4)
    {
        _attack();
        return this.onERC1155BatchReceived.selector;
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        _attack();
        return this.onERC721Received.selector;
    }
}

/// @title A currency that attacks whenever it is moved
contract AttackerERC20 is ERC20, Attacker {
    constructor() ERC20("Evil", "EVIL") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        _attack();
    }
}

/// @title Takes no native coin
contract Refuser {}
