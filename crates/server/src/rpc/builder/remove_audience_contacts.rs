//! Removes contacts from an audience.

use bourse_wire::{ProjectId, RecordId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{OkAnswer, check_count};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The contacts to remove.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RemoveAudienceContactsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id.
    audience_id: RecordId,
    /// Their ids. Those that are not there are no error.
    contact_ids: Vec<RecordId>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<OkAnswer, Failure> {
    check_count(&call, "contactIds", request.contact_ids.len())?;
    call.app.store.remove_contacts(call.scope(), request.audience_id, request.contact_ids, call.now).await?;
    Ok(OkAnswer { ok: true })
}
