//! What became of the transactions in which something happens to a contract's tokens, as it happens: a stream.

use bourse_chain::Receipt;
use bourse_wire::{ChainId, ChainRef, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::{TransactionFilter, TransactionReceipt};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::streams::{self, Subscription};

/// Of which transactions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SubscribeReceiptsRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// What must be so of them. A contract that is known here must be named.
    filter: TransactionFilter,
}
request!(Request);

/// One line of the stream.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SubscribeReceiptsAnswer")]
pub(crate) struct Answer {
    receipt: TransactionReceipt,
}

/// What must be so of transactions to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipts(TransactionFilter);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Subscription, Failure> {
    let contract = request.filter.contract_address.ok_or_else(|| {
        Error::invalid("filter.contractAddress", "is required: nobody listens to all of a chain")
    })?;
    let key = call.collection(request.chain_id.as_ref(), contract)?;
    streams::receipts(&call, key, Receipts(request.filter)).await
}

impl Receipts {
    /// Whether somebody is told of a transaction.
    pub(crate) fn admit(self, receipt: &Receipt) -> bool {
        self.0.admits(receipt)
    }
}

/// What became of a transaction as a line, as the height of the newest block is `head`.
pub(crate) fn receipt_line(app: &App, chain: ChainId, (receipt, head): (Receipt, u64)) -> Vec<u8> {
    let answer = Answer { receipt: TransactionReceipt::new(app, chain, receipt, head) };
    // A plain record of texts and numbers; writing it cannot fail.
    let mut line = serde_json::to_vec(&answer).unwrap_or_default();
    line.push(b'\n');
    line
}
