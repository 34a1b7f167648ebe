//! Unlinks a contract.

use super::types::{ContractRequest, OkAnswer};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: ContractRequest) -> Result<OkAnswer, Failure> {
    let contract = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    call.app.store.delete_contract_collection(call.scope(), contract, call.now).await?;
    Ok(OkAnswer { ok: true })
}
