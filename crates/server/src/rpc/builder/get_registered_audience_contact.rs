//! Reads a wallet's own entry in an audience.

use bourse_wire::{Contact, Error, ProjectId, RecordId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wallet_proof::{Purpose, WalletProof};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which entry.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetRegisteredAudienceContactRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id. It must be open for registration.
    audience_id: RecordId,
    /// That the wallet asks itself.
    wallet_proof: WalletProof,
}
request!(Request, project_id);

/// The entry.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetRegisteredAudienceContactAnswer")]
pub(crate) struct Answer {
    contact: Contact,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (id, proof) = (request.audience_id, request.wallet_proof);
    proof.check(&call, id, &Purpose::ReadOwnEntry).await?;
    let found = call.app.store.registered_contact(call.scope(), id, proof.address).await?;
    let missing = || Error::not_found(format_args!("{} in audience {id}", proof.address));
    Ok(Answer { contact: found.ok_or_else(missing)? })
}
