//! Orders that are signed and kept outside of chains, in the shape that their marketplaces' contracts know.

mod counter;
mod cover;
mod deal;
mod fault;
mod inquiry;
mod means;
mod merkle;
mod signature;
mod source;
mod typed;
mod values;

use bourse_market::Nonces;
use bourse_wire::{Address, JsonObject, OrderFacts};
use serde::de::DeserializeOwned;

use super::{OrderTerms, Refusal, StoredOrder};

pub(super) use counter::by_counter;
pub use cover::{cover_inquiries, is_covered, isApprovedForAllCall};
pub(super) use deal::{Deal, OFFER_SHARES_BPS_MAX, Share, ShareKind};
pub use fault::OrderFault;
pub(super) use fault::{check_bits, check_count, total};
pub(super) use inquiry::returned;
pub use inquiry::{Answers, Inquiry, dealt, is_true};
pub use means::{has_owner, held, held_inquiries, means, means_inquiries};
pub(super) use merkle::{Side, root_by_place, root_by_side, root_sorted};
pub(super) use signature::{COMPACT, FULL, Signature, prove, read as read_signature};
pub use signature::{Proof, Question, SignatureFault, prove_text};
pub use source::{Api, SourceFault, SourceRequest};
pub(super) use source::{
    ProposedCall, ask_reservoir, data, member, opensea_chain, proposed, read_reservoir, same,
};
pub use typed::{Domain, TypedData};
pub(super) use values::{Data, Number, Word};

/// A signed order as somebody puts it.
#[derive(Clone, Copy, Debug)]
pub struct SubmittedOrder<'a> {
    /// Its native form.
    pub native: &'a JsonObject,
    /// The signature in hexadecimal, where the marketplace has one.
    pub signature: Option<&'a str>,
}

/// A signed order that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeOrder {
    /// Contract of the collection.
    pub collection: Address,
    /// What it is.
    pub facts: OrderFacts,
    /// The numbers by which it can be taken back.
    pub nonces: Nonces,
    /// Its native form and the signature as they are kept. Trades are made from this.
    pub text: String,
    /// Whether its maker signed it.
    pub proof: Proof,
}

/// What an order is by what was signed: `derive` tells the contract of the collection, and what it is.
pub(super) fn terms<T: DeserializeOwned>(
    stored: StoredOrder<'_>,
    derive: impl FnOnce(&T) -> Result<(Address, OrderFacts), OrderFault>,
) -> Result<Option<OrderTerms>, Refusal> {
    let damaged = |fault: OrderFault| Refusal::Damaged {
        order_id: stored.facts.order_id.clone(),
        reason: fault.to_string(),
    };
    let (collection, facts) = derive(&read_stored(stored)?).map_err(damaged)?;
    Ok(Some(OrderTerms { collection, facts }))
}

/// The native form of an order as it is kept.
pub(super) fn read_stored<T: DeserializeOwned>(stored: StoredOrder<'_>) -> Result<T, Refusal> {
    let order_id = || stored.facts.order_id.clone();
    let text = stored.native.ok_or_else(|| Refusal::NotSigned { order_id: order_id() })?;
    let damaged =
        |error: serde_json::Error| Refusal::Damaged { order_id: order_id(), reason: error.to_string() };
    serde_json::from_str(text).map_err(damaged)
}
