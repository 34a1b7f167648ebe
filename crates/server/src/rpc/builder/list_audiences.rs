//! Lists the project's audiences.

use bourse_wire::{Audience, ProjectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Of which project.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ListAudiencesRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
}
request!(Request, project_id);

/// The audiences, oldest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListAudiencesAnswer")]
pub(crate) struct Answer {
    audiences: Vec<Audience>,
}

pub(crate) async fn handle(call: Call, _: Request) -> Result<Answer, Failure> {
    Ok(Answer { audiences: call.app.store.audiences(call.scope()).await? })
}
