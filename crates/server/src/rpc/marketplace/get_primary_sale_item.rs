//! One token of what a primary sale sells.

use bourse_wire::{Address, ChainRef, Error, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::primary_sales::{CollectiblePrimarySaleItem, ItemWriter, OpenSale};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::begin_answer;

/// Which one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetPrimarySaleItemRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The contract that sells.
    primary_sale_contract_address: Address,
    /// The token.
    token_id: TokenId,
}
request!(Request);

/// The item.
#[derive(JsonSchema)]
#[schemars(rename = "GetPrimarySaleItemAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The token and its terms, whether they hold now or not.
    item: CollectiblePrimarySaleItem,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let contract = request.primary_sale_contract_address;
    let open = OpenSale::open(&call, request.chain_id.as_ref(), contract).await?;
    let token = request.token_id;
    let missing =
        || Error::not_found(format_args!("token {token} in the sale {contract} on chain {}", open.chain));
    let item = open.sale.offered(token).ok_or_else(missing)?;
    let collection = open.slot.as_ref().map(|slot| slot.read());
    let mut answer = begin_answer(br#"{"item":"#);
    ItemWriter::new(&open).write(&mut answer, &item, collection.as_deref())?;
    answer.push(b'}');
    Ok(answer)
}
