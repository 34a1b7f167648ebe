//! Information about one contract.

use bourse_wire::{Address, ChainRef, ContractInfo, Error};
use schemars::JsonSchema;
use serde::Deserialize;

use super::contract_info;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which contract.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetContractInfoRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address.
    #[serde(rename = "contractAddress")]
    contract_address: Address,
}
request!(Request);

/// What is known of it.
#[derive(JsonSchema)]
#[schemars(rename = "GetContractInfoAnswer", rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The information.
    #[expect(dead_code, reason = "documents what is written as a fragment")]
    contract_info: ContractInfo,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let missing = || Error::not_found(format_args!("contract {} on chain {}", key.address, key.chain));
    let info = contract_info(&call, key, &mut call.patience()).await?.ok_or_else(missing)?;
    Ok([br#"{"contractInfo":"#, info.as_slice(), b"}"].concat())
}
