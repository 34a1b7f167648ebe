//! Whether the maker of an order has what it sells, or the money that it offers, and lets the marketplace take it.

use alloy_sol_types::sol;
use bourse_market::units_paid;
use bourse_wire::{Address, Amount, OrderFacts, OrderSide, TokenId};

use super::cover::{cover_inquiries, is_covered};
use super::inquiry::{Answers, Inquiry, returned};

sol! {
    interface Erc721 {
        function ownerOf(uint256 tokenId) returns (address owner);
    }

    interface Erc1155 {
        function balanceOf(address account, uint256 id) returns (uint256 balance);
    }

    interface Erc20 {
        function balanceOf(address account) returns (uint256 balance);
        function allowance(address owner, address spender) returns (uint256 allowance);
    }
}

/// What to ask to learn what the maker of an order can give.
pub fn means_inquiries(collection: Address, order: &OrderFacts) -> Vec<Inquiry> {
    let (maker, Some(operator)) = (order.maker.bytes().into(), order.operator) else { return Vec::new() };
    match (order.side, order.token_id) {
        (OrderSide::Offer, _) => {
            let (balance, allowance) = (
                Erc20::balanceOfCall { account: maker },
                Erc20::allowanceCall { owner: maker, spender: operator.bytes().into() },
            );
            vec![Inquiry::new(order.currency, &balance), Inquiry::new(order.currency, &allowance)]
        }
        (OrderSide::Listing, Some(token)) => {
            let mut asked = cover_inquiries(collection, order);
            asked.extend(held_inquiries(collection, token, order.maker));
            asked
        }
        (OrderSide::Listing | OrderSide::Unknown, _) => Vec::new(),
    }
}

/// How many units the maker of an order can give, by what was answered to [`means_inquiries`]; `None` when that does not
/// tell.
pub fn means(order: &OrderFacts, answers: Answers<'_>) -> Option<Amount> {
    if order.side == OrderSide::Offer {
        let balance = returned::<Erc20::balanceOfCall>(answers, 0)?;
        let allowance = returned::<Erc20::allowanceCall>(answers, 1)?;
        return units_paid(balance.min(allowance), order);
    }
    let held = held(order.maker, answers.get(2..)?)?;
    Some(if is_covered(order, answers)? { held } else { Amount::ZERO })
}

/// What to ask a contract to learn how much of a token somebody holds: its owner where there is one, else the balance.
pub fn held_inquiries(collection: Address, token: TokenId, account: Address) -> [Inquiry; 2] {
    let owner = Erc721::ownerOfCall { tokenId: token.value() };
    let balance = Erc1155::balanceOfCall { account: account.bytes().into(), id: token.value() };
    [Inquiry::new(collection, &owner), Inquiry::new(collection, &balance)]
}

/// How much somebody holds, by what was answered to [`held_inquiries`]; `None` when that does not tell.
pub fn held(account: Address, answers: Answers<'_>) -> Option<Amount> {
    match returned::<Erc721::ownerOfCall>(answers, 0) {
        Some(owner) => Some(Amount::from(u64::from(Address::from_bytes(owner.into()) == account))),
        None => returned::<Erc1155::balanceOfCall>(answers, 1).map(Amount::from),
    }
}

/// Whether a contract told an owner in answer to [`held_inquiries`]: then each of its tokens has one, or is gone.
pub fn has_owner(answers: Answers<'_>) -> bool {
    returned::<Erc721::ownerOfCall>(answers, 0).is_some()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address as RawAddress, Bytes, U256};
    use alloy_sol_types::SolValue as _;

    use super::*;
    use crate::testing::{admitted, case};

    fn number(value: u64) -> Bytes {
        U256::from(value).abi_encode().into()
    }

    #[test]
    fn sellers_have_the_token_and_let_it_be_moved() {
        let mut order = admitted(&case("seaport", "signed for mintify")).remove(0).facts;
        order.operator = Some(Address::from_bytes([7; 20]));
        assert_eq!(means_inquiries(Address::from_bytes([9; 20]), &order).len(), 4);
        let owner = |of: Address| Some(Bytes::from(RawAddress::from(*of.bytes()).abi_encode()));
        let (maker, other) = (owner(order.maker), owner(Address::from_bytes([1; 20])));
        let (yes, no) = (Some(number(1)), Some(number(0)));
        let units = |answers: [&Option<Bytes>; 4]| means(&order, &answers.map(Clone::clone));
        assert_eq!(units([&yes, &None, &maker, &None]), Some(Amount::from(1)));
        assert_eq!(units([&yes, &None, &other, &None]), Some(Amount::ZERO));
        assert_eq!(units([&no, &None, &maker, &None]), Some(Amount::ZERO));
        assert_eq!(units([&yes, &None, &None, &Some(number(5))]), Some(Amount::from(5)));
        assert_eq!(units([&yes, &None, &None, &None]), None, "it does not say who has it");
        assert_eq!(units([&None, &None, &maker, &None]), None, "it does not say who may move it");
        assert_eq!(means(&order, &[]), None);
    }

    #[test]
    fn buyers_have_the_money_and_let_it_be_taken() {
        let mut order = admitted(&case("seaport", "signed for mintify")).remove(0).facts;
        order.side = OrderSide::Offer;
        order.operator = Some(Address::from_bytes([7; 20]));
        order.price_amount = Amount::from(10);
        assert_eq!(means_inquiries(Address::from_bytes([9; 20]), &order).len(), 2);
        let units =
            |balance: u64, allowance: u64| means(&order, &[Some(number(balance)), Some(number(allowance))]);
        assert_eq!(units(100, 25), Some(Amount::from(2)));
        assert_eq!(units(9, 100), Some(Amount::ZERO));
        assert_eq!(means(&order, &[Some(number(100)), None]), None);
        order.operator = None;
        assert_eq!(
            means_inquiries(Address::from_bytes([9; 20]), &order),
            [],
            "nobody knows who would take it"
        );
    }
}
