//! The tokens of a collection, and what of them somebody looks for.

pub(super) mod cards;
mod filters;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_pages::query::{PAGE_SIZE, Query};
use bourse_pages::records::{Collectible, Count, Currencies, Facet, Page};
use bourse_wire::Error;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::records::currencies_of;
use super::{CollectionRef, contract};
use crate::access::Member;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

/// Properties that are counted once more without what is chosen of them, so that their other values can be chosen too.
const COUNTED_APART_MAX: usize = 8;

pub(super) async fn show(member: Member, RawQuery(text): RawQuery) -> Answer {
    let collection = CollectionRef::of(&member)?;
    let query = Query::read(text.as_deref().unwrap_or_default());
    if query.is_wordy {
        // A form sends every field that it has. The address to pass on has those that say something.
        return Ok(see_other(&query.link(&collection.path)));
    }
    page(&member, &collection, &query, None).await
}

/// The page of all tokens, with why something that was sent from it was not taken.
pub(super) async fn refused(member: &Member, collection: &CollectionRef, error: &Error) -> Answer {
    page(member, collection, &Query::default(), Some(error)).await
}

/// Tokens that were found.
struct Matches {
    rows: Vec<Collectible>,
    page: Page,
    count: u64,
}

/// Everything that is asked for a page.
struct PageData {
    currencies: Currencies,
    found: Result<Matches, Error>,
    facets: Vec<Facet>,
    marketplaces: Vec<String>,
}

async fn page(
    member: &Member,
    collection: &CollectionRef,
    query: &Query,
    refused: Option<&Error>,
) -> Result<Response, Refusal> {
    let about = contract::About::ask(member, collection).await?;
    let shown = ask_all(member, collection, query).await?;
    let is_refused = refused.is_some() || shown.found.is_err();
    let results = match &shown.found {
        Ok(found) => results(collection, query, found, &shown),
        Err(error) => {
            html! { (notice::refused(error)) (filters::chosen(collection, query, &shown.currencies)) }
        }
    };
    let is_unknown = !query.is_filtered() && shown.found.as_ref().is_ok_and(|found| found.count == 0);
    let body = html! {
        (contract::heading(member, collection, &about))
        @if let Some(error) = refused { (notice::refused(error)) }
        (contract::facts(member, collection, &about))
        @if is_unknown { (nothing_yet(member, collection)) } @else {
            div.browse {
                input.unseen type="checkbox" id="show-filters";
                label.button.plain for="show-filters" { "Filters" }
                (filters::form(collection, query, &shown))
                section.results aria-label="Tokens" { (results) }
            }
        }
    };
    let page = member.page(Section::Collections, &about.name, &body);
    Ok(if is_refused { (StatusCode::UNPROCESSABLE_ENTITY, page).into_response() } else { page })
}

async fn ask_all(member: &Member, collection: &CollectionRef, query: &Query) -> Result<PageData, Refusal> {
    #[derive(Deserialize)]
    struct Marketplaces {
        marketplaces: Vec<String>,
    }
    let currencies = currencies_of(member, collection).await?;
    let found = match query.filter(&currencies) {
        Ok(filter) => Submission::of(find(member, collection, query, &filter).await)?.into_result(),
        Err(error) => Err(error),
    };
    // Where a filter cannot be understood, all tokens are counted, so that its form is there to put it right.
    let facets = match Submission::of(facets(member, collection, query).await)?.into_result() {
        Ok(facets) => facets,
        Err(_) => Submission::of(facets(member, collection, &Query::default()).await)?
            .into_result()
            .unwrap_or_default(),
    };
    let Marketplaces { marketplaces } =
        member.ask_as("Marketplace/SupportedMarketplaces", &json!({})).await?;
    Ok(PageData { currencies, found, facets, marketplaces })
}

async fn find(
    member: &Member,
    collection: &CollectionRef,
    query: &Query,
    filter: &serde_json::Value,
) -> Result<Matches, Refusal> {
    #[derive(Deserialize)]
    struct Collectibles {
        collectibles: Vec<Collectible>,
        page: Page,
    }
    let asked = collection.body(json!({ "side": query.side(), "filter": filter, "page": query.page() }));
    let Collectibles { collectibles: rows, page } =
        member.ask_as("Marketplace/ListCollectibles", &asked).await?;
    let asked = collection.body(json!({ "side": query.side(), "filter": filter }));
    let Count { count } = member.ask_as("Marketplace/GetCountOfFilteredCollectibles", &asked).await?;
    Ok(Matches { rows, page, count })
}

