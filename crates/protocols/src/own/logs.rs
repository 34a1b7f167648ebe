//! What the contracts' logs state.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderMade, Which};
use bourse_wire::{Amount, Marketplace, OrderSide, Timestamp, TokenId};

use super::abi::{
    RequestAccepted, RequestCancelled, RequestCreated, RequestsInvalidated_0 as AllInvalidated,
    RequestsInvalidated_1 as SomeInvalidated,
};
use crate::logs::{address, read};
use crate::{Concerns, Decoded, LogError};

/// The first topics of the logs that [`decode`] reads.
pub const TOPICS: [B256; 5] = [
    RequestCreated::SIGNATURE_HASH,
    RequestAccepted::SIGNATURE_HASH,
    RequestCancelled::SIGNATURE_HASH,
    AllInvalidated::SIGNATURE_HASH,
    SomeInvalidated::SIGNATURE_HASH,
];

/// Reads a log that one of the contracts wrote; `None` when it is about something else than orders.
///
/// The two versions write the same logs: which of them wrote one follows from the address alone, so the caller says it.
pub fn decode(log: &Log, marketplace: Marketplace) -> Result<Option<Decoded>, LogError> {
    let Some(topic) = log.topics.first() else { return Ok(None) };
    let decoded = match *topic {
        RequestCreated::SIGNATURE_HASH => made(log, &read(log)?, marketplace),
        RequestAccepted::SIGNATURE_HASH => filled(&read(log)?, marketplace),
        RequestCancelled::SIGNATURE_HASH => cancelled(&read(log)?, marketplace),
        AllInvalidated::SIGNATURE_HASH => {
            let event: AllInvalidated = read(log)?;
            let fact = invalidated(event.creator, event.invalidatedBefore, marketplace);
            Decoded { place: 0, concerns: Concerns::EveryCollection, fact }
        }
        SomeInvalidated::SIGNATURE_HASH => {
            let event: SomeInvalidated = read(log)?;
            let fact = invalidated(event.creator, event.invalidatedBefore, marketplace);
            of_collection(event.tokenContract, fact)
        }
        _ => return Ok(None),
    };
    Ok(Some(decoded))
}

fn made(log: &Log, event: &RequestCreated, marketplace: Marketplace) -> Decoded {
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
    of_collection(event.tokenContract, Fact::OrderMade(Box::new(order)))
}

fn filled(event: &RequestAccepted, marketplace: Marketplace) -> Decoded {
    let filled = OrderFilled {
        marketplace,
        which: Which::Id(event.requestId.to_string()),
        taker: address(event.buyer),
        recipient: address(event.recipient),
        token_id: None,
        quantity: Amount::from(event.quantity),
        remaining: Some(Amount::from(event.quantityRemaining)),
    };
    of_collection(event.tokenContract, Fact::OrderFilled(Box::new(filled)))
}

fn cancelled(event: &RequestCancelled, marketplace: Marketplace) -> Decoded {
    let fact = Fact::OrderCancelled { marketplace, order_id: event.requestId.to_string() };
    of_collection(event.tokenContract, fact)
}

fn invalidated(creator: alloy_primitives::Address, below: U256, marketplace: Marketplace) -> Fact {
    Fact::OrdersInvalidated { marketplace, maker: address(creator), below }
}

fn of_collection(contract: alloy_primitives::Address, fact: Fact) -> Decoded {
    Decoded { place: 0, concerns: Concerns::Collection(address(contract)), fact }
}
