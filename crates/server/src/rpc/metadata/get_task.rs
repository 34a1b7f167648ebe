//! How far something is that the project asked for.

use bourse_wire::{ProjectId, RecordId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::TaskAnswer;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which task.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetTaskRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Task id.
    pub(super) task_id: RecordId,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<TaskAnswer, Failure> {
    Ok(TaskAnswer { task: call.app.store.task(call.scope(), request.task_id).await?.into() })
}
