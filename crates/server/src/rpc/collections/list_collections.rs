//! Lists hosted collections.

use bourse_wire::{Collection, Page, PageInput, ProjectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::collection;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which page.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ListCollectionsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// The page.
    page: Option<PageInput>,
}
request!(Request, project_id);

/// The collections, oldest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListCollectionsAnswer")]
pub(crate) struct Answer {
    page: Page,
    collections: Vec<Collection>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let page = call.page(request.page)?;
    let mut found = call.app.store.hosted_collections(call.scope(), &page).await?;
    let page = page.cut(&mut found);
    let mut collections = Vec::with_capacity(found.len());
    for hosted in found {
        collections.push(collection(&call.app, call.scope(), hosted).await?);
    }
    Ok(Answer { page, collections })
}
