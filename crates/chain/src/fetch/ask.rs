//! What contracts are asked.

use alloy_primitives::{FixedBytes, hex, keccak256};
use alloy_sol_types::{SolCall as _, SolValue as _};
use bourse_wire::{Address, ContractType, TokenId};
use futures_util::future::BoxFuture;

use crate::questions::{
    contractURICall, decimalsCall, nameCall, ownerCall, supportsInterfaceCall, symbolCall, tokenURICall,
    uriCall,
};

/// Characters of a name or a symbol that are kept.
const NAME_CHARS_MAX: usize = 256;
/// The longest text that is read from a contract, in bytes: larger than any link that is followed.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

const ERC721: FixedBytes<4> = FixedBytes([0x80, 0xac, 0x58, 0xcd]);
const ERC1155: FixedBytes<4> = FixedBytes([0xd9, 0xb6, 0x7a, 0x26]);
/// What no contract may say that it supports.
const NO_INTERFACE: FixedBytes<4> = FixedBytes([0xff; 4]);

/// A question to a contract, about the newest state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractCall {
    /// The contract.
    pub to: Address,
    /// Function and arguments, as the ABI has it.
    pub data: Vec<u8>,
}

/// Why a contract did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailed {
    /// It says no, or there is no such function, or no contract.
    #[error("the contract does not answer")]
    Reverted,
    /// No node could be asked.
    #[error("no node answers: {0}")]
    Unreachable(String),
}

/// Somebody who asks contracts of one chain.
pub trait Caller: Send + Sync {
    /// Asks several questions at once. There is one answer for each, in the same order.
    fn call(&self, calls: Vec<ContractCall>) -> BoxFuture<'_, Vec<Result<Vec<u8>, CallFailed>>>;

    /// The code of a contract; empty where there is none.
    fn code(&self, contract: Address) -> BoxFuture<'_, Result<Vec<u8>, CallFailed>>;
}

/// The links of tokens of contracts, one answer for each. Contracts of both standards are asked in both ways.
pub(super) async fn token_links(
    caller: &dyn Caller,
    tokens: &[(Address, TokenId)],
) -> Vec<Result<String, CallFailed>> {
    let questions = |(to, token): &(Address, TokenId)| {
        let id = token.value();
        [tokenURICall { id }.abi_encode(), uriCall { id }.abi_encode()]
            .map(|data| ContractCall { to: *to, data })
    };
    let answers = ask(caller, tokens.iter().flat_map(questions).collect()).await;
    answers.chunks(2).map(first_text).collect()
}

/// The first answer that is a text; else why there is none.
fn first_text(answers: &[Result<Vec<u8>, CallFailed>]) -> Result<String, CallFailed> {
    let mut failed = CallFailed::Reverted;
    for answer in answers {
        match answer {
            Ok(bytes) => match text(bytes) {
                Some(text) if !text.is_empty() => return Ok(text),
                _ => {}
            },
            Err(CallFailed::Reverted) => {}
            Err(unreachable) => failed = unreachable.clone(),
        }
    }
    Err(failed)
}

/// What a contract says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnWords {
    pub(super) name: String,
    pub(super) symbol: String,
    pub(super) link: String,
    pub(super) decimals: Option<u64>,
    pub(super) kind: ContractType,
    /// Nobody when it was given up.
    pub(super) owner: Option<Address>,
    /// Hash of its code; nothing when it has none.
    pub(super) code_hash: Option<String>,
}

