//! The storefront of a project: how it looks, what trades in it, and what it sells.

mod fields;
mod looks;
mod market;
mod shop;
mod site;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bourse_wire::{Address, ChainId, Error, Storefront};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use self::fields::Fields;
use crate::Console;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/storefront", get(show).post(save))
        .route("/storefront/market", post(market::add))
        .route("/storefront/market/{chain}/{address}", get(market::edit).post(market::save))
        .route("/storefront/shop", post(shop::add))
        .route("/storefront/shop/{place}", get(shop::edit).post(shop::save))
        .route("/storefront/shop/{place}/remove", post(shop::remove))
}

#[derive(Deserialize)]
struct Stored {
    storefront: Storefront,
}

/// A storefront as whoever visits it is told, as far as it is shown here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    market_collections: Vec<Trading>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trading {
    chain_id: ChainId,
    items_address: Address,
    contract_type: String,
    fee_percentage: f64,
    currency_options: Vec<Address>,
    private: bool,
}

/// What was typed into which form and not taken.
#[derive(Default)]
struct Drafts<'f> {
    looks: Fields<'f>,
    sale: Fields<'f>,
}

async fn show(member: Member) -> Answer {
    page(&member, &Drafts::default(), None).await
}

async fn save(Owner(member): Owner, form: Form) -> Answer {
    let known = find(&member).await?;
    let saved = match looks::wanted(&form, known) {
        Ok(storefront) => match site::with_key(&member, storefront).await {
            Ok(storefront) => put(&member, &storefront).await,
            Err(refusal) => Err(refusal),
        },
        Err(error) => Err(error.into()),
    };
    settle(&member, saved, Done::Changed, &Drafts { looks: Fields::typed(&form), ..Drafts::default() }).await
}

/// What the project said of its storefront.
async fn find(member: &Member) -> Result<Storefront, Refusal> {
    let Stored { storefront } = member.ask_as("Admin/GetStorefront", &json!({})).await?;
    Ok(storefront)
}

async fn put(member: &Member, storefront: &Storefront) -> Result<(), Refusal> {
    member.ask("Admin/PutStorefront", &json!({ "storefront": storefront })).await.map(drop)
}

/// Goes on after a change, or shows the page again with what was typed and the reason why it was not taken.
async fn settle(member: &Member, result: Result<(), Refusal>, done: Done, drafts: &Drafts<'_>) -> Answer {
    match Submission::of(result)? {
        Submission::Accepted(()) => Ok(see_other(&done.at(&member.path("/storefront")))),
        Submission::Rejected(error) => {
            let page = page(member, drafts, Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn page(member: &Member, drafts: &Drafts<'_>, error: Option<&Error>) -> Result<Response, Refusal> {
    let storefront = find(member).await?;
    let shown: Shown = member.ask_as("MarketplaceService/LookupMarketplace", &json!({})).await?;
    let body = html! {
        h1 { "Storefront" }
        @if let Some(error) = error { (notice::refused(error)) }
        p {
            "What marketplaces that run on this project are told of how they look, what trades in them, and what they sell: the answer of "
            code { "MarketplaceService/LookupMarketplace" } "."
        }
        section {
            h2 { "What trades" }
            (trading(member, &shown.market_collections))
            @if member.is_owner() { (market::hidden(member, &storefront)) (market::addition(member)) }
        }
        section {
            h2 { "What is sold" }
            (shop::list(member, &storefront.shop_collections))
            @if member.is_owner() { (shop::addition(member, &drafts.sale)) }
        }
        @if member.is_owner() { (looks::form(member, &storefront, &drafts.looks)) }
    };
    Ok(member.page(Section::Storefront, "Storefront", &body))
}

fn trading(member: &Member, collections: &[Trading]) -> Markup {
    if collections.is_empty() {
        return html! {
            p.empty {
                "Nothing trades yet. Every collection of the project's market does; "
                a href=(member.path("/collections")) { "follow one" } "."
            }
        };
    }
    let networks = &member.console().settings().networks;
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Collection" } th scope="col" { "Network" } th scope="col" { "Kind" }
                    th.number scope="col" { "Fee" } th.number scope="col" { "Currencies" }
                    th scope="col" { span.unseen { "Actions" } }
                } }
                tbody {
                    @for trading in collections {
                        tr {
                            td {
                                (format::hex(trading.items_address))
                                @if trading.private { " " span.badge { "private" } }
                            }
                            td { (format::network(networks, trading.chain_id)) }
                            td.text { (trading.contract_type) }
                            td.number { (trading.fee_percentage) " %" }
                            td.number { (trading.currency_options.len()) }
                            td.actions {
                                @if member.is_owner() {
                                    a.button.plain href=(market::path(member, trading.chain_id, trading.items_address)) {
                                        "Edit" span.unseen { " " (trading.items_address) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
