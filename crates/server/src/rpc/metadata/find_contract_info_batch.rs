//! Several addresses on every chain.

use std::collections::{BTreeMap, HashMap};

use bourse_store::StoredContract;
use bourse_wire::{Address, ContractInfo, Error};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::contracts::{begin, contracts_at};
use super::{check_batch, write_item};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Which contracts.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "FindContractInfoBatchRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Contract addresses: at most 50.
    contract_addresses: Vec<String>,
}
request!(Request);

/// What is known of them.
#[derive(JsonSchema)]
#[schemars(rename = "FindContractInfoBatchAnswer", rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Contract address, spelled as asked for, to the information of every chain on which something is known of such a
    /// contract. Addresses of which nothing is known are left out.
    #[expect(dead_code, reason = "documents what is written fragment by fragment")]
    contract_info_by_chain: BTreeMap<String, Vec<ContractInfo>>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let contracts = request.contract_addresses;
    let count_max = call.app.settings.limits.batch_contracts_max;
    check_batch("contractAddresses", "contracts", contracts.len(), count_max)?;
    // The same spelling twice would be the same member twice.
    let mut spelled: IndexMap<&str, Address> = IndexMap::with_capacity(contracts.len());
    for (index, contract) in contracts.iter().enumerate() {
        let invalid = |error| Error::invalid(&format!("contractAddresses[{index}]"), error);
        spelled.insert(contract, contract.parse().map_err(invalid)?);
    }
    let addresses: Vec<Address> = spelled.values().copied().collect();
    let mut found: HashMap<Address, Vec<StoredContract>> = HashMap::new();
    for contract in contracts_at(&call, &addresses).await? {
        found.entry(contract.key.address).or_default().push(contract);
    }
    let mut answer = begin_answer(br#"{"contractInfoByChain":{"#);
    let first = answer.len();
    for (spelling, address) in spelled {
        if let Some(contracts) = found.get(&address) {
            let head = format!("\"{spelling}\":[");
            write_item(&mut answer, first, &begin(head.as_bytes(), contracts));
        }
    }
    answer.extend_from_slice(b"}}");
    Ok(answer)
}
