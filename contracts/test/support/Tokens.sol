// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {TestERC1155} from "../../src/test/TestERC1155.sol";

/// @title A collection without ERC-2981
contract PlainERC721 is ERC721 {
    constructor() ERC721("Plain", "PLAIN") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}

/// @title A collection whose answer about royalties can be any bytes
contract OddERC721 is PlainERC721 {
    bytes public answer;

    function setAnswer(bytes calldata answer_) external {
        answer = answer_;
    }

    function royaltyInfo(uint256, uint256) external view returns (uint256, uint256) {
        bytes memory data = answer;
        assembly {
            return(add(data, 32), mload(data))
        }
    }
}

/// @title A collection whose royalty is the same for every price
contract FlatRoyaltyERC1155 is TestERC1155 {
    address private immutable _recipient;
    uint256 private immutable _royalty;

    constructor(address recipient, uint256 royalty) TestERC1155("Flat", "FLAT", "") {
        _recipient = recipient;
        _royalty = royalty;
    }

    function royaltyInfo(uint256, uint256) public view override returns (address, uint256) {
        return (_recipient, _royalty);
    }
}

/// @title Claims to be an ERC-721 and ERC-1155 token, but answers every question with a single byte
contract MuteToken is IERC165 {
    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId != 0xffffffff;
    }

    fallback() external {
        assembly {
            return(0, 1)
        }
    }
}

/// @title A currency whose transfers return nothing, as those of some old ones
contract NoReturnERC20 {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external {
        allowance[msg.sender][spender] = amount;
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

/// @title A currency which only pretends to move
contract FalseERC20 {
    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function allowance(address, address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function transferFrom(address, address, uint256) external pure returns (bool) {
        return false;
    }
}
