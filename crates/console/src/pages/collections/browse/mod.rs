//! The tokens of a collection, and what of them somebody looks for.

pub(super) mod cards;
mod filters;
pub(super) mod property;
mod query;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_wire::Error;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::records::{Collectible, Count, Currencies, Facet, Page};
use super::{Place, contract};
use crate::door::Member;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice, see_other, show};
use query::{PAGE_SIZE, Query};

/// Properties that are counted once more without what is chosen of them, so that their other values can be chosen too.
const COUNTED_APART_MAX: usize = 8;

pub(super) async fn show(member: Member, RawQuery(text): RawQuery) -> Answer {
    let place = Place::of(&member)?;
    let query = Query::read(text.as_deref().unwrap_or_default());
    if query.is_wordy {
        // A form sends every field that it has. The address to pass on has those that say something.
        return Ok(see_other(&query.link(&place.path)));
    }
    page(&member, &place, &query, None).await
}

/// The page of all tokens, with why something that was sent from it was not taken.
pub(super) async fn refused(member: &Member, place: &Place, error: &Error) -> Answer {
    page(member, place, &Query::default(), Some(error)).await
}

/// Tokens that were found.
struct Found {
    rows: Vec<Collectible>,
    page: Page,
    count: u64,
}

/// Everything that is asked for a page.
struct Shown {
    currencies: Currencies,
    found: Result<Found, Error>,
    facets: Vec<Facet>,
    marketplaces: Vec<String>,
}

async fn page(
    member: &Member,
    place: &Place,
    query: &Query,
    refused: Option<&Error>,
) -> Result<Response, Refusal> {
    let about = contract::About::ask(member, place).await?;
    let shown = ask_all(member, place, query).await?;
    let is_refused = refused.is_some() || shown.found.is_err();
    let results = match &shown.found {
        Ok(found) => results(place, query, found, &shown),
        Err(error) => html! { (notice::refused(error)) (filters::chosen(place, query, &shown.currencies)) },
    };
    let is_unknown = !query.is_filtered() && shown.found.as_ref().is_ok_and(|found| found.count == 0);
    let body = html! {
        (contract::heading(member, place, &about))
        @if let Some(error) = refused { (notice::refused(error)) }
        (contract::facts(member, place, &about))
        @if is_unknown { (nothing_yet(member, place)) } @else {
            div.browse {
                input.unseen type="checkbox" id="show-filters";
                label.button.plain for="show-filters" { "Filters" }
                (filters::form(place, query, &shown))
                section.results aria-label="Tokens" { (results) }
            }
        }
    };
    let page = member.page(Section::Collections, &about.name, &body);
    Ok(if is_refused { (StatusCode::UNPROCESSABLE_ENTITY, page).into_response() } else { page })
}

async fn ask_all(member: &Member, place: &Place, query: &Query) -> Result<Shown, Refusal> {
    #[derive(Deserialize)]
    struct Supported {
        marketplaces: Vec<String>,
    }
    let currencies = Currencies::ask(member, place).await?;
    let found = match query.filter(&currencies) {
        Ok(filter) => Submission::of(find(member, place, query, &filter).await)?.into_result(),
        Err(error) => Err(error),
    };
    // Where a filter cannot be understood, all tokens are counted, so that its form is there to put it right.
    let facets = match Submission::of(facets(member, place, query).await)?.into_result() {
        Ok(facets) => facets,
        Err(_) => {
            Submission::of(facets(member, place, &Query::default()).await)?.into_result().unwrap_or_default()
        }
    };
    let Supported { marketplaces } = member.ask_as("Marketplace/SupportedMarketplaces", &json!({})).await?;
    Ok(Shown { currencies, found, facets, marketplaces })
}

async fn find(
    member: &Member,
    place: &Place,
    query: &Query,
    filter: &serde_json::Value,
) -> Result<Found, Refusal> {
    #[derive(Deserialize)]
    struct Listed {
        collectibles: Vec<Collectible>,
        page: Page,
    }
    let asked = place.asked(json!({ "side": query.side(), "filter": filter, "page": query.page() }));
    let Listed { collectibles: rows, page } = member.ask_as("Marketplace/ListCollectibles", &asked).await?;
    let asked = place.asked(json!({ "side": query.side(), "filter": filter }));
    let Count { count } = member.ask_as("Marketplace/GetCountOfFilteredCollectibles", &asked).await?;
    Ok(Found { rows, page, count })
}

/// The properties with how many tokens have each value. Of a property that is chosen, its other values count as if
/// nothing of it were.
async fn facets(member: &Member, place: &Place, query: &Query) -> Result<Vec<Facet>, Refusal> {
    #[derive(Deserialize)]
    struct Properties {
        filters: Vec<Facet>,
    }
    let counted = async |without: Option<&str>| {
        let asked = place.asked(json!({ "includeCounts": true, "filter": query.counted(without)? }));
        let answer: Properties = member.ask_as("Metadata/GetTokenMetadataPropertyFilters", &asked).await?;
        Ok::<_, Refusal>(answer.filters)
    };
    let mut facets = counted(None).await?;
    for property in query.properties().iter().take(COUNTED_APART_MAX) {
        let apart = counted(Some(&property.name)).await?;
        let apart = apart.into_iter().find(|facet| facet.name == property.name);
        let place = facets.iter().position(|facet| facet.name == property.name);
        if let (Some(place), Some(apart)) = (place, apart) {
            facets[place] = apart;
        }
    }
    Ok(facets)
}

fn results(place: &Place, query: &Query, found: &Found, shown: &Shown) -> Markup {
    let first = (found.page.page.saturating_sub(1)) * found.page.page_size + 1;
    let last = first + (found.rows.len() as u64).saturating_sub(1);
    let tokens = if found.count == 1 { "token" } else { "tokens" };
    html! {
        div.summary {
            h2 { (show::number(found.count)) " " (tokens) }
            @if found.count > PAGE_SIZE && !found.rows.is_empty() {
                p.soft { (show::number(first)) "–" (show::number(last)) }
            }
        }
        (filters::chosen(place, query, &shown.currencies))
        @if found.rows.is_empty() {
            p.empty {
                @if found.count == 0 { "No token is like that. " } @else { "This page is behind the last one. " }
                a href=(place.path) { "Show all tokens" }
            }
        } @else {
            ul.tokens { @for row in &found.rows { (cards::card(place, row, &shown.currencies)) } }
            (pages(place, query, &found.page))
        }
    }
}

/// The way to the pages before and behind. The next one begins exactly where this one ended, whatever changed meanwhile.
fn pages(place: &Place, query: &Query, page: &Page) -> Markup {
    let (before, behind) = (page.page.saturating_sub(1), (page.page + 1).to_string());
    let before_text = before.to_string();
    let mut next = vec![("page", behind.as_str())];
    next.extend(page.after.as_deref().map(|after| ("after", after)));
    html! {
        @if page.page > 1 || page.more {
            nav.pages aria-label="Pages" {
                @match before {
                    0 => {}
                    1 => a.button.plain rel="prev" href=(query.link(&place.path)) { "← Previous" },
                    _ => a.button.plain rel="prev" href=(query.with(&place.path, &[("page", &before_text)])) { "← Previous" },
                }
                span.soft { "Page " (show::number(page.page)) }
                @if page.more { a.button.plain rel="next" href=(query.with(&place.path, &next)) { "Next →" } }
            }
        }
    }
}

fn nothing_yet(member: &Member, place: &Place) -> Markup {
    let url = member.console().settings().public_url();
    let body = place.asked(json!({ "tokens": [{ "tokenId": "1", "name": "The first one" }] }));
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
