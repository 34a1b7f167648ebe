//! What accounts hold of a contract, as it changes: a stream.

use bourse_store::{Balance, CollectionKey};
use bourse_wire::{Address, ChainRef};
use schemars::JsonSchema;
use serde::Deserialize;

use super::contract::Contract;
use super::rows::Row;
use super::types::TokenBalance;
use crate::call::Call;
use crate::failure::Failure;
use crate::followed::Checkpoint;
use crate::route::request;
use crate::streams::{self, Subscription};

/// Of which contract.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SubscribeBalanceUpdatesRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
}
request!(Request);

/// One line of the stream.
#[derive(JsonSchema)]
#[schemars(rename = "SubscribeBalanceUpdatesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// What an account holds of a token from now on; `0` for nothing.
    balance: TokenBalance,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Subscription, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    streams::balances(&call, key).await
}

/// Balances of a contract, of which this is known as of a block, one in each line.
pub(crate) fn balance_lines(
    (key, info, block): (CollectionKey, Option<String>, Option<Checkpoint>),
    balances: &[Balance],
) -> Vec<u8> {
    let contract = Contract::known(key, info, block);
    let mut lines = Vec::new();
    for held in balances {
        lines.extend_from_slice(br#"{"balance":"#);
        Row::of(held).write(&mut lines, &contract, false);
        lines.extend_from_slice(b"}\n");
    }
    lines
}
