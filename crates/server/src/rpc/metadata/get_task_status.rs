//! How far something is that the project asked for, in a word.

use bourse_wire::TaskStatus;
use schemars::JsonSchema;
use serde::Serialize;

use super::get_task::Request;
use crate::call::Call;
use crate::failure::Failure;

/// How far it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetTaskStatusAnswer")]
pub(crate) struct Answer {
    status: ShortStatus,
}

/// How far a task is, in the words of those who ask for nothing else.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum ShortStatus {
    /// Some of it is still to be done.
    Queued,
    /// It waits for somebody.
    Paused,
    /// Nothing of it could be done.
    Failed,
    /// It is done, or as much of it as could be: what `GetTask` calls `COMPLETED`.
    Done,
}

impl From<TaskStatus> for ShortStatus {
    fn from(status: TaskStatus) -> Self {
        match status {
            TaskStatus::Queued => Self::Queued,
            TaskStatus::Paused => Self::Paused,
            TaskStatus::Failed => Self::Failed,
            TaskStatus::Completed => Self::Done,
        }
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let task = call.app.store.task(call.scope(), request.task_id).await?;
    Ok(Answer { status: task.status().into() })
}
