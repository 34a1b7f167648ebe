//! Asks for what a contract says of itself to be fetched anew.

use bourse_store::Refresh;
use schemars::JsonSchema;
use serde::Serialize;

use super::types::{ContractRequest, refresh};
use crate::call::Call;
use crate::failure::Failure;

/// Nothing: the contract's `status` tells how far it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RefreshContractInfoAnswer")]
pub(crate) struct Answer {}

pub(crate) async fn handle(call: Call, request: ContractRequest) -> Result<Answer, Failure> {
    refresh(&call, request.collection(&call)?, Refresh::Contract).await?;
    Ok(Answer {})
}
