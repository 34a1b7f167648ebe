//! Reads a token and its assets.

use super::types::{TokenAnswer, TokenRequest, token};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: TokenRequest) -> Result<TokenAnswer, Failure> {
    let hosted = call.app.store.hosted_token(call.scope(), request.collection_id, request.token_id).await?;
    Ok(token(&call.app, call.scope(), request.collection_id, hosted).await?)
}
