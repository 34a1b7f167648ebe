//! The pages of a shop for search engines: a list of lists, of which the first has its collections and what it sells, and the
//! others the tokens of each collection. However many there are, a list is read from memory in two steps and sent in pieces.

use std::convert::Infallible;
use std::iter::{once, successors};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bourse_pages::records::Count;
use bourse_wire::TokenId;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use maud::html;
use serde::Deserialize;
use serde_json::json;

use crate::Answer;
use crate::asking::{CollectionRef, Visit};
use crate::refusal::Refusal;

/// Tokens of a list: fewer than what search engines take, which is 50,000, and than the ranges that an answer has.
const TOKENS_MAX: u64 = 10_000;
/// Lists that are named, and pages that are not of tokens.
const LISTS_MAX: usize = 10_000;
const PAGES_MAX: usize = 20_000;
/// Collections whose tokens are listed, and those that are counted at once.
const COLLECTIONS_MAX: usize = 100;
const AT_ONCE: usize = 4;
/// Addresses that are sent at once.
const PIECE: usize = 500;
/// What each list is of.
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// The list of lists.
pub(super) async fn show(visit: Visit) -> Answer {
    let market = visit.market().await?;
    let lists: Vec<Vec<String>> = stream::iter(market.into_iter().take(COLLECTIONS_MAX))
        .map(|collection| lists_of(&visit, collection))
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    let paths = once(visit.path("/sitemap/pages.xml")).chain(lists.into_iter().flatten());
    Ok(list(("sitemapindex", "sitemap"), visit.base(), paths.take(LISTS_MAX)))
}

/// The lists of a collection's tokens; none of one that cannot be told of just now, which keeps no other from it.
async fn lists_of(visit: &Visit, collection: CollectionRef) -> Result<Vec<String>, Refusal> {
    let count =
        visit.ask::<Count>("Marketplace/GetCountOfAllCollectibles", &collection.body(json!({}))).await;
    let tokens = Refusal::unless_alone(count)?.map_or(0, |Count { count }| count);
    let pages = 1..=tokens.div_ceil(TOKENS_MAX);
    Ok(pages.take(LISTS_MAX).map(|page| format!("{}/sitemap/{page}.xml", collection.path)).collect())
}

/// The pages that are not of tokens.
pub(super) async fn pages(visit: Visit) -> Answer {
    let paths = visit.market().await?.into_iter().map(|collection| collection.path);
    let sales = visit.sales().await?.into_iter().map(|sale| sale.path);
    let paths = once(visit.path("")).chain(paths).chain(sales);
    Ok(list(("urlset", "url"), visit.base(), paths.take(PAGES_MAX)))
}

/// The pages of a collection's tokens, in the order of their ids.
pub(super) async fn tokens(visit: Visit) -> Answer {
    let name: String = visit.part("page")?;
    let page = name.strip_suffix(".xml").and_then(|number| number.parse::<u32>().ok());
    let before = page.and_then(|page| page.checked_sub(1)).ok_or(Refusal::Missing)?;
    let collection = visit.collection().await?;
    let ids = ids(&visit, &collection, u64::from(before) * TOKENS_MAX).await?;
    let paths = ids.into_iter().map(move |id| collection.token(id));
    Ok(list(("urlset", "url"), visit.base(), paths))
}

/// The ids behind so many others. These are counted and not read, and what follows is told in ranges.
async fn ids(visit: &Visit, collection: &CollectionRef, skipped: u64) -> Result<Vec<TokenId>, Refusal> {
    #[derive(Deserialize)]
    struct Ids {
        #[serde(rename = "tokenIDs")]
        ids: Vec<TokenId>,
    }
    #[derive(Deserialize)]
    struct Ranges {
        #[serde(rename = "tokenIDRanges")]
        ranges: Vec<Range>,
    }
    #[derive(Deserialize)]
    struct Range {
        start: TokenId,
        end: TokenId,
    }
    let page = json!({ "page": skipped + 1, "pageSize": 1 });
    let found: Ids = visit.ask("Indexer/GetTokenIDs", &collection.body(json!({ "page": page }))).await?;
    let first = *found.ids.first().ok_or(Refusal::Missing)?;
    let one = TokenId::from(1).value();
    let last = first.value().checked_sub(one).map(TokenId::from);
    let asked = last.map_or(json!({}), |last| json!({ "lastTokenID": last }));
    let Ranges { ranges } = visit.ask("Indexer/GetTokenIDRanges", &collection.body(asked)).await?;
    let each = |Range { start, end }| {
        successors(Some(start), move |id: &TokenId| {
            id.value().checked_add(one).map(TokenId::from).filter(|id| *id <= end)
        })
    };
    Ok(ranges.into_iter().flat_map(each).zip(0..TOKENS_MAX).map(|(id, _)| id).collect())
}

/// A list of addresses at the shop's own host, each in an element of its own; written as it is sent.
fn list(
    (all, each): (&'static str, &'static str),
    base: String,
    paths: impl Iterator<Item = String> + Send + 'static,
) -> Response {
    let start = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><{all} xmlns=\"{NAMESPACE}\">");
    let entry = move |path: String| {
        let address = html! { (base) (path) }.into_string();
        format!("<{each}><loc>{address}</loc></{each}>")
    };
    let mut entries = paths.map(entry);
    let pieces = std::iter::from_fn(move || {
        let piece: String = entries.by_ref().take(PIECE).collect();
        (!piece.is_empty()).then_some(piece)
    });
    let texts = once(start).chain(pieces).chain(once(format!("</{all}>")));
    let body = Body::from_stream(stream::iter(texts.map(|text| Ok::<_, Infallible>(Bytes::from(text)))));
    let content_type = HeaderValue::from_static("application/xml; charset=utf-8");
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}
