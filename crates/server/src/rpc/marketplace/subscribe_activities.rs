//! What happens in a collection, as it happens: a stream.

use bourse_wire::{Address, ChainRef, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::activities::Activity;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::streams::{self, Subject, Subscription};

/// Of what.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SubscribeActivitiesRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// One of its tokens only.
    token_id: Option<TokenId>,
    /// The cursor of the last line of an earlier stream: what happened since is told first.
    cursor: Option<String>,
}
request!(Request);

/// What became of something that happened.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ActivityTurn")]
#[expect(dead_code, reason = "documents what is written part by part")]
enum Turn {
    /// It happened.
    Added,
    /// It did not, after all: its block is no longer part of the chain.
    Removed,
    /// Much was taken back, or the chain is read anew: list what happened again.
    Anew,
}

/// One line of the stream.
#[derive(JsonSchema)]
#[schemars(rename = "SubscribeActivitiesAnswer")]
#[expect(dead_code, reason = "documents what is written part by part")]
pub(crate) struct Answer {
    /// What became of it.
    r#type: Turn,
    /// What it is; null when everything is anew.
    activity: Option<Activity>,
    /// The place behind it, from which another stream goes on.
    cursor: String,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Subscription, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let after = request.cursor.as_deref().map(streams::cursor).transpose()?;
    streams::lines(&call, Subject { key, token: request.token_id, after }).await
}
