//! Changes a hosted collection.

use super::types::{CollectionAnswer, CollectionInputRequest, collection, required_id};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: CollectionInputRequest) -> Result<CollectionAnswer, Failure> {
    let id = required_id(request.collection.id, "collection.id")?;
    let hosted =
        call.app.store.update_hosted_collection(call.scope(), id, request.collection, call.now).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
