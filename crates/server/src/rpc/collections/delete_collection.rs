//! Deletes a hosted collection with its tokens, assets and contract links.

use super::types::{CollectionRequest, StatusAnswer};
use crate::call::Call;
use crate::failure::Failure;
use crate::unused_files;

pub(crate) async fn handle(call: Call, request: CollectionRequest) -> Result<StatusAnswer, Failure> {
    let freed =
        call.app.store.delete_hosted_collection(call.scope(), request.collection_id, call.now).await?;
    unused_files::remove(&call.app, freed).await;
    Ok(StatusAnswer { status: true })
}
