//! The currencies that the active orders of a collection are in.

use bourse_wire::{Address, ChainRef, OrderSide};
use schemars::JsonSchema;
use serde::Deserialize;

use super::list_currencies::{Answer, record};
use super::searchable;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Of which collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CurrenciesOfOrdersRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
}
request!(Request);

pub(crate) async fn of_listings(call: Call, request: Request) -> Result<Answer, Failure> {
    list(call, request, OrderSide::Listing).await
}

pub(crate) async fn of_offers(call: Call, request: Request) -> Result<Answer, Failure> {
    list(call, request, OrderSide::Offer).await
}

async fn list(call: Call, request: Request, side: OrderSide) -> Result<Answer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let Some(slot) = searchable(&call, key).await? else { return Ok(Answer { currencies: Vec::new() }) };
    let asked_for = slot.read_at(call.now, None).await.currencies_of_orders(side);
    let known = call.app.resident.currencies(key.chain);
    // An order in a currency that is not known is not active.
    let currencies = known.iter().filter(|currency| asked_for.contains(&currency.contract_address));
    Ok(Answer { currencies: currencies.map(record).collect::<Result<_, _>>()? })
}
