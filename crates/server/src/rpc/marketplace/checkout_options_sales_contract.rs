//! How what a primary sale sells can be paid for.

use bourse_wire::{Address, Amount, ChainRef, Error, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::checkout_options_marketplace::{Answer, CheckoutOptions};
use super::primary_sales::OpenSale;
use super::trading::ORDERS_MAX;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which tokens, and who wants to pay.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckoutOptionsSalesContractRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Who wants to pay; whoever it is can.
    #[expect(dead_code, reason = "clients send it, and the document shows it")]
    wallet: Address,
    /// The contract that sells.
    contract_address: Address,
    /// Contract of the collection.
    collection_address: Address,
    /// The tokens: at most 50.
    items: Vec<SaleItemInput>,
}
request!(Request);

/// So many of a token.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckoutOptionsItemInput")]
pub(crate) struct SaleItemInput {
    /// The token.
    token_id: TokenId,
    /// How many.
    quantity: Amount,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let count = request.items.len();
    if count > ORDERS_MAX {
        let reason = format!("{count} entries where at most {ORDERS_MAX} are allowed");
        return Err(Error::invalid("items", reason).into());
    }
    let open = OpenSale::open(&call, request.chain_id.as_ref(), request.contract_address).await?;
    let head = &open.sale.head;
    if request.collection_address != head.collection {
        let reason = format!("the contract sells tokens of {}", head.collection);
        return Err(Error::invalid("collectionAddress", reason).into());
    }
    // Of an ERC-721 token there is one at most.
    let fits = |quantity: Amount| quantity > Amount::ZERO && (head.is_erc1155 || quantity == Amount::from(1));
    let is_payable = |item: &&SaleItemInput| {
        let offered = open.sale.offered(item.token_id);
        fits(item.quantity) && offered.is_some_and(|offered| offered.terms.allow(item.quantity, call.now))
    };
    let payable = request.items.iter().filter(is_payable).count();
    Ok(Answer { options: CheckoutOptions::of(payable, count) })
}
