//! The project's collections, the way to every other one, and following new ones.

use std::time::Duration;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_pages::price;
use bourse_pages::records::{Currencies, Order};
use bourse_store::{CollectionKey, Followed, MarketCollection};
use bourse_wire::{Address, ContractInfo, ContractType, Error};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use maud::{Markup, html};
use serde_json::json;

use super::records::{currencies_of, floor, token_count};
use super::{CollectionRef, contract, images};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::{self, Done};
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, see_other};

/// Collections on a page.
const PAGE_SIZE: u64 = 25;
/// Collections that are looked into at once.
const AT_ONCE: usize = 4;
/// How long a page waits for a collection that is not in memory yet. It goes on being loaded.
const LOAD_TIMEOUT: Duration = Duration::from_secs(1);

/// What was typed into one of the two forms, and what is wrong with it.
#[derive(Default)]
struct Input<'f> {
    form: Form,
    /// Where it says why it was not taken.
    refused: Option<&'f Error>,
    page: u64,
}

pub(super) async fn show(member: Member, RawQuery(text): RawQuery) -> Answer {
    let form = Form::of_query(text.as_deref().unwrap_or_default());
    let page = form.text("page").parse().unwrap_or(1).max(1);
    page_of(&member, &Input { page, ..Input::default() }).await
}

/// Goes to the collection that is named in the form.
pub(super) async fn open(member: Member, RawQuery(text): RawQuery) -> Answer {
    let form = Form::of_query(text.as_deref().unwrap_or_default());
    match named(&member, &form, "network", "address") {
        Ok(key) => Ok(see_other(&CollectionRef::new(&member, key).path)),
        Err(error) => refused(&member, form, &error).await,
    }
}

/// Follows a collection on its chain, as part of the project's market.
pub(super) async fn follow(Owner(member): Owner, form: Form) -> Answer {
    match Submission::of(follow_named(&member, &form).await)? {
        Submission::Accepted(key) => Ok(see_other(&Done::Queued.at(&CollectionRef::new(&member, key).path))),
        Submission::Rejected(error) => refused(&member, form, &error).await,
    }
}

async fn follow_named(member: &Member, form: &Form) -> Result<CollectionKey, Refusal> {
    let key = named(member, form, "follow_network", "follow_address")?;
    let from_block: u64 = form.read_if_set("from_block")?.unwrap_or_default();
    let body = CollectionRef::new(member, key).body(json!({ "fromBlock": from_block }));
    member.ask("Admin/CreateCollection", &body).await?;
    Ok(key)
}

fn named(
    member: &Member,
    form: &Form,
    network: &'static str,
    address: &'static str,
) -> Result<CollectionKey, Error> {
    if form.text(network).is_empty() {
        return Err(Error::invalid("network", "name one, such as polygon, or its number"));
    }
    let chain = member.console().chain(form.text(network))?;
    let address: Address = form.text(address).parse().map_err(|error| Error::invalid("address", error))?;
    Ok(CollectionKey { chain, address })
}

async fn refused(member: &Member, form: Form, error: &Error) -> Answer {
    let page = page_of(member, &Input { form, refused: Some(error), page: 1 }).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// A collection in the list.
struct Row {
    collection: CollectionRef,
    info: Option<ContractInfo>,
    /// None while it is being loaded.
    numbers: Option<Result<Numbers, Error>>,
    followed: Option<Followed>,
}

struct Numbers {
    tokens: u64,
    floor: Option<Order>,
    currencies: Currencies,
}

async fn page_of(member: &Member, typed: &Input<'_>) -> Result<Response, Refusal> {
    let skip = typed.page.saturating_sub(1).saturating_mul(PAGE_SIZE);
    let mut found = member.console().store().market_collections(member.scope(), skip, PAGE_SIZE + 1).await?;
    let more = found.len() as u64 > PAGE_SIZE;
    found.truncate(usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX));
    let rows: Vec<Row> =
        stream::iter(found).map(|collection| row(member, collection)).buffered(AT_ONCE).try_collect().await?;
    let body = html! {
        h1 { "Collections" }
        @if let Some(error) = typed.refused { (notice::refused(error)) }
        @if rows.is_empty() {
            p.empty {
                @if typed.page > 1 { "This page is behind the last one. " a href=(member.path("/collections")) { "Back to the first" } }
                @else {
                    "This project has no collection yet. One becomes the project's own when it is followed, when its "
                    "records are put with the project's secret token, or when it is linked to hosted metadata."
                }
            }
        } @else { (table(&rows)) }
        (pages(member, typed.page, more))
        (opening(member, &typed.form))
        @if member.is_owner() { (follow_form(member, typed)) }
    };
    Ok(member.page(Section::Collections, "Collections", &body))
}

