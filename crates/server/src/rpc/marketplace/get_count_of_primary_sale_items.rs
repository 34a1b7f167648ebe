//! How many tokens a primary sale sells.

use bourse_wire::{Address, ChainRef};
use schemars::JsonSchema;
use serde::Deserialize;

use super::get_count_of_filtered_collectibles::Answer;
use super::primary_sales::{OpenSale, PrimarySaleItemsFilter};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which items.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetCountOfPrimarySaleItemsRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The contract that sells.
    primary_sale_contract_address: Address,
    /// Which of what it sells.
    filter: Option<PrimarySaleItemsFilter>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let wanted = request.filter.unwrap_or_default().read()?;
    let open =
        OpenSale::open(&call, request.chain_id.as_ref(), request.primary_sale_contract_address).await?;
    let collection = open.slot.as_ref().map(|slot| slot.read());
    Ok(Answer { count: open.sale.count(&wanted, collection.as_deref()) })
}
