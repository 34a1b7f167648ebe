//! Information about several contracts.

use std::collections::{BTreeMap, HashSet};

use bourse_store::CollectionKey;
use bourse_wire::{ChainRef, ContractInfo, Error};
use schemars::JsonSchema;
use serde::Deserialize;

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
    let mut answer = begin_answer(br#"{"contractInfoMap":{"#);
    let first = answer.len();
    let mut patience = call.app.resident.patience();
    let mut written = HashSet::with_capacity(contracts.len());
    for (index, contract) in contracts.iter().enumerate() {
        let invalid = |error| Error::invalid(&format!("contractAddresses[{index}]"), error);
        let address = contract.parse().map_err(invalid)?;
        // The same spelling twice would be the same member twice.
        if !written.insert(contract) {
            continue;
        }
        let key = CollectionKey { chain, address };
        if let Some(info) = contract_info(&call.app, key, &mut patience).await? {
            write_item(&mut answer, first, format!("\"{contract}\":").as_bytes());
            answer.extend_from_slice(&info);
        }
    }
    answer.extend_from_slice(b"}}");
    Ok(answer)
}
