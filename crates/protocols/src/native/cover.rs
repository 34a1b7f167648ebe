//! Whether the maker of a listing lets the marketplace move the token, by the word of the collection.

use alloy_sol_types::sol;
use bourse_wire::{Address, OrderFacts, OrderSide};

use super::inquiry::{Answers, Inquiry, returned};

sol! {
    function isApprovedForAll(address owner, address operator) returns (bool isApproved);
    function getApproved(uint256 tokenId) returns (address operator);
}

/// What to ask of the collection of a listing. Of offers it is money that matters.
pub fn cover_inquiries(collection: Address, order: &OrderFacts) -> Vec<Inquiry> {
    let (OrderSide::Listing, Some(operator), Some(token)) = (order.side, order.operator, order.token_id)
    else {
        return Vec::new();
    };
    let of_all =
        isApprovedForAllCall { owner: order.maker.bytes().into(), operator: operator.bytes().into() };
    let of_token = getApprovedCall { tokenId: token.value() };
    vec![Inquiry::new(collection, &of_all), Inquiry::new(collection, &of_token)]
}

/// Whether a listing is covered, by what was answered to [`cover_inquiries`]; `None` when that does not tell.
pub fn is_covered(order: &OrderFacts, answers: Answers<'_>) -> Option<bool> {
    let of_all = returned::<isApprovedForAllCall>(answers, 0)?;
    // Collections with many of each token have no approvals of single ones.
    let of_token =
        returned::<getApprovedCall>(answers, 1).map(|operator| Address::from_bytes(operator.into()));
    Some(of_all || order.operator.is_some() && of_token == order.operator)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address as RawAddress, Bytes};
    use alloy_sol_types::SolValue as _;

    use super::*;
    use crate::testing::{admitted, case};

    #[test]
    fn either_approval_is_enough() {
        let operator = Address::from_bytes([7; 20]);
        let mut order = admitted(&case("seaport", "signed for mintify")).remove(0).facts;
        assert_eq!(order.side, OrderSide::Listing);
        order.operator = Some(operator);
        let asked = cover_inquiries(Address::from_bytes([9; 20]), &order);
        assert_eq!(asked.len(), 2);
        let covered = |all: Option<bool>, token: Option<u8>| {
            let all = all.map(|all| Bytes::from(all.abi_encode()));
            let token = token.map(|token| Bytes::from(RawAddress::repeat_byte(token).abi_encode()));
            is_covered(&order, &[all, token])
        };
        assert_eq!(covered(Some(true), Some(0)), Some(true));
        assert_eq!(covered(Some(true), None), Some(true));
        assert_eq!(covered(Some(false), Some(7)), Some(true));
        assert_eq!(covered(Some(false), Some(8)), Some(false));
        assert_eq!(covered(Some(false), None), Some(false));
        assert_eq!(covered(None, Some(7)), None, "it is no collection");
        assert_eq!(is_covered(&order, &[]), None);
        order.side = OrderSide::Offer;
        assert_eq!(cover_inquiries(Address::from_bytes([9; 20]), &order), []);
    }
}
