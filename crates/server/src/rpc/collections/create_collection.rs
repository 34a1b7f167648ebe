//! Makes a hosted collection.

use bourse_wire::Error;

use super::types::{CollectionAnswer, CollectionInputRequest, collection};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: CollectionInputRequest) -> Result<CollectionAnswer, Failure> {
    let name = request.collection.metadata.as_ref().and_then(|metadata| metadata.name.as_ref());
    if name.is_none_or(|name| name.as_str().is_empty()) {
        return Err(Error::invalid("collection.metadata.name", "is required").into());
    }
    let hosted = call.app.store.create_hosted_collection(call.scope(), request.collection, call.now).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
