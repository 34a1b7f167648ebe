//! Reads a token and its assets.

use super::types::{TokenAnswer, TokenRequest, token_with};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: TokenRequest) -> Result<TokenAnswer, Failure> {
    let TokenRequest { collection_id, token_id, .. } = request;
    let (hosted, assets) =
        call.app.store.hosted_token_with_assets(call.scope(), collection_id, token_id).await?;
    Ok(token_with(&call.app, call.scope(), hosted, assets))
}
