//! What became of a transaction, asked of a node; waiting a few blocks for it.

use std::time::Duration;

use bourse_chain::Receipt;
use bourse_wire::{ChainId, ChainRef, Code, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash::Hash;
use super::native::refused;
use super::receipt::{TransactionFilter, TransactionReceipt};
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
    filter: TransactionFilter,
    /// Blocks that it is waited for, as long as a request may take: 3 when nothing is said, 0 for not at all.
    max_block_wait: Option<u64>,
}
request!(FilterRequest);

/// What became of the transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FetchTransactionReceiptAnswer")]
pub(crate) struct Answer {
    receipt: TransactionReceipt,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let (receipt, head) = wait(&call, chain, request.txn_hash, request.max_block_wait).await?;
    Ok(Answer { receipt: TransactionReceipt::new(&call.app, chain, receipt, head) })
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
    Ok(Answer { receipt: TransactionReceipt::new(&call.app, chain, receipt, head) })
}

/// The receipt of a transaction, with the height of the newest block. Waits for so many blocks, but never longer than most of
/// what a request may take. Where as many wait as may, whoever would have to is told to come back.
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
        // First the height: a receipt is then of this block, or of one that came after it.
        let head = app.chains.head(chain).await.map_err(|error| refused(app, chain, error))?;
        let asked = app.chains.receipt(chain, hash.0).await;
        let receipt = asked.map_err(|error| refused(app, chain, error))?;
        if let Some(receipt) = receipt {
            return Ok((receipt, head));
        }
        let until = *until.get_or_insert(head.saturating_add(blocks));
        if blocks > 0 && place.is_none() {
            let message = "as many requests wait for transactions as may: ask again in a second";
            return Err(Error::new(Code::Overloaded, message).into());
        }
        if head >= until || left < POLL {
            return Err(Error::not_found(format_args!("transaction {hash} in a block by now")).into());
        }
        tokio::time::sleep(POLL).await;
        left -= POLL;
    }
}
