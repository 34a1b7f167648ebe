//! What logs tell of money that moved.

use std::collections::BTreeSet;

use alloy_primitives::B256;
use alloy_sol_types::SolEvent;
use bourse_market::facts::Log;
use bourse_store::Payer;
use bourse_wire::Address;

use crate::node::LogFilter;

alloy_sol_types::sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    /// Money that is wrapped, and unwrapped, does not always say that it was transferred.
    event Deposit(address indexed account, uint256 value);
    event Withdrawal(address indexed account, uint256 value);
}

/// The most currencies that a node is asked about.
const CURRENCIES_MAX: usize = 100;
/// The most accounts that a node is asked about by name; beyond that it is asked about all.
const ACCOUNTS_MAX: usize = 200;

/// The logs that tell when money in any of these payers may have moved; nothing when there are too many currencies to
/// ask about.
pub(super) fn log_filters<'a>(payers: impl Iterator<Item = &'a Payer>) -> Option<Vec<LogFilter>> {
    let (mut currencies, mut accounts) = (BTreeSet::new(), BTreeSet::new());
    for payer in payers {
        currencies.insert(payer.currency);
        accounts.insert(payer.maker);
        if currencies.len() > CURRENCIES_MAX {
            return None;
        }
    }
    let all = [
        Transfer::SIGNATURE_HASH,
        Approval::SIGNATURE_HASH,
        Deposit::SIGNATURE_HASH,
        Withdrawal::SIGNATURE_HASH,
    ];
    let addresses: Vec<Address> = currencies.into_iter().collect();
    if addresses.is_empty() {
        return Some(Vec::new());
    }
    if accounts.len() > ACCOUNTS_MAX {
        return Some(vec![LogFilter { addresses, topics: vec![all.to_vec()] }]);
    }
    let words: Vec<B256> = accounts.iter().map(word).collect();
    let to = vec![vec![Transfer::SIGNATURE_HASH], Vec::new(), words.clone()];
    Some(vec![
        LogFilter { addresses: addresses.clone(), topics: vec![all.to_vec(), words] },
        LogFilter { addresses, topics: to },
    ])
}

/// The accounts whose money in the log's currency may have changed.
pub(super) fn accounts(log: &Log) -> Vec<Address> {
    let Some(name) = log.topics.first() else { return Vec::new() };
    let accounts = match *name {
        Transfer::SIGNATURE_HASH => 2,
        Approval::SIGNATURE_HASH | Deposit::SIGNATURE_HASH | Withdrawal::SIGNATURE_HASH => 1,
        _ => 0,
    };
    log.topics.iter().skip(1).take(accounts).map(account).collect()
}

fn word(account: &Address) -> B256 {
    let mut word = [0; 32];
    word[12..].copy_from_slice(account.bytes());
    word.into()
}

fn account(word: &B256) -> Address {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&word[12..]);
    Address::from_bytes(bytes)
}
