//! Rows of answers, written text by text.

use std::io::Write as _;

use bourse_store::Balance;
use bourse_wire::{Address, Amount, TokenId};

use super::contract::Contract;

/// A row: what an account holds of a contract, or of a token of it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) account: Address,
    /// The place of its contract among those of the answer.
    pub(super) contract: usize,
    /// The token; nothing where the row is of all tokens of the contract.
    pub(super) token: Option<TokenId>,
    pub(super) balance: Amount,
    /// Of how many tokens it is.
    pub(super) unique: usize,
    /// What is known of the token, as JSON text, when it is asked for.
    pub(super) metadata: Option<Vec<u8>>,
}

impl Row {
    /// What an account holds of a token, of the only contract of an answer.
    pub(super) fn of(held: &Balance) -> Self {
        let Balance { account, token_id, balance } = *held;
        Self { account, contract: 0, token: Some(token_id), balance, unique: 1, metadata: None }
    }

    /// Appends it as JSON.
    pub(super) fn write(&self, out: &mut Vec<u8>, contract: &Contract, with_metadata: bool) {
        let is_summary = self.token.is_none();
        out.extend_from_slice(contract.before.as_bytes());
        // Writing to memory cannot fail.
        let _ = write!(out, r#"{}""#, self.account);
        if let Some(token) = self.token {
            let _ = write!(out, r#","tokenID":"{token}""#);
        }
        let _ = write!(out, r#","balance":"{}"#, self.balance);
        out.extend_from_slice(contract.between.as_bytes());
        let _ = write!(out, r#"{}","isSummary":{is_summary}"#, self.unique);
        write_known(out, contract, self.metadata.as_deref(), with_metadata);
        out.push(b'}');
    }
}

/// Appends how much there is of a token as JSON.
pub(super) fn write_supply(
    out: &mut Vec<u8>,
    contract: &Contract,
    (token, supply): (TokenId, Amount),
    metadata: Option<&[u8]>,
) {
    // Writing to memory cannot fail.
    let _ = write!(out, r#"{{"tokenID":"{token}","supply":"{supply}","chainId":{}"#, contract.key.chain);
    write_known(out, contract, metadata, metadata.is_some());
    out.push(b'}');
}

fn write_known(out: &mut Vec<u8>, contract: &Contract, metadata: Option<&[u8]>, with_metadata: bool) {
    if let Some(info) = contract.info.as_ref().filter(|_| with_metadata) {
        out.extend_from_slice(b",\"contractInfo\":");
        out.extend_from_slice(info);
    }
    if let Some(metadata) = metadata {
        out.extend_from_slice(b",\"tokenMetadata\":");
        out.extend_from_slice(metadata);
    }
}

/// Appends a comma where something is in the list that began at `first` already.
pub(super) fn separate(out: &mut Vec<u8>, first: usize) {
    if out.len() > first {
        out.push(b',');
    }
}
