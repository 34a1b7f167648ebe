//! What pages ask the operations for of a collection.

use bourse_pages::records::{Collectible, Count, Currencies, Currency, Order};
use bourse_wire::{ContractInfo, TokenId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::CollectionRef;
use crate::access::Member;
use crate::operations::unless_missing;
use crate::refusal::Refusal;

/// The currencies of a collection's chain.
pub(super) async fn currencies_of(
    member: &Member,
    collection: &CollectionRef,
) -> Result<Currencies, Refusal> {
    #[derive(Deserialize)]
    struct Answer {
        currencies: Vec<Currency>,
    }
    let body = json!({ "chainId": collection.key.chain.to_string() });
    let Answer { currencies } = member.ask_as("Marketplace/ListCurrencies", &body).await?;
    Ok(Currencies::new(currencies))
}

/// What is known of a contract; nothing when nobody said anything of it.
pub(super) async fn contract_info(
    member: &Member,
    collection: &CollectionRef,
) -> Result<Option<ContractInfo>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        contract_info: ContractInfo,
    }
    let answer = member.ask_as::<Answer>("Metadata/GetContractInfo", &collection.body(json!({}))).await;
    Ok(unless_missing(answer)?.map(|answer| answer.contract_info))
}

/// How many tokens a collection has.
pub(super) async fn token_count(member: &Member, collection: &CollectionRef) -> Result<u64, Refusal> {
    let body = collection.body(json!({}));
    Ok(member.ask_as::<Count>("Marketplace/GetCountOfAllCollectibles", &body).await?.count)
}

/// The cheapest listing of a collection, and of which token it is.
pub(super) async fn floor(
    member: &Member,
    collection: &CollectionRef,
) -> Result<Option<(TokenId, Order)>, Refusal> {
    #[derive(Deserialize)]
    struct Answer {
        collectible: Collectible,
    }
    let answer = member.ask_as::<Answer>("Marketplace/GetFloorOrder", &collection.body(json!({}))).await;
    let found = unless_missing(answer)?.map(|answer| answer.collectible);
    Ok(found.and_then(|found| Some((found.metadata.token_id, found.listing?))))
}

/// The metadata of a token as it is answered, text by text.
pub(super) async fn token_json(
    member: &Member,
    collection: &CollectionRef,
    token: TokenId,
) -> Result<Value, Refusal> {
    let body = collection.body(json!({ "tokenIDs": [token] }));
    let mut answer = member.ask("Metadata/GetTokenMetadata", &body).await?;
    let found = answer.get_mut("tokenMetadata").and_then(|tokens| tokens.get_mut(0)).map(Value::take);
    if let Some(found) = found {
        return Ok(found);
    }
    // One that only orders or balances name has no metadata, and a page all the same.
    let body = collection.body(json!({ "tokenId": token }));
    let answer = unless_missing(member.ask("Marketplace/GetCollectible", &body).await)?;
    let found = answer.and_then(|mut answer| answer.get_mut("metadata").map(Value::take));
    found.ok_or_else(|| Refusal::missing("token"))
}
