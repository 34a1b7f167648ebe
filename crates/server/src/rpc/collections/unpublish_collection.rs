//! Hides a collection from its public addresses.

use bourse_store::Visibility;

use super::types::{CollectionAnswer, CollectionRequest, collection};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: CollectionRequest) -> Result<CollectionAnswer, Failure> {
    let id = request.collection_id;
    let hosted =
        call.app.store.publish_hosted_collection(call.scope(), id, Visibility::Private, call.now).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
