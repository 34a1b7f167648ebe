//! What the contract's logs state.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderRef};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, TokenId};

use super::abi::{
    CancelTrade, Execution, Execution721MakerFeePacked, Execution721Packed, Execution721TakerFeePacked,
    NonceIncremented,
};
use super::order::name;
use crate::logs::{MakerAccount, ScopedFact, address, each, read};
use crate::{LogError, Scope, Statement};

const MARKETPLACE: Marketplace = Marketplace::Blur;

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 6] = [
    Execution721Packed::SIGNATURE_HASH,
    Execution721TakerFeePacked::SIGNATURE_HASH,
    Execution721MakerFeePacked::SIGNATURE_HASH,
    Execution::SIGNATURE_HASH,
    CancelTrade::SIGNATURE_HASH,
    NonceIncremented::SIGNATURE_HASH,
];

pub(super) fn decode(logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    each(logs, |log| Ok(finding(log)?.into_iter().collect()))
}

fn finding(log: &Log) -> Result<Option<ScopedFact>, LogError> {
    let Some(topic) = log.topics.first() else { return Ok(None) };
    Ok(match *topic {
        Execution721Packed::SIGNATURE_HASH => {
            let event: Execution721Packed = read(log)?;
            packed(event.orderHash, event.tokenIdListingIndexTrader, event.collectionPriceSide)
        }
        Execution721TakerFeePacked::SIGNATURE_HASH => {
            let event: Execution721TakerFeePacked = read(log)?;
            packed(event.orderHash, event.tokenIdListingIndexTrader, event.collectionPriceSide)
        }
        Execution721MakerFeePacked::SIGNATURE_HASH => {
            let event: Execution721MakerFeePacked = read(log)?;
            packed(event.orderHash, event.tokenIdListingIndexTrader, event.collectionPriceSide)
        }
        Execution::SIGNATURE_HASH => {
            let event: Execution = read(log)?;
            let collection = address(event.transfer.collection);
            let id = name(event.orderHash, event.listingIndex);
            (event.orderType == 0).then(|| filled(id, collection, event.transfer.id, event.transfer.amount))
        }
        CancelTrade::SIGNATURE_HASH => {
            let event: CancelTrade = read(log)?;
            let order_id = name(event.hash, event.index);
            Some((Scope::EveryCollection, Fact::OrderCancelled { marketplace: MARKETPLACE, order_id }))
        }
        NonceIncremented::SIGNATURE_HASH => {
            let event: NonceIncremented = read(log)?;
            let numbers = Numbers::Below(event.newNonce);
            let (marketplace, contract, maker) = (MARKETPLACE, log.address, address(event.user));
            Some(MakerAccount { marketplace, contract, maker }.revoked(Series::Counter, numbers))
        }
        _ => None,
    })
}

/// A fill of a listing, from words that hold several numbers: of the first the token, the place of the listing and the
/// maker, of the second the side, the price and the collection. Bids are not kept.
fn packed(order: B256, token: U256, collection: U256) -> Option<ScopedFact> {
    let is_bid = (collection >> 248_usize) != U256::ZERO;
    let index = (token >> 160_usize) & U256::from(u8::MAX);
    let [low_0, low_1, low_2, _] = collection.into_limbs();
    let contract = U256::from_limbs([low_0, low_1, low_2 & u64::from(u32::MAX), 0]);
    let contract = Address::from_bytes(alloy_primitives::Address::from_word(contract.into()).into_array());
    (!is_bid).then(|| filled(name(order, index), contract, token >> 168_usize, U256::ONE))
}

/// Nobody tells who filled it; the transfer of the token does.
fn filled(order_id: String, collection: Address, token: U256, quantity: U256) -> ScopedFact {
    let filled = OrderFilled {
        marketplace: MARKETPLACE,
        order_ref: OrderRef::Id(order_id),
        taker: Address::ZERO,
        recipient: Address::ZERO,
        token_id: Some(TokenId::from(token)),
        quantity: Amount::from(quantity),
        remaining: None,
    };
    (Scope::Collection(collection), Fact::OrderFilled(Box::new(filled)))
}
