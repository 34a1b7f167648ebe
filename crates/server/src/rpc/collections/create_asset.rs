//! Makes an asset, for which a file can then be uploaded.

use bourse_wire::{AssetInput, ProjectId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{AssetAnswer, asset};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The asset to make or to change.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AssetInputRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// What it belongs to and stands for.
    pub(super) asset: AssetInput,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<AssetAnswer, Failure> {
    let record = call.app.store.create_asset(call.scope(), request.asset, call.now).await?;
    Ok(AssetAnswer { asset: asset(&call.app, call.caller.project(), record) })
}
