//! One address on every chain.

use bourse_wire::{Address, ContractInfo};
use schemars::JsonSchema;
use serde::Deserialize;

use super::contracts::{begin, contracts_at};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which contract.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "FindContractInfoRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Contract address.
    contract_address: Address,
}
request!(Request);

/// What is known of it.
#[derive(JsonSchema)]
#[schemars(rename = "FindContractInfoAnswer", rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The information, once for each chain on which something is known of such a contract.
    #[expect(dead_code, reason = "documents what is written text by text")]
    contract_info_list: Vec<ContractInfo>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let found = contracts_at(&call, &[request.contract_address]).await?;
    let mut answer = begin(br#"{"contractInfoList":["#, &found);
    answer.push(b'}');
    Ok(answer)
}
