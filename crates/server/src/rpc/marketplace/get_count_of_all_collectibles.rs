//! How many collectibles a collection has.

use bourse_wire::{Address, ChainRef};
use schemars::JsonSchema;
use serde::Deserialize;

use super::get_count_of_filtered_collectibles::Answer;
use super::searchable;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Of which collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetCountOfAllCollectiblesRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let slot = searchable(&call, key).await?;
    Ok(Answer { count: slot.map_or(0, |slot| slot.read().len()) })
}
