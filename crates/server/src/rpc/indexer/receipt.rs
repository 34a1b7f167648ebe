//! What became of transactions, as a node tells it.

use bourse_chain::Receipt;
use bourse_wire::{Address, Amount, ChainId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash::{Data, Hash};
use crate::app::App;

/// What must be so of a transaction.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TransactionFilterInput")]
pub(super) struct TransactionFilter {
    /// Its name.
    pub(super) txn_hash: Option<Hash>,
    /// Who sent it.
    from: Option<Address>,
    /// To whom.
    to: Option<Address>,
    /// A contract that wrote a log in it.
    pub(super) contract_address: Option<Address>,
    /// The first topic of a log in it, by that contract where one is named.
    event: Option<Hash>,
}

/// What became of a transaction.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransactionReceipt {
    /// The transaction.
    txn_hash: Hash,
    /// `SUCCESSFUL` or `FAILED`.
    txn_status: &'static str,
    /// Its place in its block.
    txn_index: u64,
    /// `LegacyTxnType`, `AccessListTxnType`, or `DynamicFeeTxnType` for all later ones.
    txn_type: &'static str,
    /// Its block.
    block_hash: Hash,
    /// The block's height.
    block_number: u64,
    /// Gas that it used.
    gas_used: u64,
    /// What it paid for each unit of gas.
    effective_gas_price: Amount,
    /// Who sent it.
    from: Address,
    /// To whom; the zero address where it made a contract.
    to: Address,
    /// What contracts wrote in it.
    logs: Vec<Log>,
    /// Whether its block is as old as the newest that is never taken back here (`reorg_window_blocks` of the network).
    r#final: bool,
    /// Always false: what a chain took back has no receipt.
    reorged: bool,
}

/// What a contract wrote.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TransactionLog")]
struct Log {
    /// The contract.
    contract_address: Address,
    /// What it is, and its indexed members.
    topics: Vec<Hash>,
    /// Its other members.
    data: Data,
    /// Its place among the logs of its block.
    index: u64,
}

impl TransactionFilter {
    /// Whether it lets a transaction through.
    pub(super) fn admits(&self, receipt: &Receipt) -> bool {
        let writes = |log: &bourse_market::facts::Log| {
            self.contract_address.is_none_or(|contract| contract == log.address)
                && self.event.is_none_or(|event| log.topics.first() == Some(&event.0))
        };
        self.txn_hash.is_none_or(|hash| hash.0 == receipt.transaction)
            && self.from.is_none_or(|from| from == receipt.from)
            && self.to.is_none_or(|to| Some(to) == receipt.to)
            && (self.contract_address.is_none() && self.event.is_none() || receipt.logs.iter().any(writes))
    }
}

impl TransactionReceipt {
    /// What a node tells of a transaction, as the height of the newest block is `head`.
    pub(super) fn new(app: &App, chain: ChainId, receipt: Receipt, head: u64) -> Self {
        let network = app.settings.networks.get(chain.0);
        let window = network.map(|network| network.following.reorg_window_blocks);
        let depth = head.saturating_sub(receipt.block_number);
        let log = |log: bourse_market::facts::Log| Log {
            contract_address: log.address,
            topics: log.topics.into_iter().map(Hash).collect(),
            data: Data(log.data),
            index: log.index,
        };
        Self {
            txn_hash: Hash(receipt.transaction),
            txn_status: if receipt.succeeded { "SUCCESSFUL" } else { "FAILED" },
            txn_index: receipt.index,
            txn_type: match receipt.kind {
                0 => "LegacyTxnType",
                1 => "AccessListTxnType",
                _ => "DynamicFeeTxnType",
            },
            block_hash: Hash(receipt.block_hash),
            block_number: receipt.block_number,
            gas_used: receipt.gas_used,
            effective_gas_price: receipt.effective_gas_price.into(),
            from: receipt.from,
            to: receipt.to.unwrap_or(Address::ZERO),
            logs: receipt.logs.into_iter().map(log).collect(),
            r#final: window.is_some_and(|window| depth >= window),
            reorged: false,
        }
    }
}
