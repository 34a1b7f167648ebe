//! Changes a hosted collection.

use bourse_wire::{CollectionInput, ProjectId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{CollectionAnswer, collection, required_id};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The collection to change.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "UpdateCollectionRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Its id, and what is to be different. Members left out keep their value.
    collection: CollectionInput,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<CollectionAnswer, Failure> {
    let id = required_id(request.collection.id, "collection.id")?;
    let hosted =
        call.app.store.update_hosted_collection(call.scope(), id, request.collection, call.now).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
