//! Reads which collection serves a contract.

use super::create_contract_collection::Answer;
use super::types::ContractRequest;
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: ContractRequest) -> Result<Answer, Failure> {
    let contract = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let contract_collection = call.app.store.contract_collection(call.scope(), contract).await?;
    Ok(Answer { contract_collection })
}
