//! Has the project's storefront be another one.

use bourse_wire::{Error, ProjectId, Storefront};
use schemars::JsonSchema;
use serde::Deserialize;

use super::get_storefront::Answer;
use crate::auth::AccessKey;
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

fn check(storefront: &Storefront, project: ProjectId) -> Result<(), Error> {
    storefront.check()?;
    let key = storefront.settings.access_key.as_ref().and_then(|key| AccessKey::parse(key.as_str()));
    if !storefront.site.enabled || key.is_some_and(|key| key.project() == project) {
        return Ok(());
    }
    let reason =
        "must be an access key of this project where storefront.site is enabled: its pages ask with it";
    Err(Error::invalid("storefront.settings.accessKey", reason))
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (app, scope) = (&call.app, call.scope());
    check(&request.storefront, scope.project())?;
    let stored = app.store.put_storefront(scope, request.storefront, call.actor()).await?;
    app.storefronts.forget(scope.project());
    Ok(Answer { storefront: stored.storefront })
}