async fn row(member: &Member, market: MarketCollection) -> Result<Row, Refusal> {
    let collection = CollectionRef::new(member, market.key);
    let info = market.info.and_then(|info| serde_json::from_str(&info).ok());
    let numbers = async {
        let tokens = token_count(member, &collection).await?;
        let floor = floor(member, &collection).await?.map(|(_, order)| order);
        Ok::<_, Refusal>(Numbers { tokens, floor, currencies: currencies_of(member, &collection).await? })
    };
    let numbers = tokio::time::timeout(LOAD_TIMEOUT, numbers).await.ok().map(Submission::of).transpose()?;
    let numbers = numbers.map(Submission::into_result);
    let followed = member.console().store().following(collection.key).await?;
    Ok(Row { collection, info, numbers, followed })
}

fn table(rows: &[Row]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.collections {
                thead { tr {
                    th scope="col" { "Collection" } th scope="col" { "Type" } th scope="col" { "Network" }
                    th.number scope="col" { "Tokens" } th scope="col" { "Floor" } th scope="col" { "Following" }
                } }
                tbody { @for row in rows { (line(row)) } }
            }
        }
    }
}

fn line(row: &Row) -> Markup {
    let info = row.info.as_ref();
    let kind = info.map_or(ContractType::Unknown, |info| info.r#type);
    html! {
        tr {
            th scope="row" {
                div.titled {
                    (images::of_contract(&row.collection, info))
                    div {
                        a href=(row.collection.path) { bdi { (contract::name(&row.collection, info)) } }
                        br; (format::hex(row.collection.key.address))
                    }
                }
            }
            td { @if kind == ContractType::Unknown { span.soft { "not known" } } @else { (kind) } }
            td { (row.collection.network) }
            @match &row.numbers {
                None => td colspan="2" { span.soft { "being loaded: look again in a moment" } },
                Some(Err(error)) => td colspan="2" { span.soft { (error) } },
                Some(Ok(numbers)) => {
                    td.number { (format::number(numbers.tokens)) }
                    td {
                        @match &numbers.floor {
                            Some(order) => (price::of_order(order, &numbers.currencies)),
                            None => span.soft { "no listing" },
                        }
                    }
                }
            }
            td { (contract::following(row.followed.as_ref())) }
        }
    }
}

fn pages(member: &Member, page: u64, more: bool) -> Markup {
    let at = |page: u64| member.path(&format!("/collections?page={page}"));
    html! {
        @if page > 1 || more {
            nav.pages aria-label="Pages" {
                @if page > 1 { a.button.plain rel="prev" href=(at(page - 1)) { "← Previous" } }
                span.soft { "Page " (format::number(page)) }
                @if more { a.button.plain rel="next" href=(at(page + 1)) { "Next →" } }
            }
        }
    }
}

fn opening(member: &Member, typed: &Form) -> Markup {
    html! {
        section.panel {
            h2 { "Look at any contract" }
            form.inline method="get" action=(member.path("/collections/open")) {
                label { "Network" input name="network" list="networks" value=(typed.text("network")) required; }
                label.wide {
                    "Address"
                    input name="address" value=(typed.text("address")) placeholder="0x…" size="44" spellcheck="false" required;
                }
                button { "Open" }
            }
            datalist id="networks" {
                @for network in &member.console().settings().networks { option value=(network.name) { "chain " (network.id) } }
            }
        }
    }
}

fn follow_form(member: &Member, typed: &Input<'_>) -> Markup {
    let nodes = member.console().nodes();
    let is_typed = typed.form.is_set("follow_address") || typed.form.is_set("follow_network");
    html! {
        details.panel open[is_typed] {
            summary { "Follow a collection" }
            p {
                "Reads the transfers and orders of a contract from its chain, from a block on, and goes on with every new one. "
                "What happens in it counts for this project."
            }
            @if nodes.is_empty() {
                p.empty {
                    "No network has a node to read from yet. Whoever runs the service names one in its settings: "
                    code { "networks.NAME.rpc_url" } "."
                }
            } @else {
                form.stacked method="post" action=(member.path("/collections/follow")) {
                    (member.visitor.form_token())
                    label {
                        "Network"
                        select name="follow_network" required {
                            @for node in nodes.iter() {
                                option value=(node.name()) selected[typed.form.text("follow_network") == node.name()] { (node.name()) }
                            }
                        }
                    }
                    label {
                        "Address of the contract"
                        input name="follow_address" value=(typed.form.text("follow_address")) placeholder="0x…" spellcheck="false" required;
                    }
                    label {
                        "From block"
                        input name="from_block" value=(typed.form.text("from_block")) inputmode="numeric" placeholder="0"
                            aria-describedby="from-block-hint";
                    }
                    p.hint id="from-block-hint" { "The block that the contract was deployed in, or an earlier one." }
                    button { "Follow" }
                }
            }
        }
    }
}
