//! Asks for the metadata of all tokens of a contract to be fetched anew.

use schemars::JsonSchema;
use serde::Serialize;

use super::types::{ContractRequest, Task, all_tokens, refresh};
use crate::call::Call;
use crate::failure::Failure;

const MILLIS_PER_SECOND: i128 = 1_000;
const NANOS_PER_MILLI: i128 = 1_000_000;

/// The task, and when there may be another.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RefreshAllContractTokensAnswer", rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The task; the last one again when it is too early for another.
    task: Task,
    /// Seconds until the project may ask again.
    retry_after: u64,
}

pub(crate) async fn handle(call: Call, request: ContractRequest) -> Result<Answer, Failure> {
    let task = refresh(&call, request.collection(&call)?, all_tokens(&call)).await?;
    let gone = (call.now.unix_nanos() - task.created_at.unix_nanos()) / NANOS_PER_MILLI;
    let left = i128::from(call.app.settings.metadata.refresh_all_ms) - gone;
    let retry_after = u64::try_from(left.max(0).unsigned_abs().div_ceil(MILLIS_PER_SECOND.unsigned_abs()));
    Ok(Answer { task: task.into(), retry_after: retry_after.unwrap_or(u64::MAX) })
}
