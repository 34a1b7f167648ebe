//! Asks for the metadata of tokens to be fetched anew, at once.

use super::types::{TaskIdAnswer, TokensRequest};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: TokensRequest) -> Result<TaskIdAnswer, Failure> {
    Ok(request.refresh(&call).await?.id.into())
}
