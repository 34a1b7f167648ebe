//! One token: what it is, who sells and wants it, who holds it, and what happened to it.

mod activity;
mod orders;

use axum::extract::RawQuery;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_pages::price;
use bourse_pages::records::Currencies;
use bourse_pictures::Size;
use bourse_server::Sale;
use bourse_store::Holders;
use bourse_wire::{Error, Marketplace, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::browse::cards::name;
use super::contract::{self, known_time, state};
use super::records::{contract_info, currencies_of, token_json};
use super::{CollectionRef, attributes, images};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};
use orders::Side;

/// Characters of the description, and of the raw metadata, that are shown on the page.
const DESCRIPTION_CHARS: usize = 4_000;
const RAW_CHARS: usize = 8_000;
/// Holders that are shown.
const HOLDERS_MAX: u64 = 10;
/// The price for which a royalty is query: large enough to see parts of a percent.
const ROYALTY_PRICE: u64 = 1_000_000;

/// What the address asks for beyond the beginning of every list.
pub(super) struct TokenQuery {
    form: Form,
}

/// What the lists of a token's page are made of.
pub(super) struct TokenPage<'p> {
    member: &'p Member,
    collection: &'p CollectionRef,
    token: TokenId,
    query: &'p TokenQuery,
    currencies: &'p Currencies,
}

impl TokenQuery {
    /// The page of a list.
    fn page(&self, list: &str) -> u64 {
        self.form.text(list).parse().unwrap_or(1).max(1)
    }

    /// The address of another page of one of the lists; the others stay where they are.
    fn link(&self, path: &str, list: &str, page: u64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for known in ["listings", "offers", "activity"] {
            let page = if known == list { page } else { self.page(known) };
            if page > 1 {
                query.append_pair(known, &page.to_string());
            }
        }
        let query = query.finish();
        if query.is_empty() { format!("{path}#{list}") } else { format!("{path}?{query}#{list}") }
    }
}

pub(super) async fn show(member: Member, RawQuery(query): RawQuery) -> Answer {
    let (collection, token) = (CollectionRef::of(&member)?, member.part::<TokenId>("token")?);
    let form = Form::of_query(query.as_deref().unwrap_or_default());
    page(&member, &collection, token, &TokenQuery { form }, None).await
}

