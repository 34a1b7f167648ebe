//! A shop's first page: its collections, each with its cheapest listing, and what was sold last.

use bourse_pages::records::{Activity, Collectible, Count, Currencies};
use bourse_pages::{format, price};
use bourse_wire::{ActivityAction, ContractInfo};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{images, parts};
use crate::Answer;
use crate::asking::{CollectionRef, SaleRef, Visit};
use crate::page::Head;
use crate::refusal::Refusal;

/// Collections that are shown.
const SHOWN_MAX: usize = 24;
/// Collections that are asked about at once.
const AT_ONCE: usize = 4;
/// Of how many collections sales are shown, how many latest activities of each are looked through for them, and how many
/// sales there is room for.
const SOLD_OF_MAX: usize = 6;
const LOOKED_AT: u64 = 20;
const SOLD_MAX: usize = 8;

/// What is told of a collection.
struct Row {
    collection: CollectionRef,
    info: Option<ContractInfo>,
    currencies: Currencies,
    tokens: u64,
    floor: Option<Collectible>,
    sold: Vec<Activity>,
}

pub(super) async fn show(visit: Visit) -> Answer {
    let market = visit.market().await?;
    let more = market.len().saturating_sub(SHOWN_MAX);
    let shown = market.into_iter().take(SHOWN_MAX).enumerate();
    let rows: Vec<Row> = stream::iter(shown)
        .map(|(place, collection)| row(&visit, collection, place < SOLD_OF_MAX))
        .buffered(AT_ONCE)
        .try_filter_map(|row| std::future::ready(Ok(row)))
        .try_collect()
        .await?;
    let description = visit.storefront().site.description.as_str();
    let body = html! {
        h1 { bdi { (visit.title()) } }
        @if !description.is_empty() { p.lead { (description) } }
        @if rows.is_empty() { p.empty { (visit.say("home.nothing")) } }
        ul.collections { @for row in &rows { (card(&visit, row)) } }
        @if more > 0 { p.soft { (visit.words.say_of("home.more", &format::number(more))) } }
        (sales_of(&visit, &visit.sales().await?))
        (sold(&visit, &rows))
    };
    let path = visit.path("");
    let mut floors = rows.iter().filter_map(|row| Some((&row.collection, row.floor.as_ref()?)));
    // What the operator chose for the whole shop goes before.
    let image = floors.find_map(|(collection, floor)| images::shared(&visit, collection, &floor.metadata));
    let image = image.filter(|_| visit.storefront().market.og_image.as_str().is_empty());
    let head = Head {
        title: visit.say("frame.collections"),
        description,
        path: &path,
        image: image.as_deref(),
        is_private: false,
    };
    Ok(visit.page(&head, &Value::Null, &body))
}

/// What is told of a collection; nothing of one that the market cannot tell of.
async fn row(visit: &Visit, collection: CollectionRef, with_sales: bool) -> Result<Option<Row>, Refusal> {
    #[derive(Deserialize)]
    struct Floor {
        collectible: Collectible,
    }
    let body = collection.body(json!({}));
    let count = visit.ask::<Count>("Marketplace/GetCountOfAllCollectibles", &body).await;
    let Some(Ok(Count { count: tokens })) = Refusal::unless_missing(Refusal::told(count))? else {
        return Ok(None);
    };
    let filter = json!({ "filter": { "marketplaces": visit.marketplaces() } });
    let floor = visit.ask::<Floor>("Marketplace/GetFloorOrder", &collection.body(filter)).await;
    let floor = Refusal::unless_missing(floor)?.map(|floor| floor.collectible);
    let info = visit.contract_info(&collection).await?;
    let currencies = visit.currencies(&collection).await?;
    let sold = if with_sales { sales(visit, &collection).await? } else { Vec::new() };
    Ok(Some(Row { collection, info, currencies, tokens, floor, sold }))
}

async fn sales(visit: &Visit, collection: &CollectionRef) -> Result<Vec<Activity>, Refusal> {
    #[derive(Deserialize)]
    struct Latest {
        activities: Vec<Activity>,
    }
    let body = collection.body(json!({ "page": { "pageSize": LOOKED_AT } }));
    let latest: Latest = visit.ask("Marketplace/ListCollectionActivities", &body).await?;
    Ok(latest.activities.into_iter().filter(|activity| activity.action == ActivityAction::Sale).collect())
}

fn card(visit: &Visit, row: &Row) -> Markup {
    let Row { collection, info, currencies, tokens, floor, .. } = row;
    let listing = floor.as_ref().and_then(|floor| floor.listing.as_ref());
    let description = info.as_ref().map_or("", |info| info.extensions.description.as_str());
    html! {
        li.collection {
            h2 { a href=(collection.path) { bdi { (parts::collection_name(collection, info.as_ref())) } } }
            @if !description.is_empty() { p { (format::shortened(description, 160)) } }
            dl.facts {
                div { dt { (visit.say("home.tokens")) } dd { (format::number(tokens)) } }
                div {
                    dt { (visit.say("home.floor")) }
                    dd { @match listing { Some(order) => (price::of_order(order, currencies)), None => "–" } }
                }
                div { dt { (visit.say("home.network")) } dd { (collection.network) } }
            }
        }
    }
}

/// What contracts sell that mint tokens.
fn sales_of(visit: &Visit, sales: &[SaleRef]) -> Markup {
    html! {
        @if !sales.is_empty() {
            section {
                h2 { (visit.say("sale.title")) }
                ul.plain { @for sale in sales {
                    li { a href=(sale.path) { bdi { @if sale.name.is_empty() { (format::hex(sale.items)) } @else { (sale.name) } } } }
                } }
            }
        }
    }
}

/// What was sold last, in all collections together.
fn sold(visit: &Visit, rows: &[Row]) -> Markup {
    let mut sales: Vec<(&Row, &Activity)> =
        rows.iter().flat_map(|row| row.sold.iter().map(move |sale| (row, sale))).collect();
    sales.sort_by_key(|(_, sale)| std::cmp::Reverse(sale.activity_created_at));
    html! {
        @if !sales.is_empty() {
            section {
                h2 { (visit.say("home.sold")) }
                ul.sold { @for (row, sale) in sales.into_iter().take(SOLD_MAX) {
                    li {
                        @if let Some(token) = sale.token_id {
                            a href=(row.collection.token(token)) {
                                bdi { (parts::collection_name(&row.collection, row.info.as_ref())) } " " (parts::number(token))
                            }
                        }
                        " " (parts::units(sale.quantity)) (parts::price_of(sale, &row.currencies))
                        " " span.soft { (format::time(sale.activity_created_at)) }
                    }
                } }
            }
        }
    }
}
