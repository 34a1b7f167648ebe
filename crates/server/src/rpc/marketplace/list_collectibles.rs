//! Collectibles with their best order, listing and offer.

use bourse_catalog::{Column, Query};
use bourse_wire::{Address, ChainRef, OrderSide};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer_page;
use super::filter::CollectiblesFilter;
use super::types::Collectible;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput, PagePlan};
use crate::route::request;

/// Which collectibles.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ListCollectiblesRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// `listing`: cheapest first; `offer`: dearest first; `unknown`: either.
    #[serde(default)]
    side: OrderSide,
    /// Contract of the collection.
    contract_address: Address,
    /// Which of its tokens and orders.
    filter: Option<CollectiblesFilter>,
    /// Which page.
    page: Option<PageInput>,
}
request!(exact Request);

/// A page of them.
#[derive(JsonSchema)]
#[schemars(rename = "ListCollectiblesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The collectibles.
    collectibles: Vec<Collectible>,
    /// The page.
    page: PageAnswer<'static>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let side = request.side;
    list(call, request, side).await
}

/// The same for the operation that lists the lowest listings.
pub(crate) async fn handle_listings(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    list(call, request, OrderSide::Listing).await
}

/// The same for the operation that lists the highest offers.
pub(crate) async fn handle_offers(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    list(call, request, OrderSide::Offer).await
}

async fn list(call: Call, request: Request, side: OrderSide) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let filter = request.filter.unwrap_or_default();
    let include_empty = filter.include_empty;
    let (tokens, orders) = filter.read(&call.app.service_name)?;
    let page = PagePlan::new(request.page, &call.app.settings.limits)?;
    answer_page(&call, key, br#"{"collectibles":"#, &page, async |slot, answer| {
        let collection = slot.read_at(call.now, page.column()).await;
        let rows = collection.query(&Query {
            side,
            tokens: &tokens,
            orders: &orders,
            include_empty,
            sort: page.sort,
            start: page.start(page.column().unwrap_or(Column::Price))?,
            limit: page.limit(),
        });
        collection.write_rows(answer, &rows);
        Ok(rows.next)
    })
    .await
}
