//! What the contracts' logs state.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderMade, OrderRef};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, Timestamp, TokenId};

use super::Own;
use super::abi::{
    CustomRoyaltyChanged, RequestAccepted, RequestCancelled, RequestCreated,
    RequestsInvalidated_0 as AllInvalidated, RequestsInvalidated_1 as SomeInvalidated,
};
use crate::logs::{ScopedFact, address, each, read};
use crate::{LogError, Scope, Statement, TopicFilter};

/// The first topics of the logs that are read.
pub const TOPICS: [B256; 6] = [
    RequestCreated::SIGNATURE_HASH,
    RequestAccepted::SIGNATURE_HASH,
    RequestCancelled::SIGNATURE_HASH,
    AllInvalidated::SIGNATURE_HASH,
    SomeInvalidated::SIGNATURE_HASH,
    CustomRoyaltyChanged::SIGNATURE_HASH,
];

/// The two versions write the same logs: which of them wrote one follows from its address alone.
pub(super) fn decode(own: &Own, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
    each(logs, |log| Ok(finding(log, own.marketplace)?.into_iter().collect()))
}

fn finding(log: &Log, marketplace: Marketplace) -> Result<Option<ScopedFact>, LogError> {
    let Some(topic) = log.topics.first() else { return Ok(None) };
    Ok(Some(match *topic {
        RequestCreated::SIGNATURE_HASH => made(log, &read(log)?, marketplace),
        RequestAccepted::SIGNATURE_HASH => filled(&read(log)?, marketplace),
        RequestCancelled::SIGNATURE_HASH => cancelled(&read(log)?, marketplace),
        AllInvalidated::SIGNATURE_HASH => {
            let event: AllInvalidated = read(log)?;
            let fact = invalidated(event.creator, event.invalidatedBefore, marketplace);
            (Scope::EveryCollection, fact)
        }
        SomeInvalidated::SIGNATURE_HASH => {
            let event: SomeInvalidated = read(log)?;
            let fact = invalidated(event.creator, event.invalidatedBefore, marketplace);
            (Scope::Collection(address(event.tokenContract)), fact)
        }
        CustomRoyaltyChanged::SIGNATURE_HASH => {
            let event: CustomRoyaltyChanged = read(log)?;
            (Scope::Collection(address(event.tokenContract)), Fact::RoyaltiesChanged)
        }
        _ => return Ok(None),
    }))
}

/// The contracts name a collection in a topic, but not always in the same one. How royalties changed in the past is of no
/// interest: they are asked for as they are.
pub(super) fn collection_topics(collection: Address) -> Vec<TopicFilter> {
    let mut word = [0; 32];
    word[12..].copy_from_slice(collection.bytes());
    let named = vec![B256::from(word)];
    let [made, filled, cancelled, all_invalidated, some_invalidated, _] = TOPICS;
    vec![
        vec![vec![made, filled], vec![], vec![], named.clone()],
        vec![vec![cancelled, some_invalidated], vec![], named],
        vec![vec![all_invalidated]],
    ]
}

fn made(log: &Log, event: &RequestCreated, marketplace: Marketplace) -> ScopedFact {
    let order = OrderMade {
        marketplace,
        order_id: event.requestId.to_string(),
        side: if event.isListing { OrderSide::Listing } else { OrderSide::Offer },
        maker: address(event.creator),
        operator: log.address,
        token_id: Some(TokenId::from(event.tokenId)),
        quantity: Amount::from(event.quantity),
        price_amount: Amount::from(event.pricePerToken),
        currency: address(event.currency),
        valid_until: Timestamp::from_unix_seconds(event.expiry.saturating_to()),
        fees: Vec::new(),
    };
    (Scope::Collection(address(event.tokenContract)), Fact::OrderMade(Box::new(order)))
}

fn filled(event: &RequestAccepted, marketplace: Marketplace) -> ScopedFact {
    let filled = OrderFilled {
        marketplace,
        order_ref: OrderRef::Id(event.requestId.to_string()),
        taker: address(event.buyer),
        recipient: address(event.recipient),
        token_id: None,
        quantity: Amount::from(event.quantity),
        remaining: Some(Amount::from(event.quantityRemaining)),
    };
    (Scope::Collection(address(event.tokenContract)), Fact::OrderFilled(Box::new(filled)))
}

fn cancelled(event: &RequestCancelled, marketplace: Marketplace) -> ScopedFact {
    let fact = Fact::OrderCancelled { marketplace, order_id: event.requestId.to_string() };
    (Scope::Collection(address(event.tokenContract)), fact)
}

fn invalidated(creator: alloy_primitives::Address, below: U256, marketplace: Marketplace) -> Fact {
    Fact::OrdersInvalidated { marketplace, maker: address(creator), below }
}
