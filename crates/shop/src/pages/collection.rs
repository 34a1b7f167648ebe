//! The tokens of a collection, and what of them somebody looks for.

use axum::extract::RawQuery;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_pages::format;
use bourse_pages::query::Query;
use bourse_pages::records::{Collectible, Count, Currencies, Facet, Page};
use bourse_wire::Error;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{filters, images, parts};
use crate::Answer;
use crate::asking::{CollectionRef, Visit};
use crate::page::Head;
use crate::refusal::Refusal;

/// What results, filters and what the script is told may take together in the page, in bytes.
const CONTENT_BYTES_MAX: usize = 84_000;
/// Properties that are counted once more without what is chosen of them, so that their other values can be chosen too.
const COUNTED_APART_MAX: usize = 4;

/// Tokens that were found.
struct Matches {
    rows: Vec<Collectible>,
    page: Page,
    count: u64,
}

/// What is shown of a collection.
pub(super) struct Shown<'s> {
    pub(super) visit: &'s Visit,
    pub(super) collection: &'s CollectionRef,
    pub(super) query: &'s Query,
    pub(super) currencies: &'s Currencies,
}

pub(super) async fn show(visit: Visit, RawQuery(text): RawQuery) -> Answer {
    let query = Query::read(text.as_deref().unwrap_or_default());
    let collection = visit.collection().await?;
    if query.is_wordy {
        // A form sends every field that it has. The address to pass on has those that say something.
        return Ok(see_other(&query.link(&collection.path)));
    }
    let currencies = visit.currencies(&collection).await?;
    let info = visit.contract_info(&collection).await?;
    let shown = Shown { visit: &visit, collection: &collection, query: &query, currencies: &currencies };
    let found = Refusal::told(find(&shown).await)?;
    let facets = match Refusal::told(facets(&shown, &query).await)? {
        Ok(facets) => facets,
        // A filter that cannot be understood is put right in its form.
        Err(_) => facets_of_all(&shown).await?,
    };
    let name = parts::collection_name(&collection, info.as_ref());
    let description = info.as_ref().map_or("", |info| info.extensions.description.as_str());
    let results = match &found {
        Ok(found) => results(&shown, found),
        Err(error) => html! { p.refused role="alert" { (error.to_string()) } },
    };
    let data = json!({ "collection": parts::trading(&visit, &collection, &currencies) });
    let taken = results.0.len() + html! { (data) }.0.len();
    let room = CONTENT_BYTES_MAX.saturating_sub(taken);
    let body = html! {
        nav.crumbs aria-label=(visit.say("frame.crumbs")) { a href=(visit.path("")) { (visit.say("frame.collections")) } }
        h1 { bdi { (name) } }
        @if !description.is_empty() { p.lead { (parts::shortened(description, (600, 2_000))) } }
        div.browse {
            input.unseen type="checkbox" id="show-filters";
            label.button for="show-filters" { (visit.say("filters.title")) }
            (filters::form(&shown, &facets, room))
            section.results data-live="results" aria-label=(visit.say("home.tokens")) {
                (results)
            }
        }
    };
    let mut rows = found.iter().flat_map(|found| &found.rows);
    let image = rows.find_map(|row| images::shared(&visit, &collection, &row.metadata));
    let head = Head {
        title: &name,
        description,
        path: &collection.path,
        image: image.as_deref(),
        is_private: query.is_filtered() || !query.text("sort").is_empty(),
    };
    let page = visit.page(&head, &data, &body);
    Ok(if found.is_err() { (StatusCode::UNPROCESSABLE_ENTITY, page).into_response() } else { page })
}

fn see_other(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

impl Shown<'_> {
    /// The filter of the operations: what the address says, at the marketplaces of the shop.
    fn filter(&self) -> Result<Value, Error> {
        let mut filter = self.query.filter(self.currencies)?;
        let shown = self.visit.marketplaces();
        if !shown.is_empty() {
            filter["marketplaces"] = json!(shown);
        }
        Ok(filter)
    }
}

