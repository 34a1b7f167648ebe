//! How many collectibles match a filter.

use bourse_wire::{Address, ChainRef, OrderSide};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::CollectiblesFilter;
use super::searchable;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which collectibles.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GetCountOfFilteredCollectiblesRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// `listing`, `offer`, or `unknown` for either.
    #[serde(default)]
    side: OrderSide,
    /// Contract of the collection.
    contract_address: Address,
    /// Which of its tokens and orders.
    filter: Option<CollectiblesFilter>,
}
request!(exact Request);

/// How many.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CountAnswer")]
pub(crate) struct Answer {
    /// How many there are.
    pub(crate) count: usize,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let filter = request.filter.unwrap_or_default();
    let include_empty = filter.include_empty;
    let (tokens, orders) = filter.read(&call.app.service_name)?;
    let count = match searchable(&call, key).await? {
        Some(slot) => slot.read_at(call.now, None).await.count(request.side, &tokens, &orders, include_empty),
        None => 0,
    };
    Ok(Answer { count })
}
