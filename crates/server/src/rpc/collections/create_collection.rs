//! Makes a hosted collection.

use bourse_wire::{CollectionInput, Error, ProjectId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{CollectionAnswer, collection};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The collection to make.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CreateCollectionRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Its metadata, of which the name is required.
    collection: CollectionInput,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<CollectionAnswer, Failure> {
    let name = request.collection.metadata.as_ref().and_then(|metadata| metadata.name.as_ref());
    if name.is_none_or(|name| name.as_str().is_empty()) {
        return Err(Error::invalid("collection.metadata.name", "is required").into());
    }
    let hosted = call.app.store.create_hosted_collection(call.scope(), request.collection, call.now).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
