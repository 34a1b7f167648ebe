//! What the contract's logs state.
//!
//! A sale names no order. Which one it was is told by the numbers that were used before it in the same transaction: of a
//! sale by itself the seller's last one, of several at once each seller's in their order. A number that was used is used
//! up, whether its token changed hands or not.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, TokenId};

use super::PaymentProcessorV1;
use super::abi::{
    BuySingleListing, MasterNonceInvalidated, NonceInvalidated, SweepCollectionERC721, SweepCollectionERC1155,
};
use super::order::number;
use crate::logs::{MakerAccount, address, found, read};
use crate::{LogError, Scope, Statement};

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 5] = [
    BuySingleListing::SIGNATURE_HASH,
    SweepCollectionERC721::SIGNATURE_HASH,
    SweepCollectionERC1155::SIGNATURE_HASH,
    NonceInvalidated::SIGNATURE_HASH,
    MasterNonceInvalidated::SIGNATURE_HASH,
];

pub(super) fn decode(processor: &PaymentProcessorV1, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    let (marketplace, contract) = (processor.marketplace, processor.domain.contract);
    let mut reading = Reading { marketplace, contract, used: Vec::new(), decoded: Vec::new() };
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
    marketplace: Marketplace,
    contract: Address,
    /// What was used, and not yet by a sale.
    used: Vec<UsedNonce>,
    decoded: Vec<Result<Statement, LogError>>,
}

/// A number that somebody used on a marketplace.
struct UsedNonce {
    place: usize,
    maker: Address,
    /// The address that the maker named as marketplace: numbers count for each apart.
    marketplace: Address,
    number: U256,
}

/// What sales have in common.
struct Sales {
    /// Place of the log.
    place: usize,
    turn: Turn,
    marketplace: Address,
    collection: Address,
    buyer: Address,
}

/// Units of a token that are sold.
struct Item {
    token: U256,
    quantity: U256,
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
                let (maker, marketplace) = (address(event.account), address(event.marketplace));
                let number = number(marketplace, event.nonce);
                let used = UsedNonce { place, maker, marketplace, number };
                if event.wasCancellation {
                    self.burn(place, &used);
                } else {
                    self.used.push(used);
                }
            }
            MasterNonceInvalidated::SIGNATURE_HASH => {
                let event: MasterNonceInvalidated = read(log)?;
                let (maker, numbers) = (address(event.account), Numbers::Exactly(event.nonce));
                let fact = self.account(maker).revoked(Series::Counter, numbers);
                self.decoded.push(Ok(found(place, fact)));
            }
            BuySingleListing::SIGNATURE_HASH => {
                let event: BuySingleListing = read(log)?;
                let sales = Sales {
                    place,
                    turn: Turn::Last,
                    marketplace: address(event.marketplace),
                    collection: address(event.tokenAddress),
                    buyer: address(event.buyer),
                };
                let (token, quantity) = (event.tokenId, event.amount);
                self.sale(&sales, address(event.seller), Some(&Item { token, quantity }));
            }
            SweepCollectionERC721::SIGNATURE_HASH => {
                let event: SweepCollectionERC721 = read(log)?;
                let one = SweepCollectionERC1155 {
                    marketplace: event.marketplace,
                    tokenAddress: event.tokenAddress,
                    paymentCoin: event.paymentCoin,
                    buyer: event.buyer,
                    unsuccessfulFills: event.unsuccessfulFills,
                    sellers: event.sellers,
                    amounts: vec![U256::ONE; event.tokenIds.len()],
                    tokenIds: event.tokenIds,
                    salePrices: event.salePrices,
                };
                self.sweep(place, &one);
            }
            SweepCollectionERC1155::SIGNATURE_HASH => {
                self.sweep(place, &read(log)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn sweep(&mut self, place: usize, event: &SweepCollectionERC1155) {
        let sales = Sales {
            place,
            turn: Turn::First,
            marketplace: address(event.marketplace),
            collection: address(event.tokenAddress),
            buyer: address(event.buyer),
        };
        let items =
            event.sellers.iter().zip(&event.tokenIds).zip(&event.amounts).zip(&event.unsuccessfulFills);
        for (((seller, token), quantity), failed) in items {
            let item = (!failed).then_some(Item { token: *token, quantity: *quantity });
            self.sale(&sales, address(*seller), item.as_ref());
        }
    }

    fn account(&self, maker: Address) -> MakerAccount {
        MakerAccount { marketplace: self.marketplace, contract: self.contract, maker }
    }

    /// A sale of units of a token, or of nothing when the seller no longer had it.
    fn sale(&mut self, sales: &Sales, seller: Address, item: Option<&Item>) {
        let is_it = |used: &UsedNonce| (used.maker, used.marketplace) == (seller, sales.marketplace);
        let used = match sales.turn {
            Turn::First => self.used.iter().position(is_it),
            Turn::Last => self.used.iter().rposition(is_it),
        };
        let Some(used) = used.map(|place| self.used.remove(place)) else { return };
        if let Some(&Item { token, quantity }) = item {
            let order_ref = self.account(seller).numbered(OrderSide::Listing, Series::Nonce, used.number);
            let filled = OrderFilled {
                marketplace: self.marketplace,
                order_ref,
                taker: sales.buyer,
                recipient: sales.buyer,
                token_id: Some(TokenId::from(token)),
                quantity: quantity.into(),
                remaining: Some(Amount::ZERO),
            };
            let fact = Fact::OrderFilled(Box::new(filled));
            self.decoded.push(Ok(found(sales.place, (Scope::Collection(sales.collection), fact))));
        }
        self.burn(sales.place, &used);
    }

    /// All orders with a number are over.
    fn burn(&mut self, place: usize, used: &UsedNonce) {
        let numbers = Numbers::Exactly(used.number);
        let fact = self.account(used.maker).revoked(Series::Nonce, numbers);
        self.decoded.push(Ok(found(place, fact)));
    }
}