/// What a contract says of itself; an error when it says nothing at all.
pub(super) async fn own_words(caller: &dyn Caller, to: Address) -> Result<OwnWords, CallFailed> {
    let questions = [
        nameCall {}.abi_encode(),
        symbolCall {}.abi_encode(),
        contractURICall {}.abi_encode(),
        decimalsCall {}.abi_encode(),
        supportsInterfaceCall { id: ERC721 }.abi_encode(),
        supportsInterfaceCall { id: ERC1155 }.abi_encode(),
        supportsInterfaceCall { id: NO_INTERFACE }.abi_encode(),
        ownerCall {}.abi_encode(),
    ];
    let code = caller.code(to).await?;
    let answers = ask(caller, questions.map(|data| ContractCall { to, data }).to_vec()).await;
    let said_nothing = |answer: &Result<Vec<u8>, CallFailed>| answer.as_ref().map_or(true, Vec::is_empty);
    if answers.iter().all(said_nothing) {
        let unreachable =
            answers.into_iter().filter_map(Result::err).find(|error| *error != CallFailed::Reverted);
        return Err(unreachable.unwrap_or(CallFailed::Reverted));
    }
    let answer = |index: usize| answers.get(index).and_then(|answer| answer.as_deref().ok());
    let words = |index| answer(index).and_then(text).unwrap_or_default();
    // What a page cannot show is left out of names.
    let short = |index| words(index).chars().filter(|char| !char.is_control()).take(NAME_CHARS_MAX).collect();
    let is = |index| answer(index).and_then(|bytes| bool::abi_decode(bytes).ok()).unwrap_or(false);
    let decimals = answer(3).and_then(|bytes| decimalsCall::abi_decode_returns(bytes).ok()).map(u64::from);
    // A contract that supports what none may says yes to everything.
    let is_honest = !is(6);
    let kind = match (is_honest && is(4), is_honest && is(5), decimals) {
        (true, _, _) => ContractType::Erc721,
        (_, true, _) => ContractType::Erc1155,
        (_, _, Some(_)) => ContractType::Erc20,
        _ => ContractType::Unknown,
    };
    let code_hash = (!code.is_empty()).then(|| hex::encode_prefixed(keccak256(code)));
    let owner = answer(7).and_then(|bytes| ownerCall::abi_decode_returns(bytes).ok());
    let owner =
        owner.map(|owner| Address::from_bytes(owner.into_array())).filter(|owner| *owner != Address::ZERO);
    Ok(OwnWords { name: short(0), symbol: short(1), link: words(2), decimals, kind, owner, code_hash })
}

/// Asks, and sees to it that there is an answer for each question.
async fn ask(caller: &dyn Caller, calls: Vec<ContractCall>) -> Vec<Result<Vec<u8>, CallFailed>> {
    let count = calls.len();
    let mut answers = caller.call(calls).await;
    answers.resize(count, Err(CallFailed::Unreachable("the answer is missing".to_owned())));
    answers
}

/// The text that a contract answered, if it is one. Old contracts answer with 32 bytes in place of a text.
fn text(bytes: &[u8]) -> Option<String> {
    if bytes.len() > TEXT_BYTES_MAX {
        return None;
    }
    if let Ok(text) = String::abi_decode(bytes) {
        return Some(text);
    }
    let old: &[u8; 32] = bytes.try_into().ok()?;
    let end = old.iter().position(|byte| *byte == 0).unwrap_or(old.len());
    std::str::from_utf8(&old[..end]).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selectors_are_those_of_the_standards() {
        assert_eq!(tokenURICall::SELECTOR, [0xc8, 0x7b, 0x56, 0xdd]);
        assert_eq!(uriCall::SELECTOR, [0x0e, 0x89, 0x34, 0x1c]);
        assert_eq!(contractURICall::SELECTOR, [0xe8, 0xa3, 0xd4, 0x85]);
        assert_eq!(supportsInterfaceCall::SELECTOR, [0x01, 0xff, 0xc9, 0xa7]);
    }

    #[test]
    fn texts_in_both_forms_and_nothing_else() {
        assert_eq!(text(&"Relics".to_owned().abi_encode()).as_deref(), Some("Relics"));
        let mut old = [0; 32];
        old[..3].copy_from_slice(b"OLD");
        assert_eq!(text(&old).as_deref(), Some("OLD"));
        assert_eq!(text(&[]), None);
        assert_eq!(text(&[0xff; 64]), None, "a length beyond the answer");
        assert_eq!(text(&[0xff; 32]), None);
    }

    #[test]
    fn a_node_that_does_not_answer_is_not_a_contract_that_says_no() {
        let down = CallFailed::Unreachable("down".to_owned());
        let unreachable = || Err(down.clone());
        assert_eq!(first_text(&[Err(CallFailed::Reverted), unreachable()]), Err(down.clone()));
        assert_eq!(first_text(&[Err(CallFailed::Reverted), Ok(Vec::new())]), Err(CallFailed::Reverted));
        assert_eq!(first_text(&[unreachable(), Ok("x".to_owned().abi_encode())]), Ok("x".to_owned()));
    }
}
