//! What goes to the makers of a token: as its own contract tells (ERC-2981), or as one of our own marketplaces pays it.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::{SolCall as _, sol};
use bourse_wire::{Address, Amount, TokenId};

use super::native::Inquiry;

sol! {
    function royaltyInfo(uint256 tokenId, uint256 salePrice) returns (address receiver, uint256 amount);

    /// What our own marketplaces pay, also for contracts that do not tell their royalties.
    function getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost)
        returns (address recipient, uint256 royalty);

    /// The most that what is left of an order may cost, and how many units that are. Only contracts that hold orders to the
    /// royalty of when they were made tell it: all others charge what holds when an order is filled.
    function royaltyLeft(uint256 requestId) returns (uint256 royalty, uint256 quantity);
}

/// What is sold where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sale {
    /// One of our own marketplaces, which knows royalties of collections that know of none.
    pub market: Address,
    /// Contract of the collection.
    pub collection: Address,
    /// The token.
    pub token_id: TokenId,
    /// For how much.
    pub price: Amount,
}

impl Sale {
    /// Asks the marketplace what of the price goes to the makers of the token; [`Royalty::read`] reads what is answered.
    pub fn inquiry(&self) -> Inquiry {
        let call = getRoyaltyInfoCall {
            tokenContract: self.collection.bytes().into(),
            tokenId: self.token_id.value(),
            cost: self.price.value(),
        };
        Inquiry::new(self.market, &call)
    }
}

/// What of a price goes to the makers of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Royalty {
    /// Who gets it.
    pub receiver: Address,
    /// How much.
    pub amount: Amount,
}

impl Royalty {
    /// What was answered; `None` when the contract knows of no such thing.
    pub fn read(answer: Option<&Bytes>) -> Option<Self> {
        let told = royaltyInfoCall::abi_decode_returns(answer?).ok()?;
        Some(Self { receiver: Address::from_bytes(told.receiver.into()), amount: told.amount.into() })
    }

    /// Whether it goes to nobody. Contracts that pay it all the same burn native money, and fail with any other.
    pub fn is_lost(&self) -> bool {
        self.receiver == Address::ZERO && self.amount != Amount::ZERO
    }
}

/// Asks what of a price goes to the makers of a token.
pub(super) fn ask(collection: Address, token: TokenId, price: U256) -> Inquiry {
    Inquiry::new(collection, &royaltyInfoCall { tokenId: token.value(), salePrice: price })
}

/// What somebody gets of a price; nothing when the contract knows of no such thing.
pub(super) fn paid(royalty: Option<Royalty>) -> Amount {
    royalty.filter(|royalty| !royalty.is_lost()).map_or(Amount::ZERO, |royalty| royalty.amount)
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
            Royalty::read(Some(&hex::decode(words).unwrap().into()))
        };
        assert_eq!(paid(told(1, 50)), 50.into());
        assert_eq!(paid(told(0, 50)), Amount::ZERO, "nobody gets it");
        assert!(told(0, 50).unwrap().is_lost() && !told(1, 50).unwrap().is_lost());
        assert!(!told(0, 0).unwrap().is_lost(), "nothing is lost");
        assert_eq!(Royalty::read(None), None);
        assert_eq!(Royalty::read(Some(&Bytes::new())), None);
    }

    #[test]
    fn our_own_marketplaces_are_asked_what_they_pay() {
        let [market, collection] = [0xa1, 0xc0].map(|byte| Address::from_bytes([byte; 20]));
        let sale = Sale { market, collection, token_id: TokenId::from(5), price: 1000.into() };
        let asked = sale.inquiry();
        assert_eq!(asked.to, market);
        let words = format!("36de9742{:0>64}{:064x}{:064x}", "c0".repeat(20), 5, 1000);
        assert_eq!(hex::encode(&asked.data), words);
    }
}
