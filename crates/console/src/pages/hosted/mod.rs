//! Metadata that a project hosts here: collections, their tokens, their files, and the contracts that they serve.

mod assets;
mod attributes;
mod collection;
mod editing;
mod json;
mod links;
mod record;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bourse_wire::{Collection, Error, RecordId};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use crate::Console;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable, page_links};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

/// Rows on a page.
const ROWS: u64 = 24;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/hosted", get(show).post(create))
        .route("/hosted/{collection}", get(collection::show))
        .route("/hosted/{collection}/edit", get(editing::collection).post(editing::save_collection))
        .route("/hosted/{collection}/publish", post(collection::publish))
        .route("/hosted/{collection}/unpublish", post(collection::unpublish))
        .route("/hosted/{collection}/delete", post(collection::delete))
        .route("/hosted/{collection}/tokens", post(collection::create_token))
        .route("/hosted/{collection}/tokens/{token}", get(token::show))
        .route("/hosted/{collection}/tokens/{token}/edit", get(editing::token).post(editing::save_token))
        .route("/hosted/{collection}/tokens/{token}/delete", post(token::delete))
        .route("/hosted/{collection}/tokens/{token}/assets", post(assets::upload_for_token))
        .route("/hosted/{collection}/assets", post(assets::upload_for_collection))
        .route("/hosted/{collection}/assets/{asset}/file", get(assets::file).post(assets::replace))
        .route("/hosted/{collection}/assets/{asset}/delete", post(assets::delete))
        .route("/hosted/{collection}/contracts", post(links::create))
        .route("/hosted/{collection}/contracts/remove", post(links::remove))
}

/// What every list says of its page.
#[derive(Deserialize)]
struct PageInfo {
    more: bool,
}

#[derive(Deserialize)]
struct Collections {
    page: PageInfo,
    collections: Vec<Collection>,
}

#[derive(Deserialize)]
struct CollectionAnswer {
    collection: Collection,
}

/// The number of the page that an address asks for.
fn page_number(uri: &Uri) -> u64 {
    Form::of_query(uri.query().unwrap_or_default()).read("page").unwrap_or(1).max(1)
}

/// The path of a page of a collection.
fn path(member: &Member, collection: RecordId, rest: &str) -> String {
    member.path(&format!("/hosted/{collection}{rest}"))
}

/// A name, or what stands for one.
fn titled(name: &str, otherwise: impl std::fmt::Display) -> String {
    if name.trim().is_empty() { otherwise.to_string() } else { name.to_owned() }
}

async fn show(member: Member, uri: Uri) -> Answer {
    page(&member, page_number(&uri), "", None).await
}

async fn create(Owner(member): Owner, form: Form) -> Answer {
    let name = form.text("name");
    let body = json!({ "collection": { "metadata": { "name": name } } });
    let made = member.ask_as("Collections/CreateCollection", &body).await;
    match Submission::of(made)? {
        Submission::Accepted(CollectionAnswer { collection }) => {
            Ok(see_other(&Done::Created.at(&path(&member, collection.id, ""))))
        }
        Submission::Rejected(error) => {
            let page = page(&member, 1, name, Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn page(member: &Member, number: u64, name: &str, error: Option<&Error>) -> Result<Response, Refusal> {
    let body = json!({ "page": { "page": number, "pageSize": ROWS } });
    let found: Collections = member.ask_as("Collections/ListCollections", &body).await?;
    let body = html! {
        h1 { "Hosted metadata" }
        @if let Some(error) = error { (notice::refused(error)) }
        p {
            "Collections whose metadata and files this service keeps and serves. A contract's base URI points here, and "
            "wallets and markets read what you edit."
        }
        @if found.collections.is_empty() { (nothing(member, number)) } @else { (list(member, &found.collections)) }
        (page_links(&member.path("/hosted"), &[], number, found.page.more))
        @if member.is_owner() {
            section.panel {
                h2 { "New collection" }
                form.inline method="post" action=(member.path("/hosted")) {
                    (member.visitor.form_token())
                    label { "Name" input name="name" value=(name) maxlength="2048" required; }
                    button { "Create collection" }
                }
            }
        }
    };
    Ok(member.page(Section::Hosted, "Hosted metadata", &body))
}

fn nothing(member: &Member, number: u64) -> Markup {
    let url = member.console().settings().public_url();
    let command = format!(
        "curl -s {url}/rpc/Collections/CreateCollection \\\n  -H 'Content-Type: application/json' \\\n  \
         -H 'Authorization: Bearer YOUR_SECRET_TOKEN' \\\n  -d '{{\"collection\":{{\"metadata\":{{\"name\":\"Tide charts\"}}}}}}'"
    );
    html! {
        @if number > 1 {
            p.empty { "There is nothing on this page. " a href=(member.path("/hosted")) { "Go to the first" } }
        } @else {
            div.empty {
                p {
                    "Nothing is hosted here yet. "
                    @if member.is_owner() { "Make a collection below, or through the API:" }
                    @else { "An owner of the project can make a collection, here or through the API:" }
                }
                (copyable("create-collection", &command))
            }
        }
    }
}

fn list(member: &Member, collections: &[Collection]) -> Markup {
    html! {
        ul.cards {
            @for collection in collections {
                li.card {
                    (assets::picture(member, collection.id, &collection.metadata.image))
                    h2 {
                        a href=(path(member, collection.id, "")) {
                            (titled(&collection.metadata.name, format_args!("Collection {}", collection.id)))
                        }
                    }
                    p.soft {
                        (format::number(collection.token_count)) @if collection.token_count == 1 { " token" } @else { " tokens" }
                        " · " (state(collection)) " · changed " (format::time(collection.updated_at))
                    }
                }
            }
        }
    }
}

fn state(collection: &Collection) -> Markup {
    html! {
        @if collection.private { span.badge.quiet { "private" } } @else { span.badge { "published" } }
    }
}
