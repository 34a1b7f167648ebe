//! Lists the tokens of a collection.

use bourse_wire::{Page, PageInput, ProjectId, RecordId, TokenMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::token;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which tokens.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ListTokensRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Collection id.
    collection_id: RecordId,
    /// The page.
    page: Option<PageInput>,
}
request!(Request, project_id);

/// The tokens, in the order of their ids.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListTokensAnswer")]
pub(crate) struct Answer {
    page: Page,
    tokens: Vec<TokenMetadata>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let page = call.page(request.page)?;
    let mut found = call.app.store.hosted_tokens(call.scope(), request.collection_id, &page).await?;
    let page = page.cut(&mut found);
    let mut tokens = Vec::with_capacity(found.len());
    for hosted in found {
        tokens.push(token(&call.app, call.scope(), request.collection_id, hosted).await?.token);
    }
    Ok(Answer { page, tokens })
}