/// The properties with how many tokens have each value. Of a property that is chosen, its other values count as if
/// nothing of it were.
async fn facets(member: &Member, collection: &CollectionRef, query: &Query) -> Result<Vec<Facet>, Refusal> {
    #[derive(Deserialize)]
    struct Properties {
        filters: Vec<Facet>,
    }
    let counted = async |without: Option<&str>| {
        let asked = collection.body(json!({ "includeCounts": true, "filter": query.counted(without)? }));
        let answer: Properties = member.ask_as("Metadata/GetTokenMetadataPropertyFilters", &asked).await?;
        Ok::<_, Refusal>(answer.filters)
    };
    let mut facets = counted(None).await?;
    for property in query.properties().iter().take(COUNTED_APART_MAX) {
        let apart = counted(Some(&property.name)).await?;
        let apart = apart.into_iter().find(|facet| facet.name == property.name);
        let index = facets.iter().position(|facet| facet.name == property.name);
        if let (Some(index), Some(apart)) = (index, apart) {
            facets[index] = apart;
        }
    }
    Ok(facets)
}

fn results(collection: &CollectionRef, query: &Query, found: &Matches, shown: &PageData) -> Markup {
    let first = (found.page.page.saturating_sub(1)) * found.page.page_size + 1;
    let last = first + (found.rows.len() as u64).saturating_sub(1);
    let tokens = if found.count == 1 { "token" } else { "tokens" };
    html! {
        div.summary {
            h2 { (format::number(found.count)) " " (tokens) }
            @if found.count > PAGE_SIZE && !found.rows.is_empty() {
                p.soft { (format::number(first)) "–" (format::number(last)) }
            }
        }
        (filters::chosen(collection, query, &shown.currencies))
        @if found.rows.is_empty() {
            p.empty {
                @if found.count == 0 { "No token is like that. " } @else { "This page is behind the last one. " }
                a href=(collection.path) { "Show all tokens" }
            }
        } @else {
            ul.tokens { @for row in &found.rows { (cards::card(collection, row, &shown.currencies)) } }
            (pages(collection, query, &found.page))
        }
    }
}

/// The way to the pages before and behind. The next one begins exactly where this one ended, whatever changed meanwhile.
fn pages(collection: &CollectionRef, query: &Query, page: &Page) -> Markup {
    let (before, behind) = (page.page.saturating_sub(1), (page.page + 1).to_string());
    let before_text = before.to_string();
    let mut next = vec![("page", behind.as_str())];
    next.extend(page.after.as_deref().map(|after| ("after", after)));
    html! {
        @if page.page > 1 || page.more {
            nav.pages aria-label="Pages" {
                @match before {
                    0 => {}
                    1 => a.button.plain rel="prev" href=(query.link(&collection.path)) { "← Previous" },
                    _ => a.button.plain rel="prev" href=(query.with(&collection.path, &[("page", &before_text)])) { "← Previous" },
                }
                span.soft { "Page " (format::number(page.page)) }
                @if page.more { a.button.plain rel="next" href=(query.with(&collection.path, &next)) { "Next →" } }
            }
        }
    }
}

fn nothing_yet(member: &Member, collection: &CollectionRef) -> Markup {
    let url = member.console().settings().public_url();
    let body = collection.body(json!({ "tokens": [{ "tokenId": "1", "name": "The first one" }] }));
    let curl = format!(
        "curl -s {url}/rpc/Ingest/PutTokens \\\n  -H 'Content-Type: application/json' \\\n  \
         -H 'Authorization: Bearer YOUR_SECRET_TOKEN' \\\n  -d '{body}'"
    );
    html! {
        div.empty {
            p { "No token of this contract is known yet. Follow it on its chain, import it, or put its tokens here yourself:" }
            (copyable("put-tokens", &curl))
        }
    }
}
