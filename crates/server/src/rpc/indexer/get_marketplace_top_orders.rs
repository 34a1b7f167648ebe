//! The best order of each token at one of the service's own marketplaces. Two operations: the one before it had the same members
//! in other places.

use std::collections::HashMap;

use bourse_catalog::OrderFilter;
use bourse_wire::{Address, ChainRef, Error, OrderKey, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::market::{Market, MarketplaceOrder, side};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::marketplace::searchable;
use crate::rpc::metadata::check_batch;

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetMarketplaceTopOrdersRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Contract of the marketplace.
    marketplace_contract_address: Address,
    /// Contract of the collection.
    collection_address: Address,
    /// Of which tokens, and which orders.
    filter: Filter,
}
request!(Request);

/// Of which tokens, and which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MarketplaceTopOrdersFilterInput")]
struct Filter {
    /// Currencies, one of which they must be in, unless none are named.
    #[serde(default)]
    currency_addresses: Vec<Address>,
    /// The tokens.
    token_ids: Vec<TokenId>,
    /// Listings, rather than offers.
    is_listing: bool,
    /// Whether the lowest price of each token is looked for and comes first, or the highest.
    price_sort: PriceSort,
    /// An account whose orders do not count.
    exclude_user: Option<Address>,
}

/// Which orders, as it was asked before.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTopOrdersRequest")]
pub(crate) struct OldRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Contract of the marketplace.
    orderbook_contract_address: Address,
    /// Contract of the collection.
    collection_address: Address,
    /// Currencies, one of which they must be in, unless none are named.
    #[serde(default)]
    currency_addresses: Vec<Address>,
    /// The tokens.
    #[serde(rename = "tokenIDs")]
    token_ids: Vec<TokenId>,
    /// Listings, rather than offers.
    is_listing: bool,
    /// Whether the lowest price of each token is looked for and comes first, or the highest.
    price_sort: PriceSort,
    /// An account whose orders do not count.
    exclude_user: Option<Address>,
}
request!(OldRequest);

/// Which price comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum PriceSort {
    /// The lowest.
    Asc,
    /// The highest.
    Desc,
}

/// The orders.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetMarketplaceTopOrdersAnswer")]
pub(crate) struct Answer {
    /// Those that can be filled now, one of each token that has any, sorted by price.
    orders: Vec<MarketplaceOrder>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let contract = ("marketplaceContractAddress", request.marketplace_contract_address);
    let market = Market::of(&call, request.chain_id.as_ref(), contract, request.collection_address)?;
    top(&call, &market, ("filter.tokenIds", "filter.currencyAddresses"), request.filter).await
}

pub(crate) async fn before(call: Call, request: OldRequest) -> Result<Answer, Failure> {
    let contract = ("orderbookContractAddress", request.orderbook_contract_address);
    let market = Market::of(&call, request.chain_id.as_ref(), contract, request.collection_address)?;
    let OldRequest { currency_addresses, token_ids, is_listing, price_sort, exclude_user, .. } = request;
    let filter = Filter { currency_addresses, token_ids, is_listing, price_sort, exclude_user };
    top(&call, &market, ("tokenIDs", "currencyAddresses"), filter).await
}

/// The best order of each token. Tokens and currencies are named by the members of these names.
async fn top(
    call: &Call,
    market: &Market,
    (named, currencies): (&str, &str),
    filter: Filter,
) -> Result<Answer, Failure> {
    let limits = &call.app.settings.limits;
    check_batch(named, "token ids", filter.token_ids.len(), limits.batch_tokens_max)?;
    check_batch(currencies, "currencies", filter.currency_addresses.len(), limits.batch_contracts_max)?;
    if filter.token_ids.is_empty() {
        return Err(Error::invalid(named, "is required: name the tokens").into());
    }
    let mut tokens = filter.token_ids;
    tokens.sort_unstable();
    tokens.dedup();
    let orders = OrderFilter {
        marketplaces: vec![market.marketplace],
        currencies: filter.currency_addresses,
        not_makers: filter.exclude_user.into_iter().collect(),
        ..OrderFilter::default()
    };
    let (side, descending) = (side(filter.is_listing), filter.price_sort == PriceSort::Desc);
    let Some(slot) = searchable(call, market.key).await? else { return Ok(Answer { orders: Vec::new() }) };
    let top = slot.read_at(call.now, None).await.top_orders(&tokens, side, &orders, descending);
    Ok(Answer { orders: read(call, market, top).await? })
}

/// These orders as the contract has them. One that is gone since it was found is left out.
async fn read(call: &Call, market: &Market, keys: Vec<OrderKey>) -> Result<Vec<MarketplaceOrder>, Failure> {
    let store = &call.app.store;
    let Some(id) = store.collection(market.key).await? else { return Ok(Vec::new()) };
    let known = store.orders_by_key(id, keys.clone()).await?;
    let mut known: HashMap<OrderKey, _> = known.into_iter().map(|facts| (facts.key(), facts)).collect();
    Ok(keys.iter().filter_map(|key| market.order(known.remove(key)?)).collect())
}
