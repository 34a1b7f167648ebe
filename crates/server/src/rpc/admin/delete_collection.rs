//! Stops following a contract's tokens and orders, for the project.

use bourse_store::{CollectionKey, Subject};
use bourse_wire::{Address, ChainRef, Code, Error, ProjectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::Rejection;
use crate::route::request;

/// The contract that is no longer to be followed.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AdminDeleteCollectionRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// The chain.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
}
request!(Request, project_id);

/// That the project no longer follows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AdminDeleteCollectionResponse")]
pub(crate) struct Answer {}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key =
        CollectionKey { chain: call.chain(request.chain_id.as_ref())?, address: request.contract_address };
    let denied = |rejection: Rejection| Error::new(Code::PermissionDenied, rejection.message);
    call.check_grant(Subject::Collections, key).map_err(denied)?;
    call.app.store.unfollow_for(call.scope(), key, call.actor()).await?;
    call.app.followed.forget(key.chain);
    Ok(Answer {})
}
