//! Asks for the metadata of tokens to be fetched anew, and answers with the task.

use super::types::{TaskAnswer, TokensRequest};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: TokensRequest) -> Result<TaskAnswer, Failure> {
    Ok(TaskAnswer { task: request.refresh(&call).await?.into() })
}
