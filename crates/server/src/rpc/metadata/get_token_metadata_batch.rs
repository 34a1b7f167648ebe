//! Metadata of tokens of several contracts.

use std::collections::BTreeMap;

use bourse_wire::{ChainRef, Error, TokenId, TokenMetadata};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{check_batch, write_item, write_tokens};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Which tokens.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetTokenMetadataBatchRequest", extend("additionalProperties" = true))]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address to token ids: at most 50 contracts, and 50 ids of each.
    #[serde(rename = "contractTokenMap")]
    contract_token_map: IndexMap<String, Vec<TokenId>>,
}

request!(exact Request);

/// Their metadata.
#[derive(JsonSchema)]
#[schemars(rename = "GetTokenMetadataBatchAnswer", rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Contract address, spelled as asked for, to the metadata of its tokens.
    #[expect(dead_code, reason = "documents what is written fragment by fragment")]
    contract_token_metadata: BTreeMap<String, Vec<TokenMetadata>>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let limits = &call.app.settings.limits;
    let contracts = &request.contract_token_map;
    check_batch("contractTokenMap", "contracts", contracts.len(), limits.batch_contracts_max)?;
    let chain = call.chain(request.chain_id.as_ref())?;
    let mut keys = Vec::with_capacity(contracts.len());
    for (contract, tokens) in contracts {
        let member = || format!("contractTokenMap.{contract}");
        let address = contract.parse().map_err(|error| Error::invalid(&member(), error))?;
        check_batch(&member(), "token ids", tokens.len(), limits.batch_tokens_max)?;
        keys.push(bourse_store::CollectionKey { chain, address });
    }
    let named = contracts.keys().map(String::as_str).zip(keys.iter().copied());
    let mut elsewhere = call
        .ask_holders(named, "contractTokenMetadata", |part| {
            let map: IndexMap<&str, &Vec<TokenId>> =
                part.iter().filter_map(|name| Some((*name, contracts.get(*name)?))).collect();
            json!({ "chainID": chain.to_string(), "contractTokenMap": map })
        })
        .await?;
    let mut answer = begin_answer(br#"{"contractTokenMetadata":{"#);
    let first = answer.len();
    let mut patience = call.app.resident.patience();
    for ((contract, tokens), key) in contracts.iter().zip(keys) {
        // The key is echoed to the letter; it was an address, so it needs no escaping.
        write_item(&mut answer, first, format!("\"{contract}\":").as_bytes());
        if let Some(tokens) = elsewhere.remove(contract.as_str()).flatten() {
            answer.extend_from_slice(tokens.get().as_bytes());
            continue;
        }
        write_tokens(&call, &mut answer, key, tokens, &mut patience).await?;
    }
    answer.extend_from_slice(b"}}");
    Ok(answer)
}
