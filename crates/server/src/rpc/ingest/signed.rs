//! Signed orders, held against what the chain says of them.

use std::sync::Arc;

use bourse_market::Standing;
use bourse_protocols::native::{Answers, Inquiry, NativeOrder, Proof, means_inquiries};
use bourse_protocols::venues::Venue;
use bourse_protocols::{Protocol, StoredOrder};
use bourse_store::{CollectionKey, SignedOrder};
use bourse_wire::{OrderFacts, OrderSide, OrderStatus, Timestamp};

use super::strangers;
use crate::app::App;
use crate::failure::Failure;
use crate::ingest::{Reason, Rejection, dated, unasked};

/// An order with its place in the request, or why it is not taken.
pub(super) type Checked = (usize, Result<SignedOrder, Rejection>);

/// The orders of a collection as they are to be stored: signed by their makers, and still to be filled by the word of the
/// chain, where somebody can be asked. Those that nobody vouches for are active as far as their makers are known to have what
/// they would give, and only so many of them are taken. All is asked at once.
pub(crate) async fn check(
    app: &App,
    collection: CollectionKey,
    now: Timestamp,
    orders: Vec<(usize, NativeOrder)>,
    is_vouched: bool,
) -> Result<Vec<Checked>, Failure> {
    if orders.is_empty() {
        return Ok(Vec::new());
    }
    let chain = collection.chain;
    let venue = |(_, order): &(usize, NativeOrder)| app.registry.venue(chain, order.facts.marketplace);
    let venues: Vec<Option<Arc<Venue>>> = orders.iter().map(venue).collect();
    let protocols = orders.iter().zip(&venues).map(|((_, order), venue)| {
        venue.as_ref().and_then(|venue| venue.protocol_of(stored(&order.facts, &order.text)))
    });
    let protocols: Vec<Option<&dyn Protocol>> = protocols.collect();
    let asked = orders.iter().zip(&protocols).flat_map(|((_, order), protocol)| {
        let means = if is_vouched { Vec::new() } else { means_inquiries(collection.address, &order.facts) };
        [questions(*protocol, order), means]
    });
    let answers = app.chains.ask_each(chain, asked.collect()).await;
    let mut answers = answers.map(Vec::into_iter);
    let mut next = || answers.as_mut().map(|answers| answers.next().unwrap_or_default());
    let (mut checked, mut of_means) = (Vec::with_capacity(orders.len()), Vec::with_capacity(orders.len()));
    for ((index, order), protocol) in orders.into_iter().zip(protocols) {
        checked.push((index, check_one(protocol, order, next().as_deref(), now)));
        of_means.push(next().unwrap_or_default());
    }
    if is_vouched {
        return Ok(checked);
    }
    strangers::back(app, collection, &mut checked, &of_means).await?;
    strangers::limit(app, collection, now, &mut checked).await?;
    Ok(checked)
}

fn stored<'a>(order: &'a OrderFacts, native: &'a str) -> StoredOrder<'a> {
    StoredOrder { facts: order, native: Some(native) }
}

/// What to ask about an order: whether its maker signed it, where that is not clear, and what became of it.
fn questions(protocol: Option<&dyn Protocol>, order: &NativeOrder) -> Vec<Inquiry> {
    let signed = match &order.proof {
        Proof::Ask(question) => Some(Inquiry::of(question.to, question.data.clone())),
        Proof::Signed | Proof::Held => None,
    };
    let standing =
        protocol.and_then(|protocol| protocol.standing_inquiries(stored(&order.facts, &order.text)).ok());
    signed.into_iter().chain(standing.into_iter().flatten()).collect()
}

fn check_one(
    protocol: Option<&dyn Protocol>,
    order: NativeOrder,
    answers: Option<Answers<'_>>,
    now: Timestamp,
) -> Result<SignedOrder, Rejection> {
    let Some(answers) = answers else { return unasked(order, now) };
    let answers = match (&order.proof, answers) {
        (Proof::Ask(question), [answer, rest @ ..]) => {
            if !question.is_yes(answer.as_deref().map(AsRef::as_ref)) {
                let message = "signature: was not made by the maker";
                return Err(Rejection::new(Reason::InvalidSignature, message));
            }
            rest
        }
        (Proof::Ask(_), []) => return unasked(order, now),
        (Proof::Signed | Proof::Held, answers) => answers,
    };
    let NativeOrder { mut facts, nonces, text, .. } = order;
    match protocol.and_then(|protocol| protocol.standing(stored(&facts, &text), answers)) {
        Some(Standing::Open { remaining }) => facts.quantity_remaining = remaining,
        // It is active once its maker lets the marketplace move the token.
        Some(Standing::Uncovered) | None => {}
        Some(over) => return Err(Rejection::new(Reason::NotFillable, why_over(over, facts.side))),
    }
    Ok(SignedOrder { facts: dated(facts, now), native: text, nonces })
}

/// Why an order cannot be filled, by the word of the chain.
pub(crate) fn why_over(standing: Standing, side: OrderSide) -> &'static str {
    match (standing, side) {
        (Standing::Filled, _) => "the order is filled: nothing of it remains",
        (Standing::Uncovered, OrderSide::Listing) => {
            "the maker of the order does not let the marketplace move the token"
        }
        (Standing::Uncovered, _) => "the maker of the order does not let the marketplace take the money",
        (Standing::NotYet, _) => {
            "the order is signed with a number that its maker has not come to yet: try again once the block that raises it is there"
        }
        (Standing::Absent, _) => "the contract has no such order: it was filled or taken back, or never made",
        (Standing::Refused, _) => {
            "the contract would refuse it: the maker took it back with others, or lacks the tokens, the money or the permission"
        }
        (Standing::Cancelled | Standing::Open { .. }, _) => {
            "the maker took the order back, or filled another in its place"
        }
    }
}

/// Whether an order is said to be active although its time is over.
pub(crate) fn is_expired(order: &OrderFacts, now: Timestamp) -> bool {
    let until = order.valid_until;
    order.status == OrderStatus::Active && until != Timestamp::ZERO && until <= now
}

/// Refuses an order that is over already.
pub(crate) fn not_over(order: &OrderFacts, now: Timestamp) -> Result<(), Rejection> {
    if is_expired(order, now) {
        let until = order.valid_until;
        let message = format!("validUntil: {until} is over, and the order is said to be active");
        return Err(Rejection::new(Reason::Expired, message));
    }
    Ok(())
}
