//! What the contracts' logs state.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderPublished, OrderRef};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, TokenId};

use super::Seaport;
use super::abi::{CounterIncremented, OrderCancelled, OrderFulfilled, OrderValidated};
use super::order::{Item, SeaportOrder};
use crate::logs::{MakerAccount, ScopedFact, address, each, read};
use crate::{LogError, Scope, Statement};

/// The first topics of the logs that [`decode`] reads.
pub(super) const TOPICS: [B256; 4] = [
    OrderValidated::SIGNATURE_HASH,
    OrderFulfilled::SIGNATURE_HASH,
    OrderCancelled::SIGNATURE_HASH,
    CounterIncremented::SIGNATURE_HASH,
];

/// Those of logs that tell of orders which nobody else tells of.
pub(super) const PUBLISHING: [B256; 1] = [OrderValidated::SIGNATURE_HASH];

pub(super) fn decode(seaport: &Seaport, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    each(logs, |log| Ok(finding(seaport, log)?.into_iter().collect()))
}

fn finding(seaport: &Seaport, log: &Log) -> Result<Option<ScopedFact>, LogError> {
    let Some(topic) = log.topics.first() else { return Ok(None) };
    let marketplace = seaport.marketplace;
    Ok(match *topic {
        OrderValidated::SIGNATURE_HASH => published(seaport, &read(log)?, U256::ZERO),
        OrderFulfilled::SIGNATURE_HASH => filled(&read(log)?, marketplace),
        OrderCancelled::SIGNATURE_HASH => {
            let event: OrderCancelled = read(log)?;
            let fact = Fact::OrderCancelled { marketplace, order_id: name(event.orderHash) };
            Some((Scope::EveryCollection, fact))
        }
        CounterIncremented::SIGNATURE_HASH => {
            let event: CounterIncremented = read(log)?;
            let (maker, numbers) = (address(event.offerer), Numbers::Below(event.newCounter));
            let account = MakerAccount { marketplace, contract: log.address, maker };
            Some(account.revoked(Series::Counter, numbers))
        }
        _ => None,
    })
}

/// An order that its maker had the contract take, if it was made with this counter, which its hash tells. What could not be
/// put here states nothing.
fn published(seaport: &Seaport, event: &OrderValidated, counter: U256) -> Option<ScopedFact> {
    let signed = SeaportOrder::published(&event.orderParameters, seaport.domain.contract, counter);
    if !is_ours(seaport, &signed) || signed.hash() != event.orderHash {
        return None;
    }
    let (collection, facts) = seaport.derive(&signed).ok()?;
    let order = OrderPublished { facts, native: signed.to_text(), nonces: seaport.nonces(&signed) };
    Some((Scope::Collection(collection), Fact::OrderPublished(Box::new(order))))
}

/// Several marketplaces may share a contract: an order is of the one whose conduit it goes through, or of the only one that
/// has none.
fn is_ours(seaport: &Seaport, signed: &SeaportOrder) -> bool {
    match seaport.conduits.as_slice() {
        [] => signed.conduit_key.0.is_zero(),
        conduits => conduits.iter().any(|conduit| conduit.key == signed.conduit_key.0),
    }
}

/// The collection and the maker of an order that a log tells of, when its maker has moved the counter: the log does not say
/// where to.
pub(super) fn of_unknown_counter(seaport: &Seaport, log: &Log) -> Option<(Address, Address)> {
    let event = validated(log)?;
    let signed = SeaportOrder::published(&event.orderParameters, seaport.domain.contract, U256::ZERO);
    if !is_ours(seaport, &signed) || signed.hash() == event.orderHash {
        return None;
    }
    let (collection, _) = seaport.derive(&signed).ok()?;
    Some((collection, signed.offerer))
}

/// What such a log states, when the order was made with this counter.
pub(super) fn of_counter(seaport: &Seaport, log: &Log, counter: U256) -> Option<Fact> {
    published(seaport, &validated(log)?, counter).map(|(_, fact)| fact)
}

fn validated(log: &Log) -> Option<OrderValidated> {
    let is_it = log.topics.first() == Some(&OrderValidated::SIGNATURE_HASH);
    if is_it { read(log).ok() } else { None }
}

/// A fill, when it is of one token: orders for several are not kept.
fn filled(event: &OrderFulfilled, marketplace: Marketplace) -> Option<ScopedFact> {
    let is_token = |item_type: u8| Item::of(item_type).is_some_and(|item| !item.is_money());
    let given = event.offer.iter().filter(|item| is_token(item.itemType));
    let given = given.map(|item| (OrderSide::Listing, item.token, item.identifier, item.amount));
    let asked = event.consideration.iter().filter(|item| is_token(item.itemType));
    let asked = asked.map(|item| (OrderSide::Offer, item.token, item.identifier, item.amount));
    let mut tokens = given.chain(asked);
    let (_, token, id, amount) = tokens.next().filter(|_| tokens.next().is_none())?;
    let taker = address(event.recipient);
    let filled = OrderFilled {
        marketplace,
        order_ref: OrderRef::Id(name(event.orderHash)),
        taker,
        recipient: Address::ZERO,
        token_id: Some(TokenId::from(id)),
        quantity: Amount::from(amount),
        remaining: None,
    };
    Some((Scope::Collection(address(token)), Fact::OrderFilled(Box::new(filled))))
}

/// The name of an order.
fn name(hash: B256) -> String {
    format!("0x{}", hex::encode(hash))
}
