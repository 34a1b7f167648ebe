//! Renames an audience.

use bourse_wire::{ProjectId, RecordId, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{AudienceAnswer, check_name};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The audience and its new name.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "UpdateAudienceRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id.
    audience_id: RecordId,
    /// Its name, which no other audience of the project has.
    name: Text<256>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<AudienceAnswer, Failure> {
    check_name(&request.name)?;
    let (id, name) = (request.audience_id, request.name);
    Ok(AudienceAnswer { audience: call.app.store.update_audience(call.scope(), id, name, call.now).await? })
}
