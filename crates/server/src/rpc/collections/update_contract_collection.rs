//! Links a contract with another collection.

use super::types::{ContractCollectionRequest, OkAnswer};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: ContractCollectionRequest) -> Result<OkAnswer, Failure> {
    let link = request.contract_collection;
    let contract = call.collection(link.chain_id.as_ref(), link.contract_address)?;
    call.app.store.update_contract_collection(call.scope(), contract, link.collection_id, call.now).await?;
    Ok(OkAnswer { ok: true })
}
