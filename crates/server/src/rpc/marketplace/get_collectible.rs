//! One collectible.

use bourse_wire::{Address, ChainRef, Error, TokenId, TokenMetadata};
use schemars::JsonSchema;
use serde::Deserialize;

use super::searchable;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Which one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetCollectibleRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// The token.
    token_id: TokenId,
}
request!(Request);

/// The collectible.
#[derive(JsonSchema)]
#[schemars(rename = "GetCollectibleAnswer")]
pub(crate) struct Answer {
    /// What is known of it; its id alone when only its holders or its orders are known.
    #[expect(dead_code, reason = "documents what is written as a fragment")]
    metadata: TokenMetadata,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let token = request.token_id;
    let missing =
        || Error::not_found(format_args!("token {token} of {} on chain {}", key.address, key.chain));
    let slot = searchable(&call, key).await?.ok_or_else(missing)?;
    let mut answer = begin_answer(br#"{"metadata":"#);
    if !slot.read().write_whole_token(&mut answer, token) {
        return Err(missing().into());
    }
    answer.push(b'}');
    Ok(answer)
}
