//! What the project said of its storefront.

use bourse_wire::{ProjectId, Storefront};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Of which project.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetStorefrontRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
}
request!(Request, project_id);

/// A storefront.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StorefrontAnswer")]
pub(crate) struct Answer {
    /// What was said of it; what is usual, where nothing was.
    pub(super) storefront: Storefront,
}

pub(crate) async fn handle(call: Call, _: Request) -> Result<Answer, Failure> {
    let stored = call.app.store.storefront(call.scope()).await?;
    Ok(Answer { storefront: stored.map(|stored| stored.storefront).unwrap_or_default() })
}
