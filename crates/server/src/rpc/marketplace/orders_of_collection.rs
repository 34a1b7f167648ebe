//! The orders of a whole collection, each by itself: listed with their tokens or without, and counted. One file for a family of
//! operations that differ in what they show of them only.

use bourse_catalog::{BookQuery, Column, OrderFilter, TokenFilter};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainRef, Error, OrderSide};
use schemars::JsonSchema;
use serde::Deserialize;

use super::filter::{CollectiblesFilter, OrderFilterInput};
use super::get_count_of_filtered_collectibles::Answer as CountAnswer;
use super::types::Collectible;
use super::{answer_page, searchable};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput, PagePlan};
use crate::route::request;

/// Which orders, with their tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ListOrdersWithCollectiblesRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// `listing`: cheapest first; `offer`: dearest first; `unknown`: both as one list, cheapest first.
    #[serde(default)]
    side: OrderSide,
    /// Contract of the collection.
    contract_address: Address,
    /// Which orders, of which tokens. An offer for any token is there when the filter lets any token through.
    filter: Option<CollectiblesFilter>,
    /// Which page, sorted by `price` or by `createdAt`.
    page: Option<PageInput>,
}
request!(exact Request);

/// Which orders, to be counted.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GetCountOfOrdersRequest", extend("additionalProperties" = true))]
pub(crate) struct CountRequest {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// `listing`, `offer`, or `unknown` for both.
    #[serde(default)]
    side: OrderSide,
    /// Contract of the collection.
    contract_address: Address,
    /// Which orders, of which tokens; all of them where nothing is said.
    filter: Option<CollectiblesFilter>,
}
request!(exact CountRequest);

/// Which orders, without their tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "OrdersOfCollectionRequest", extend("additionalProperties" = true))]
pub(crate) struct PlainRequest {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// Which orders.
    filter: Option<OrderFilterInput>,
    /// Which page, sorted by `price` or by `createdAt`.
    page: Option<PageInput>,
}
request!(exact PlainRequest);

/// A page of orders with their tokens.
#[derive(JsonSchema)]
#[schemars(rename = "ListOrdersWithCollectiblesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The orders: each entry is one, as `order` and as the `listing` or the `offer` that it is, with its token. The token of an
    /// offer for any token has an empty id.
    collectibles: Vec<Collectible>,
    /// The page.
    page: PageAnswer<'static>,
}

/// What a request asks for.
struct ResolvedRequest {
    key: CollectionKey,
    side: OrderSide,
    tokens: TokenFilter,
    orders: OrderFilter,
    page: PagePlan,
}

impl ResolvedRequest {
    async fn answer(self, call: &Call, head: &[u8], shows_tokens: bool) -> Result<Vec<u8>, Failure> {
        let Self { key, side, tokens, orders, page } = self;
        if matches!(page.column(), Some(Column::TokenId | Column::Name)) {
            return Err(Error::invalid("page.sort", "orders are sorted by price or by createdAt").into());
        }
        answer_page(call, key, head, &page, async |slot, answer| {
            let column = page.column().unwrap_or(Column::Price);
            let start = page.start_of_orders(column)?;
            let collection = slot.read_at(call.now, Some(column)).await;
            let (sort, limit) = (page.sort, page.limit());
            let query = BookQuery { side, tokens: &tokens, orders: &orders, sort, start, limit };
            let rows = collection.query_orders(&query);
            if shows_tokens {
                collection.write_rows(answer, &rows);
            } else {
                collection.write_orders_of(answer, &rows);
            }
            Ok(rows.next)
        })
        .await
    }
}

pub(crate) async fn list_with_collectibles(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let (tokens, orders) = request.filter.unwrap_or_default().read(&call.app.service_name)?;
    let page = PagePlan::new(request.page, &call.app.settings.limits)?;
    let resolved = ResolvedRequest { key, side: request.side, tokens, orders, page };
    resolved.answer(&call, br#"{"collectibles":"#, true).await
}

pub(crate) async fn list_listings(call: Call, request: PlainRequest) -> Result<Vec<u8>, Failure> {
    list(call, request, OrderSide::Listing, br#"{"listings":"#).await
}

pub(crate) async fn list_offers(call: Call, request: PlainRequest) -> Result<Vec<u8>, Failure> {
    list(call, request, OrderSide::Offer, br#"{"offers":"#).await
}

async fn list(call: Call, request: PlainRequest, side: OrderSide, head: &[u8]) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let orders = request.filter.unwrap_or_default().read(&call.app.service_name)?;
    let page = PagePlan::new(request.page, &call.app.settings.limits)?;
    let resolved = ResolvedRequest { key, side, tokens: TokenFilter::default(), orders, page };
    resolved.answer(&call, head, false).await
}

pub(crate) async fn count(call: Call, request: CountRequest) -> Result<CountAnswer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let (tokens, orders) = request.filter.unwrap_or_default().read(&call.app.service_name)?;
    let count = match searchable(&call, key).await? {
        Some(slot) => {
            let collection = slot.read_at(call.now, None).await;
            collection.count_orders_of_all(request.side, &tokens, &orders)
        }
        None => 0,
    };
    Ok(CountAnswer { count })
}
