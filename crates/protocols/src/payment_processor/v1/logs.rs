//! What the contract's logs state.
//!
//! A sale names no order. Which one it was is told by the numbers that were used before it in the same transaction: of a
//! sale by itself the seller's last one, of several at once each seller's in their order. A number that was used is used
//! up, whether its token changed hands or not.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, Which};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, TokenId};

use super::abi::{
    BuySingleListing, MasterNonceInvalidated, NonceInvalidated, SweepCollectionERC721, SweepCollectionERC1155,
};
use super::order::number;
use crate::logs::{address, found, read, revoked};
use crate::{LogError, Scope, Statement};

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 5] = [
    BuySingleListing::SIGNATURE_HASH,
    SweepCollectionERC721::SIGNATURE_HASH,
    SweepCollectionERC1155::SIGNATURE_HASH,
    NonceInvalidated::SIGNATURE_HASH,
    MasterNonceInvalidated::SIGNATURE_HASH,
];

pub(super) fn decode(logs: &[&Log], place: (Marketplace, Address)) -> Vec<Result<Statement, LogError>> {
    let mut reading = Reading { place, used: Vec::new(), decoded: Vec::new() };
    for (place, log) in logs.iter().enumerate() {
        if let Err(error) = reading.read(place, log) {
            reading.decoded.push(Err(error));
        }
    }
    for used in std::mem::take(&mut reading.used) {
        reading.burn(used.place, &used);
    }
    reading.decoded
}

/// The logs of one transaction.
struct Reading {
    /// The marketplace and its contract.
    place: (Marketplace, Address),
    /// What was used, and not yet by a sale.
    used: Vec<Used>,
    decoded: Vec<Result<Statement, LogError>>,
}

/// A number that somebody used on a marketplace.
struct Used {
    place: usize,
    who: (Address, Address),
    number: U256,
}

/// What sales have in common.
struct Sales {
    marketplace: Address,
    collection: Address,
    buyer: Address,
}

/// Of several numbers of one seller, which a sale used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Last,
}

impl Reading {
    fn read(&mut self, place: usize, log: &Log) -> Result<(), LogError> {
        let Some(topic) = log.topics.first() else { return Ok(()) };
        match *topic {
            NonceInvalidated::SIGNATURE_HASH => {
                let event: NonceInvalidated = read(log)?;
                let who = (address(event.account), address(event.marketplace));
                let used = Used { place, who, number: number(who.1, event.nonce) };
                if event.wasCancellation {
                    self.burn(place, &used);
                } else {
                    self.used.push(used);
                }
            }
            MasterNonceInvalidated::SIGNATURE_HASH => {
                let event: MasterNonceInvalidated = read(log)?;
                let (maker, numbers) = (address(event.account), Numbers::Exactly(event.nonce));
                let finding = revoked(self.place, maker, Series::Counter, numbers);
                self.decoded.push(Ok(found(place, finding)));
            }
            BuySingleListing::SIGNATURE_HASH => {
                let event: BuySingleListing = read(log)?;
                let sales = sales(event.marketplace, event.tokenAddress, event.buyer);
                let item = Some((event.tokenId, event.amount));
                self.sale((place, Turn::Last), &sales, address(event.seller), item);
            }
            SweepCollectionERC721::SIGNATURE_HASH => {
                let event: SweepCollectionERC721 = read(log)?;
                let sales = sales(event.marketplace, event.tokenAddress, event.buyer);
                let amounts = vec![U256::ONE; event.tokenIds.len()];
                let items = (event.sellers.as_slice(), event.tokenIds.as_slice(), amounts.as_slice());
                self.sweep(place, &sales, &event.unsuccessfulFills, items);
            }
            SweepCollectionERC1155::SIGNATURE_HASH => {
                let event: SweepCollectionERC1155 = read(log)?;
                let sales = sales(event.marketplace, event.tokenAddress, event.buyer);
                let items = (event.sellers.as_slice(), event.tokenIds.as_slice(), event.amounts.as_slice());
                self.sweep(place, &sales, &event.unsuccessfulFills, items);
            }
            _ => {}
        }
        Ok(())
    }

    fn sweep(
        &mut self,
        place: usize,
        sales: &Sales,
        failed: &[bool],
        (sellers, tokens, amounts): (&[alloy_primitives::Address], &[U256], &[U256]),
    ) {
        let items = sellers.iter().zip(tokens).zip(amounts).zip(failed);
        for (((seller, token), amount), failed) in items {
            let item = (!failed).then_some((*token, *amount));
            self.sale((place, Turn::First), sales, address(*seller), item);
        }
    }

    /// A sale of units of a token, or of nothing when the seller no longer had it.
    fn sale(
        &mut self,
        (place, turn): (usize, Turn),
        sales: &Sales,
        seller: Address,
        item: Option<(U256, U256)>,
    ) {
        let is_it = |used: &Used| used.who == (seller, sales.marketplace);
        let used = match turn {
            Turn::First => self.used.iter().position(is_it),
            Turn::Last => self.used.iter().rposition(is_it),
        };
        let Some(used) = used.map(|place| self.used.remove(place)) else { return };
        if let Some((token, quantity)) = item {
            let which = Which::Numbered {
                contract: self.place.1,
                maker: seller,
                side: OrderSide::Listing,
                series: Series::Nonce,
                number: used.number,
            };
            let filled = OrderFilled {
                marketplace: self.place.0,
                which,
                taker: sales.buyer,
                recipient: sales.buyer,
                token_id: Some(TokenId::from(token)),
                quantity: quantity.into(),
                remaining: Some(Amount::ZERO),
            };
            let fact = Fact::OrderFilled(Box::new(filled));
            self.decoded.push(Ok(found(place, (Scope::Collection(sales.collection), fact))));
        }
        self.burn(place, &used);
    }

    /// All orders with a number are over.
    fn burn(&mut self, place: usize, used: &Used) {
        let numbers = Numbers::Exactly(used.number);
        let finding = revoked(self.place, used.who.0, Series::Nonce, numbers);
        self.decoded.push(Ok(found(place, finding)));
    }
}

fn sales(
    marketplace: alloy_primitives::Address,
    collection: alloy_primitives::Address,
    buyer: alloy_primitives::Address,
) -> Sales {
    let (marketplace, collection) = (address(marketplace), address(collection));
    Sales { marketplace, collection, buyer: address(buyer) }
}
