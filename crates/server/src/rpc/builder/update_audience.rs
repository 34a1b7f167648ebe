//! Renames an audience, or opens and closes it for wallets that sign themselves up.

use bourse_store::AudienceChanges;
use bourse_wire::{ProjectId, RecordId, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{AudienceAnswer, check_name};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The audience, and what is to be different of it; what is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "UpdateAudienceRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id.
    audience_id: RecordId,
    /// Its name, which no other audience of the project has.
    name: Option<Text<256>>,
    /// Whether wallets may sign themselves up.
    registration_open: Option<bool>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<AudienceAnswer, Failure> {
    let Request { audience_id, name, registration_open, .. } = request;
    name.as_ref().map(check_name).transpose()?;
    let changes = AudienceChanges { name, registration_open };
    let audience = call.app.store.update_audience(call.scope(), audience_id, changes, call.now).await?;
    Ok(AudienceAnswer { audience })
}
