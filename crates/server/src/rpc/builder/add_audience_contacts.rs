//! Adds contacts to an audience, all or none.

use bourse_wire::{ContactInput, ProjectId, RecordId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{OkAnswer, check_count};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The contacts to add.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AddAudienceContactsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id.
    audience_id: RecordId,
    /// The contacts, each with a valid address and, if any, a valid e-mail address.
    contacts: Vec<ContactInput>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<OkAnswer, Failure> {
    check_count(&call, "contacts", request.contacts.len())?;
    call.app.store.add_contacts(call.scope(), request.audience_id, request.contacts, call.now).await?;
    Ok(OkAnswer { ok: true })
}
