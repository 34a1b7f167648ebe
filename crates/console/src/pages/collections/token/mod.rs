//! One token: what it is, who sells and wants it, who holds it, and what happened to it.

mod activity;
mod orders;

use axum::extract::RawQuery;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::Royalty;
use bourse_store::Holders;
use bourse_wire::{Error, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::browse::cards::name;
use super::contract::{self, known_time, state};
use super::records::{Currencies, contract_info, token_json};
use super::{Place, attributes, images, price};
use crate::door::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice, see_other, show};
use orders::Side;

/// Characters of the description, and of the raw metadata, that are shown on the page.
const DESCRIPTION_CHARS: usize = 4_000;
const RAW_CHARS: usize = 8_000;
/// Holders that are shown.
const HOLDERS_MAX: u64 = 10;
/// The price for which a royalty is asked: large enough to see parts of a percent.
const ROYALTY_PRICE: u64 = 1_000_000;

/// What the page is to show beyond the beginning of everything.
pub(super) struct Asked {
    form: Form,
}

impl Asked {
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
    let (place, token) = (Place::of(&member)?, member.part::<TokenId>("token")?);
    let form = Form::of_query(query.as_deref().unwrap_or_default());
    page(&member, &place, token, (&Asked { form }, None)).await
}

/// The metadata as it is served, for people: indented.
pub(super) async fn json(member: Member) -> Answer {
    let (place, token) = (Place::of(&member)?, member.part::<TokenId>("token")?);
    let text = serde_json::to_string_pretty(&token_json(&member, &place, token).await?)?;
    let content_type = HeaderValue::from_static("application/json; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

/// Asks for the metadata to be fetched anew.
pub(super) async fn refresh(Owner(member): Owner, _form: Form) -> Answer {
    let (place, token) = (Place::of(&member)?, member.part::<TokenId>("token")?);
    let body = place.asked(json!({ "tokenIDs": [token] }));
    match Submission::of(member.ask("Metadata/RefreshTokenMetadata", &body).await)? {
        Submission::Accepted(_) => Ok(see_other(&Done::Queued.at(&place.token(token, "")))),
        Submission::Rejected(error) => {
            let asked = Asked { form: Form::default() };
            let page = page(&member, &place, token, (&asked, Some(&error))).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn page(
    member: &Member,
    place: &Place,
    token: TokenId,
    (asked, refused): (&Asked, Option<&Error>),
) -> Result<Response, Refusal> {
    let raw = token_json(member, place, token).await?;
    let metadata: TokenMetadata = serde_json::from_value(raw.clone())?;
    let info = contract_info(member, place).await?;
    let currencies = Currencies::ask(member, place).await?;
    let title = format!("{} #{token}", metadata.name.chars().take(60).collect::<String>());
    let lists = html! {
        (orders::section(member, (place, token), Side::Listings, asked, &currencies).await?)
        (orders::section(member, (place, token), Side::Offers, asked, &currencies).await?)
        (holders(member, place, &metadata).await?)
        (activity::section(member, (place, token), asked, &currencies).await?)
    };
    let body = html! {
        nav.crumbs aria-label="Breadcrumb" {
            a href=(member.path("/collections")) { "Collections" } " › "
            a href=(place.path) { bdi { (contract::name(place, info.as_ref())) } }
        }
        @if let Some(error) = refused { (notice::refused(error)) }
        div.portrait {
            (images::of_token(place, &metadata))
            div {
                h1 { (name(&metadata)) }
                p.id { "Token " code { (token) } }
                (facts(member, place, &metadata, royalty(member, place, token, asked).await))
                @if member.is_owner() { (refreshing(member, place, token)) }
            }
        }
        @if !metadata.description.is_empty() {
            section { h2 { "Description" } p.long { (show::shortened(&metadata.description, DESCRIPTION_CHARS)) } }
        }
        section { h2 { "Properties" } (attributes::list(place, &raw.to_string())) }
        (lists)
        (raw_section(place, token, &raw)?)
    };
    Ok(member.page(Section::Collections, &title, &body))
}

fn facts(member: &Member, place: &Place, token: &TokenMetadata, royalty: Option<Markup>) -> Markup {
    let links = [
        ("Website", &token.external_url),
        ("Image", &token.image),
        ("Video", &token.video),
        ("Audio", &token.audio),
        ("Animation", &token.animation_url),
    ];
    let has_node = member.console().nodes().get(place.key.chain).is_some();
    html! {
        dl.facts {
            dt { "Metadata" } dd { (state(token.status, token.queued_at)) }
            @if let Some(at) = token.last_fetched { dt { "Fetched" } dd { (show::time(at)) } }
            dt { "Changed" } dd { (known_time(token.updated_at)) }
            @if let Some(decimals) = token.decimals { dt { "Decimals" } dd { (decimals) } }
            @for (name, link) in links {
                @if !link.is_empty() { dt { (name) } dd { (media_link(link)) } }
            }
            @if let Some(royalty) = royalty { dt { "Royalty" } dd { (royalty) } }
            @else if has_node {
                dt { "Royalty" }
                dd { a href={ (place.token(token.token_id, "")) "?royalty=ask" } { "Ask the chain" } }
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
            html! { span.soft { "in the metadata itself, " (show::number(link.len())) " bytes, " bdi { (kind) } } }
        }
        None => show::web_link(link),
    }
}

/// What of a price goes to the makers of the token, when somebody wants to know: a node has to be asked.
async fn royalty(member: &Member, place: &Place, token: TokenId, asked: &Asked) -> Option<Markup> {
    if asked.form.text("royalty") != "ask" {
        return None;
    }
    let (console, key) = (member.console(), place.key);
    let market = console.settings().networks.markets(key.chain.0).own_v2;
    let asked = Royalty { market, collection: key.address, token_id: token, price: ROYALTY_PRICE.into() };
    let told = console.royalty(key.chain, asked).await;
    let millionths = told.and_then(|share| share.to_string().parse::<u64>().ok());
    let percent = millionths.map(|share| format!("{}.{:04}", share / 10_000, share % 10_000));
    Some(html! {
        @match &percent {
            Some(percent) => { (percent.trim_end_matches('0').trim_end_matches('.')) " % of a sale on the service's own marketplace" }
            None => { span.soft { "the chain does not tell" } }
        }
    })
}

fn refreshing(member: &Member, place: &Place, token: TokenId) -> Markup {
    html! {
        form method="post" action=(place.token(token, "/refresh")) {
            (member.visitor.form_token())
            button.plain { "Fetch the metadata anew" }
        }
    }
}

async fn holders(member: &Member, place: &Place, token: &TokenMetadata) -> Result<Markup, Refusal> {
    let store = member.console().store();
    let Holders { count, largest } = match store.collection(place.key).await? {
        Some(id) => store.holders(id, token.token_id, HOLDERS_MAX).await?,
        None => Holders::default(),
    };
    let decimals = u8::try_from(token.decimals.unwrap_or_default()).unwrap_or_default();
    let quantity = |amount: bourse_wire::Amount| {
        let mut text = Vec::new();
        bourse_market::write_formatted(&mut text, amount.to_string().as_bytes(), decimals);
        price::decimal(&String::from_utf8_lossy(&text))
    };
    let held_by = |account: &bourse_wire::Address| format!("{}?owner={account}", place.path);
    Ok(html! {
        section id="holders" {
            h2 { "Holders " span.tally { (show::number(count)) } }
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

fn raw_section(place: &Place, token: TokenId, raw: &Value) -> Result<Markup, Refusal> {
    let text = serde_json::to_string_pretty(raw)?;
    let short: String = text.chars().take(RAW_CHARS).collect();
    Ok(html! {
        section {
            h2 { "Raw metadata" }
            details.snippet {
                summary { "JSON, as the API answers it" }
                (copyable("raw", &short))
                @if short.len() < text.len() { p.hint { "It goes on: these are its first " (show::number(RAW_CHARS)) " characters." } }
            }
            p { a href=(place.token(token, "/json")) { "The whole of it by itself" } }
        }
    })
}
