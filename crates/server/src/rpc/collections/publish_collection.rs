//! Shows a collection at its public addresses.

use bourse_store::Visibility;
use bourse_wire::{ProjectId, RecordId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{CollectionAnswer, collection};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which collection.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PublishCollectionRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Collection id.
    collection_id: RecordId,
    /// Whether its private tokens are shown as well.
    #[serde(default)]
    recursive: bool,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<CollectionAnswer, Failure> {
    let visibility = if request.recursive { Visibility::PublicWithTokens } else { Visibility::Public };
    let id = request.collection_id;
    let hosted = call.app.store.publish_hosted_collection(call.scope(), id, visibility, call.now).await?;
    Ok(CollectionAnswer { collection: collection(&call.app, call.scope(), hosted).await? })
}
