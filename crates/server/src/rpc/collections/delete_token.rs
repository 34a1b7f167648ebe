//! Deletes a token and its assets.

use super::types::{StatusAnswer, TokenRequest};
use crate::call::Call;
use crate::failure::Failure;
use crate::unused_files;

pub(crate) async fn handle(call: Call, request: TokenRequest) -> Result<StatusAnswer, Failure> {
    let (collection, token) = (request.collection_id, request.token_id);
    let freed = call.app.store.delete_hosted_token(call.scope(), collection, token, call.now).await?;
    unused_files::remove(&call.app, freed).await;
    Ok(StatusAnswer { status: true })
}
