//! What contracts are asked, as the ABI has it.

pub use bourse_protocols::native::isApprovedForAllCall;
pub(crate) use bourse_protocols::royaltyInfoCall;
pub use bourse_protocols::{getRoyaltyInfoCall, royaltyLeftCall};

alloy_sol_types::sol! {
    function name() returns (string);
    function symbol() returns (string);
    function decimals() returns (uint8);
    function owner() returns (address);
    function contractURI() returns (string);
    function tokenURI(uint256 id) returns (string);
    function uri(uint256 id) returns (string);
    function supportsInterface(bytes4 id) returns (bool);
    function balanceOf(address account) returns (uint256);
    function allowance(address owner, address spender) returns (uint256);
}
