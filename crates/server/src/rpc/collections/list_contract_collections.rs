//! Lists which collections serve which contracts.

use std::collections::BTreeSet;

use bourse_wire::{Collection, ContractCollection, Page, PageInput, ProjectId, RecordId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::collection;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which links.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ListContractCollectionsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Only the links of this collection.
    collection_id: Option<RecordId>,
    /// The page.
    page: Option<PageInput>,
}
request!(Request, project_id);

/// The links, oldest first, and the collections they lead to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListContractCollectionsAnswer")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    contract_collections: Vec<ContractCollection>,
    collections: Vec<Collection>,
    page: Page,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let page = call.page(request.page)?;
    let store = &call.app.store;
    let mut links = store.contract_collections(call.scope(), request.collection_id, &page).await?;
    let page = page.cut(&mut links);
    let ids: BTreeSet<RecordId> = links.iter().map(|link| link.collection_id).collect();
    let mut collections = Vec::with_capacity(ids.len());
    for id in ids {
        let hosted = store.hosted_collection(call.scope(), id).await?;
        collections.push(collection(&call.app, call.scope(), hosted).await?);
    }
    Ok(Answer { contract_collections: links, collections, page })
}
