//! Asks for what several contracts say of themselves to be fetched anew.

use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainRef, Error, RecordId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_batch;
use super::types::check_node;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which contracts.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RefreshContractInfoBatchRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract addresses: at most 50. Those that are not known are left out.
    contract_addresses: Vec<Address>,
}
request!(Request);

/// The number of the task.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RefreshContractInfoBatchAnswer")]
pub(crate) struct Answer {
    /// Task id, for `GetTaskStatus` and `GetTask`: one task for all of them.
    #[serde(rename = "taskID")]
    task_id: RecordId,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let addresses = request.contract_addresses;
    let count_max = call.app.settings.limits.batch_contracts_max;
    check_batch("contractAddresses", "contracts", addresses.len(), count_max)?;
    if addresses.is_empty() {
        return Err(Error::invalid("contractAddresses", "is required: name contracts").into());
    }
    let chain = call.chain(request.chain_id.as_ref())?;
    check_node(&call, chain)?;
    let keys = addresses.into_iter().map(|address| CollectionKey { chain, address }).collect();
    let refreshed = call.app.store.refresh_contracts(call.scope(), keys, call.now).await?;
    for (key, mark) in refreshed.versions {
        call.follow(key, mark).await;
    }
    Ok(Answer { task_id: refreshed.task.id })
}