async fn find(shown: &Shown<'_>) -> Result<Matches, Refusal> {
    #[derive(Deserialize)]
    struct Collectibles {
        collectibles: Vec<Collectible>,
        page: Page,
    }
    let (visit, filter) = (shown.visit, shown.filter()?);
    let side = if shown.query.text("side") == "offer" { "offer" } else { "listing" };
    let asked = json!({ "side": side, "filter": filter, "page": shown.query.page() });
    let Collectibles { collectibles: rows, page } =
        visit.ask("Marketplace/ListCollectibles", &shown.collection.body(asked)).await?;
    let asked = shown.collection.body(json!({ "side": side, "filter": filter }));
    let Count { count } = visit.ask("Marketplace/GetCountOfFilteredCollectibles", &asked).await?;
    Ok(Matches { rows, page, count })
}

/// The properties with how many tokens have each value. Of a property that is chosen, its other values count as if
/// nothing of it were.
async fn facets(shown: &Shown<'_>, query: &Query) -> Result<Vec<Facet>, Refusal> {
    let mut facets = counted(shown, &query.counted(None)?).await?;
    for property in query.properties().iter().take(COUNTED_APART_MAX) {
        let apart = counted(shown, &query.counted(Some(&property.name))?).await?;
        let apart = apart.into_iter().find(|facet| facet.name == property.name);
        let place = facets.iter().position(|facet| facet.name == property.name);
        if let (Some(place), Some(apart)) = (place, apart) {
            facets[place] = apart;
        }
    }
    Ok(facets)
}

async fn facets_of_all(shown: &Shown<'_>) -> Result<Vec<Facet>, Refusal> {
    counted(shown, &json!({})).await
}

async fn counted(shown: &Shown<'_>, filter: &Value) -> Result<Vec<Facet>, Refusal> {
    #[derive(Deserialize)]
    struct Properties {
        filters: Vec<Facet>,
    }
    let asked = shown.collection.body(json!({ "includeCounts": true, "filter": filter }));
    let answer: Properties = shown.visit.ask("Metadata/GetTokenMetadataPropertyFilters", &asked).await?;
    Ok(answer.filters)
}

fn results(shown: &Shown<'_>, found: &Matches) -> Markup {
    let Shown { visit, collection, query, currencies } = *shown;
    html! {
        div.summary {
            h2 { (visit.words.say_of("filters.found", &format::number(found.count))) }
            (filters::chosen(shown))
        }
        @if found.rows.is_empty() {
            p.empty { (visit.say("filters.nothing")) " " a href=(collection.path) { (visit.say("filters.all")) } }
        } @else {
            ul.tokens { @for row in &found.rows { (parts::card(visit, collection, row, currencies)) } }
        }
        (pages(visit, collection, query, &found.page))
    }
}

/// The way to the pages before and behind. The next one begins exactly where this one ended, whatever changed meanwhile.
fn pages(visit: &Visit, collection: &CollectionRef, query: &Query, page: &Page) -> Markup {
    let (before, behind) = (page.page.saturating_sub(1).to_string(), (page.page + 1).to_string());
    let mut next = vec![("page", behind.as_str())];
    next.extend(page.after.as_deref().map(|after| ("after", after)));
    html! {
        @if page.page > 1 || page.more {
            nav.pages aria-label=(visit.say("frame.pages")) {
                @if page.page == 2 { a.button rel="prev" href=(query.link(&collection.path)) { "← " (visit.say("frame.before")) } }
                @if page.page > 2 { a.button rel="prev" href=(query.with(&collection.path, &[("page", &before)])) { "← " (visit.say("frame.before")) } }
                @if page.more { a.button rel="next" href=(query.with(&collection.path, &next)) { (visit.say("frame.next")) " →" } }
            }
        }
    }
}
