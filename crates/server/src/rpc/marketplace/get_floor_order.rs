//! The cheapest listing of a collection.

use bourse_wire::{Address, ChainRef, Error};
use schemars::JsonSchema;
use serde::Deserialize;

use super::filter::CollectiblesFilter;
use super::searchable;
use super::types::Collectible;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Of which collectibles.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GetFloorOrderRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// Which of its tokens and orders.
    filter: Option<CollectiblesFilter>,
}
request!(exact Request);

/// The cheapest.
#[derive(JsonSchema)]
#[schemars(rename = "GetFloorOrderAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The collectible with the lowest listing.
    collectible: Collectible,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let (tokens, orders) = request.filter.unwrap_or_default().read(&call.app.service_name)?;
    let missing =
        || Error::not_found(format_args!("an active listing of {} on chain {}", key.address, key.chain));
    let slot = searchable(&call, key).await?.ok_or_else(missing)?;
    let collection = slot.read_at(call.now, None).await;
    let row = collection.listing_floor(&tokens, &orders).ok_or_else(missing)?;
    let mut answer = begin_answer(br#"{"collectible":"#);
    collection.write_row(&mut answer, row);
    answer.push(b'}');
    Ok(answer)
}
