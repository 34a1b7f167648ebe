//! The orders of one collectible: listed, counted, or the best of them. One file for a family of operations that differ
//! in the side and the direction only.

use bourse_catalog::{Column, OrderFilter, OrdersQuery, Sort, Start};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainRef, OrderSide, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::filter::OrderFilterInput;
use super::get_count_of_filtered_collectibles::Answer as CountAnswer;
use super::types::Order;
use super::{answer_page, searchable};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput, PagePlan};
use crate::route::request;

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "OrdersOfCollectibleRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// The token.
    token_id: TokenId,
    /// Which of its orders.
    filter: Option<OrderFilterInput>,
    /// Which page, where there are pages.
    page: Option<PageInput>,
}
request!(exact Request);

/// A page of listings.
#[derive(JsonSchema)]
#[schemars(rename = "ListListingsForCollectibleAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct ListingsAnswer {
    /// Active listings, the cheapest first.
    listings: Vec<Order>,
    /// The page.
    page: PageAnswer<'static>,
}

/// A page of offers.
#[derive(JsonSchema)]
#[schemars(rename = "ListOffersForCollectibleAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct OffersAnswer {
    /// Active offers, the dearest first.
    offers: Vec<Order>,
    /// The page.
    page: PageAnswer<'static>,
}

/// One order.
#[derive(JsonSchema)]
#[schemars(rename = "OrderAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct OrderAnswer {
    /// The order; null when there is none.
    order: Option<Order>,
}

pub(crate) async fn list_listings(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    list(call, request, OrderSide::Listing, br#"{"listings":"#).await
}

pub(crate) async fn list_offers(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    list(call, request, OrderSide::Offer, br#"{"offers":"#).await
}

pub(crate) async fn count_listings(call: Call, request: Request) -> Result<CountAnswer, Failure> {
    count(call, request, OrderSide::Listing).await
}

pub(crate) async fn count_offers(call: Call, request: Request) -> Result<CountAnswer, Failure> {
    count(call, request, OrderSide::Offer).await
}

pub(crate) async fn lowest_listing(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    first(call, request, OrderSide::Listing, false).await
}

pub(crate) async fn highest_listing(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    first(call, request, OrderSide::Listing, true).await
}

pub(crate) async fn lowest_offer(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    first(call, request, OrderSide::Offer, false).await
}

pub(crate) async fn highest_offer(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    first(call, request, OrderSide::Offer, true).await
}

/// What a request asks for.
struct ResolvedRequest {
    key: CollectionKey,
    token: TokenId,
    filter: OrderFilter,
    page: Option<PageInput>,
}

impl Request {
    fn resolve(self, call: &Call) -> Result<ResolvedRequest, Failure> {
        Ok(ResolvedRequest {
            key: call.collection(self.chain_id.as_ref(), self.contract_address)?,
            token: self.token_id,
            filter: self.filter.unwrap_or_default().read(&call.app.service_name)?,
            page: self.page,
        })
    }
}

/// The orders that orders of one collectible may come in: they have no other columns.
const ORDERS_SORTED: [Sort; 4] = [
    Sort { column: Column::Price, descending: false },
    Sort { column: Column::Price, descending: true },
    Sort { column: Column::CreatedAt, descending: false },
    Sort { column: Column::CreatedAt, descending: true },
];

async fn list(call: Call, request: Request, side: OrderSide, head: &[u8]) -> Result<Vec<u8>, Failure> {
    let ResolvedRequest { key, token, filter, page } = request.resolve(&call)?;
    let page = PagePlan::new(page, &call.app.settings.limits)?.in_order(&ORDERS_SORTED)?;
    answer_page(&call, key, head, &page, async |slot, answer| {
        let column = page.column().unwrap_or(Column::Price);
        let (sort, start, limit) = (page.sort, page.start_of_orders(column)?, page.limit());
        let query = OrdersQuery { token, side, filter: &filter, sort, start, limit };
        Ok(slot.read_at(call.now, None).await.write_orders(answer, &query))
    })
    .await
}

async fn count(call: Call, request: Request, side: OrderSide) -> Result<CountAnswer, Failure> {
    let ResolvedRequest { key, token, filter, .. } = request.resolve(&call)?;
    let count = match searchable(&call, key).await? {
        Some(slot) => slot.read_at(call.now, None).await.count_orders(token, side, &filter),
        None => 0,
    };
    Ok(CountAnswer { count })
}

async fn first(call: Call, request: Request, side: OrderSide, highest: bool) -> Result<Vec<u8>, Failure> {
    let ResolvedRequest { key, token, filter, .. } = request.resolve(&call)?;
    let mut orders = Vec::new();
    if let Some(slot) = searchable(&call, key).await? {
        let sort = Some(Sort { column: Column::Price, descending: highest });
        let query = OrdersQuery { token, side, filter: &filter, sort, start: Start::Skip(0), limit: 1 };
        slot.read_at(call.now, None).await.write_orders(&mut orders, &query);
    }
    // An array of one order, or of none.
    let order = orders.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or_default();
    let order = if order.is_empty() { b"null" } else { order };
    Ok([br#"{"order":"#, order, b"}"].concat())
}
