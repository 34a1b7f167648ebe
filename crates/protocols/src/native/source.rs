//! Whoever keeps signatures for a marketplace: what they are asked, and what they answer.
//!
//! What comes back is never passed on as it is. It is taken apart, compared with what was asked for, and either put into a
//! call that is made here, or refused.

use alloy_primitives::{Bytes, U256};
use bourse_wire::{Address, ChainId, OrderSide};
use serde_json::{Value, json};

use super::values::{Data, Number};
use crate::Fill;

/// The form of an interface that fills are agreed to through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// OpenSea's own.
    OpenSea,
    /// That of Reservoir, which others kept.
    Reservoir,
    /// X2Y2's own.
    X2y2,
    /// Blur's own, for people who log in.
    Blur,
}

/// A question, which is sent with POST.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRequest {
    /// Where, below the address of the source.
    pub path: String,
    /// What goes with it beside the key.
    pub headers: Vec<(&'static str, String)>,
    /// The question.
    pub body: Value,
}

/// Why an answer is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceFault {
    /// Something is not there.
    #[error("the answer has no {member} that can be used")]
    Missing {
        /// What.
        member: &'static str,
    },
    /// It is about something else than what was asked.
    #[error("the answer is for another {what}: {found}, where {wanted} was asked for")]
    Other {
        /// What is not the same.
        what: &'static str,
        /// What there is.
        found: String,
        /// What there should be.
        wanted: String,
    },
    /// It was good for a while, which is over.
    #[error("the answer was good until {until} (seconds of Unix time), which is over: ask again")]
    Expired {
        /// When it ended.
        until: U256,
    },
    /// The marketplace does not agree.
    #[error("the marketplace does not agree: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
}

/// A transaction that a source proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProposedCall {
    pub(crate) to: Address,
    pub(crate) data: Bytes,
    pub(crate) value: U256,
}

impl Api {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenSea => "OpenSea",
            Self::Reservoir => "Reservoir",
            Self::X2y2 => "X2Y2",
            Self::Blur => "Blur",
        }
    }

    /// The header that the key goes in.
    pub fn key_header(self) -> &'static str {
        match self {
            Self::OpenSea | Self::Reservoir | Self::X2y2 | Self::Blur => "x-api-key",
        }
    }
}

impl SourceRequest {
    pub(crate) fn new(path: impl Into<String>, body: Value) -> Self {
        Self { path: path.into(), headers: Vec::new(), body }
    }
}

/// Refuses an answer for something else.
pub(crate) fn same<T: PartialEq + std::fmt::Display>(
    what: &'static str,
    found: &T,
    wanted: &T,
) -> Result<(), SourceFault> {
    if found == wanted {
        return Ok(());
    }
    Err(SourceFault::Other { what, found: found.to_string(), wanted: wanted.to_string() })
}

/// A member of an answer, by its path.
pub(crate) fn member<'a>(answer: &'a Value, path: &'static str) -> Result<&'a Value, SourceFault> {
    answer.pointer(path).filter(|value| !value.is_null()).ok_or(SourceFault::Missing { member: path })
}

/// Data in an answer.
pub(crate) fn data(answer: &Value, path: &'static str) -> Result<Bytes, SourceFault> {
    let text = member(answer, path)?.as_str();
    let bytes = text.and_then(|text| text.parse::<Data>().ok());
    bytes.map(|data| data.0).ok_or(SourceFault::Missing { member: path })
}

/// A transaction in an answer: its members may be text, numbers, or numbers as some libraries write them.
pub(crate) fn proposed(given: &Value) -> Result<ProposedCall, SourceFault> {
    let to = member(given, "/to")?.as_str().and_then(|text| text.parse().ok());
    let text = member(given, "/data")?.as_str();
    // Calls with many orders are longer than what orders may hold.
    let bytes = text.and_then(|text| alloy_primitives::hex::decode(text).ok());
    let value = match given.get("value") {
        None | Some(Value::Null) => Some(U256::ZERO),
        Some(Value::Object(wrapped)) => wrapped.get("hex").and_then(number),
        Some(plain) => number(plain),
    };
    Ok(ProposedCall {
        to: to.ok_or(SourceFault::Missing { member: "/to" })?,
        data: bytes.ok_or(SourceFault::Missing { member: "/data" })?.into(),
        value: value.ok_or(SourceFault::Missing { member: "/value" })?,
    })
}

fn number(value: &Value) -> Option<U256> {
    let parsed: Option<Number> = match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    };
    parsed.map(|number| number.0)
}

/// Asks a service of Reservoir's form how to fill so much of an order. It refuses members that it does not know, and whose
/// balance it may leave alone it is told where somebody buys.
pub(crate) fn ask_reservoir(fill: &Fill<'_>, collection: Address, taker: Address) -> SourceRequest {
    let mut item = json!({ "orderId": fill.order.order_id, "quantity": fill.quantity });
    match fill.order.side {
        OrderSide::Listing => {
            let body = json!({ "items": [item], "taker": taker, "skipBalanceCheck": true });
            SourceRequest::new("/execute/buy/v7", body)
        }
        OrderSide::Offer | OrderSide::Unknown => {
            let token = fill.token_id.unwrap_or_default();
            item["token"] = json!(format!("{collection}:{token}"));
            SourceRequest::new("/execute/sell/v7", json!({ "items": [item], "taker": taker }))
        }
    }
}

/// The transactions that such a service proposes, without approvals.
pub(crate) fn read_reservoir(answer: &Value) -> Result<Vec<ProposedCall>, SourceFault> {
    let refused = answer.get("message").and_then(Value::as_str).filter(|_| answer.get("steps").is_none());
    if let Some(reason) = refused {
        return Err(SourceFault::Refused { reason: reason.to_owned() });
    }
    let steps = member(answer, "/steps")?.as_array().ok_or(SourceFault::Missing { member: "/steps" })?;
    let trades = steps.iter().filter(|step| step["kind"] == "transaction" && step["id"] == "sale");
    let items = trades.filter_map(|step| step["items"].as_array()).flatten();
    let sent: Vec<&Value> = items.map(|item| &item["data"]).filter(|data| !data.is_null()).collect();
    if sent.is_empty() {
        return Err(SourceFault::Missing { member: "/steps" });
    }
    sent.into_iter().map(proposed).collect()
}

/// What OpenSea calls a chain.
pub(crate) fn opensea_chain(chain: ChainId) -> Option<&'static str> {
    Some(match chain.0 {
        1 => "ethereum",
        10 => "optimism",
        56 => "bsc",
        137 => "matic",
        8453 => "base",
        33139 => "ape_chain",
        42161 => "arbitrum",
        42170 => "arbitrum_nova",
        43114 => "avalanche",
        81457 => "blast",
        7_777_777 => "zora",
        11_155_111 => "sepolia",
        84532 => "base_sepolia",
        80002 => "amoy",
        _ => return None,
    })
}