/// The metadata as it is served, for people: indented.
pub(super) async fn json(member: Member) -> Answer {
    let (collection, token) = (CollectionRef::of(&member)?, member.part::<TokenId>("token")?);
    let text = serde_json::to_string_pretty(&token_json(&member, &collection, token).await?)?;
    let content_type = HeaderValue::from_static("application/json; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

/// Asks for the metadata to be fetched anew.
pub(super) async fn refresh(Owner(member): Owner, _form: Form) -> Answer {
    let (collection, token) = (CollectionRef::of(&member)?, member.part::<TokenId>("token")?);
    let body = collection.body(json!({ "tokenIDs": [token] }));
    match Submission::of(member.ask("Metadata/RefreshTokenMetadata", &body).await)? {
        Submission::Accepted(_) => Ok(see_other(&Done::Queued.at(&collection.token(token, "")))),
        Submission::Rejected(error) => {
            let query = TokenQuery { form: Form::default() };
            let page = page(&member, &collection, token, &query, Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn page(
    member: &Member,
    collection: &CollectionRef,
    token: TokenId,
    query: &TokenQuery,
    refused: Option<&Error>,
) -> Result<Response, Refusal> {
    let raw = token_json(member, collection, token).await?;
    let metadata: TokenMetadata = serde_json::from_value(raw.clone())?;
    let info = contract_info(member, collection).await?;
    let currencies = currencies_of(member, collection).await?;
    let title = format!("{} #{token}", metadata.name.chars().take(60).collect::<String>());
    let page = TokenPage { member, collection, token, query, currencies: &currencies };
    let lists = html! {
        (orders::section(&page, Side::Listings).await?)
        (orders::section(&page, Side::Offers).await?)
        (holders(member, collection, &metadata).await?)
        (activity::section(&page).await?)
    };
    let body = html! {
        nav.crumbs aria-label="Breadcrumb" {
            a href=(member.path("/collections")) { "Collections" } " › "
            a href=(collection.path) { bdi { (contract::name(collection, info.as_ref())) } }
        }
        @if let Some(error) = refused { (notice::refused(error)) }
        div.portrait {
            (images::of_token(collection, &metadata, Size::Large))
            div {
                h1 { (name(&metadata)) }
                p.id { "Token " code { (token) } }
                (facts(member, collection, &metadata, royalty(member, collection, token, query).await))
                @if member.is_owner() { (refreshing(member, collection, token)) }
            }
        }
        @if !metadata.description.is_empty() {
            section { h2 { "Description" } p.long { (format::shortened(&metadata.description, DESCRIPTION_CHARS)) } }
        }
        section { h2 { "Properties" } (attributes::list(collection, &raw.to_string())) }
        (lists)
        (raw_section(collection, token, &raw)?)
    };
    Ok(member.page(Section::Collections, &title, &body))
}

fn facts(
    member: &Member,
    collection: &CollectionRef,
    token: &TokenMetadata,
    royalty: Option<Markup>,
) -> Markup {
    let links = [
        ("Website", &token.external_url),
        ("Image", &token.image),
        ("Video", &token.video),
        ("Audio", &token.audio),
        ("Animation", &token.animation_url),
    ];
    let has_node = member.console().nodes().get(collection.key.chain).is_some();
    html! {
        dl.facts {
            dt { "Metadata" } dd { (state(&token.source, token.status, token.queued_at)) }
            @if let Some(at) = token.last_fetched { dt { "Fetched" } dd { (format::time(at)) } }
            dt { "Changed" } dd { (known_time(token.updated_at)) }
            @if let Some(decimals) = token.decimals { dt { "Decimals" } dd { (decimals) } }
            @for (name, link) in links {
                @if !link.is_empty() { dt { (name) } dd { (media_link(link)) } }
            }
            @if let Some(royalty) = royalty { dt { "Royalty" } dd { (royalty) } }
            @else if has_node {
                dt { "Royalty" }
                dd { a href={ (collection.token(token.token_id, "")) "?royalty=ask" } { "Ask the chain" } }
            }
        }
    }
}

/// A link to media; one that holds them itself is only named.
fn media_link(link: &str) -> Markup {
    match link.get(..5).filter(|start| start.eq_ignore_ascii_case("data:")) {
        Some(_) => {
            let kind: String =
                link.chars().skip(5).take_while(|letter| !matches!(letter, ',' | ';')).take(60).collect();
            html! { span.soft { "in the metadata itself, " (format::number(link.len())) " bytes, " bdi { (kind) } } }
        }
        None => format::web_link(link),
    }
}

/// What of a price goes to the makers of the token, when somebody wants to know: a node has to be query.
async fn royalty(
    member: &Member,
    collection: &CollectionRef,
    token: TokenId,
    query: &TokenQuery,
) -> Option<Markup> {
    if query.form.text("royalty") != "ask" {
        return None;
    }
    let (console, key) = (member.console(), collection.key);
    let venue = console.registry().venue(key.chain, Marketplace::OwnV2)?;
    let market = venue.newest()?.contract();
    let sale = Sale { market, collection: key.address, token_id: token, price: ROYALTY_PRICE.into() };
    let told = console.royalty(key.chain, sale).await;
    let millionths = told.and_then(|share| share.to_string().parse::<u64>().ok());
    let percent = millionths.map(|share| format!("{}.{:04}", share / 10_000, share % 10_000));
    Some(html! {
        @match &percent {
            Some(percent) => { (percent.trim_end_matches('0').trim_end_matches('.')) " % of a sale on the service's own marketplace" }
            None => { span.soft { "the chain does not tell" } }
        }
    })
}

fn refreshing(member: &Member, collection: &CollectionRef, token: TokenId) -> Markup {
    html! {
        form method="post" action=(collection.token(token, "/refresh")) {
            (member.visitor.form_token())
            button.plain { "Fetch the metadata anew" }
        }
    }
}

async fn holders(
    member: &Member,
    collection: &CollectionRef,
    token: &TokenMetadata,
) -> Result<Markup, Refusal> {
    let store = member.console().store();
    let Holders { count, largest } = match store.collection(collection.key).await? {
        Some(id) => store.holders(id, token.token_id, HOLDERS_MAX).await?,
        None => Holders::default(),
    };
    let decimals = u8::try_from(token.decimals.unwrap_or_default()).unwrap_or_default();
    let quantity = |amount: bourse_wire::Amount| {
        let mut text = Vec::new();
        bourse_market::write_formatted(&mut text, amount.to_string().as_bytes(), decimals);
        price::decimal(&String::from_utf8_lossy(&text))
    };
    let held_by = |account: &bourse_wire::Address| format!("{}?owner={account}", collection.path);
    Ok(html! {
        section id="holders" {
            h2 { "Holders " span.tally { (format::number(count)) } }
            @if largest.is_empty() { p.soft { "No balance of this token is known." } } @else {
                div.scroll tabindex="0" {
                    table {
                        thead { tr { th scope="col" { "Account" } th.number scope="col" { "Quantity" } } }
                        tbody {
                            @for held in &largest {
                                tr {
                                    td { a href=(held_by(&held.account)) { code { (held.account) } } }
                                    td.number title=(held.balance) { (quantity(held.balance)) }
                                }
                            }
                        }
                    }
                }
                @if count > HOLDERS_MAX { p.hint { "These hold the most." } }
            }
        }
    })
}

fn raw_section(collection: &CollectionRef, token: TokenId, raw: &Value) -> Result<Markup, Refusal> {
    let text = serde_json::to_string_pretty(raw)?;
    let short: String = text.chars().take(RAW_CHARS).collect();
    Ok(html! {
        section {
            h2 { "Raw metadata" }
            details.snippet {
                summary { "JSON, as the API answers it" }
                (copyable("raw", &short))
                @if short.len() < text.len() { p.hint { "It goes on: these are its first " (format::number(RAW_CHARS)) " characters." } }
            }
            p { a href=(collection.token(token, "/json")) { "The whole of it by itself" } }
        }
    })
}
