//! How much there is of some tokens of several contracts.

use std::collections::BTreeMap;

use bourse_market::facts::Fact;
use bourse_store::CollectionKey;
use bourse_wire::{ChainRef, ContractType, Error, TokenId};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::contract::Contract;
use super::rows::{separate, write_supply};
use super::types::TokenSupply;
use crate::call::Call;
use crate::failure::Failure;
use crate::resident::Patience;
use crate::route::request;
use crate::rpc::begin_answer;
use crate::rpc::marketplace::searchable_within;
use crate::rpc::metadata::check_batch;

/// Of which tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenSuppliesMapRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Contract address to token ids: at most 50 contracts, and 50 ids of each. None, or `0`, of a currency.
    token_map: IndexMap<String, Vec<TokenId>>,
    /// Whether what is known of contracts and tokens comes with them.
    #[serde(default)]
    include_metadata: bool,
}
request!(Request);

/// How much there is of them.
#[derive(JsonSchema)]
#[schemars(rename = "GetTokenSuppliesMapAnswer")]
pub(crate) struct Answer {
    /// Contract address, spelled as asked for, to its tokens, in the order asked for; those that are not known are left out.
    #[expect(dead_code, reason = "documents what is written text by text")]
    supplies: BTreeMap<String, Vec<TokenSupply>>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let (limits, contracts) = (&call.app.settings.limits, &request.token_map);
    check_batch("tokenMap", "contracts", contracts.len(), limits.batch_contracts_max)?;
    let chain = call.chain(request.chain_id.as_ref())?;
    let mut keys = Vec::with_capacity(contracts.len());
    for (contract, tokens) in contracts {
        let member = || format!("tokenMap.{contract}");
        let address = contract.parse().map_err(|error| Error::invalid(&member(), error))?;
        check_batch(&member(), "token ids", tokens.len(), limits.batch_tokens_max)?;
        keys.push(CollectionKey { chain, address });
    }
    let named = contracts.keys().map(String::as_str).zip(keys.iter().copied());
    let mut elsewhere = call
        .ask_holders(named, "supplies", |part| {
            let map: IndexMap<&str, &Vec<TokenId>> =
                part.iter().filter_map(|name| Some((*name, contracts.get(*name)?))).collect();
            let with_metadata = request.include_metadata;
            json!({ "chainId": chain.to_string(), "tokenMap": map, "includeMetadata": with_metadata })
        })
        .await?;
    let mut answer = begin_answer(br#"{"supplies":{"#);
    let first = answer.len();
    let mut patience = call.app.resident.patience();
    for ((contract, tokens), key) in contracts.iter().zip(keys) {
        separate(&mut answer, first);
        // The key is echoed to the letter; it was an address, so it needs no escaping.
        answer.extend_from_slice(format!("\"{contract}\":").as_bytes());
        match elsewhere.remove(contract.as_str()).flatten() {
            Some(supplies) => answer.extend_from_slice(supplies.get().as_bytes()),
            None => {
                write_supplies(&call, &mut answer, (key, tokens), request.include_metadata, &mut patience)
                    .await?;
            }
        }
    }
    answer.extend_from_slice(b"}}");
    Ok(answer)
}

/// Appends how much there is of tokens of a contract as a JSON array.
async fn write_supplies(
    call: &Call,
    answer: &mut Vec<u8>,
    (key, tokens): (CollectionKey, &[TokenId]),
    with_metadata: bool,
    patience: &mut Patience,
) -> Result<(), Failure> {
    answer.push(b'[');
    if let Some(slot) = searchable_within(call, key, patience).await? {
        let info = slot.read().contract().map(str::to_owned);
        let contract = Contract::read(call, key, info).await?;
        let (first, collection) = (answer.len(), slot.read());
        let is_currency = contract.contract_type == ContractType::Erc20;
        let tokens = if tokens.is_empty() && is_currency { &[Fact::MONEY] } else { tokens };
        for token in tokens {
            let Some(supply) = collection.supply(*token) else { continue };
            let mut text = Vec::new();
            let metadata = (with_metadata && collection.write_token(&mut text, *token)).then_some(&*text);
            separate(answer, first);
            write_supply(answer, &contract, (*token, supply), metadata);
        }
    }
    answer.push(b']');
    Ok(())
}
