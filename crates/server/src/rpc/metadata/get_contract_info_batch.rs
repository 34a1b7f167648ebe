//! Information about several contracts.

use std::collections::BTreeMap;

use bourse_store::CollectionKey;
use bourse_wire::{ChainRef, ContractInfo, Error};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{check_batch, contract_info, write_item};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Which contracts.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetContractInfoBatchRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract addresses: at most 50.
    #[serde(rename = "contractAddresses")]
    contract_addresses: Vec<String>,
}
request!(Request);

/// What is known of them.
#[derive(JsonSchema)]
#[schemars(rename = "GetContractInfoBatchAnswer", rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Contract address, spelled as asked for, to its information.
    #[expect(dead_code, reason = "documents what is written fragment by fragment")]
    contract_info_map: BTreeMap<String, ContractInfo>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let contracts = request.contract_addresses;
    let count_max = call.app.settings.limits.batch_contracts_max;
    check_batch("contractAddresses", "contracts", contracts.len(), count_max)?;
    let chain = call.chain(request.chain_id.as_ref())?;
    // The same spelling twice would be the same member twice.
    let mut keys = IndexMap::with_capacity(contracts.len());
    for (index, contract) in contracts.iter().enumerate() {
        let invalid = |error| Error::invalid(&format!("contractAddresses[{index}]"), error);
        let address = contract.parse().map_err(invalid)?;
        keys.insert(contract.as_str(), CollectionKey { chain, address });
    }
    let named = keys.iter().map(|(contract, key)| (*contract, *key));
    let mut elsewhere = call
        .ask_holders(
            named,
            "contractInfoMap",
            |part| json!({ "chainID": chain.to_string(), "contractAddresses": part }),
        )
        .await?;
    let mut answer = begin_answer(br#"{"contractInfoMap":{"#);
    let first = answer.len();
    let mut patience = call.app.resident.patience();
    for (contract, key) in keys {
        let info = match elsewhere.remove(contract) {
            Some(answered) => answered.map(|info| info.get().as_bytes().to_vec()),
            None => contract_info(&call, key, &mut patience).await?,
        };
        if let Some(info) = info {
            write_item(&mut answer, first, format!("\"{contract}\":").as_bytes());
            answer.extend_from_slice(&info);
        }
    }
    answer.extend_from_slice(b"}}");
    Ok(answer)
}
