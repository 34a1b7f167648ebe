//! Adds a token to a collection.

use bourse_store::NewHostedToken;
use bourse_wire::{Error, ProjectId, RecordId, TokenInput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::{TokenAnswer, token_with};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The token to add.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CreateTokenRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Collection id.
    collection_id: RecordId,
    /// Its metadata, of which the token id is required.
    token: TokenInput,
    /// Whether it is hidden from the public addresses although its collection is not.
    #[serde(default)]
    private: bool,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<TokenAnswer, Failure> {
    let token_id = request.token.token_id.ok_or_else(|| Error::invalid("token.tokenId", "is required"))?;
    let new = NewHostedToken { token_id, input: request.token, private: request.private };
    let hosted =
        call.app.store.create_hosted_token(call.scope(), request.collection_id, new, call.now).await?;
    // Assets are for tokens that there are, and go with them.
    Ok(token_with(&call.app, call.scope(), hosted, Vec::new()))
}
