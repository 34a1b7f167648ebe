//! Questions to contracts, and what they answer.

use alloy_primitives::Bytes;
use alloy_sol_types::{SolCall, SolValue as _};
use bourse_wire::Address;

/// A call that asks a contract something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The contract.
    pub to: Address,
    /// The question.
    pub data: Bytes,
    /// As whom the contract is asked, where that matters to it: what it would do if they called.
    pub from: Option<Address>,
}

/// What was answered to inquiries, in their order; `None` where a call failed.
pub type Answers<'a> = &'a [Option<Bytes>];

impl Inquiry {
    pub(crate) fn new<C: SolCall>(to: Address, call: &C) -> Self {
        Self::of(to, call.abi_encode().into())
    }

    /// A question that anybody may ask.
    pub fn of(to: Address, data: Bytes) -> Self {
        Self { to, data, from: None }
    }
}

/// Answers to all inquiries, dealt out to those who made some of them each.
pub fn dealt(asked: &[Vec<Inquiry>], answers: Vec<Option<Bytes>>) -> Vec<Vec<Option<Bytes>>> {
    let mut answers = answers.into_iter();
    asked.iter().map(|asked| answers.by_ref().take(asked.len()).collect()).collect()
}

/// Whether a contract answered yes.
pub fn is_true(answer: Option<&Bytes>) -> bool {
    answer.is_some_and(|answer| bool::abi_decode(answer).unwrap_or(false))
}

/// What a call returned, if there is such an answer and it can be read.
pub(crate) fn returned<C: SolCall>(answers: Answers<'_>, place: usize) -> Option<C::Return> {
    C::abi_decode_returns(answers.get(place)?.as_ref()?).ok()
}
