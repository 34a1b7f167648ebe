//! Tokens.

use bourse_store::{Change, CollectionKey};
use bourse_wire::{Address, ChainRef, JsonObject, TokenInput, TokenMetadata, from_value, take_member};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Reader, Rejection};

/// A token of a contract. It replaces the whole token: members left out are empty afterwards.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("required" = ["contractAddress", "tokenId"]))]
#[expect(dead_code, reason = "documents what is read member by member")]
pub struct TokenRecordInput {
    /// Chain; may be left out where the request names it.
    chain_id: Option<ChainRef>,
    /// Contract.
    contract_address: Address,
    /// The token itself.
    #[schemars(flatten)]
    token: TokenInput,
}

impl Reader<'_> {
    /// Reads a token. The members beside chain and contract are those of token metadata; they are taken apart rather
    /// than copied, as most records are tokens.
    pub fn token(&self, mut members: JsonObject) -> Result<(CollectionKey, TokenMetadata), Rejection> {
        let chain: Option<ChainRef> = take(&mut members, "chainId")?;
        let address = take(&mut members, "contractAddress")?
            .ok_or_else(|| Rejection::invalid("contractAddress", "is required"))?;
        let collection = CollectionKey { chain: self.chain(chain.as_ref())?, address };
        let input: TokenInput = from_value(Value::Object(members))?;
        let token_id = input.token_id.ok_or_else(|| Rejection::invalid("tokenId", "is required"))?;
        let updated_at = input.updated_at.unwrap_or_default();
        let mut token = TokenMetadata { token_id, updated_at, ..TokenMetadata::default() };
        input.apply(&mut token);
        Ok((collection, token))
    }
}

/// The change that makes a token what was read. Whether it came with its time makes a difference where nothing else does.
pub fn token_change(token: &TokenMetadata, is_dated: bool) -> Result<Change, Rejection> {
    let metadata = token.to_json().map_err(|error| Rejection::too_large(&error))?;
    let token_id = token.token_id;
    Ok(if is_dated {
        Change::Token { token_id, metadata }
    } else {
        Change::UndatedToken { token_id, metadata }
    })
}

fn take<T: DeserializeOwned>(members: &mut JsonObject, member: &str) -> Result<Option<T>, Rejection> {
    let value = take_member(members, member).map(from_value).transpose();
    value.map_err(|error| Rejection::invalid(member, error))
}
