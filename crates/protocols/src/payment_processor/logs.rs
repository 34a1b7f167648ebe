//! What the contracts' logs state.
//!
//! A sale names no order. Which one it was is told by another log, before it in the same transaction: that a number of the
//! maker was used, or that some of an order was. In version 2 the latter comes with the last part only; an earlier part
//! is known by its price alone. A number is used up in version 2 although its token could not be had: then a sale by itself
//! is of the number that was used last, while several that follow each other are of those before them, in their order. Where
//! more numbers were used than tokens sold, it may be another of them, which the token tells.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderRef};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, TokenId};

use super::PaymentProcessor;
use super::abi::{
    AcceptOfferERC721, AcceptOfferERC1155, BuyListingERC721, BuyListingERC1155, MasterNonceInvalidated,
    NonceInvalidated, NonceRestored, OrderDigestInvalidated, OrderDigestItemsFilled,
    OrderDigestItemsRestored,
};
use crate::logs::{MakerAccount, ScopedFact, address, found, read};
use crate::{LogError, Scope, Statement};

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 10] = [
    BuyListingERC721::SIGNATURE_HASH,
    BuyListingERC1155::SIGNATURE_HASH,
    AcceptOfferERC721::SIGNATURE_HASH,
    AcceptOfferERC1155::SIGNATURE_HASH,
    MasterNonceInvalidated::SIGNATURE_HASH,
    NonceInvalidated::SIGNATURE_HASH,
    NonceRestored::SIGNATURE_HASH,
    OrderDigestInvalidated::SIGNATURE_HASH,
    OrderDigestItemsFilled::SIGNATURE_HASH,
    OrderDigestItemsRestored::SIGNATURE_HASH,
];

pub(super) fn decode(processor: &PaymentProcessor, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    let (marketplace, contract) = (processor.marketplace, processor.domain.contract);
    let mut reading =
        Reading { marketplace, contract, used: Vec::new(), sales: Vec::new(), decoded: Vec::new() };
    for (place, log) in logs.iter().enumerate() {
        if let Err(error) = reading.read(place, log) {
            reading.decoded.push(Err(error));
        }
    }
    reading.finish()
}

/// The logs of one transaction.
struct Reading {
    marketplace: Marketplace,
    contract: Address,
    /// What was used, and not yet by a sale.
    used: Vec<UsedNonce>,
    /// Sales since anything was used, with the places of their logs.
    sales: Vec<(usize, Sale)>,
    decoded: Vec<Result<Statement, LogError>>,
}

/// Something of a maker that was used.
struct UsedNonce {
    place: usize,
    maker: Address,
    what: Token,
}

/// What tells which order is filled.
enum Token {
    /// A number.
    Nonce(U256),
    /// An order that is filled in parts.
    Part(B256),
    /// The same, whose last part this is.
    LastPart(B256),
}

/// A sale as a log has it.
struct Sale {
    side: OrderSide,
    maker: Address,
    taker: Address,
    recipient: Address,
    collection: Address,
    currency: Address,
    token: U256,
    quantity: U256,
    price: U256,
}

