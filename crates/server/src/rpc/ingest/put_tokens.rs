//! Puts tokens.

use bourse_store::{CollectionKey, Subject};
use bourse_wire::{ChainRef, ProjectId, Timestamp, TokenMetadata};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::types::{Answer, IdempotencyKey, read};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{Reader, TokenRecordInput, token_change};
use crate::route::request;

/// The tokens to put.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutTokensRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the records that name none.
    chain_id: Option<ChainRef>,
    /// A name of your choice: the same request under the same name has no effect a second time.
    idempotency_key: Option<IdempotencyKey>,
    /// Tokens, each of which replaces the whole token: at most 1000.
    #[schemars(with = "Vec<TokenRecordInput>")]
    tokens: Vec<Value>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let tokens = read(&call, request.chain_id.as_ref(), "tokens", request.tokens, Reader::token)?;
    commit(&call, "PutTokens", request.idempotency_key, tokens).await
}

impl Record for TokenMetadata {
    fn subject(&self) -> Option<Subject> {
        Some(Subject::Collections)
    }

    async fn settle(
        _app: &App,
        _collection: CollectionKey,
        tokens: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        let mut settled = Settled::default();
        for (index, mut token) in tokens {
            let is_dated = token.updated_at != Timestamp::ZERO;
            if !is_dated {
                token.updated_at = now;
            }
            settled.add(index, token_change(&token, is_dated));
        }
        Ok(settled)
    }
}
