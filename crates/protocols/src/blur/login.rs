//! How people log in at Blur: they sign a message of its service, which gives them a token for it.

use bourse_wire::{Address, Amount};
use serde_json::{Value, json};

use crate::native::{SourceFault, SourceRequest, member, same};
use crate::{Consent, ConsentFault, ConsentOutcome, ConsentRequest, ConsentSignature, SigningPayload};

/// What a consent is for: whatever somebody buys.
pub(super) const SUBJECT: &str = "login";
/// For how long somebody is taken to be logged in; the service allows more.
const SECONDS: u64 = 3600;

/// Asks for the message that somebody must sign to log in.
pub(super) fn challenge(wallet: Address) -> SourceRequest {
    SourceRequest::new("/auth/challenge", json!({ "walletAddress": wallet }))
}

/// The message that somebody must sign to log in.
pub(super) fn wanted(answer: &Value, wallet: Address) -> Result<ConsentRequest, SourceFault> {
    let message = member(answer, "/message")?.as_str().ok_or(SourceFault::Missing { member: "/message" })?;
    // A message for somebody else would log them in.
    same("wallet", &wallet_in(answer), &wallet)?;
    let terms = answer.as_object().cloned().unwrap_or_default();
    Ok(ConsentRequest { payload: SigningPayload::Message(message.to_owned()), terms, price: Amount::ZERO })
}

/// Logs somebody in who has signed the message.
pub(super) fn show(given: ConsentSignature<'_>) -> Result<ConsentOutcome, ConsentFault> {
    let mut body = Value::Object(given.terms.clone());
    let named = wallet_in(&body);
    // The token of one must not be used for another.
    if named != given.taker {
        return Err(ConsentFault::Taker { named, taker: given.taker });
    }
    body["signature"] = json!(given.signature);
    Ok(ConsentOutcome::AskSource(SourceRequest::new("/auth/login", body)))
}

/// What shows that somebody has logged in.
pub(super) fn read(answer: &Value, now: u64) -> Result<Consent, SourceFault> {
    let token = member(answer, "/accessToken")?.as_str().filter(|token| !token.is_empty());
    let proof = token.ok_or(SourceFault::Missing { member: "/accessToken" })?.to_owned();
    Ok(Consent { subject: SUBJECT.to_owned(), proof, until: now.saturating_add(SECONDS) })
}

fn wallet_in(terms: &Value) -> Address {
    let named = terms.get("walletAddress").and_then(Value::as_str);
    named.and_then(|text| text.parse().ok()).unwrap_or_default()
}
