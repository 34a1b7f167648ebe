//! Reads a hosted collection.

use super::types::{CollectionAnswer, CollectionRequest, collection};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: CollectionRequest) -> Result<CollectionAnswer, Failure> {
    let hosted = call.app.store.hosted_collection(call.scope(), request.collection_id).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
