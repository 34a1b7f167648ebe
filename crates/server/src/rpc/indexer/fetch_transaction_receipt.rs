//! What became of a transaction, asked of a node; waiting a few blocks for it.

use std::time::Duration;

use bourse_chain::Receipt;
use bourse_wire::{Address, ChainId, ChainRef, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash::{Data, Hash};
use super::native::refused;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// How long to wait before a node is asked again.
const POLL: Duration = Duration::from_secs(1);
/// Blocks that a transaction is waited for when nothing is said.
const BLOCKS_USUAL: u64 = 3;

/// Which transaction.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FetchTransactionReceiptRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The transaction.
    txn_hash: Hash,
    /// Blocks that it is waited for, as long as a request may take: 3 when nothing is said, 0 for not at all.
    max_block_wait: Option<u64>,
}
request!(Request);

/// Which transaction.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FetchTransactionReceiptWithFilterRequest")]
pub(crate) struct FilterRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Which transaction, and what must be so of it.
    filter: Filter,
    /// Blocks that it is waited for, as long as a request may take: 3 when nothing is said, 0 for not at all.
    max_block_wait: Option<u64>,
}
request!(FilterRequest);

/// Which transaction, and what must be so of it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TransactionFilterInput")]
struct Filter {
    /// The transaction, which must be named: nobody looks through a chain for one that fits.
    txn_hash: Option<Hash>,
    /// Who sent it.
    from: Option<Address>,
    /// To whom.
    to: Option<Address>,
    /// A contract that wrote a log in it.
    contract_address: Option<Address>,
    /// The first topic of a log in it, by that contract where one is named.
    event: Option<Hash>,
}

/// What became of the transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FetchTransactionReceiptAnswer")]
pub(crate) struct Answer {
    receipt: TransactionReceipt,
}

/// What became of a transaction.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TransactionReceipt {
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
    effective_gas_price: u64,
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

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let (receipt, head) = wait(&call, chain, request.txn_hash, request.max_block_wait).await?;
    Ok(answer(&call, chain, receipt, head))
}

pub(crate) async fn with_filter(call: Call, request: FilterRequest) -> Result<Answer, Failure> {
    let (chain, filter) = (call.chain(request.chain_id.as_ref())?, request.filter);
    let hash = filter.txn_hash.ok_or_else(|| {
        Error::invalid("filter.txnHash", "is required: nobody looks through a chain for one that fits")
    })?;
    let (receipt, head) = wait(&call, chain, hash, request.max_block_wait).await?;
    if !filter.admits(&receipt) {
        return Err(Error::not_found(format_args!("transaction {hash} that the filter lets through")).into());
    }
    Ok(answer(&call, chain, receipt, head))
}

impl Filter {
    fn admits(&self, receipt: &Receipt) -> bool {
        let writes = |log: &bourse_market::facts::Log| {
            self.contract_address.is_none_or(|contract| contract == log.address)
                && self.event.is_none_or(|event| log.topics.first() == Some(&event.0))
        };
        self.from.is_none_or(|from| from == receipt.from)
            && self.to.is_none_or(|to| Some(to) == receipt.to)
            && (self.contract_address.is_none() && self.event.is_none() || receipt.logs.iter().any(writes))
    }
}

/// The receipt of a transaction, with the height of the newest block. Waits for so many blocks, but never longer than most of
/// what a request may take, and only as long as few others wait.
async fn wait(
    call: &Call,
    chain: ChainId,
    hash: Hash,
    blocks: Option<u64>,
) -> Result<(Receipt, u64), Failure> {
    let app = &call.app;
    let mut left = Duration::from_millis(app.settings.limits.request_timeout_ms / 4 * 3);
    let blocks = blocks.unwrap_or(BLOCKS_USUAL);
    let place = if blocks > 0 { app.waits.take(Some(call.caller.project()), 1).ok() } else { None };
    let mut until = None;
    loop {
        let asked = app.chains.receipt(chain, hash.0).await;
        let (receipt, head) = asked.map_err(|error| refused(call, chain, error))?;
        if let Some(receipt) = receipt {
            return Ok((receipt, head));
        }
        let until = *until.get_or_insert(head.saturating_add(blocks));
        if head >= until || left < POLL || place.is_none() {
            return Err(Error::not_found(format_args!("transaction {hash} in a block by now")).into());
        }
        tokio::time::sleep(POLL).await;
        left -= POLL;
    }
}

fn answer(call: &Call, chain: ChainId, receipt: Receipt, head: u64) -> Answer {
    let network = call.app.settings.networks.get(chain.0);
    let window = network.map(|network| network.following.reorg_window_blocks);
    let depth = head.saturating_sub(receipt.block_number);
    let log = |log: bourse_market::facts::Log| Log {
        contract_address: log.address,
        topics: log.topics.into_iter().map(Hash).collect(),
        data: Data(log.data),
        index: log.index,
    };
    Answer {
        receipt: TransactionReceipt {
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
            effective_gas_price: receipt.effective_gas_price,
            from: receipt.from,
            to: receipt.to.unwrap_or(Address::ZERO),
            logs: receipt.logs.into_iter().map(log).collect(),
            r#final: window.is_some_and(|window| depth >= window),
            reorged: false,
        },
    }
}
