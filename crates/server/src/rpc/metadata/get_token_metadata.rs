//! Metadata of tokens of one contract.

use bourse_wire::{Address, ChainRef, TokenId, TokenMetadata};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{check_batch, write_tokens};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Which tokens.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetTokenMetadataRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address.
    #[serde(rename = "contractAddress")]
    contract_address: Address,
    /// Token ids: at most 50.
    #[serde(rename = "tokenIDs")]
    token_ids: Vec<TokenId>,
}
request!(Request);

/// Their metadata.
#[derive(JsonSchema)]
#[schemars(rename = "GetTokenMetadataAnswer", rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Metadata, in the order asked for.
    #[expect(dead_code, reason = "documents what is written fragment by fragment")]
    token_metadata: Vec<TokenMetadata>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let count_max = call.app.settings.limits.batch_tokens_max;
    check_batch("tokenIDs", "token ids", request.token_ids.len(), count_max)?;
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let mut answer = begin_answer(br#"{"tokenMetadata":"#);
    write_tokens(&call, &mut answer, key, &request.token_ids, &mut call.patience()).await?;
    answer.push(b'}');
    Ok(answer)
}
