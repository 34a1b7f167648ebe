//! What became of the transactions in which something happens to a contract's tokens, as it happens: a stream.

use alloy_primitives::B256;
use bourse_wire::{ChainId, ChainRef, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::native::refused;
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
    // Told now where nobody could be asked later.
    let asked = call.app.chains.receipt(key.chain, B256::ZERO).await;
    asked.map_err(|error| refused(&call.app, key.chain, error))?;
    streams::receipts(&call, key, Receipts(request.filter)).await
}

impl Receipts {
    /// What became of these transactions, one in each line. What the chain took back meanwhile has no receipt.
    pub(crate) async fn lines(
        self,
        app: &App,
        chain: ChainId,
        transactions: Vec<B256>,
    ) -> Result<Vec<u8>, Error> {
        let mut lines = Vec::new();
        for transaction in transactions {
            let asked = app.chains.receipt(chain, transaction).await;
            let (receipt, head) = asked.map_err(|error| refused(app, chain, error))?;
            let Some(receipt) = receipt.filter(|receipt| self.0.admits(receipt)) else { continue };
            let answer = Answer { receipt: TransactionReceipt::new(app, chain, receipt, head) };
            // A plain record of texts and numbers; writing it cannot fail.
            lines.extend(serde_json::to_vec(&answer).unwrap_or_default());
            lines.push(b'\n');
        }
        Ok(lines)
    }
}
