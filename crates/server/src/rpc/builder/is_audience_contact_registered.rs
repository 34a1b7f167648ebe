//! Whether a wallet is in an audience.

use bourse_wire::{Address, ProjectId, RecordId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which wallet.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "IsAudienceContactRegisteredRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id. It must be open for registration.
    audience_id: RecordId,
    /// The wallet.
    wallet_address: Address,
}
request!(Request, project_id);

/// Whether it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IsAudienceContactRegisteredAnswer")]
pub(crate) struct Answer {
    registered: bool,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (id, wallet) = (request.audience_id, request.wallet_address);
    let found = call.app.store.registered_contact(call.scope(), id, wallet).await?;
    Ok(Answer { registered: found.is_some() })
}
