//! Signed orders, held against what the chain says of them.

use bourse_market::protocols::Kept;
use bourse_market::protocols::native::{Admitted, Answers, Inquiry, Proof, Standing};
use bourse_store::SignedOrder;
use bourse_wire::{ChainId, OrderFacts, OrderSide, OrderStatus, Timestamp};

use crate::app::App;
use crate::ingest::{Reason, Rejection, dated, unasked};

/// The orders as they are to be stored: signed by their makers, and still to be filled by the word of the chain, where
/// somebody can be asked.
pub(crate) async fn check(
    app: &App,
    (chain, now): (ChainId, Timestamp),
    orders: Vec<(usize, Admitted)>,
) -> Vec<(usize, Result<SignedOrder, Rejection>)> {
    let asked: Vec<Vec<Inquiry>> = orders.iter().map(|(_, order)| questions(app, chain, order)).collect();
    let all: Vec<Inquiry> = asked.iter().flatten().cloned().collect();
    let answers = if all.is_empty() { Some(Vec::new()) } else { app.chains.ask_all(chain, all).await };
    let mut answers = answers.as_deref();
    let mut checked = Vec::with_capacity(orders.len());
    for ((index, order), asked) in orders.into_iter().zip(asked) {
        let own = answers.map(|all| all.split_at(asked.len().min(all.len())));
        answers = own.map(|(_, rest)| rest);
        checked.push((index, check_one(app, (chain, now), order, own.map(|(own, _)| own))));
    }
    checked
}

/// What to ask about an order: whether its maker signed it, where that is not clear, and what became of it.
fn questions(app: &App, chain: ChainId, order: &Admitted) -> Vec<Inquiry> {
    let signed = match &order.proof {
        Proof::Ask(question) => Some(Inquiry { to: question.to, data: question.data.clone() }),
        Proof::Signed | Proof::Held => None,
    };
    let kept = Kept { order: &order.facts, native: Some(&order.text) };
    let floor = app.settings.networks.floor(chain.0, order.facts.marketplace);
    let protocol = floor.as_ref().and_then(|floor| floor.protocol_of(kept));
    let standing = protocol.and_then(|protocol| protocol.inquiries(kept).ok());
    signed.into_iter().chain(standing.into_iter().flatten()).collect()
}

fn check_one(
    app: &App,
    (chain, now): (ChainId, Timestamp),
    order: Admitted,
    answers: Option<Answers<'_>>,
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
    let Admitted { mut facts, nonces, text, .. } = order;
    let kept = Kept { order: &facts, native: Some(&text) };
    let floor = app.settings.networks.floor(chain.0, facts.marketplace);
    let protocol = floor.as_ref().and_then(|floor| floor.protocol_of(kept));
    match protocol.and_then(|protocol| protocol.standing(kept, answers)) {
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
