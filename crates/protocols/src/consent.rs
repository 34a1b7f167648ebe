//! What somebody must sign before they can fill orders: most marketplaces want nothing of the kind.

use bourse_wire::{Address, Amount, JsonObject, LenientError};
use serde_json::Value;

use super::native::{Answers, Inquiry, Proof, SignatureFault, SourceRequest, TypedData};

/// Something that a taker has signed, as it is remembered for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// What it is for; a later one for the same stands in its place.
    pub subject: String,
    /// What shows it, to a contract or to a marketplace's service.
    pub proof: String,
    /// The last moment that it is used, in seconds since 1970.
    pub until: u64,
}

/// What must be asked before it is known what is to be signed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsentQuestions {
    /// Of the chain.
    pub inquiries: Vec<Inquiry>,
    /// Of the marketplace's own service.
    pub requests: Vec<SourceRequest>,
}

/// What was answered to [`ConsentQuestions`].
#[derive(Clone, Copy, Debug)]
pub struct ConsentAnswers<'a> {
    /// By the chain.
    pub chain: Answers<'a>,
    /// By the marketplace's own service.
    pub service: &'a [Value],
    /// The time, in seconds since 1970.
    pub now: u64,
}

/// Something that a taker has still to sign.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsentRequest {
    /// What is signed.
    pub payload: SigningPayload,
    /// What comes back beside the signature.
    pub terms: JsonObject,
    /// What it allows to be paid, in the currency of the orders.
    pub price: Amount,
}

/// What a wallet is asked to sign.
#[derive(Clone, Debug, PartialEq)]
pub enum SigningPayload {
    /// A message (EIP-191).
    Message(String),
    /// Typed data (EIP-712).
    Typed(Box<TypedData>),
}

/// A signature that a taker gave.
#[derive(Clone, Copy, Debug)]
pub struct ConsentSignature<'a> {
    /// Whose it should be.
    pub taker: Address,
    /// The terms that were asked for, as they came back.
    pub terms: &'a JsonObject,
    /// The signature in hexadecimal.
    pub signature: &'a str,
    /// The time, in seconds since 1970.
    pub now: u64,
}

/// What comes of a signature that a taker gave.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsentOutcome {
    /// A consent, once it is sure that the taker signed.
    Given(Consent, Proof),
    /// The marketplace's own service must see it, and answers with what shows the consent.
    AskSource(SourceRequest),
}

/// Why a signature of a taker is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConsentFault {
    /// Nothing is ever signed before these orders are filled.
    #[error("body: nothing has to be signed before orders of this marketplace are filled")]
    Needless,
    /// The terms cannot be read.
    #[error("body.terms.{0}")]
    Format(LenientError),
    /// Somebody else would have to sign.
    #[error("body.terms: are for {named}, not for {taker}")]
    Taker {
        /// For whom they are.
        named: Address,
        /// Who signed.
        taker: Address,
    },
    /// It is too late.
    #[error("body.terms: ended, ask what to sign again")]
    Late,
    /// The signature cannot be one.
    #[error("signature: {0}")]
    Signature(#[from] SignatureFault),
}

impl From<LenientError> for ConsentFault {
    fn from(error: LenientError) -> Self {
        Self::Format(error)
    }
}
