//! Makes an audience.

use bourse_wire::{ProjectId, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{AudienceAnswer, check_name};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The audience to make.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CreateAudienceRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Its name, which no other audience of the project has.
    name: Text<256>,
    /// Whether wallets may sign themselves up; not unless this is said.
    #[serde(default)]
    registration_open: bool,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<AudienceAnswer, Failure> {
    check_name(&request.name)?;
    let (store, scope, name) = (&call.app.store, call.scope(), request.name);
    let audience = if request.registration_open {
        store.create_open_audience(scope, name, call.now).await?
    } else {
        store.create_audience(scope, name, call.now).await?
    };
    Ok(AudienceAnswer { audience })
}
