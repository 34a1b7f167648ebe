//! Links a contract with the collection that serves its metadata.

use bourse_wire::ContractCollection;
use schemars::JsonSchema;
use serde::Serialize;

use super::types::ContractCollectionRequest;
use crate::call::Call;
use crate::failure::Failure;

/// The link.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ContractCollectionAnswer")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    pub(super) contract_collection: ContractCollection,
}

pub(crate) async fn handle(call: Call, request: ContractCollectionRequest) -> Result<Answer, Failure> {
    let link = request.contract_collection;
    let contract = call.collection(link.chain_id.as_ref(), link.contract_address)?;
    let store = &call.app.store;
    let linking = store.create_contract_collection(call.scope(), contract, link.collection_id, call.actor());
    Ok(Answer { contract_collection: linking.await? })
}
