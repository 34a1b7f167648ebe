//! What the contract's logs state.

use alloy_primitives::{B256, U256};
use alloy_sol_types::{SolEvent as _, SolValue as _};
use bourse_market::facts::{Fact, Log, OrderFilled, OrderRef};
use bourse_wire::{Address, Amount, Marketplace, TokenId};

use super::abi::{EvCancel, EvInventory, Token, Units};
use crate::logs::{ScopedFact, address, each, read};
use crate::native::Word;
use crate::{LogError, Scope, Statement};

const MARKETPLACE: Marketplace = Marketplace::X2y2;
/// A listing or an offer was filled, in the words of the contract.
const COMPLETED: [u8; 2] = [1, 2];
/// An item was taken back.
const CANCELLED: u8 = 3;
/// Tokens of which there are many each.
const UNITS: u64 = 2;

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 2] = [EvInventory::SIGNATURE_HASH, EvCancel::SIGNATURE_HASH];

pub(super) fn decode(logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    each(logs, |log| Ok(finding(log)?.into_iter().collect()))
}

fn finding(log: &Log) -> Result<Option<ScopedFact>, LogError> {
    let Some(topic) = log.topics.first() else { return Ok(None) };
    Ok(match *topic {
        EvInventory::SIGNATURE_HASH => {
            let event: EvInventory = read(log)?;
            match event.detail.op {
                op if COMPLETED.contains(&op) => filled(&event),
                CANCELLED => Some(cancelled(event.itemHash)),
                _ => None,
            }
        }
        EvCancel::SIGNATURE_HASH => Some(cancelled(read::<EvCancel>(log)?.itemHash)),
        _ => None,
    })
}

fn cancelled(item: B256) -> ScopedFact {
    let order_id = Word(item).to_string();
    (Scope::EveryCollection, Fact::OrderCancelled { marketplace: MARKETPLACE, order_id })
}

/// A fill, when it is of one token: orders for several are not kept.
fn filled(event: &EvInventory) -> Option<ScopedFact> {
    // What is told at the fill of an offer for any token has been put in already.
    let data = &event.item.data;
    let (collection, token, quantity) = if event.delegateType.saturating_to::<u64>() == UNITS {
        let units = <Vec<Units>>::abi_decode(data).ok()?;
        let [Units { token, tokenId, amount }] = units.as_slice() else { return None };
        (*token, *tokenId, *amount)
    } else {
        let tokens = <Vec<Token>>::abi_decode(data).ok()?;
        let [Token { token, tokenId }] = tokens.as_slice() else { return None };
        (*token, *tokenId, U256::ONE)
    };
    let filled = OrderFilled {
        marketplace: MARKETPLACE,
        order_ref: OrderRef::Id(Word(event.itemHash).to_string()),
        taker: address(event.taker),
        recipient: Address::ZERO,
        token_id: Some(TokenId::from(token)),
        quantity: Amount::from(quantity),
        remaining: Some(Amount::ZERO),
    };
    Some((Scope::Collection(address(collection)), Fact::OrderFilled(Box::new(filled))))
}
