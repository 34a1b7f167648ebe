//! What the contract's logs state.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderPublished};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, TokenId};

use super::Zerox;
use super::abi::{
    ERC721OrderCancelled, ERC721OrderFilled, ERC721OrderPreSigned, ERC1155OrderCancelled, ERC1155OrderFilled,
    ERC1155OrderPreSigned,
};
use super::order::ZeroxOrder;
use crate::logs::{MakerAccount, ScopedFact, address, each, read};
use crate::{LogError, Scope, Statement};

const MARKETPLACE: Marketplace = Marketplace::Zerox;

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 6] = [
    ERC721OrderPreSigned::SIGNATURE_HASH,
    ERC1155OrderPreSigned::SIGNATURE_HASH,
    ERC721OrderFilled::SIGNATURE_HASH,
    ERC1155OrderFilled::SIGNATURE_HASH,
    ERC721OrderCancelled::SIGNATURE_HASH,
    ERC1155OrderCancelled::SIGNATURE_HASH,
];

/// Those of logs that tell of orders which nobody else tells of.
pub(super) const PUBLISHING: [B256; 2] =
    [ERC721OrderPreSigned::SIGNATURE_HASH, ERC1155OrderPreSigned::SIGNATURE_HASH];

pub(super) fn decode(zerox: &Zerox, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    each(logs, |log| findings(zerox, log))
}

/// An order that its maker signed on the chain. What could not be put here states nothing.
fn published(zerox: &Zerox, signed: &ZeroxOrder) -> Vec<ScopedFact> {
    let Ok((collection, facts, _)) = zerox.derive(signed) else { return Vec::new() };
    let order = OrderPublished { facts, native: signed.to_text(), nonces: zerox.nonces(signed) };
    vec![(Scope::Collection(collection), Fact::OrderPublished(Box::new(order)))]
}

fn findings(zerox: &Zerox, log: &Log) -> Result<Vec<ScopedFact>, LogError> {
    let Some(topic) = log.topics.first() else { return Ok(Vec::new()) };
    Ok(match *topic {
        ERC721OrderPreSigned::SIGNATURE_HASH => {
            published(zerox, &ZeroxOrder::of_one(&read(log)?, log.address))
        }
        ERC1155OrderPreSigned::SIGNATURE_HASH => {
            published(zerox, &ZeroxOrder::of_units(&read(log)?, log.address))
        }
        ERC721OrderFilled::SIGNATURE_HASH => {
            let event: ERC721OrderFilled = read(log)?;
            let account = account(log, event.maker);
            let filled = OrderFilled {
                marketplace: MARKETPLACE,
                order_ref: account.numbered(side(event.direction), Series::Nonce, event.nonce),
                taker: address(event.taker),
                recipient: Address::ZERO,
                token_id: Some(TokenId::from(event.erc721TokenId)),
                quantity: Amount::from(1),
                remaining: Some(Amount::ZERO),
            };
            let collection = Scope::Collection(address(event.erc721Token));
            // Other orders with the same number can no longer be filled.
            vec![
                (collection, Fact::OrderFilled(Box::new(filled))),
                account.revoked(Series::Nonce, Numbers::Exactly(event.nonce)),
            ]
        }
        ERC1155OrderFilled::SIGNATURE_HASH => {
            let event: ERC1155OrderFilled = read(log)?;
            let filled = OrderFilled {
                marketplace: MARKETPLACE,
                order_ref: account(log, event.maker).numbered(
                    side(event.direction),
                    Series::UnitsNonce,
                    event.nonce,
                ),
                taker: address(event.taker),
                recipient: Address::ZERO,
                token_id: Some(TokenId::from(event.erc1155TokenId)),
                quantity: Amount::from(U256::from(event.erc1155FillAmount)),
                remaining: None,
            };
            let collection = Scope::Collection(address(event.erc1155Token));
            vec![(collection, Fact::OrderFilled(Box::new(filled)))]
        }
        ERC721OrderCancelled::SIGNATURE_HASH => {
            let event: ERC721OrderCancelled = read(log)?;
            vec![account(log, event.maker).revoked(Series::Nonce, Numbers::Exactly(event.nonce))]
        }
        ERC1155OrderCancelled::SIGNATURE_HASH => {
            let event: ERC1155OrderCancelled = read(log)?;
            vec![account(log, event.maker).revoked(Series::UnitsNonce, Numbers::Exactly(event.nonce))]
        }
        _ => Vec::new(),
    })
}

fn account(log: &Log, maker: alloy_primitives::Address) -> MakerAccount {
    MakerAccount { marketplace: MARKETPLACE, contract: log.address, maker: address(maker) }
}

fn side(direction: u8) -> OrderSide {
    if direction == 0 { OrderSide::Listing } else { OrderSide::Offer }
}
