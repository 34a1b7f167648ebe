//! Deletes a hosted collection with its tokens, assets and contract links.

use super::types::{CollectionRequest, StatusAnswer};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: CollectionRequest) -> Result<StatusAnswer, Failure> {
    call.app.store.delete_hosted_collection(call.scope(), request.collection_id).await?;
    Ok(StatusAnswer { status: true })
}
