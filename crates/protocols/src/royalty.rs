//! What goes to the makers of a token, as its own contract tells (ERC-2981).

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::{SolCall as _, sol};
use bourse_wire::{Address, Amount, TokenId};

use super::native::Inquiry;

sol! {
    function royaltyInfo(uint256 tokenId, uint256 salePrice) returns (address receiver, uint256 amount);
}

/// Asks what of a price goes to the makers of a token.
pub(super) fn ask(collection: Address, token: TokenId, price: U256) -> Inquiry {
    Inquiry::new(collection, &royaltyInfoCall { tokenId: token.value(), salePrice: price })
}

/// What was answered; nothing when the contract knows of no such thing.
pub fn read_royalty(answer: Option<&Bytes>) -> Amount {
    let told = answer.and_then(|answer| royaltyInfoCall::abi_decode_returns(answer).ok());
    told.filter(|told| !told.receiver.is_zero()).map_or(Amount::ZERO, |told| told.amount.into())
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;

    use super::*;

    #[test]
    fn royalties_are_asked_and_told_as_in_the_standard() {
        let collection = Address::from_bytes([0xc0; 20]);
        let asked = ask(collection, TokenId::from(5), U256::from(1000));
        assert_eq!(asked.to, collection);
        assert_eq!(hex::encode(&asked.data), format!("2a55205a{:064x}{:064x}", 5, 1000));
        let told = |receiver: u8, amount: u64| {
            let words = format!("{receiver:064x}{amount:064x}");
            read_royalty(Some(&hex::decode(words).unwrap().into()))
        };
        assert_eq!(told(1, 50), 50.into());
        assert_eq!(told(0, 50), Amount::ZERO, "nobody gets it");
        assert_eq!(read_royalty(None), Amount::ZERO);
        assert_eq!(read_royalty(Some(&Bytes::new())), Amount::ZERO);
    }
}
