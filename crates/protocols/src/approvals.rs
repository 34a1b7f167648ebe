//! Letting a contract move what is one's own.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::{SolValue as _, sol};
use bourse_wire::{Address, Amount};

use super::Call;
use super::native::{Inquiry, isApprovedForAllCall};

sol! {
    function approve(address spender, uint256 amount);
    function setApprovalForAll(address operator, bool approved);
    function grantApprovals(address[] operators);
    function hasUserApprovedOperator(address user, address operator) returns (bool isApproved);
    function allowance(address owner, address spender) returns (uint256 amount);
    function balanceOf(address account) returns (uint256 amount);
}

/// Lets a contract spend this much of a currency, and no more.
pub fn approve_currency(currency: Address, spender: Address, amount: Amount) -> Call {
    let call = approveCall { spender: spender.bytes().into(), amount: amount.value() };
    Call::of(currency, &call)
}

/// Lets a contract move the tokens of a collection.
pub fn approve_tokens(collection: Address, operator: Address) -> Call {
    let call = setApprovalForAllCall { operator: operator.bytes().into(), approved: true };
    Call::of(collection, &call)
}

/// Lets a marketplace have tokens moved by a contract that moves them for several.
pub(super) fn grant_approval(manager: Address, operator: Address) -> Call {
    let call = grantApprovalsCall { operators: vec![operator.bytes().into()] };
    Call::of(manager, &call)
}

/// Asks how much of somebody's money in a currency a contract may take.
pub(super) fn allowance(currency: Address, owner: Address, spender: Address) -> Inquiry {
    Inquiry::new(currency, &allowanceCall { owner: owner.bytes().into(), spender: spender.bytes().into() })
}

/// Asks how much of a currency somebody has.
pub fn funds_of(currency: Address, owner: Address) -> Inquiry {
    Inquiry::new(currency, &balanceOfCall { account: owner.bytes().into() })
}

/// The amount that was answered.
pub fn read_amount(answer: Option<&Bytes>) -> Option<Amount> {
    U256::abi_decode(answer?).ok().map(Amount::from)
}

/// Asks whether a contract may move all tokens that somebody has of a collection.
pub(super) fn is_operator(collection: Address, owner: Address, operator: Address) -> Inquiry {
    let (owner, operator) = (owner.bytes().into(), operator.bytes().into());
    Inquiry::new(collection, &isApprovedForAllCall { owner, operator })
}

/// Asks whether somebody lets a marketplace have tokens moved by a contract that moves them for several.
pub(super) fn is_granted(manager: Address, owner: Address, operator: Address) -> Inquiry {
    let (user, operator) = (owner.bytes().into(), operator.bytes().into());
    Inquiry::new(manager, &hasUserApprovedOperatorCall { user, operator })
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;

    use super::*;

    const CONTRACT: Address = Address::from_bytes([0xc0; 20]);
    const OPERATOR: Address = Address::from_bytes([0xa1; 20]);

    #[test]
    fn approvals_are_what_every_wallet_knows() {
        let call = approve_currency(CONTRACT, OPERATOR, Amount::from(0x1234));
        let data = "095ea7b3000000000000000000000000a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1\
                    0000000000000000000000000000000000000000000000000000000000001234";
        assert_eq!(hex::encode(&call.data), data);
        assert_eq!((call.to, call.value, call.price), (CONTRACT, Amount::ZERO, Amount::ZERO));
        let call = approve_tokens(CONTRACT, OPERATOR);
        let data = "a22cb465000000000000000000000000a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1\
                    0000000000000000000000000000000000000000000000000000000000000001";
        assert_eq!(hex::encode(&call.data), data);
        assert_eq!((call.to, call.value, call.price), (CONTRACT, Amount::ZERO, Amount::ZERO));
        let call = grant_approval(CONTRACT, OPERATOR);
        let data = "e8f9f1dc0000000000000000000000000000000000000000000000000000000000000020\
                    0000000000000000000000000000000000000000000000000000000000000001\
                    000000000000000000000000a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
        assert_eq!(hex::encode(&call.data), data);
    }
}
