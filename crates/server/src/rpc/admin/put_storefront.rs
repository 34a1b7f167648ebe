//! Has the project's storefront be another one.

use bourse_wire::{ProjectId, Storefront};
use schemars::JsonSchema;
use serde::Deserialize;

use super::get_storefront::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The storefront.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutStorefrontRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// All of it: what is left out is as usual from then on.
    storefront: Storefront,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    request.storefront.check()?;
    let (app, scope) = (&call.app, call.scope());
    let stored = app.store.put_storefront(scope, request.storefront, call.actor()).await?;
    app.storefronts.forget(scope.project());
    Ok(Answer { storefront: stored.storefront })
}
