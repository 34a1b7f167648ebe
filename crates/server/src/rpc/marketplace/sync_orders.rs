//! Has the chain asked again what became of orders, now rather than when it next tells of them itself.

use std::collections::BTreeMap;

use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainRef, Marketplace, OrderKey, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::{ENTRIES_MAX, too_many};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// An order, as answers show it. What else an answer says of it is passed over: nobody takes the word of who sends it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SyncOrderInput")]
pub(crate) struct OrderName {
    /// Contract of its collection.
    collection_contract_address: Address,
    /// The marketplace's own name for it.
    order_id: Text<256>,
    /// Where it can be filled.
    marketplace: Text<64>,
}

/// Which order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SyncOrderRequest")]
pub(crate) struct OneRequest {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The order.
    order: OrderName,
}
request!(OneRequest);

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SyncOrdersRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The orders: at most 200.
    orders: Vec<OrderName>,
}
request!(Request);

/// Nothing: the orders show what the chain said, once it was asked.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SyncOrdersAnswer")]
pub(crate) struct Answer {}

pub(crate) async fn one(call: Call, request: OneRequest) -> Result<Answer, Failure> {
    sync(&call, request.chain_id.as_ref(), vec![request.order]).await
}

pub(crate) async fn several(call: Call, request: Request) -> Result<Answer, Failure> {
    sync(&call, request.chain_id.as_ref(), request.orders).await
}

/// An order that is not known, not signed or over is no error: there is nothing to ask of it.
async fn sync(call: &Call, chain: Option<&ChainRef>, orders: Vec<OrderName>) -> Result<Answer, Failure> {
    if orders.len() > ENTRIES_MAX {
        return Err(too_many("orders", orders.len()).into());
    }
    let chain = call.chain(chain)?;
    let mut by_contract: BTreeMap<Address, Vec<OrderKey>> = BTreeMap::new();
    for OrderName { collection_contract_address, order_id, marketplace } in orders {
        let marketplace = Marketplace::parse(marketplace.as_str(), &call.app.service_name);
        let Some(marketplace) = marketplace else { continue };
        let key = OrderKey { marketplace, order_id: order_id.into_string() };
        by_contract.entry(collection_contract_address).or_default().push(key);
    }
    for (address, orders) in by_contract {
        call.app.store.ask_again(CollectionKey { chain, address }, orders).await?;
    }
    Ok(Answer {})
}