impl Reading {
    fn read(&mut self, place: usize, log: &Log) -> Result<(), LogError> {
        let Some(topic) = log.topics.first() else { return Ok(()) };
        match *topic {
            BuyListingERC721::SIGNATURE_HASH => {
                let event: BuyListingERC721 = read(log)?;
                self.sales.push((place, bought(&event, U256::ONE)));
            }
            BuyListingERC1155::SIGNATURE_HASH => {
                let event: BuyListingERC1155 = read(log)?;
                let one = BuyListingERC721 {
                    buyer: event.buyer,
                    seller: event.seller,
                    tokenAddress: event.tokenAddress,
                    beneficiary: event.beneficiary,
                    paymentCoin: event.paymentCoin,
                    tokenId: event.tokenId,
                    salePrice: event.salePrice,
                };
                self.sales.push((place, bought(&one, event.amount)));
            }
            AcceptOfferERC721::SIGNATURE_HASH => {
                let event: AcceptOfferERC721 = read(log)?;
                self.sales.push((place, sold(&event, U256::ONE)));
            }
            AcceptOfferERC1155::SIGNATURE_HASH => {
                let event: AcceptOfferERC1155 = read(log)?;
                let one = AcceptOfferERC721 {
                    seller: event.seller,
                    buyer: event.buyer,
                    tokenAddress: event.tokenAddress,
                    beneficiary: event.beneficiary,
                    paymentCoin: event.paymentCoin,
                    tokenId: event.tokenId,
                    salePrice: event.salePrice,
                };
                self.sales.push((place, sold(&one, event.amount)));
            }
            _ => {
                self.settle();
                self.read_numbers(place, log, *topic)?;
            }
        }
        Ok(())
    }

    fn read_numbers(&mut self, place: usize, log: &Log, topic: B256) -> Result<(), LogError> {
        match topic {
            MasterNonceInvalidated::SIGNATURE_HASH => {
                let event: MasterNonceInvalidated = read(log)?;
                let (maker, numbers) = (address(event.account), Numbers::Exactly(event.nonce));
                self.state(place, self.account(maker).revoked(Series::Counter, numbers));
            }
            NonceInvalidated::SIGNATURE_HASH => {
                let event: NonceInvalidated = read(log)?;
                let maker = address(event.account);
                if event.wasCancellation {
                    self.burn(place, maker, event.nonce);
                } else {
                    self.used.push(UsedNonce { place, maker, what: Token::Nonce(event.nonce) });
                }
            }
            NonceRestored::SIGNATURE_HASH => {
                let event: NonceRestored = read(log)?;
                let maker = address(event.account);
                let is_it = |used: &UsedNonce| {
                    used.maker == maker && matches!(used.what, Token::Nonce(nonce) if nonce == event.nonce)
                };
                self.used.retain(|used| !is_it(used));
            }
            OrderDigestInvalidated::SIGNATURE_HASH => {
                let event: OrderDigestInvalidated = read(log)?;
                let (maker, digest) = (address(event.account), event.orderDigest);
                if event.wasCancellation {
                    let order_id = name(digest);
                    let fact = Fact::OrderCancelled { marketplace: self.marketplace, order_id };
                    self.state(place, (Scope::EveryCollection, fact));
                } else {
                    self.use_part(UsedNonce { place, maker, what: Token::LastPart(digest) });
                }
            }
            OrderDigestItemsFilled::SIGNATURE_HASH => {
                let event: OrderDigestItemsFilled = read(log)?;
                let what = Token::Part(event.orderDigest);
                self.use_part(UsedNonce { place, maker: address(event.account), what });
            }
            OrderDigestItemsRestored::SIGNATURE_HASH => {
                let event: OrderDigestItemsRestored = read(log)?;
                let maker = address(event.account);
                self.used.retain(|used| used.maker != maker || used.digest() != Some(event.orderDigest));
            }
            _ => {}
        }
        Ok(())
    }

    /// Remembers that a part of an order was used. Two logs may tell of one part, of which the last part tells more.
    fn use_part(&mut self, used: UsedNonce) {
        let digest = used.digest();
        let known = self.used.iter_mut().find(|known| known.maker == used.maker && known.digest() == digest);
        match (known, &used.what) {
            (Some(known), Token::LastPart(_)) => *known = used,
            (Some(_), _) => {}
            (None, _) => self.used.push(used),
        }
    }

    /// Finds what the last sales used.
    fn settle(&mut self) {
        let sales = std::mem::take(&mut self.sales);
        let is_alone = sales.len() == 1;
        for (place, sale) in &sales {
            self.sale(*place, sale, is_alone);
        }
    }

