//! Puts tokens.

use std::collections::HashMap;

use bourse_store::{CollectionKey, Subject};
use bourse_wire::{ChainRef, ProjectId, Timestamp, TokenId, TokenMetadata};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::stored_records;
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
    const IS_BLIND: bool = false;

    fn subject(&self) -> Option<Subject> {
        Some(Subject::Collections)
    }

    async fn settle(
        app: &App,
        collection: CollectionKey,
        tokens: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        let undated = tokens.iter().filter(|(_, token)| token.updated_at == Timestamp::ZERO);
        let stored = stored(app, collection, undated.map(|(_, token)| token.token_id).collect()).await?;
        let mut settled = Settled::default();
        for (index, mut token) in tokens {
            // What cannot be read is equal to nothing.
            let stored = stored.get(&token.token_id).and_then(|json| serde_json::from_str(json).ok());
            stored_records::date(&mut token, stored, |token| &mut token.updated_at, now);
            settled.add(index, token_change(&token));
        }
        Ok(settled)
    }
}

async fn stored(
    app: &App,
    collection: CollectionKey,
    tokens: Vec<TokenId>,
) -> Result<HashMap<TokenId, String>, Failure> {
    let Some(id) = app.store.collection(collection).await? else { return Ok(HashMap::new()) };
    let tokens = app.store.tokens(id, tokens).await?;
    Ok(tokens.into_iter().map(|token| (token.token_id, token.metadata)).collect())
}
