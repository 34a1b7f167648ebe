//! Changes a token.

use bourse_store::HostedTokenEdit;
use bourse_wire::{ProjectId, RecordId, TokenId, TokenInput, TokenMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::token;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The token to change.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "UpdateTokenRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Collection id.
    collection_id: RecordId,
    /// Token id.
    token_id: TokenId,
    /// What is to be different. Members left out keep their value.
    token: TokenInput,
    /// Whether it is hidden from the public addresses; as before when left out.
    private: Option<bool>,
}
request!(Request, project_id);

/// The token as it is now.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UpdateTokenAnswer")]
pub(crate) struct Answer {
    token: TokenMetadata,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let Request { token_id, token: input, private, .. } = request;
    let edit = HostedTokenEdit { token_id, input, private };
    let hosted =
        call.app.store.update_hosted_token(call.scope(), request.collection_id, edit, call.now).await?;
    Ok(Answer { token: token(&call.app, call.scope(), request.collection_id, hosted).await?.token })
}