    fn sale(&mut self, place: usize, sale: &Sale, is_alone: bool) {
        let is_own = |used: &UsedNonce| used.maker == sale.maker;
        let used =
            if is_alone { self.used.iter().rposition(is_own) } else { self.used.iter().position(is_own) };
        let used = used.map(|place| self.used.remove(place).what);
        let (order_ref, remaining) = match &used {
            Some(Token::Nonce(number)) => (self.numbered(sale, *number), Some(Amount::ZERO)),
            Some(Token::LastPart(digest)) => (OrderRef::Id(name(*digest)), Some(Amount::ZERO)),
            Some(Token::Part(digest)) => (OrderRef::Id(name(*digest)), None),
            None => {
                let (maker, side, currency) = (sale.maker, sale.side, sale.currency);
                (
                    OrderRef::Priced {
                        contract: self.contract,
                        maker,
                        side,
                        currency,
                        price: sale.price.into(),
                    },
                    None,
                )
            }
        };
        let filled = OrderFilled {
            marketplace: self.marketplace,
            order_ref,
            taker: sale.taker,
            recipient: sale.recipient,
            token_id: Some(TokenId::from(sale.token)),
            quantity: sale.quantity.into(),
            remaining,
        };
        self.state(place, (Scope::Collection(sale.collection), Fact::OrderFilled(Box::new(filled))));
        if let Some(Token::Nonce(number)) = used {
            self.burn(place, sale.maker, number);
        }
    }

    /// The order of a sale by a number. Others of the maker that were used before it may be its own: those of which tokens
    /// could not be had leave no trace but their numbers.
    fn numbered(&self, sale: &Sale, number: U256) -> OrderRef {
        let used = self.used.iter().filter(|used| used.maker == sale.maker);
        let others = used.filter_map(|used| match used.what {
            Token::Nonce(number) => Some(number),
            Token::Part(_) | Token::LastPart(_) => None,
        });
        OrderRef::Numbered {
            contract: self.contract,
            maker: sale.maker,
            side: sale.side,
            series: Series::Nonce,
            number,
            others: others.collect(),
        }
    }

    /// All orders with a number are over.
    fn burn(&mut self, place: usize, maker: Address, number: U256) {
        self.state(place, self.account(maker).revoked(Series::Nonce, Numbers::Exactly(number)));
    }

    fn account(&self, maker: Address) -> MakerAccount {
        MakerAccount { marketplace: self.marketplace, contract: self.contract, maker }
    }

    fn state(&mut self, place: usize, fact: ScopedFact) {
        self.decoded.push(Ok(found(place, fact)));
    }

    /// What the logs state. A number may be used up although nothing was sold.
    fn finish(mut self) -> Vec<Result<Statement, LogError>> {
        self.settle();
        for UsedNonce { place, maker, what } in std::mem::take(&mut self.used) {
            if let Token::Nonce(number) = what {
                self.burn(place, maker, number);
            }
        }
        self.decoded
    }
}

impl UsedNonce {
    fn digest(&self) -> Option<B256> {
        match self.what {
            Token::Part(digest) | Token::LastPart(digest) => Some(digest),
            Token::Nonce(_) => None,
        }
    }
}

fn bought(event: &BuyListingERC721, quantity: U256) -> Sale {
    Sale {
        side: OrderSide::Listing,
        maker: address(event.seller),
        taker: address(event.buyer),
        recipient: address(event.beneficiary),
        collection: address(event.tokenAddress),
        currency: address(event.paymentCoin),
        token: event.tokenId,
        quantity,
        price: event.salePrice,
    }
}

fn sold(event: &AcceptOfferERC721, quantity: U256) -> Sale {
    Sale {
        side: OrderSide::Offer,
        maker: address(event.buyer),
        taker: address(event.seller),
        recipient: address(event.seller),
        collection: address(event.tokenAddress),
        currency: address(event.paymentCoin),
        token: event.tokenId,
        quantity,
        price: event.salePrice,
    }
}

fn name(digest: B256) -> String {
    format!("0x{}", hex::encode(digest))
}
